//! What differs between tmux versions, as named flags (RULES 10).

/// Width of a character for which the C library has none (RULES 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unassigned {
    /// One column.
    One,
    /// It is not printed.
    Dropped,
    /// U+0080 to U+009F none, else one column.
    ControlsZero,
}

/// Which built-in widths come before the C library's (RULES 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WidthTable {
    /// None.
    None,
    /// The list of emoji, and regional indicators with two columns.
    WideIndicators,
    /// The list of emoji, and regional indicators with one column.
    NarrowIndicators,
}

/// What U+200D does (RULES 2.6 to 2.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zwj {
    /// It is a mark like any other.
    Mark,
    /// It sets a flag that joins the next character.
    Flag,
    /// It joins the next character to a cell that ends in it.
    Joins,
}

/// Which characters combine without a joiner (RULES 2.8.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// None.
    None,
    /// Regional indicators and skin tones, on any base that is not ASCII.
    AnyBase,
    /// Listed pairs.
    Listed,
    /// Listed pairs; at most two regional indicators.
    ListedTwoIndicators,
}

/// How the run path repairs what stands left of it (RULES 2.4 a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftRepair {
    /// By the width of the last cell that was looked at.
    LastLooked,
    /// By the width of the cell itself.
    Itself,
    /// The same, or if it is padding.
    ItselfOrPadding,
}

/// Which modes DECRQM answers for (RULES 8.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeReports {
    /// None.
    None,
    /// Five private ones.
    Five,
    /// All, and ANSI modes.
    All,
}

/// The behaviour of one tmux version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Version as it is reported, such as `3.3a`.
    pub version: &'static str,
    /// See [`Unassigned`].
    pub unassigned: Unassigned,
    /// See [`WidthTable`].
    pub width_table: WidthTable,
    /// See [`Zwj`].
    pub zwj: Zwj,
    /// U+FE0F makes its base two columns wide (RULES 2.8.2).
    pub vs16_widens: bool,
    /// The padding of a widened cell is stored one column too far (RULES 2.8.7).
    pub vs16_padding_misplaced: bool,
    /// See [`Pairs`].
    pub pairs: Pairs,
    /// Most bytes in a cell (RULES 2.8.6).
    pub cell_bytes: usize,
    /// Exactly `cell_bytes` bytes corrupt the cell.
    pub full_cell_corrupts: bool,
    /// A mark that does not fit gets a cell of its own, of width 0.
    pub overlong_mark_cell: bool,
    /// Hangul rules, and U+3164 is dropped (RULES 2.8.1, 2.8.5).
    pub hangul_rules: bool,
    /// The cursor stays where it is if the combined cell is not wholly visible (RULES 2.8.8).
    pub combine_needs_visible: bool,
    /// Invalid UTF-8 prints U+FFFD (RULES 1.20).
    pub invalid_utf8_shown: bool,
    /// Code points above U+10FFFF get a cell (RULES 1.18).
    pub above_unicode_cell: bool,
    /// REP repeats Unicode characters too (RULES 2.10).
    pub rep_unicode: bool,
    /// REP prints in the active character set.
    pub rep_acs: bool,
    /// HT stores a tab cell (RULES 2.12).
    pub tab_cells: bool,
    /// See [`LeftRepair`].
    pub left_repair: LeftRepair,
    /// The blank that repairs half a character keeps its background (RULES 2.4).
    pub repair_keeps_background: bool,
    /// Padding takes the pen's background (RULES 2.5 g).
    pub padding_background: bool,
    /// Padding counts in a reflow unless its cell is sticky (RULES 7.10).
    pub sticky_padding: bool,
    /// Erasing in place keeps the sticky bit.
    pub erase_keeps_sticky: bool,
    /// The first resize on leaving the alternate screen reflows (RULES 6.2 a).
    pub alternate_leave_reflows: bool,
    /// No push-clear while a mode is open (RULES 4.1, 4.3, 9.4).
    pub mode_stops_push_clear: bool,
    /// A later history-limit applies to panes that exist (RULES 5.3).
    pub history_limit_live: bool,
    /// An OSC number must be followed by `;` (RULES 8.6).
    pub osc_number_strict: bool,
    /// Most titles on the stack, if tmux limits it (RULES 8.4).
    pub title_stack_limit: Option<usize>,
    /// `#(` in a title becomes `_(`.
    pub title_defused: bool,
    /// Hyperlinks are stored (RULES 8.6).
    pub hyperlinks: bool,
    /// SGR 0 keeps the hyperlink.
    pub sgr0_keeps_link: bool,
    /// `CSI 18 t` reports columns before rows (RULES 8.7).
    pub size_report_swapped: bool,
    /// `CSI 14`, `15`, `16` and `19 t` are answered.
    pub pixel_reports: bool,
    /// See [`ModeReports`].
    pub mode_reports: ModeReports,
    /// DECRQSS is answered.
    pub setting_reports: bool,
    /// Colour reports have two digits a component, not four.
    pub short_color_reports: bool,
    /// Palette colours are reported (OSC 4), with their index.
    pub palette_reports: Option<bool>,
}

