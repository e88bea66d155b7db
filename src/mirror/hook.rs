//! What the terminal calls before a line changes.

use std::ops::Range;

use crate::term::{Observer, Row, Screen};

use super::line::Room;
use super::{Watcher, WatcherId, line};

/// Passes lines that are about to change on to the watchers.
pub(super) struct Hook<'a> {
    watchers: &'a mut Vec<(WatcherId, Box<dyn Watcher>)>,
    room: &'a mut Room,
    /// `Screen::pushed` at the end of the newest examination.
    examined: u64,
}

impl<'a> Hook<'a> {
    pub(super) fn new(watchers: &'a mut Vec<(WatcherId, Box<dyn Watcher>)>, room: &'a mut Room, examined: u64) -> Self {
        Self { watchers, room, examined }
    }
}

/// The rows that can have changed since the screen had pushed `examined` rows: the screen, and the history rows that
/// went there since.
pub(super) fn fresh_rows(screen: &Screen, examined: u64) -> Range<usize> {
    let pushed = usize::try_from(screen.pushed().saturating_sub(examined)).unwrap_or(usize::MAX);
    let start = screen.first_visible().saturating_sub(pushed);
    start.max(screen.retained())..screen.len()
}

impl Observer for Hook<'_> {
    const ACTIVE: bool = true;

    fn before_change(&mut self, screen: &Screen, rows: Range<usize>) {
        if self.watchers.is_empty() {
            return;
        }
        if let Some(lines) = line::lines_where(self.room, screen, rows, Row::is_touched) {
            for (_, watcher) in self.watchers.iter_mut() {
                watcher.examine(&lines);
            }
        }
    }

    fn before_hiding(&mut self, screen: &Screen) {
        self.before_change(screen, fresh_rows(screen, self.examined));
    }
}
