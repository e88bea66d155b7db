//! The terminal emulator: bytes in, screen out, equal to tmux's own.
//!
//! Implements the rules of `RULES.md` (numbers in the comments are its sections). Pure: it does no
//! I/O and reads no clock.
//!
//! | file | holds |
//! | --- | --- |
//! | `parser`, `params`, `utf8` | the input machine: slices of text, sequences, characters |
//! | `dispatch`, `sgr`, `strings`, `replies` | from sequences to functions |
//! | `print`, `combine`, `width`, `charset` | characters into cells |
//! | `cursor`, `erase`, `edit`, `scroll`, `alternate`, `tabs`, `modes` | what sequences do |
//! | `resize`, `reflow` | changing the size |
//! | `grid`, `row`, `runs`, `glyph`, `style`, `cell` | storage |
//! | `observer` | telling somebody before text is lost |
//! | `seed` | filling a terminal from a capture |
//! | `profile` | what differs between tmux versions |

// Rows are moved by pointer, between the screen, the history and the hidden main screen.
#![allow(clippy::vec_box)]

mod alternate;
mod cell;
mod charset;
mod combine;
mod cursor;
mod dispatch;
mod edit;
mod erase;
mod glyph;
mod grid;
mod links;
mod modes;
mod observer;
mod params;
mod parser;
mod print;
mod profile;
mod reflow;
mod replies;
mod resize;
mod row;
mod runs;
mod screen;
mod scroll;
mod seed;
mod sgr;
mod strings;
mod style;
mod tabs;
#[cfg(test)]
mod tests;
mod utf8;
mod width;
mod width_table;

use std::ops::Range;
use std::time::Duration;

use crate::geometry::Size;
use crate::limits::ROWS_FREED_AT_ONCE;

pub use cell::{Cell, CellText};
pub use charset::line_drawing;
pub use modes::Modes;
pub use observer::Observer;
pub use profile::{LeftRepair, ModeReports, Pairs, Profile, Unassigned, WidthTable, Zwj};
pub use row::Row;
pub use screen::Screen;
pub use seed::{Seed, SeedModes, SeedRow};
pub use style::{Attribute, Color, Style, Underline};
pub use tabs::Tabs;

/// When a glyph was written: the number of a mark, rising. 0 means that there is no glyph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub u32);

impl Stamp {
    /// The cell holds no glyph.
    pub const NONE: Self = Self(0);
}

/// How a terminal behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tmux version to follow.
    pub profile: Profile,
    /// Most history rows, as tmux counts them; 0: no history.
    pub history_limit: usize,
    /// How many rows that left the history are kept to be read.
    pub retention: usize,
    /// Queue answers to DA, DSR and the like, for [`Terminal::take_replies`].
    pub answer_queries: bool,
}

impl Default for Options {
    /// [`Profile::default`], 2,000 rows of history, none retained, no answers.
    fn default() -> Self {
        Self { profile: Profile::default(), history_limit: 2000, retention: 0, answer_queries: false }
    }
}

/// A terminal: a parser and the screen that it writes to.
#[derive(Debug)]
pub struct Terminal {
    parser: parser::Parser,
    screen: Screen,
}

impl Terminal {
    /// Makes an empty terminal. Its first stamp is 1.
    pub fn new(size: Size, options: Options) -> Self {
        let mut screen = Screen::new(size, &options);
        screen.stamp = Stamp(1);
        Self { parser: parser::Parser::new(), screen }
    }

    /// Applies bytes. `now` is monotonic time since an arbitrary start; only the timer of string
    /// sequences needs it (RULES 1.14).
    pub fn feed<O: Observer>(&mut self, bytes: &[u8], now: Duration, observer: &mut O) {
        self.parser.advance(&mut self.screen, bytes, now, observer);
        let grid = &mut self.screen.grid;
        let slack = (grid.history_limit / 10).max(1) + grid.height;
        if grid.retained > grid.retention + slack {
            grid.drop_retained(grid.retention + slack, ROWS_FREED_AT_ONCE);
        }
    }

    /// Tells that one `read()` of tmux ended here. Only 3.3a cares: it forgets a joiner that was the
    /// last thing read (RULES 2.7). Without this call the input may be split anywhere.
    pub fn end_of_read(&mut self) {
        self.screen.joiner = false;
    }

    /// Changes the size, as tmux does it (RULES 7). It does so between two reads.
    pub fn resize<O: Observer>(&mut self, size: Size, observer: &mut O) {
        self.end_of_read();
        self.screen.resize(Size::new(size.rows, size.cols), observer);
    }

    /// `clear-history` (RULES 5.5).
    pub fn clear_history<O: Observer>(&mut self, observer: &mut O) {
        self.screen.ed_history(observer);
    }

    /// `send-keys -R` (RULES 5.7).
    pub fn reset<O: Observer>(&mut self, observer: &mut O) {
        self.parser.abandon();
        self.screen.ris(observer);
    }

    /// Sets the stamp that glyphs get from now on; [`Stamp::NONE`] is taken as 1.
    pub fn set_stamp(&mut self, stamp: Stamp) {
        self.screen.stamp = stamp.max(Stamp(1));
    }

    /// The stamp that glyphs get now.
    pub fn stamp(&self) -> Stamp {
        self.screen.stamp
    }

    /// What the bytes have made.
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Sets the stamp of the cells of a row that hold a glyph; `index` is absolute.
    pub fn restamp(&mut self, index: usize, cols: Range<u16>, stamp: Stamp) {
        let old = index < self.screen.first_visible();
        let grid = &mut self.screen.grid;
        let Some(row) = grid.rows.get_mut(index) else { return };
        let before = row.bytes();
        row.restamp(usize::from(cols.start)..usize::from(cols.end), stamp);
        let after = row.bytes();
        if old {
            grid.old_bytes = grid.old_bytes + after - before;
        }
        self.screen.last_glyph = self.screen.last_glyph.max(stamp);
    }

    /// Marks a row as looked at; `index` is absolute.
    pub fn clear_touched(&mut self, index: usize) {
        if let Some(row) = self.screen.grid.row_mut(index) {
            row.set_touched(false);
        }
    }

    /// Sets how many rows that left the history are kept. Surplus rows go bit by bit.
    pub fn set_retention(&mut self, rows: usize) {
        self.screen.grid.retention = rows;
    }

    /// Drops that many of the oldest retained rows.
    pub fn forget_retained(&mut self, rows: usize) {
        self.screen.grid.drop_retained(0, rows);
    }

    /// `history-limit` was set (RULES 5.3): from 3.7 on it applies to panes that exist.
    pub fn set_history_limit<O: Observer>(&mut self, rows: usize, observer: &mut O) {
        self.screen.set_history_limit(rows, observer);
    }

    /// Takes the answers to queries, oldest first.
    pub fn take_replies(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.screen.replies)
    }

    /// A mode such as copy mode is open in the pane: clears are not pushed into the history (RULES 9.4).
    pub fn set_mode_open(&mut self, open: bool) {
        self.screen.mode_open = open;
    }

    /// Checks all invariants.
    ///
    /// # Panics
    ///
    /// If one does not hold. For tests and fuzzing.
    pub fn verify(&self) {
        self.screen.verify();
    }
}
