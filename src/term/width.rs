//! How many columns a character takes (RULES 2.1).

use std::sync::LazyLock;

use super::profile::{Profile, Unassigned, WidthTable};
use super::width_table::{NONE, TWO, ZERO};

/// Two columns whatever the C library says, from 3.4 on.
#[rustfmt::skip]
const FORCED_WIDE: &[(u32, u32)] = &[
    (0x261D, 0x261D), (0x26F9, 0x26F9), (0x270A, 0x270D), (0x1F385, 0x1F385), (0x1F3C2, 0x1F3C4), (0x1F3C7, 0x1F3C7),
    (0x1F3CA, 0x1F3CC), (0x1F3FB, 0x1F3FF), (0x1F442, 0x1F443), (0x1F446, 0x1F450), (0x1F466, 0x1F469), (0x1F46B, 0x1F46E),
    (0x1F470, 0x1F478), (0x1F47C, 0x1F47C), (0x1F481, 0x1F483), (0x1F485, 0x1F487), (0x1F48F, 0x1F48F), (0x1F491, 0x1F491),
    (0x1F4AA, 0x1F4AA), (0x1F574, 0x1F575), (0x1F57A, 0x1F57A), (0x1F590, 0x1F590), (0x1F595, 0x1F596), (0x1F645, 0x1F647),
    (0x1F64B, 0x1F64F), (0x1F6A3, 0x1F6A3), (0x1F6B4, 0x1F6B6), (0x1F6C0, 0x1F6C0), (0x1F6CC, 0x1F6CC), (0x1F90C, 0x1F90C),
    (0x1F90F, 0x1F90F), (0x1F918, 0x1F91F), (0x1F926, 0x1F926), (0x1F930, 0x1F939), (0x1F93D, 0x1F93E), (0x1F977, 0x1F977),
    (0x1F9B5, 0x1F9B6), (0x1F9B8, 0x1F9B9), (0x1F9BB, 0x1F9BB), (0x1F9CD, 0x1F9CF), (0x1F9D1, 0x1F9DD), (0x1FAC3, 0x1FAC5),
    (0x1FAF0, 0x1FAF8),
];

/// Characters that a skin tone combines with, from 3.6 on (RULES 2.8.5).
#[rustfmt::skip]
const TONE_BASES: &[(u32, u32)] = &[
    (0x1F44B, 0x1F450), (0x1F466, 0x1F469), (0x1F46E, 0x1F46E), (0x1F470, 0x1F478), (0x1F47C, 0x1F47C), (0x1F481, 0x1F483),
    (0x1F485, 0x1F487), (0x1F4AA, 0x1F4AA), (0x1F575, 0x1F575), (0x1F57A, 0x1F57A), (0x1F590, 0x1F590), (0x1F595, 0x1F596),
    (0x1F645, 0x1F647), (0x1F64B, 0x1F64F), (0x1F6B4, 0x1F6B6), (0x1F926, 0x1F926), (0x1F937, 0x1F939), (0x1F93D, 0x1F93E),
    (0x1F9B5, 0x1F9B6), (0x1F9B8, 0x1F9B9), (0x1F9CD, 0x1F9CF), (0x1F9D1, 0x1F9DF),
];

/// Regional indicators.
pub(super) fn is_indicator(code: u32) -> bool {
    (0x1F1E6..=0x1F1FF).contains(&code)
}

/// Skin tones.
pub(super) fn is_tone(code: u32) -> bool {
    (0x1F3FB..=0x1F3FF).contains(&code)
}

/// Characters that a skin tone combines with.
pub(super) fn is_tone_base(code: u32) -> bool {
    contains(TONE_BASES, code)
}

fn contains(ranges: &[(u32, u32)], code: u32) -> bool {
    let i = ranges.partition_point(|(_, last)| *last < code);
    ranges.get(i).is_some_and(|(first, _)| *first <= code)
}

/// `wcwidth()` of glibc 2.36; None where it is -1.
fn library_width(code: u32) -> Option<usize> {
    if code < 0xA0 {
        return (0x20..0x7F).contains(&code).then_some(1);
    }
    if contains(TWO, code) {
        Some(2)
    } else if contains(ZERO, code) {
        Some(0)
    } else if contains(NONE, code) || code > 0x10_FFFF {
        None
    } else {
        Some(1)
    }
}

