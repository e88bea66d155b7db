//! What the terminal calls before a line changes.

use std::ops::Range;

use crate::term::{Observer, Screen};

use super::{Watcher, WatcherId, line};

/// Passes lines that are about to change on to the watchers.
pub(super) struct Hook<'a> {
    watchers: &'a mut Vec<(WatcherId, Box<dyn Watcher>)>,
}

impl<'a> Hook<'a> {
    pub(super) fn new(watchers: &'a mut Vec<(WatcherId, Box<dyn Watcher>)>) -> Self {
        Self { watchers }
    }
}

impl Observer for Hook<'_> {
    const ACTIVE: bool = true;

    fn before_change(&mut self, screen: &Screen, rows: Range<usize>) {
        if self.watchers.is_empty() {
            return;
        }
        let lines = line::lines_where(screen, rows, |row| row.is_touched());
        if lines.is_empty() {
            return;
        }
        for (_, watcher) in self.watchers.iter_mut() {
            watcher.examine(&lines);
        }
    }
}
