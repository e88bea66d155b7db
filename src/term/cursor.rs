//! Moving the cursor (RULES 3).

use super::observer::Observer;
use super::screen::{SavedCursor, Screen};

impl Screen {
    /// Sets the cursor (RULES 0.12): a column past the edge is only kept if nothing changes.
    pub(super) fn set_cursor(&mut self, cx: usize, cy: usize) {
        if cx == self.cx && cy == self.cy {
            return;
        }
        self.set_column(cx);
        self.set_row(cy);
    }

    /// Sets the column only.
    pub(super) fn set_column(&mut self, cx: usize) {
        self.cx = if cx > self.grid.width { self.grid.width - 1 } else { cx };
    }

    /// Sets the row only.
    pub(super) fn set_row(&mut self, cy: usize) {
        self.cy = cy.min(self.grid.height - 1);
    }

    /// LF, VT, FF and IND: the row below, or a scroll (RULES 3.2).
    #[inline]
    pub(super) fn linefeed<O: Observer>(&mut self, observer: &mut O) {
        let background = self.pen.style.erased();
        self.line_down(background, observer);
    }

    /// CR.
    #[inline]
    pub(super) fn carriage_return(&mut self) {
        self.cx = 0;
    }

    /// BS (RULES 3.5).
    pub(super) fn backspace(&mut self) {
        if self.cx > 0 {
            self.set_cursor(self.cx - 1, self.cy);
        } else if self.cy > 0 && self.grid.screen_row(self.cy - 1).is_some_and(|row| row.is_wrapped()) {
            self.set_cursor(self.grid.width - 1, self.cy - 1);
        }
    }

    /// CUU, `CSI n A` (RULES 3.6).
    pub(super) fn cuu(&mut self, count: usize) {
        let limit = if self.cy < self.top { self.cy } else { self.cy - self.top };
        if self.cx == self.grid.width {
            self.cx = self.grid.width - 1;
        }
        self.set_cursor(self.cx, self.cy - count.min(limit));
    }

    /// CUD, `CSI n B` (RULES 3.6).
    pub(super) fn cud(&mut self, count: usize) {
        let limit = if self.cy > self.bottom { self.grid.height - 1 - self.cy } else { self.bottom - self.cy };
        if self.cx == self.grid.width {
            self.cx = self.grid.width - 1;
        } else if limit == 0 {
            return;
        }
        self.set_cursor(self.cx, self.cy + count.min(limit));
    }

    /// CUF, `CSI n C` (RULES 3.7).
    pub(super) fn cuf(&mut self, count: usize) {
        let last = self.grid.width - 1;
        self.cx = if self.cx > last { last } else { self.cx + count.min(last - self.cx) };
    }

    /// CUB, `CSI n D` (RULES 3.7).
    pub(super) fn cub(&mut self, count: usize) {
        self.set_cursor(self.cx - count.min(self.cx), self.cy);
    }

    /// CNL, `CSI n E` (RULES 3.7).
    pub(super) fn cnl(&mut self, count: usize) {
        self.cx = 0;
        self.cud(count);
    }

    /// CPL, `CSI n F` (RULES 3.7).
    pub(super) fn cpl(&mut self, count: usize) {
        self.cx = 0;
        self.cuu(count);
    }

    /// CUP and HVP, `CSI row ; col H` and `f`; both counted from 0 here (RULES 3.8).
    pub(super) fn cup(&mut self, row: usize, col: usize) {
        self.set_cursor(col.min(self.grid.width - 1), self.absolute_row(row));
    }

    /// HPA, `CSI n G` and `` CSI n ` `` (RULES 3.8).
    pub(super) fn hpa(&mut self, col: usize) {
        self.set_column(col.min(self.grid.width - 1));
    }

    /// VPA, `CSI n d` (RULES 3.8).
    pub(super) fn vpa(&mut self, row: usize) {
        self.set_row(self.absolute_row(row));
    }

    /// The row that a program means: DECOM counts from the top of the region (RULES 3.8).
    fn absolute_row(&self, row: usize) -> usize {
        if self.modes.origin { self.top + row.min(self.bottom - self.top) } else { row.min(self.grid.height - 1) }
    }

    /// The home of DECOM's state: column 0, the top of the region or of the screen.
    pub(super) fn home(&mut self) {
        self.cup(0, 0);
    }

    /// HTS, `ESC H` (RULES 3.10).
    pub(super) fn hts(&mut self) {
        self.tabs.set(self.cx, true);
    }

    /// TBC, `CSI n g` (RULES 3.10).
    pub(super) fn tbc(&mut self, what: i32) {
        match what {
            0 => self.tabs.set(self.cx, false),
            3 => self.tabs.clear(),
            _ => {}
        }
    }

    /// CBT, `CSI n Z` (RULES 3.9).
    pub(super) fn cbt(&mut self, count: usize) {
        let mut x = self.cx.min(self.grid.width - 1);
        for _ in 0..count {
            if x == 0 {
                break;
            }
            x = self.tabs.previous(x);
        }
        self.cx = x;
    }

    /// DECSC, `ESC 7` and `CSI s` (RULES 3.11).
    pub(super) fn decsc(&mut self) {
        self.saved =
            SavedCursor { cx: self.cx, cy: self.cy, pen: self.pen, charsets: self.charsets, origin: self.modes.origin };
    }

    /// DECRC, `ESC 8` and `CSI u` (RULES 3.11).
    pub(super) fn decrc(&mut self) {
        self.pen = self.saved.pen;
        self.charsets = self.saved.charsets;
        self.modes.origin = self.saved.origin;
        let cx = self.saved.cx.min(self.grid.width - 1);
        let cy = self.saved.cy.min(self.grid.height - 1);
        self.set_cursor(cx, cy);
    }

    /// Forgets what DECSC saved, but for DECOM (RULES 3.11).
    pub(super) fn forget_saved(&mut self) {
        self.saved = SavedCursor { origin: self.saved.origin, ..SavedCursor::default() };
    }

    /// DECSTBM, `CSI top ; bottom r`; both counted from 1 (RULES 3.13).
    pub(super) fn decstbm(&mut self, top: usize, bottom: usize) {
        let (top, bottom) = (top.min(self.grid.height), bottom.min(self.grid.height));
        if top < bottom {
            (self.top, self.bottom) = (top - 1, bottom - 1);
            self.set_cursor(0, 0);
        }
    }

    /// DECOM, `CSI ? 6 h` and `l` (RULES 3.12).
    pub(super) fn decom(&mut self, on: bool) {
        self.modes.origin = on;
        self.home();
    }
}
