//! A terminal that remembers: marks, rows since a mark, and watchers that see every state before it is lost.
//!
//! ```text
//!  bytes ──> Mirror ──> Terminal (the screen, equal to tmux's)
//!               │            │ before_change: a line is about to change
//!               │            v
//!               └──────> watchers: examined there, and at the end of each delivery
//! ```
//!
//! The mirror does no I/O and reads no clock; whoever feeds it passes the time in.

mod hook;
mod line;
mod screen_text;
mod seed;
mod since;
#[cfg(test)]
mod tests;

use line::Room;
pub use line::{LineText, Lines};
pub use seed::Snapshot;
pub use since::{Since, Skipped};

use std::time::Duration;

use crate::geometry::Size;
use crate::term::{Row, Screen, Seed, Stamp, Terminal};

use hook::{Hook, fresh_rows};

/// A moment in a pane's stream.
///
/// A cell is new since a mark if its last glyph write came after it; see the law of new output in the README.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark(u32);

impl Mark {
    /// The mark's number: marks of one mirror are numbered in order.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The mark before everything that came after the mirror was made.
    pub fn first() -> Self {
        Self(OLD.0 + 1)
    }

    /// The mark with that number, as a cursor carries it.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// Tells whether something stamped so was written after this mark.
    pub fn precedes(self, stamp: Stamp) -> bool {
        stamp.0 >= self.0
    }
}

/// The stamp of everything that was there before any mark.
pub(crate) const OLD: Stamp = Stamp(1);

/// One who waits for text and judges each state of the lines that hold new cells.
pub trait Watcher: Send {
    /// Judges lines at one moment: one examination. Lines were changed since the newest examination; whether one holds
    /// a new cell is for the watcher's mark to say.
    fn examine(&mut self, lines: &Lines<'_>);

    /// Closes a delivery; `true` when the watcher has its answer and wants to be taken off.
    fn close_delivery(&mut self, screen: &Screen) -> bool;
}

/// Names a watcher of one mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatcherId(u64);

/// A terminal with marks and watchers.
pub struct Mirror {
    terminal: Terminal,
    watchers: Vec<(WatcherId, Box<dyn Watcher>)>,
    room: Room,
    next_watcher: u64,
    generation: u32,
    /// `Screen::pushed` at the end of the newest examination: rows that went to history since are looked at too.
    examined: u64,
    /// The newest generation in which something was missed (a gap in the stream), or 0.
    gap: u32,
    drift: u64,
}

impl Mirror {
    /// Makes a mirror of a terminal as it stands: what it shows is old.
    pub fn new(mut terminal: Terminal) -> Self {
        let generation = OLD.0 + 1;
        terminal.set_stamp(Stamp(generation));
        Self {
            examined: terminal.screen().pushed(),
            terminal,
            watchers: Vec::new(),
            room: Room::default(),
            next_watcher: 0,
            generation,
            gap: 0,
            drift: 0,
        }
    }

    /// The terminal behind the mirror, to read from.
    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// The terminal behind the mirror, for replies and settings. Feeding it goes through [`Mirror::apply`].
    pub fn terminal_mut(&mut self) -> &mut Terminal {
        &mut self.terminal
    }

    /// The screen as it stands.
    pub fn screen(&self) -> &Screen {
        self.terminal.screen()
    }

    /// Takes a mark: all that is applied from now on is new since it. O(1), any number may exist.
    pub fn mark(&mut self) -> Mark {
        if self.screen().last_glyph().0 >= self.generation {
            self.generation = self.generation.saturating_add(1);
            self.terminal.set_stamp(Stamp(self.generation));
        }
        Mark(self.generation)
    }

    /// Tells whether any glyph was written since the mark, alternate screen included.
    pub fn wrote_since(&self, mark: Mark) -> bool {
        mark.precedes(self.screen().last_glyph())
    }

    /// How often the mirror was found to differ from the screen it mirrors, and repaired.
    pub fn drift(&self) -> u64 {
        self.drift
    }

    /// Applies one delivery; watchers that have their answer are taken off.
    ///
    /// `now` is a monotonic time since an arbitrary start.
    pub fn apply(&mut self, bytes: &[u8], now: Duration) {
        if self.watchers.is_empty() {
            self.terminal.feed(bytes, now, &mut ());
            self.terminal.end_of_read();
            return;
        }
        let mut hook = Hook::new(&mut self.watchers, &mut self.room, self.examined);
        self.terminal.feed(bytes, now, &mut hook);
        self.terminal.end_of_read();
        self.close_delivery()
    }

