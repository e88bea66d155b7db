//! What one cell holds, packed into 32 bits.

/// The content of a cell: text, width, kind and marks, packed (RULES 0.4).
///
/// ```text
///  31..28   27      26   25..24   23   22       21       20..0
///  unused | sticky| ACS | width | tab | padding| cluster| code point, cluster index or tab span
/// ```
///
/// Plain ASCII is its own code, so that a run of bytes becomes glyphs by widening them. The width
/// field is 0 for one column, 1 for two and 2 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Glyph(u32);

const _: () = assert!(size_of::<Glyph>() == 4);

const TEXT: u32 = 0x1F_FFFF;
const CLUSTER: u32 = 1 << 21;
const PADDING: u32 = 1 << 22;
const TAB: u32 = 1 << 23;
const WIDTH_SHIFT: u32 = 24;
const WIDTH: u32 = 3 << WIDTH_SHIFT;
const ACS: u32 = 1 << 26;
const STICKY: u32 = 1 << 27;

fn width_bits(width: usize) -> u32 {
    match width {
        0 => 2 << WIDTH_SHIFT,
        1 => 0,
        _ => 1 << WIDTH_SHIFT,
    }
}

impl Glyph {
    /// A cell without text: a blank.
    pub(super) const BLANK: Self = Self(0x20);
    /// The second half of a wide character or the rest of a tab.
    pub(super) const PADDING: Self = Self(PADDING);

    /// A printable ASCII byte.
    #[inline]
    pub(super) fn ascii(byte: u8) -> Self {
        Self(u32::from(byte))
    }

    /// A single code point.
    #[inline]
    pub(super) fn code_point(code: u32, width: usize) -> Self {
        Self((code & TEXT) | width_bits(width))
    }

    /// Text that is kept in the row's table of clusters.
    pub(super) fn cluster(index: usize, width: usize) -> Self {
        Self((index as u32 & TEXT) | CLUSTER | width_bits(width))
    }

    /// A tab cell of `span` columns (RULES 2.12).
    pub(super) fn tab(span: usize) -> Self {
        Self((span as u32 & TEXT) | TAB)
    }

    /// The same glyph in DEC line drawing.
    pub(super) fn with_acs(self, acs: bool) -> Self {
        if acs { Self(self.0 | ACS) } else { self }
    }

    /// The same glyph with another sticky bit (RULES 7.10).
    #[inline]
    pub(super) fn with_sticky(self, sticky: bool) -> Self {
        if sticky { Self(self.0 | STICKY) } else { Self(self.0 & !STICKY) }
    }

    /// The same text and kind, stored over `old`, whose sticky bit stays.
    #[inline]
    pub(super) fn over(self, old: Self) -> Self {
        Self(self.0 | (old.0 & STICKY))
    }

    /// True for padding.
    #[inline]
    pub(super) fn is_padding(self) -> bool {
        self.0 & PADDING != 0
    }

    /// True for a tab cell.
    pub(super) fn is_tab(self) -> bool {
        self.0 & TAB != 0
    }

    /// True if the text is in the table of clusters.
    #[inline]
    pub(super) fn is_cluster(self) -> bool {
        self.0 & CLUSTER != 0
    }

    /// True for DEC line drawing.
    pub(super) fn is_acs(self) -> bool {
        self.0 & ACS != 0
    }

    /// The sticky bit.
    #[inline]
    pub(super) fn is_sticky(self) -> bool {
        self.0 & STICKY != 0
    }

    /// The code point, the index of the cluster, or the span of a tab.
    #[inline]
    pub(super) fn payload(self) -> u32 {
        self.0 & TEXT
    }

    /// Columns; padding has 1.
    #[inline]
    pub(super) fn width(self) -> usize {
        if self.0 & TAB != 0 {
            return self.payload() as usize;
        }
        match (self.0 & WIDTH) >> WIDTH_SHIFT {
            0 => 1,
            1 => 2,
            _ => 0,
        }
    }

    /// Columns as a reflow counts them (RULES 7.6, 7.10).
    pub(super) fn reflow_width(self, sticky_rule: bool) -> usize {
        if self.is_padding() { usize::from(sticky_rule && !self.is_sticky()) } else { self.width() }
    }

    /// True if the text alone makes the cell sticky: more than one byte, wide, or a tab (RULES 7.10).
    #[inline]
    pub(super) fn needs_sticky(self) -> bool {
        !self.is_padding() && (self.0 & (CLUSTER | TAB | WIDTH) != 0 || self.payload() > 0x7F)
    }

    /// Equal but for the sticky bit; clusters are never equal.
    #[inline]
    pub(super) fn same(self, other: Self) -> bool {
        (self.0 ^ other.0) & !STICKY == 0 && !self.is_cluster()
    }
}