/// Columns of a code point; None if the version drops it.
pub(super) fn width(code: u32, profile: &Profile) -> Option<usize> {
    if profile.width_table != WidthTable::None {
        if contains(FORCED_WIDE, code) {
            return Some(2);
        }
        if is_indicator(code) {
            return Some(if profile.width_table == WidthTable::WideIndicators { 2 } else { 1 });
        }
    }
    library_width(code).or(match profile.unassigned {
        Unassigned::Dropped => None,
        Unassigned::ControlsZero if (0x80..=0x9F).contains(&code) => Some(0),
        _ => Some(1),
    })
}

/// Code points below this are in the table of [`simple_width`].
const SIMPLE: usize = 0x2_0000;

/// Two bits for each code point: 1 or 2 columns, or 0 for "ask the rules".
static SIMPLE_WIDTHS: LazyLock<Box<[u32]>> = LazyLock::new(|| {
    let mut words = vec![0x5555_5555u32; SIMPLE / 16];
    let mut mark = |first: u32, last: u32, class: u32| {
        for code in first..=last {
            if let Some(word) = words.get_mut(code as usize / 16) {
                let shift = code % 16 * 2;
                *word = *word & !(3 << shift) | class << shift;
            }
        }
    };
    for (first, last) in TWO {
        mark(*first, *last, 2);
    }
    for (first, last) in ZERO.iter().chain(NONE).chain(FORCED_WIDE).chain(TONE_BASES) {
        mark(*first, *last, 0);
    }
    // ASCII and C1, Hangul Jamo, the filler, extended Jamo, and regional indicators have rules of their own.
    for (first, last) in
        [(0, 0x9F), (0x1100, 0x11FF), (0x3164, 0x3164), (0xA960, 0xA97F), (0xD7B0, 0xD7FF), (0x1F1E6, 0x1F1FF)]
    {
        mark(first, last, 0);
    }
    words.into_boxed_slice()
});

/// Columns of characters that have the same width in every version and never combine; 0 for all others.
#[inline]
pub(super) fn simple_width(table: &[u32], code: u32) -> usize {
    table.get(code as usize / 16).map_or(0, |word| (word >> (code % 16 * 2) & 3) as usize)
}

/// The table for [`simple_width`].
pub(super) fn simple_widths() -> &'static [u32] {
    &SIMPLE_WIDTHS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [ZERO, TWO, NONE, FORCED_WIDE, TONE_BASES] {
            assert!(table.iter().all(|(a, b)| a <= b));
            assert!(table.windows(2).all(|w| w[0].1 < w[1].0));
        }
    }

    #[test]
    fn known_widths() {
        let old = Profile::for_version("3.3a");
        let new = Profile::for_version("3.6");
        for (code, in_old, in_new) in [
            (0x41, Some(1), Some(1)),
            (0xAD, Some(1), Some(1)),
            (0x300, Some(0), Some(0)),
            (0x6F22, Some(2), Some(2)),
            (0x200B, Some(0), Some(0)),
            (0xE000, Some(1), Some(1)),
            (0x378, None, Some(1)),
            (0x85, None, Some(0)),
            (0x1F1E6, Some(1), Some(1)),
            (0x261D, Some(1), Some(2)),
        ] {
            assert_eq!(width(code, &old), in_old, "U+{code:04X} in 3.3a");
            assert_eq!(width(code, &new), in_new, "U+{code:04X} in 3.6");
        }
    }

    #[test]
    fn simple_widths_hold_in_every_version() {
        for version in ["3.2a", "3.3a", "3.4", "3.5a", "3.6", "3.7", "next-3.8"] {
            let profile = Profile::for_version(version);
            for code in 0..SIMPLE as u32 + 16 {
                let simple = simple_width(simple_widths(), code);
                assert!(simple == 0 || width(code, &profile) == Some(simple), "U+{code:04X} in {version}");
            }
        }
    }
}