    /// Resizes the terminal; a delivery of its own.
    pub fn resize(&mut self, size: Size) {
        let mut hook = Hook::new(&mut self.watchers, &mut self.room, self.examined);
        self.terminal.resize(size, &mut hook);
        self.close_delivery()
    }

    /// Empties the grid history as `tmux clear-history` does; a delivery of its own.
    pub fn clear_history(&mut self) {
        let mut hook = Hook::new(&mut self.watchers, &mut self.room, self.examined);
        self.terminal.clear_history(&mut hook);
        self.close_delivery()
    }

    /// Puts a watcher to work. Lines that already hold cells new to it (an entry whose mirror was opened later) are
    /// examined by [`Mirror::examine_now`].
    pub fn watch(&mut self, watcher: Box<dyn Watcher>) -> WatcherId {
        if self.watchers.is_empty() {
            self.settle();
        }
        self.next_watcher += 1;
        let id = WatcherId(self.next_watcher);
        self.watchers.push((id, watcher));
        id
    }

    /// Takes a watcher off, if it is still at work.
    pub fn unwatch(&mut self, id: WatcherId) {
        self.watchers.retain(|(other, _)| *other != id);
    }

    /// Number of watchers at work.
    pub fn watchers(&self) -> usize {
        self.watchers.len()
    }

    /// Lets one watcher judge all lines that hold a cell new since the mark, as at the end of a delivery.
    pub fn examine_now(&mut self, id: WatcherId, mark: Mark) {
        let screen = self.terminal.screen();
        let Some(at) = self.watchers.iter().position(|(other, _)| *other == id) else { return };
        let Some((_, watcher)) = self.watchers.get_mut(at) else { return };
        if !screen.is_alternate() {
            let rows = screen.retained()..screen.len();
            if let Some(lines) = line::lines_where(&mut self.room, screen, rows, |row| mark.precedes(row.newest())) {
                watcher.examine(&lines);
            }
        }
        if watcher.close_delivery(screen) {
            self.watchers.swap_remove(at);
        }
    }

    /// Lets a delivery end: touched lines are examined, finished watchers taken off.
    fn close_delivery(&mut self) {
        let screen = self.terminal.screen();
        let fresh = fresh_rows(screen, self.examined);
        if !screen.is_alternate() {
            if let Some(lines) = line::lines_where(&mut self.room, screen, fresh, Row::is_touched) {
                for (_, watcher) in &mut self.watchers {
                    watcher.examine(&lines);
                }
            }
            self.settle();
        }
        let screen = self.terminal.screen();
        self.watchers.retain_mut(|(_, watcher)| !watcher.close_delivery(screen));
    }

    /// Marks all rows as examined.
    fn settle(&mut self) {
        let rows = fresh_rows(self.terminal.screen(), self.examined);
        // A delivery may have pushed very many rows: none is looked at twice.
        for index in rows {
            self.terminal.clear_touched(index);
        }
        self.examined = self.terminal.screen().pushed();
    }

    /// Notes that part of the stream was not seen: cursors taken before are told that lines were missed.
    pub fn note_gap(&mut self) {
        self.gap = self.mark().0;
    }

    /// Opens the mirror from a captured screen; returns a mark for each snapshot, which must come oldest first.
    ///
    /// Cells that differ from a snapshot are new since its mark (DESIGN, Entry).
    pub fn open(&mut self, seed: Seed, entries: &[Snapshot]) -> Vec<Mark> {
        seed::open(self, seed, entries)
    }

    /// Replaces the screen by a captured one after a difference was found, keeping the stamps of what is the same.
    ///
    /// Cells that the repair brings in are old. Counted in [`Mirror::drift`] if `counted`. A delivery of its own.
    pub fn repair(&mut self, seed: Seed, counted: bool) {
        if counted {
            self.drift += 1;
        }
        seed::repair(self, seed);
        self.note_gap();
        self.close_delivery()
    }

    /// Replaces the screen by a captured one after the stream was interrupted: what differs counts as written
    /// meanwhile, as in [`Mirror::open`], and the gap is noted for cursors. A delivery of its own.
    pub fn rejoin(&mut self, seed: Seed) {
        seed::rejoin(self, seed);
        self.note_gap();
        self.close_delivery()
    }

    /// Tells whether a captured screen differs from the mirror in text, wraps, cursor or alternate screen.
    pub fn differs_from(&self, seed: &Seed) -> bool {
        seed::differs(self, seed)
    }
}