const V3_2A: Profile = Profile {
    version: "3.2a",
    unassigned: Unassigned::One,
    width_table: WidthTable::None,
    zwj: Zwj::Mark,
    vs16_widens: false,
    vs16_padding_misplaced: false,
    pairs: Pairs::None,
    cell_bytes: 21,
    full_cell_corrupts: false,
    overlong_mark_cell: false,
    hangul_rules: false,
    combine_needs_visible: false,
    invalid_utf8_shown: false,
    above_unicode_cell: true,
    rep_unicode: false,
    rep_acs: true,
    tab_cells: false,
    left_repair: LeftRepair::LastLooked,
    repair_keeps_background: false,
    padding_background: false,
    sticky_padding: false,
    erase_keeps_sticky: false,
    alternate_leave_reflows: true,
    mode_stops_push_clear: false,
    history_limit_live: false,
    osc_number_strict: false,
    title_stack_limit: None,
    title_defused: false,
    hyperlinks: false,
    sgr0_keeps_link: false,
    size_report_swapped: true,
    pixel_reports: false,
    mode_reports: ModeReports::None,
    setting_reports: false,
    short_color_reports: true,
    palette_reports: None,
};

const V3_3A: Profile = Profile {
    version: "3.3a",
    unassigned: Unassigned::Dropped,
    zwj: Zwj::Flag,
    above_unicode_cell: false,
    mode_stops_push_clear: true,
    short_color_reports: false,
    palette_reports: Some(false),
    ..V3_2A
};

const V3_4: Profile = Profile {
    version: "3.4",
    unassigned: Unassigned::ControlsZero,
    width_table: WidthTable::WideIndicators,
    zwj: Zwj::Joins,
    vs16_widens: true,
    vs16_padding_misplaced: true,
    pairs: Pairs::AnyBase,
    overlong_mark_cell: true,
    above_unicode_cell: true,
    alternate_leave_reflows: false,
    osc_number_strict: true,
    hyperlinks: true,
    sgr0_keeps_link: true,
    size_report_swapped: false,
    pixel_reports: true,
    ..V3_3A
};

const V3_5A: Profile =
    Profile { version: "3.5a", vs16_padding_misplaced: false, rep_unicode: true, rep_acs: false, ..V3_4 };

const V3_6: Profile = Profile {
    version: "3.6b",
    width_table: WidthTable::NarrowIndicators,
    pairs: Pairs::Listed,
    cell_bytes: 32,
    full_cell_corrupts: true,
    hangul_rules: true,
    invalid_utf8_shown: true,
    rep_acs: true,
    tab_cells: true,
    left_repair: LeftRepair::Itself,
    sticky_padding: true,
    mode_reports: ModeReports::Five,
    setting_reports: true,
    palette_reports: Some(true),
    ..V3_5A
};

const V3_7: Profile = Profile {
    version: "3.7c",
    pairs: Pairs::ListedTwoIndicators,
    combine_needs_visible: true,
    left_repair: LeftRepair::ItselfOrPadding,
    erase_keeps_sticky: true,
    history_limit_live: true,
    title_stack_limit: Some(10),
    title_defused: true,
    mode_reports: ModeReports::All,
    ..V3_6
};

const NEXT: Profile = Profile {
    version: "next-3.8",
    overlong_mark_cell: false,
    repair_keeps_background: true,
    padding_background: true,
    ..V3_7
};

impl Profile {
    /// The profile of a version such as `3.3a`, `3.6` or `next-3.8`; of the nearest one that is known
    /// for any other.
    pub fn for_version(version: &str) -> Self {
        if version.starts_with("next") || version == "master" {
            return NEXT;
        }
        let digits = version.trim_start_matches(|c: char| !c.is_ascii_digit());
        let mut parts = digits.split('.');
        let major: u32 = parts.next().and_then(|p| p.parse().ok()).unwrap_or(3);
        let rest = parts.next().unwrap_or("");
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let minor: u32 = rest.get(..end).and_then(|p| p.parse().ok()).unwrap_or(0);
        match (major, minor) {
            (0..=2, _) | (3, 0..=2) => V3_2A,
            (3, 3) => V3_3A,
            (3, 4) => V3_4,
            (3, 5) => V3_5A,
            (3, 6) => V3_6,
            (3, 7) => V3_7,
            _ => NEXT,
        }
    }
}

impl Default for Profile {
    /// 3.3a: the version that the rules describe, all others by their differences.
    fn default() -> Self {
        V3_3A
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (asked, got) in [
            ("3.2", "3.2a"),
            ("3.3a", "3.3a"),
            ("tmux 3.4", "3.4"),
            ("3.5", "3.5a"),
            ("3.6", "3.6b"),
            ("3.7a", "3.7c"),
            ("next-3.8", "next-3.8"),
            ("4.0", "next-3.8"),
            ("2.9", "3.2a"),
        ] {
            assert_eq!(Profile::for_version(asked).version, got, "{asked}");
        }
    }
}
