//! Changing the size (RULES 7).

use crate::geometry::Size;

use super::observer::Observer;
use super::screen::Screen;
use super::style::Style;
use super::tabs::Tabs;

/// Where the cursor stands in the text, whatever the width (RULES 7.11).
struct Place {
    /// Rows above that do not wrap.
    lines: usize,
    /// Cells from the start of the line; None: at its end.
    cell: Option<usize>,
}

impl Screen {
    /// A resize of the pane.
    pub(super) fn resize<O: Observer>(&mut self, size: Size, observer: &mut O) {
        if size == self.size() {
            return;
        }
        self.resize_rows(size, !self.is_alternate(), observer);
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// Tabs, height, reflow, cursor, in this order (RULES 7.1).
    pub(super) fn resize_rows<O: Observer>(&mut self, size: Size, reflow: bool, observer: &mut O) {
        let (cols, rows) = (usize::from(size.cols.max(1)), usize::from(size.rows.max(1)));
        let reflows = reflow && cols != self.grid.width;
        if reflows && self.watched::<O>() {
            let first = self.grid.retained;
            self.note(observer, first..self.len());
        }
        if cols != self.grid.width {
            self.grid.width = cols;
            self.tabs = Tabs::new(cols);
        }
        let mut row = self.grid.hist + self.cy;
        if rows < self.grid.height {
            row = row.saturating_sub(self.shrink(rows, observer));
        } else if rows > self.grid.height {
            self.extend(rows);
        }
        if reflows {
            let place = self.locate(row);
            self.grid.reflow(self.profile.sticky_padding);
            row = self.find(&place);
        }
        if row < self.grid.hist {
            (self.cx, self.cy) = (0, 0);
        } else {
            self.cy = (row - self.grid.hist).min(self.grid.height - 1);
        }
    }

    /// Fewer rows (RULES 7.3). Returns by how much the cursor's absolute row changes.
    fn shrink<O: Observer>(&mut self, rows: usize, observer: &mut O) -> usize {
        let height = self.grid.height;
        let mut need = height - rows;
        let mut moved = 0;
        // Without a sign, as in tmux: a cursor below the screen cuts as much as is needed.
        let below = (height - 1).wrapping_sub(self.cy).min(need);
        let first = self.first_visible();
        if below > 0 {
            self.note_wipe(observer, first + height - below..first + height);
            self.grid.wipe(first + height - below..first + height, Style::DEFAULT);
            need -= below;
        }
        if self.grid.history_on {
            self.grid.top_to_history(need);
        } else {
            let lost = need.min(self.cy);
            self.note_lines(&[0, height], 0..lost, observer);
            self.delete_rows(0, lost, height, Style::DEFAULT);
            moved = lost;
        }
        self.grid.height = rows;
        let end = self.first_visible() + rows;
        self.grid.rows.truncate(end);
        (self.top, self.bottom) = (0, rows - 1);
        moved
    }

    /// More rows (RULES 7.4).
    fn extend(&mut self, rows: usize) {
        let mut need = rows - self.grid.height;
        if self.grid.history_on {
            let back = self.grid.hscrolled.min(need);
            self.grid.history_to_top(back);
            need -= back;
        }
        self.grid.height = rows;
        for _ in 0..need {
            self.grid.append(Style::DEFAULT);
        }
        (self.top, self.bottom) = (0, rows - 1);
    }

    /// The cursor's place in the text, before a reflow (RULES 7.11).
    fn locate(&self, row: usize) -> Place {
        let at = |i: usize| self.grid.row(self.grid.retained + i);
        let wraps = |i: usize| at(i).is_some_and(|r| r.is_wrapped());
        let lines = (0..row).filter(|i| !wraps(*i)).count();
        let used = at(row).map_or(0, |r| r.used_cells());
        if self.cx >= used {
            return Place { lines, cell: None };
        }
        let before: usize = (0..row).rev().take_while(|i| wraps(*i)).filter_map(at).map(|r| r.used_cells()).sum();
        Place { lines, cell: Some(before + self.cx) }
    }

    /// Sets the column and returns the absolute row, after a reflow (RULES 7.11).
    fn find(&mut self, place: &Place) -> usize {
        let retained = self.grid.retained;
        let last = self.grid.rows.len() - retained - 1;
        let rows = self.grid.rows.iter().skip(retained);
        let mut lines = place.lines;
        let mut row = 0;
        for (i, candidate) in rows.enumerate() {
            if lines == 0 || i == last {
                row = i;
                break;
            }
            lines -= usize::from(!candidate.is_wrapped());
        }
        let at = |i: usize| self.grid.row(retained + i);
        let wraps = |i: usize| i < last && at(i).is_some_and(|r| r.is_wrapped());
        let used = |i: usize| at(i).map_or(0, |r| r.used_cells());
        let cx = match place.cell {
            None => {
                while wraps(row) {
                    row += 1;
                }
                used(row)
            }
            Some(mut cell) => {
                while wraps(row) && cell >= used(row) {
                    cell -= used(row);
                    row += 1;
                }
                cell
            }
        };
        self.cx = cx.min(self.grid.width);
        row
    }
}
