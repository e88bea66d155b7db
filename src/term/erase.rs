//! Erasing (RULES 4.1 to 4.5, 4.11, 5.4).

use super::glyph::Glyph;
use super::observer::Observer;
use super::screen::Screen;
use super::style::{Extra, Ink, Style};

impl Screen {
    /// Erases columns of a row of the screen, and says so before.
    pub(super) fn erase_cells<O: Observer>(&mut self, y: usize, x: usize, count: usize, bg: Style, observer: &mut O) {
        let index = self.first_visible() + y;
        if x == 0 && count == self.grid.width {
            self.note_wipe(observer, index..index + 1);
        } else {
            self.note_cells(observer, index, x..x + count);
        }
        self.grid.erase(index, x, count, bg);
    }

    /// Wipes rows of the screen, and says so before.
    fn wipe_rows<O: Observer>(&mut self, from: usize, to: usize, bg: Style, observer: &mut O) {
        let first = self.first_visible();
        self.note_wipe(observer, first + from..first + to);
        self.grid.wipe(first + from..first + to, bg);
    }

    /// True if clearing the screen pushes it into the history (RULES 4.1, 4.3).
    fn clear_pushes(&self) -> bool {
        self.grid.history_on && !(self.mode_open && self.profile.mode_stops_push_clear)
    }

    /// ED, `CSI 0 J`: from the cursor to the end (RULES 4.1).
    pub(super) fn ed_below<O: Observer>(&mut self, observer: &mut O) {
        let bg = self.pen.style.erased();
        if self.cx == 0 && self.cy == 0 && self.clear_pushes() {
            self.push_clear(bg, observer);
            return;
        }
        let (width, height) = (self.grid.width, self.grid.height);
        let below = self.cy + 1;
        if self.watched::<O>() {
            let index = self.cursor_index();
            let here = self.grid.row(index).is_some_and(|r| r.has_glyph_in(self.cx..width));
            let lost = (index + 1..index + height - self.cy)
                .any(|i| self.grid.row(i).is_some_and(|r| r.has_glyphs() || r.is_wrapped()));
            let wraps = |i: usize| self.grid.row(i).is_some_and(|r| r.is_wrapped());
            let joined = (below < height && wraps(index)) || (self.cx == 0 && index > 0 && wraps(index - 1));
            if here || lost || joined {
                self.note(observer, index..index + height - self.cy);
            }
        }
        let index = self.cursor_index();
        if self.cx < width {
            self.grid.erase(index, self.cx, width - self.cx, bg);
        }
        self.grid.wipe(index + 1..index + height - self.cy, bg);
    }

    /// ED, `CSI 1 J`: from the start to the cursor (RULES 4.2).
    pub(super) fn ed_above<O: Observer>(&mut self, observer: &mut O) {
        let bg = self.pen.style.erased();
        let first = self.first_visible();
        let index = self.cursor_index();
        let whole = self.cx + 1 >= self.grid.width;
        let count = if whole { self.grid.width } else { self.cx + 1 };
        if self.watched::<O>() {
            let lost = |i: usize| self.grid.row(i).is_some_and(|r| r.has_glyphs() || r.is_wrapped());
            let here = self.grid.row(index).is_some_and(|r| r.has_glyph_in(0..count) || (whole && r.is_wrapped()));
            let joined = first > 0 && self.grid.row(first - 1).is_some_and(|r| r.is_wrapped());
            if here || joined || (first..index).any(lost) {
                self.note(observer, first..index + 1);
            }
        }
        self.grid.wipe(first..index, bg);
        self.grid.erase(index, 0, count, bg);
    }

    /// ED, `CSI 2 J`: the whole screen (RULES 4.3).
    pub(super) fn ed_all<O: Observer>(&mut self, bg: Style, observer: &mut O) {
        if self.clear_pushes() {
            self.push_clear(bg, observer);
        } else {
            self.wipe_rows(0, self.grid.height, bg, observer);
        }
    }

    /// ED, `CSI 3 J`, and clear-history: the history goes (RULES 4.3, 5.5).
    pub(super) fn ed_history<O: Observer>(&mut self, observer: &mut O) {
        let (first, count) = (self.grid.retained, self.grid.hist);
        self.note(observer, first..first + count);
        self.grid.drop_history(count + self.grid.unseen);
        self.grid.hscrolled = 0;
    }

    /// Pushes the used rows into the history and clears the rest (RULES 5.4).
    fn push_clear<O: Observer>(&mut self, bg: Style, observer: &mut O) {
        let height = self.grid.height;
        let is_used = |y: &usize| self.grid.screen_row(*y).is_some_and(|row| row.used_cells() > 0);
        let last = (0..height).rev().find(is_used).map_or(0, |y| y + 1);
        if last == 0 {
            self.wipe_rows(0, height, bg, observer);
            return;
        }
        for _ in 0..last {
            self.trim(observer);
            self.grid.scroll_into_history(bg);
        }
        self.wipe_rows(0, height - last, bg, observer);
        self.grid.hscrolled = 0;
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// EL, `CSI 0 K`: to the end of the row (RULES 4.4).
    pub(super) fn el_right<O: Observer>(&mut self, observer: &mut O) {
        if self.cx == 0 {
            self.el_all(observer);
            return;
        }
        let bg = self.pen.style.erased();
        let exists = self.grid.screen_row(self.cy).is_some_and(|row| self.cx < row.alloc());
        if self.cx < self.grid.width && (exists || bg != Style::DEFAULT) {
            self.erase_cells(self.cy, self.cx, self.grid.width - self.cx, bg, observer);
        }
    }

    /// EL, `CSI 1 K`: from the start of the row (RULES 4.4).
    pub(super) fn el_left<O: Observer>(&mut self, observer: &mut O) {
        if self.cx + 1 >= self.grid.width {
            self.el_all(observer);
        } else {
            let bg = self.pen.style.erased();
            self.erase_cells(self.cy, 0, self.cx + 1, bg, observer);
        }
    }

    /// EL, `CSI 2 K`: the whole row (RULES 4.4).
    pub(super) fn el_all<O: Observer>(&mut self, observer: &mut O) {
        let bg = self.pen.style.erased();
        let exists = self.grid.screen_row(self.cy).is_some_and(|row| row.alloc() > 0);
        if exists || bg != Style::DEFAULT {
            self.wipe_rows(self.cy, self.cy + 1, bg, observer);
        }
    }

    /// ECH, `CSI n X` (RULES 4.5).
    pub(super) fn ech<O: Observer>(&mut self, count: usize, observer: &mut O) {
        if self.cx < self.grid.width {
            let bg = self.pen.style.erased();
            self.erase_cells(self.cy, self.cx, count.min(self.grid.width - self.cx), bg, observer);
        }
    }

    /// DECALN, `ESC # 8`: the screen full of E (RULES 4.11).
    pub(super) fn decaln<O: Observer>(&mut self, observer: &mut O) {
        let first = self.first_visible();
        let (cols, rows) = (self.grid.width, self.grid.height);
        self.note(observer, first..first + rows);
        let ink = Ink { style: Style::DEFAULT, extra: Extra::default(), stamp: self.stamp };
        for index in first..first + rows {
            if let Some(row) = self.grid.row_mut(index) {
                row.grow(cols, cols);
                for x in 0..cols {
                    row.put(x, Glyph::ascii(b'E'), &ink);
                }
            }
        }
        self.last_glyph = self.stamp;
        self.set_cursor(0, 0);
        (self.top, self.bottom) = (0, rows - 1);
    }
}
