//! The rows of a pane: what is retained, the history, and the screen.

use std::collections::VecDeque;
use std::ops::Range;

use crate::geometry::Size;

use super::Stamp;
use super::row::Row;
use super::style::Style;

/// All rows of a pane, in one list.
///
/// ```text
/// rows:  [ retained ........ | history ........ | screen ........ ]
///        0                   retained           first_visible()   len
///                            <-- hist rows -->  <-- rows -->
/// ```
///
/// *Retained* rows have left tmux's history (trim, ED 3, clear-history) and are only kept to be read.
/// Leaving the history moves the boundary and nothing else, so it costs the same for one row and for
/// all of them. A full-screen scroll appends a row at the end: the top row of the screen becomes
/// history without being moved. Rows beyond the retention leave at the front and are used again.
/// All rules of tmux see only history and screen (RULES 0.1).
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) rows: VecDeque<Box<Row>>,
    pub(super) retained: usize,
    pub(super) hist: usize,
    /// History rows, older than the ones in the list, that tmux has and that were never read (RULES 11.3).
    pub(super) unseen: usize,
    /// How many of the newest history rows may come back when the pane grows (RULES 0.1).
    pub(super) hscrolled: usize,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) history_limit: usize,
    /// False while the alternate screen is shown, or if the limit is 0.
    pub(super) history_on: bool,
    pub(super) retention: usize,
    pub(super) erase_keeps_sticky: bool,
    pub(super) next_id: u64,
    pub(super) pushed: u64,
    pub(super) dropped: u64,
    pub(super) newest_lost: Stamp,
    /// Memory of the rows before the screen, in bytes.
    pub(super) old_bytes: usize,
}

impl Grid {
    pub(super) fn new(size: Size, history_limit: usize, retention: usize) -> Self {
        let mut grid = Self {
            rows: VecDeque::new(),
            retained: 0,
            hist: 0,
            unseen: 0,
            hscrolled: 0,
            width: usize::from(size.cols.max(1)),
            height: usize::from(size.rows.max(1)),
            history_limit,
            history_on: history_limit > 0,
            retention,
            erase_keeps_sticky: false,
            next_id: 1,
            pushed: 0,
            dropped: 0,
            newest_lost: Stamp::NONE,
            old_bytes: 0,
        };
        for _ in 0..grid.height {
            grid.append(Style::DEFAULT);
        }
        grid
    }

    /// Index of the first row of the screen.
    #[inline]
    pub(super) fn first_visible(&self) -> usize {
        self.retained + self.hist
    }

    #[inline]
    pub(super) fn row(&self, index: usize) -> Option<&Row> {
        self.rows.get(index).map(|row| &**row)
    }

    #[inline]
    pub(super) fn row_mut(&mut self, index: usize) -> Option<&mut Row> {
        self.rows.get_mut(index).map(|row| &mut **row)
    }

    /// Row `y` of the screen.
    #[inline]
    pub(super) fn screen_row(&self, y: usize) -> Option<&Row> {
        self.row(self.first_visible() + y)
    }

    fn new_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// A fresh row, made of the oldest retained one if there are too many.
    fn fresh(&mut self) -> Box<Row> {
        let id = self.new_id();
        if self.retained > self.retention
            && let Some(mut row) = self.pop_oldest()
        {
            row.recycle(id);
            return row;
        }
        Box::new(Row::new(id))
    }

    /// Takes the oldest retained row out of the list.
    fn pop_oldest(&mut self) -> Option<Box<Row>> {
        let row = self.rows.pop_front()?;
        self.retained -= 1;
        self.dropped += 1;
        self.newest_lost = self.newest_lost.max(row.newest());
        self.old_bytes = self.old_bytes.saturating_sub(row.bytes());
        Some(row)
    }

    /// Drops up to `most` of the oldest retained rows as long as more than `keep` are left.
    pub(super) fn drop_retained(&mut self, keep: usize, most: usize) {
        for _ in 0..most {
            if self.retained <= keep || self.pop_oldest().is_none() {
                return;
            }
        }
    }

    /// Adds a blank row at the end of the list.
    pub(super) fn append(&mut self, background: Style) {
        let mut row = self.fresh();
        if background != Style::DEFAULT {
            row.wipe(background, self.width);
        }
        self.rows.push_back(row);
    }

    /// Counts the row at `index`, which has just become history.
    fn entered_history(&mut self, index: usize) {
        if let Some(row) = self.rows.get_mut(index) {
            row.settle();
            self.old_bytes += row.bytes();
        }
        self.hist += 1;
        self.pushed += 1;
    }

    /// The top `count` rows of the screen become history; the list stays as it is (RULES 7.3 b).
    pub(super) fn top_to_history(&mut self, count: usize) {
        for _ in 0..count {
            self.entered_history(self.first_visible());
            self.hscrolled += 1;
        }
    }

    /// The newest `count` history rows become the top of the screen (RULES 7.4).
    pub(super) fn history_to_top(&mut self, count: usize) {
        let count = count.min(self.hist);
        for _ in 0..count {
            self.hist -= 1;
            self.hscrolled = self.hscrolled.saturating_sub(1);
            let bytes = self.row(self.first_visible()).map_or(0, Row::bytes);
            self.old_bytes = self.old_bytes.saturating_sub(bytes);
        }
    }

