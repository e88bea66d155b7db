//! The state of a terminal that can be looked at.

use crate::geometry::{Point, Size};

use super::alternate::HiddenMain;
use super::charset::Charsets;
use super::grid::Grid;
use super::links::Links;
use super::modes::Modes;
use super::profile::Profile;
use super::replies::Colors;
use super::row::Row;
use super::style::{Ink, Pen};
use super::tabs::Tabs;
use super::{Options, Stamp};

/// The character that REP repeats (RULES 2.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// There is none.
    Nothing,
    /// A printable ASCII byte.
    Ascii(u8),
    /// UTF-8 of one character, and its length.
    Unicode([u8; 4], usize),
}

/// What DECSC keeps (RULES 3.11).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SavedCursor {
    pub(super) cx: usize,
    pub(super) cy: usize,
    pub(super) pen: Pen,
    pub(super) charsets: Charsets,
    pub(super) origin: bool,
}

/// Rows, cursor, modes and everything else that the bytes of a pane have made.
///
/// Row indices are absolute: 0 is the oldest retained row, [`Screen::first_visible`] the top of the
/// screen. The cursor's column may be the number of columns (a wrap is pending), and larger on an
/// alternate screen that shrank (RULES 0.12).
#[derive(Debug)]
pub struct Screen {
    pub(super) grid: Grid,
    pub(super) cx: usize,
    pub(super) cy: usize,
    pub(super) top: usize,
    pub(super) bottom: usize,
    pub(super) tabs: Tabs,
    pub(super) modes: Modes,
    pub(super) pen: Pen,
    pub(super) charsets: Charsets,
    pub(super) saved: SavedCursor,
    /// The 1049 slot: cursor, if it was ever set (RULES 6.1).
    pub(super) slot: Option<(usize, usize)>,
    pub(super) slot_pen: Pen,
    pub(super) hidden: Option<HiddenMain>,
    pub(super) entries: u64,
    pub(super) title: String,
    pub(super) path: String,
    pub(super) titles: Vec<String>,
    pub(super) repeat: Repeat,
    /// U+200D was seen (RULES 2.7).
    pub(super) joiner: bool,
    /// A wrap was just made and announced; the glyph that caused it is not stored yet.
    pub(super) wrapping: bool,
    pub(super) profile: Profile,
    pub(super) stamp: Stamp,
    pub(super) last_glyph: Stamp,
    pub(super) bells: u64,
    pub(super) mode_open: bool,
    pub(super) links: Links,
    pub(super) colors: Colors,
    pub(super) replies: Vec<u8>,
    pub(super) answers: bool,
}

impl Screen {
    pub(super) fn new(size: Size, options: &Options) -> Self {
        let mut grid = Grid::new(size, options.history_limit, options.retention);
        grid.erase_keeps_sticky = options.profile.erase_keeps_sticky;
        Self {
            cx: 0,
            cy: 0,
            top: 0,
            bottom: grid.height - 1,
            tabs: Tabs::new(grid.width),
            modes: Modes::default(),
            pen: Pen::default(),
            charsets: Charsets::default(),
            saved: SavedCursor::default(),
            slot: None,
            slot_pen: Pen::default(),
            hidden: None,
            entries: 0,
            title: String::new(),
            path: String::new(),
            titles: Vec::new(),
            repeat: Repeat::Nothing,
            joiner: false,
            wrapping: false,
            profile: options.profile.clone(),
            stamp: Stamp::NONE,
            last_glyph: Stamp::NONE,
            bells: 0,
            mode_open: false,
            links: Links::default(),
            colors: Colors::default(),
            replies: Vec::new(),
            answers: options.answer_queries,
            grid,
        }
    }

    /// Number of rows and columns that are shown.
    pub fn size(&self) -> Size {
        Size { rows: self.grid.height as u16, cols: self.grid.width as u16 }
    }

    /// Where the cursor is. The column may equal the number of columns, or exceed it (RULES 0.12).
    pub fn cursor(&self) -> Point {
        let clamp = |n: usize| n.min(usize::from(u16::MAX)) as u16;
        Point { row: clamp(self.cy), col: clamp(self.cx) }
    }

