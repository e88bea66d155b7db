//! Inserting and deleting cells and rows (RULES 4.6 to 4.9).

use super::observer::Observer;
use super::screen::Screen;
use super::style::Style;

impl Screen {
    /// ICH, `CSI n @` (RULES 4.6).
    pub(super) fn ich<O: Observer>(&mut self, count: usize, observer: &mut O) {
        if self.cx < self.grid.width {
            let bg = self.pen.style.erased();
            self.insert_cells(count.min(self.grid.width - self.cx), bg, observer);
        }
    }

    /// Shifts the cells right of the cursor (RULES 2.5 c, 4.6).
    pub(super) fn insert_cells<O: Observer>(&mut self, count: usize, bg: Style, observer: &mut O) {
        let width = self.grid.width;
        if self.cx + 1 >= width {
            self.erase_cells(self.cy, self.cx, 1, bg, observer);
            return;
        }
        let moved = width.saturating_sub(self.cx + count);
        if moved > 0 {
            let index = self.cursor_index();
            self.note_cells(observer, index, self.cx..width);
            self.grid.move_cells(index, self.cx, moved, self.cx + count, bg);
        }
    }

    /// DCH, `CSI n P` (RULES 4.7).
    pub(super) fn dch<O: Observer>(&mut self, count: usize, observer: &mut O) {
        let width = self.grid.width;
        if self.cx >= width {
            return;
        }
        let bg = self.pen.style.erased();
        let count = count.min(width - self.cx);
        let moved = width - self.cx - count;
        let index = self.cursor_index();
        if moved == 0 {
            self.erase_cells(self.cy, self.cx, count, bg, observer);
            return;
        }
        self.note_cells(observer, index, self.cx..width);
        self.grid.move_cells(index, self.cx + count, moved, self.cx, bg);
        self.grid.erase(index, width - count, count, bg);
    }

    /// The limits of IL and DL at the cursor: one past the last row concerned, and whether the
    /// cursor is inside the region.
    fn line_limits(&self) -> (usize, bool) {
        if (self.top..=self.bottom).contains(&self.cy) { (self.bottom + 1, true) } else { (self.grid.height, false) }
    }

    /// IL, `CSI n L` (RULES 4.9).
    pub(super) fn il<O: Observer>(&mut self, count: usize, observer: &mut O) {
        let (end, inside) = self.line_limits();
        let count = count.min(end - self.cy);
        let kept = end - self.cy - count;
        let bg = self.pen.style.erased();
        let first = self.first_visible();
        if !inside && kept == 0 {
            return;
        }
        // Outside the region rows between the old and the new place stay as they are.
        let lost = if inside { end - count..end } else { end - count.min(kept)..end };
        // The flags that moving rows down clears (RULES 0.9, 4.9).
        let breaks = [self.cy, self.cy + count, self.cy + kept.saturating_sub(count), end];
        self.note_lines(&breaks, lost, observer);
        let index = first + self.cy;
        self.grid.move_rows(index, kept, index + count, bg);
        if inside && kept != count {
            if kept < count {
                for row in index + kept..index + count {
                    self.grid.renew(row, bg);
                }
            }
            self.grid.unwrap_before(index + kept);
        }
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// DL, `CSI n M` (RULES 4.9).
    pub(super) fn dl<O: Observer>(&mut self, count: usize, observer: &mut O) {
        let (end, _) = self.line_limits();
        let count = count.min(end - self.cy);
        self.note_lines(&[self.cy, end], self.cy..self.cy + count, observer);
        let bg = self.pen.style.erased();
        self.delete_rows(self.cy, count, end, bg);
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// Removes `count` rows at row `y`; rows up to `end` move up, blank ones follow.
    pub(super) fn delete_rows(&mut self, y: usize, count: usize, end: usize, bg: Style) {
        let index = self.first_visible() + y;
        let kept = end - y - count;
        self.grid.move_rows(index + count, kept, index, bg);
        for row in index + kept..index + kept + count {
            self.grid.renew(row, bg);
        }
        if count > 0 {
            self.grid.unwrap_before(index + kept);
        }
    }

    /// Announces IL, DL and scrolls that lose rows: `lost`, and joins that break around it and before the rows `breaks`.
    pub(super) fn note_lines<O: Observer>(&mut self, breaks: &[usize], lost: std::ops::Range<usize>, observer: &mut O) {
        if !self.watched::<O>() {
            return;
        }
        let first = self.first_visible();
        let at = |y: usize| first + y;
        let holds = |i: usize| self.grid.row(i).is_some_and(|r| r.has_glyphs() || r.is_wrapped());
        let joins = |i: usize| i > 0 && self.grid.row(i - 1).is_some_and(|r| r.is_wrapped());
        let mut places = Vec::new();
        if lost.clone().any(|y| holds(at(y))) {
            places.push(at(lost.start)..at(lost.end));
        }
        for i in breaks.iter().chain([&lost.start, &lost.end]).map(|y| at(*y)) {
            if joins(i) {
                places.push(i - 1..(i + 1).min(self.len()));
            }
        }
        self.note_all(observer, &places);
    }
}