    /// Counts the memory before the screen anew.
    pub(super) fn recount(&mut self) {
        let old = self.first_visible();
        self.old_bytes = self.rows.iter().take(old).map(|row| row.bytes()).sum();
    }

    /// Scrolls the whole screen up by one row into the history (RULES 5.1).
    #[inline]
    pub(super) fn scroll_into_history(&mut self, background: Style) {
        self.append(background);
        self.entered_history(self.first_visible());
        self.hscrolled += 1;
    }

    /// Scrolls a part of the screen up by one row into the history (RULES 5.1).
    pub(super) fn scroll_region_into_history(&mut self, top: usize, bottom: usize, background: Style) {
        self.append(background);
        let first = self.first_visible();
        if let Some(blank) = self.rows.pop_back() {
            self.rows.insert(first + bottom + 1, blank);
        }
        if top > 0
            && let Some(row) = self.rows.remove(first + top)
        {
            self.rows.insert(first, row);
        }
        self.entered_history(first);
        self.hscrolled += 1;
    }

    /// How many history rows the next trim drops (RULES 5.3).
    #[inline]
    pub(super) fn trim_due(&self) -> usize {
        let history = self.hist + self.unseen;
        if history > 0 && history >= self.history_limit { (self.history_limit / 10).max(1).min(history) } else { 0 }
    }

    /// The oldest `count` history rows leave the history.
    pub(super) fn drop_history(&mut self, count: usize) {
        let unseen = count.min(self.unseen);
        self.unseen -= unseen;
        let count = (count - unseen).min(self.hist);
        self.hist -= count;
        self.retained += count;
        self.hscrolled = self.hscrolled.min(self.hist);
    }

    /// Clears the flag of the row before `index` (RULES 0.7, 0.9).
    pub(super) fn unwrap_before(&mut self, index: usize) {
        if let Some(row) = index.checked_sub(1).and_then(|i| self.row_mut(i)) {
            row.set_wrapped(false);
        }
    }

    /// Wipes rows in place (RULES 0.2, 0.7).
    pub(super) fn wipe(&mut self, rows: Range<usize>, background: Style) {
        if rows.is_empty() {
            return;
        }
        let cols = self.width;
        for index in rows.clone() {
            if let Some(row) = self.row_mut(index) {
                row.wipe(background, cols);
            }
        }
        self.unwrap_before(rows.start);
    }

    /// Erases columns of a row (RULES 0.8).
    pub(super) fn erase(&mut self, index: usize, x: usize, count: usize, background: Style) {
        let cols = self.width;
        if count == 0 {
            return;
        }
        if x == 0 && count == cols {
            self.wipe(index..index + 1, background);
            return;
        }
        let keep = self.erase_keeps_sticky;
        let Some(row) = self.row_mut(index) else { return };
        let mut end = x + count;
        if background == Style::DEFAULT {
            end = end.min(cols.min(row.alloc()));
        } else {
            row.grow(end, cols);
        }
        row.erase(x..end, background, keep);
        row.orphan(end);
    }

    /// Moves `count` rows from `from` to `to` (RULES 0.9). The rows that are left over become fresh.
    pub(super) fn move_rows(&mut self, from: usize, count: usize, to: usize, background: Style) {
        if count == 0 || from == to {
            return;
        }
        self.unwrap_before(to);
        let len = self.rows.len();
        if from.max(to) + count > len {
            return;
        }
        if from < to {
            for i in (0..count).rev() {
                self.rows.swap(from + i, to + i);
            }
        } else {
            for i in 0..count {
                self.rows.swap(from + i, to + i);
            }
        }
        for index in from..from + count {
            if !(to..to + count).contains(&index) {
                self.renew(index, background);
            }
        }
        if from < to || from >= to + count {
            self.unwrap_before(from);
        }
    }

    /// Makes the row at `index` a fresh one with a new identity.
    pub(super) fn renew(&mut self, index: usize, background: Style) {
        let id = self.new_id();
        let cols = self.width;
        if let Some(row) = self.row_mut(index) {
            row.recycle(id);
            if background != Style::DEFAULT {
                row.wipe(background, cols);
            }
        }
    }

    /// Gives the row at `index` a new identity.
    pub(super) fn give_id(&mut self, index: usize) {
        let id = self.new_id();
        if let Some(row) = self.row_mut(index) {
            row.set_id(id);
        }
    }

    /// Moves cells of a row (RULES 0.10).
    pub(super) fn move_cells(&mut self, index: usize, from: usize, count: usize, to: usize, background: Style) {
        let cols = self.width;
        let Some(row) = self.row_mut(index) else { return };
        if count == 0 || from == to {
            return;
        }
        row.grow((from + count).max(to + count), cols);
        row.copy_cells(from, to, count);
        let left = if to > from { from..(from + count).min(to) } else { from.max(to + count)..from + count };
        row.erase(left, background, false);
        for x in [to, to + count, from, from + count] {
            row.orphan(x);
        }
    }

    /// Checks the invariants.
    pub(super) fn verify(&self) {
        assert_eq!(self.rows.len(), self.retained + self.hist + self.height, "length of the list");
        assert!(self.hscrolled <= self.hist, "hscrolled");
        let old: usize = self.rows.iter().take(self.first_visible()).map(|row| row.bytes()).sum();
        assert_eq!(self.old_bytes, old, "memory before the screen");
        for row in &self.rows {
            row.verify();
        }
    }
}