    /// True while the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.hidden.is_some()
    }

    /// How often the alternate screen was entered so far.
    pub fn alternate_entries(&self) -> u64 {
        self.entries
    }

    /// Stamp of the newest glyph write anywhere, whether the glyph still stands or not.
    pub fn last_glyph(&self) -> Stamp {
        self.last_glyph
    }

    /// How often BEL was executed so far.
    pub fn bells(&self) -> u64 {
        self.bells
    }

    /// The title that the program set, empty at first.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The path that the program reported (OSC 7), empty at first.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The modes.
    pub fn modes(&self) -> &Modes {
        &self.modes
    }

    /// First and last row of the scroll region, counted from the top of the screen.
    pub fn region(&self) -> (u16, u16) {
        (self.top as u16, self.bottom as u16)
    }

    /// The tab stops.
    pub fn tabs(&self) -> &Tabs {
        &self.tabs
    }

    /// The version that is followed.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Number of retained rows: they left the history and can only be read.
    pub fn retained(&self) -> usize {
        self.grid.retained
    }

    /// Number of rows in the history, as tmux counts them.
    pub fn history(&self) -> usize {
        self.grid.hist + self.grid.unseen
    }

    /// How many of the oldest history rows are not in the list, because a seed left them out.
    pub fn unseen(&self) -> usize {
        self.grid.unseen
    }

    /// The most rows that the history may hold.
    pub fn history_limit(&self) -> usize {
        self.grid.history_limit
    }

    /// How many rows ever entered the history.
    pub fn pushed(&self) -> u64 {
        self.grid.pushed
    }

    /// How many rows ever left the front of the list.
    pub fn dropped(&self) -> u64 {
        self.grid.dropped
    }

    /// Number of rows in all: retained, history and screen.
    #[allow(clippy::len_without_is_empty)] // there is always at least one row
    pub fn len(&self) -> usize {
        self.grid.rows.len()
    }

    /// Index of the top row of the screen.
    #[inline]
    pub fn first_visible(&self) -> usize {
        self.grid.first_visible()
    }

    /// The row at an absolute index.
    pub fn row(&self, index: usize) -> Option<&Row> {
        self.grid.row(index)
    }

    /// The rows of the screen, top first.
    pub fn visible(&self) -> impl Iterator<Item = &Row> {
        self.grid.rows.iter().skip(self.grid.first_visible()).map(|row| &**row)
    }

    /// The rows of the main screen while the alternate one is shown, else none.
    pub fn hidden_main(&self) -> &[Box<Row>] {
        self.hidden.as_ref().map_or(&[], |hidden| &hidden.rows)
    }

    /// Highest stamp of any row that left the front of the list.
    pub fn newest_lost(&self) -> Stamp {
        self.grid.newest_lost
    }

    /// Memory of all rows, in bytes.
    pub fn bytes(&self) -> usize {
        let visible: usize = self.visible().map(Row::bytes).sum();
        let hidden: usize = self.hidden_main().iter().map(|row| row.bytes()).sum();
        self.grid.old_bytes + visible + hidden + self.len() * size_of::<Box<Row>>()
    }

    /// Absolute index of the cursor's row.
    #[inline]
    pub(super) fn cursor_index(&self) -> usize {
        self.grid.first_visible() + self.cy
    }

    /// The pen with the present stamp.
    #[inline]
    pub(super) fn ink(&self) -> Ink {
        Ink { style: self.pen.style, extra: self.pen.extra, stamp: self.stamp }
    }

    /// Checks the invariants.
    pub(super) fn verify(&self) {
        self.grid.verify();
        assert!(self.cy < self.grid.height, "cursor row");
        assert!(self.is_alternate() || self.cx <= self.grid.width, "cursor column");
        assert!(self.top <= self.bottom && self.bottom < self.grid.height, "region");
        if let Some(hidden) = &self.hidden {
            assert!(!self.grid.history_on, "no history on the alternate screen");
            assert_eq!(hidden.rows.len(), usize::from(hidden.size.rows), "hidden rows");
        }
    }
}
