//! The alternate screen (RULES 6).

use crate::geometry::Size;

use super::observer::Observer;
use super::row::Row;
use super::screen::Screen;
use super::style::Style;

/// The main screen while the alternate one is shown.
#[derive(Debug)]
pub(super) struct HiddenMain {
    pub(super) rows: Vec<Box<Row>>,
    pub(super) size: Size,
    pub(super) history_on: bool,
}

impl Screen {
    /// Enters the alternate screen, `CSI ? 47 h`, `1047 h`, `1049 h` (RULES 6.1).
    pub(super) fn enter_alternate<O: Observer>(&mut self, with_cursor: bool, observer: &mut O) {
        if self.hidden.is_some() {
            return;
        }
        let first = self.first_visible();
        self.note(observer, first..first + self.grid.height);
        if O::ACTIVE {
            observer.before_hiding(self);
        }
        if with_cursor {
            self.slot = Some((self.cx, self.cy));
        }
        self.slot_pen = self.pen;
        let rows: Vec<_> = self.grid.rows.drain(first..).collect();
        self.hidden = Some(HiddenMain { rows, size: self.size(), history_on: self.grid.history_on });
        for _ in 0..self.grid.height {
            self.grid.append(Style::DEFAULT);
        }
        let first = self.first_visible();
        self.grid.unwrap_before(first);
        self.grid.history_on = false;
        self.entries += 1;
        if O::ACTIVE {
            observer.rows_changed(self);
        }
    }

    /// Takes the rows of a hidden main screen from a seed.
    pub(super) fn hide(&mut self, rows: Vec<Box<Row>>, size: Size) {
        self.hidden = Some(HiddenMain { rows, size, history_on: self.grid.history_on });
        self.grid.history_on = false;
    }

    /// Leaves the alternate screen, `CSI ? 47 l`, `1047 l`, `1049 l` (RULES 6.2).
    pub(super) fn leave_alternate<O: Observer>(&mut self, with_cursor: bool, observer: &mut O) {
        let saved = self.hidden.as_ref().map(|hidden| hidden.size);
        let actual = self.size();
        if let Some(size) = saved {
            self.resize_rows(size, self.profile.alternate_leave_reflows, &mut ());
        }
        if with_cursor && let Some((cx, cy)) = self.slot {
            (self.cx, self.cy) = (cx, cy);
            self.pen = self.slot_pen;
        }
        if let Some(hidden) = self.hidden.take() {
            let first = self.first_visible();
            self.grid.rows.truncate(first);
            self.grid.rows.extend(hidden.rows);
            self.grid.history_on = hidden.history_on;
            self.resize_rows(actual, true, &mut ());
            if O::ACTIVE {
                observer.rows_changed(self);
            }
        }
        self.cx = self.cx.min(self.grid.width - 1);
        self.cy = self.cy.min(self.grid.height - 1);
    }
}
