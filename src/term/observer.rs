//! Telling an observer what is about to be lost.

use std::ops::Range;

use super::screen::Screen;

/// Looks at the screen before text is lost. `()` is the observer that does not look and costs nothing.
pub trait Observer {
    /// False: the terminal leaves all the calls out.
    const ACTIVE: bool;

    /// Called before an operation that changes the text of rows in `rows` (absolute indices) other
    /// than by appending at the end of their logical line, that hides such rows (the alternate
    /// screen), drops them from the history (ED 3, clear-history, trim, a resize that cuts), or
    /// changes their soft wraps. Only called if a row of the logical lines concerned is touched
    /// ([`super::Row::is_touched`]), and never while the alternate screen is shown.
    ///
    /// One operation makes one call, and every glyph that overwrites another text inside a line is
    /// an operation of its own. `rows` covers whole logical lines, as far as they reach within
    /// [`crate::limits::LINE_LOOK_ROWS`].
    fn before_change(&mut self, screen: &Screen, rows: Range<usize>);

    /// Called before the alternate screen is entered, after [`Observer::before_change`] of the rows that it hides:
    /// rows that went to the history since the observer last looked can still be looked at.
    fn before_hiding(&mut self, _screen: &Screen) {}

    /// Called after rows were inserted, removed or renumbered, so that indices shift.
    fn rows_changed(&mut self, _screen: &Screen) {}
}

impl Observer for () {
    const ACTIVE: bool = false;

    fn before_change(&mut self, _screen: &Screen, _rows: Range<usize>) {}
}

impl Screen {
    /// True if somebody must be told about changes now.
    #[inline]
    pub(super) fn watched<O: Observer>(&self) -> bool {
        O::ACTIVE && self.hidden.is_none()
    }

    /// Announces a change of `rows`.
    #[inline]
    pub(super) fn note<O: Observer>(&mut self, observer: &mut O, rows: Range<usize>) {
        if self.watched::<O>() {
            self.announce(observer, rows);
        }
    }

    /// Announces a change inside one row. Most rows are a logical line of their own.
    #[inline]
    pub(super) fn note_row<O: Observer>(&mut self, observer: &mut O, index: usize) {
        if !self.watched::<O>() {
            return;
        }
        let above = index.checked_sub(1).and_then(|i| self.grid.row(i));
        match self.grid.row(index) {
            Some(row) if !row.is_wrapped() && above.is_none_or(|r| !r.is_wrapped()) => {
                if row.is_touched() {
                    observer.before_change(self, index..index + 1);
                }
            }
            _ => self.announce(observer, index..index + 1),
        }
    }

    /// Announces that `rows` are wiped in place: their text goes, and the joins around them.
    #[inline]
    pub(super) fn note_wipe<O: Observer>(&mut self, observer: &mut O, rows: Range<usize>) {
        if self.watched::<O>() && !rows.is_empty() {
            let joined = rows.start > 0 && self.grid.row(rows.start - 1).is_some_and(|r| r.is_wrapped());
            let holds = |index: usize| self.grid.row(index).is_some_and(|r| r.has_glyphs() || r.is_wrapped());
            if joined || rows.clone().any(holds) {
                self.announce(observer, rows);
            }
        }
    }

    /// Announces that cells of a row are erased or moved.
    #[inline]
    pub(super) fn note_cells<O: Observer>(&mut self, observer: &mut O, index: usize, columns: Range<usize>) {
        if self.watched::<O>() && self.grid.row(index).is_some_and(|r| r.has_glyph_in(columns)) {
            self.note_row(observer, index);
        }
    }

    /// Announces one operation on several places; the call covers all that lies between. What is announced is about to
    /// change, so it counts as touched from then on.
    pub(super) fn note_all<O: Observer>(&mut self, observer: &mut O, places: &[Range<usize>]) {
        if !self.watched::<O>() {
            return;
        }
        let lines = places.iter().filter(|rows| !rows.is_empty()).map(|rows| self.logical(rows.clone()));
        let (mut hull, mut touched) = (None, false);
        for (rows, open) in lines {
            touched |= open || rows.clone().any(|i| self.grid.row(i).is_some_and(|r| r.is_touched()));
            hull = Some(match hull {
                None => rows,
                Some(Range { start, end }) => rows.start.min(start)..rows.end.max(end),
            });
        }
        let Some(rows) = hull else { return };
        if touched {
            observer.before_change(self, rows.clone());
        }
        for index in rows {
            if let Some(row) = self.grid.row_mut(index) {
                row.set_touched(true);
            }
        }
    }

    #[cold]
    fn announce<O: Observer>(&mut self, observer: &mut O, rows: Range<usize>) {
        self.note_all(observer, &[rows]);
    }

    /// The logical lines that `rows` belong to, and whether the look at them was cut short.
    fn logical(&self, rows: Range<usize>) -> (Range<usize>, bool) {
        let Range { mut start, mut end } = rows;
        let wrapped = |i: usize| self.grid.row(i).is_some_and(|r| r.is_wrapped());
        let (low, high) = (start.saturating_sub(crate::limits::LINE_LOOK_ROWS), end + crate::limits::LINE_LOOK_ROWS);
        while start > low && wrapped(start - 1) {
            start -= 1;
        }
        while end < high && end < self.grid.rows.len() && wrapped(end - 1) {
            end += 1;
        }
        let cut = (start > 0 && start == low && wrapped(start - 1)) || (end == high && wrapped(end - 1));
        (start..end, cut)
    }
}
