//! Scrolling and the history (RULES 5).

use super::observer::Observer;
use super::screen::Screen;
use super::style::Style;

impl Screen {
    /// The row below, or a scroll (RULES 3.2).
    #[inline]
    pub(super) fn line_down<O: Observer>(&mut self, bg: Style, observer: &mut O) {
        if self.cy == self.bottom {
            self.scroll_up(bg, observer);
        } else if self.cy + 1 < self.grid.height {
            self.cy += 1;
        }
    }

    /// Scrolls the region up by one row (RULES 5.1).
    #[inline]
    pub(super) fn scroll_up<O: Observer>(&mut self, bg: Style, observer: &mut O) {
        let whole = self.top == 0 && self.bottom + 1 == self.grid.height;
        if !self.grid.history_on {
            self.scroll_up_lost(bg, observer);
        } else {
            if whole {
                self.trim(observer);
                self.grid.scroll_into_history(bg);
            } else {
                self.note_up(1, observer);
                self.trim(&mut ());
                self.grid.scroll_region_into_history(self.top, self.bottom, bg);
            }
        }
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// A scroll without a history: the top row of the region is lost.
    fn scroll_up_lost<O: Observer>(&mut self, bg: Style, observer: &mut O) {
        let (top, end) = (self.top, self.bottom + 1);
        if end - top < 2 {
            return;
        }
        self.note_up(1, observer);
        let first = self.first_visible();
        self.grid.move_rows(first + top + 1, end - top - 1, first + top, bg);
    }

    /// Announces that the region scrolls up by `count` rows: it changes text only where a soft wrap crosses an edge, and
    /// where rows are lost.
    pub(super) fn note_up<O: Observer>(&mut self, count: usize, observer: &mut O) {
        if !self.watched::<O>() {
            return;
        }
        let first = self.first_visible();
        if !self.grid.history_on {
            self.note_lines(&[self.top, self.bottom + 1], self.top..self.top + count, observer);
            return;
        }
        // Rows that enter the history and leave it again are those at the top of the region.
        let due = self.trimmed_by(count);
        let (old, entered) = (due.min(self.grid.hist), due.saturating_sub(self.grid.hist).min(count));
        let top = first + self.top;
        let mut places = vec![self.grid.retained..self.grid.retained + old, top..top + entered];
        let wrapped = |i: usize| self.grid.row(i).is_some_and(|r| r.is_wrapped());
        let leaving = first + self.top..first + self.top + count;
        let edges = [first.checked_sub(1), leaving.start.checked_sub(1)];
        if self.top > 0 && edges.into_iter().flatten().chain(leaving.clone()).any(wrapped) {
            places.push(first.saturating_sub(1)..(leaving.end + 1).min(self.len()));
        }
        let bottom = first + self.bottom;
        if self.bottom + 1 < self.grid.height && wrapped(bottom) {
            places.push(bottom..bottom + 2);
        }
        self.note_all(observer, &places);
    }

    /// How many rows of the list leave the history when `count` rows enter it.
    fn trimmed_by(&self, count: usize) -> usize {
        let (mut history, mut dropped) = (self.grid.hist + self.grid.unseen, 0);
        for _ in 0..count {
            let due = if history > 0 && history >= self.grid.history_limit {
                (self.grid.history_limit / 10).max(1).min(history)
            } else {
                0
            };
            history = history + 1 - due;
            dropped += due;
        }
        dropped.saturating_sub(self.grid.unseen)
    }

    /// Scrolls the region down by one row; the bottom row is lost (RULES 4.10).
    pub(super) fn scroll_down<O: Observer>(&mut self, bg: Style, observer: &mut O) {
        let (top, end) = (self.top, self.bottom + 1);
        if end - top < 2 {
            return;
        }
        self.note_lines(&[top, top + 1, end], end - 1..end, observer);
        let first = self.first_visible();
        self.grid.move_rows(first + top, end - top - 1, first + top + 1, bg);
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// RI, `ESC M` (RULES 3.4).
    pub(super) fn ri<O: Observer>(&mut self, observer: &mut O) {
        if self.cy == self.top {
            let bg = self.pen.style.erased();
            self.scroll_down(bg, observer);
        } else if self.cy > 0 {
            self.cy -= 1;
        }
    }

    /// SU, `CSI n S` (RULES 4.10).
    pub(super) fn su<O: Observer>(&mut self, count: usize, observer: &mut O) {
        let bg = self.pen.style.erased();
        let count = count.min(self.bottom + 1 - self.top);
        self.note_up(count, observer);
        for _ in 0..count {
            self.scroll_up(bg, &mut ());
        }
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// SD, `CSI n T` (RULES 4.10).
    pub(super) fn sd<O: Observer>(&mut self, count: usize, observer: &mut O) {
        let bg = self.pen.style.erased();
        let (top, end) = (self.top, self.bottom + 1);
        let count = count.min(end - top);
        if end - top >= 2 {
            self.note_lines(&[top, top + 1, end], end - count..end, observer);
        }
        for _ in 0..count {
            self.scroll_down(bg, &mut ());
        }
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// Trims the history before a row enters it (RULES 5.3).
    #[inline]
    pub(super) fn trim<O: Observer>(&mut self, observer: &mut O) {
        let due = self.grid.trim_due();
        if due > 0 {
            self.note_dropped(due, observer);
            self.grid.drop_history(due);
        }
    }

    /// Tells that the oldest `count` history rows are about to go.
    fn note_dropped<O: Observer>(&mut self, count: usize, observer: &mut O) {
        let first = self.grid.retained;
        let held = count.saturating_sub(self.grid.unseen);
        self.note(observer, first..first + held);
    }

    /// `history-limit` was set while the pane exists (RULES 5.3).
    pub(super) fn set_history_limit<O: Observer>(&mut self, rows: usize, observer: &mut O) {
        if !self.profile.history_limit_live {
            return;
        }
        let hist = self.grid.hist + self.grid.unseen;
        self.grid.history_limit = rows;
        if hist > 0 && hist >= rows {
            let due = (hist - rows).max(1);
            self.note_dropped(due, observer);
            self.grid.drop_history(due);
        }
    }
}
