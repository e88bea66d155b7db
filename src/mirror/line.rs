//! Logical lines: rows joined by soft wraps, as text with the stamps of its parts.

use std::ops::Range;

use crate::limits::LINE_WINDOW_BYTES;
use crate::term::{Row, Screen, Stamp};

use super::Mark;

/// The text of a logical line, seen through a window, and when each part of it was written.
///
/// Text: glyphs in column order, wide characters once, combining marks after their base, blanks for cells without a
/// glyph, line drawing as Unicode. Blanks at the end that nobody printed are cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineText {
    /// The text.
    pub text: String,
    /// Where each run of equal stamps ends in `text` (bytes, exclusive), in order, without gaps from 0 on.
    pub stamps: Vec<(usize, Stamp)>,
}

impl LineText {
    /// Tells whether any cell of the window was written since the mark.
    pub fn is_new(&self, mark: Mark) -> bool {
        self.stamps.iter().any(|(_, stamp)| mark.precedes(*stamp))
    }

    /// The byte ranges of `text` written since the mark, in order, neighbours merged.
    pub fn new_ranges(&self, mark: Mark) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut start = 0;
        for (end, stamp) in &self.stamps {
            if mark.precedes(*stamp) {
                match ranges.last_mut() {
                    Some(last) if last.end == start => last.end = *end,
                    _ => ranges.push(start..*end),
                }
            }
            start = *end;
        }
        ranges
    }

    /// The text without blanks at its end.
    pub fn trimmed(&self) -> &str {
        self.text.trim_end_matches(' ')
    }

    fn push_row(&mut self, row: &Row) {
        for cell in row.cells() {
            cell.text.push_to(&mut self.text);
            self.close_run(cell.stamp);
        }
    }

    fn close_run(&mut self, stamp: Stamp) {
        let end = self.text.len();
        match self.stamps.last_mut() {
            Some((last, same)) if *same == stamp => *last = end,
            _ => self.stamps.push((end, stamp)),
        }
    }

    /// Cuts the blanks at the end that hold no glyph.
    fn cut(&mut self) {
        while let Some((end, stamp)) = self.stamps.last().copied() {
            if stamp != Stamp::NONE {
                return;
            }
            let start = self.stamps.len().checked_sub(2).and_then(|at| self.stamps.get(at)).map_or(0, |run| run.0);
            let kept = self.text.get(start..end).unwrap_or_default().trim_end_matches(' ').len();
            self.text.truncate(start + kept);
            self.stamps.pop();
            if kept > 0 {
                self.stamps.push((start + kept, Stamp::NONE));
                return;
            }
        }
    }
}

/// The logical lines that have a row in `rows` for which `wanted` holds, oldest first, each seen through a window of
/// [`LINE_WINDOW_BYTES`] before its first and after its last such row.
pub(super) fn lines_where(screen: &Screen, rows: Range<usize>, wanted: impl Fn(&Row) -> bool) -> Vec<LineText> {
    let mut lines = Vec::new();
    // Retained rows have left the screen's lines for good.
    let mut at = rows.start.max(screen.retained());
    while at < rows.end {
        let Some(row) = screen.row(at) else { break };
        if !wanted(row) {
            at += 1;
            continue;
        }
        let end = line_end(screen, at);
        let last = (at..end).rev().find(|index| screen.row(*index).is_some_and(&wanted)).unwrap_or(at);
        lines.push(window(screen, at..last + 1));
        at = end;
    }
    lines
}

/// The logical lines of whole rows `rows`, without a window.
pub(super) fn whole_lines(screen: &Screen, rows: Range<usize>) -> Vec<LineText> {
    lines_where(screen, rows, |_| true)
}

/// One past the last row of the logical line that `row` belongs to.
fn line_end(screen: &Screen, row: usize) -> usize {
    let mut end = row + 1;
    while screen.row(end - 1).is_some_and(Row::is_wrapped) && end < screen.len() {
        end += 1;
    }
    end
}

/// The text of rows `core` and of what is joined to them, as far as the window reaches.
fn window(screen: &Screen, core: Range<usize>) -> LineText {
    let mut start = core.start;
    let mut room = LINE_WINDOW_BYTES;
    while start > screen.retained() {
        let Some(row) = screen.row(start - 1).filter(|row| row.is_wrapped()) else { break };
        let bytes = usize::from(row.used()).max(1);
        if bytes > room {
            break;
        }
        room -= bytes;
        start -= 1;
    }
    let mut line = LineText::default();
    let mut room = LINE_WINDOW_BYTES;
    let mut index = start;
    while let Some(row) = screen.row(index) {
        if index >= core.end {
            let bytes = usize::from(row.used()).max(1);
            if bytes > room {
                break;
            }
            room -= bytes;
        }
        line.push_row(row);
        index += 1;
        if !row.is_wrapped() {
            break;
        }
    }
    line.cut();
    line
}
