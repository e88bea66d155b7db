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
        if row.is_ascii() {
            // A byte a column.
            let start = self.text.len();
            row.push_text(&mut self.text);
            for (columns, stamp) in row.stamp_runs() {
                self.close_run_at(start + columns.end, stamp);
            }
            if self.stamps.last().map_or(0, |run| run.0) < self.text.len() {
                self.close_run(Stamp::NONE);
            }
            return;
        }
        // Coloured cells behind the used ones are no text.
        for cell in row.cells().take_while(|cell| cell.col < row.used()) {
            cell.text.push_to(&mut self.text);
            if cell.text.is_blank() {
                // A tab cell counts as blanks.
                self.text.extend((1..cell.width).map(|_| ' '));
            }
            self.close_run(cell.stamp);
        }
    }

    fn close_run(&mut self, stamp: Stamp) {
        self.close_run_at(self.text.len(), stamp);
    }

    fn close_run_at(&mut self, end: usize, stamp: Stamp) {
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

/// Room for the lines of one examination, used again and again.
#[derive(Debug, Default)]
pub(super) struct Room {
    text: String,
    lines: Vec<Range<usize>>,
}

/// The logical lines of one examination, oldest first.
///
/// Their text lies in one piece, so that a pattern that hits none of them is known by one search; a line is only taken
/// apart ([`Lines::iter`]) when somebody needs to know which of its cells are new.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    screen: &'a Screen,
    text: &'a str,
    lines: &'a [Range<usize>],
}

impl<'a> Lines<'a> {
    /// The texts of all lines, each behind a newline; a line that ends in blanks comes without them as well, and with
    /// those that were printed only.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Each line with its stamps.
    pub fn iter(&self) -> impl Iterator<Item = LineText> + 'a {
        let screen = self.screen;
        self.lines.iter().map(move |rows| line_of(screen, rows.clone()))
    }
}

/// The logical lines that have a row in `rows` for which `wanted` holds, each seen through a window of
/// [`LINE_WINDOW_BYTES`] before its first and after its last such row; `None` if there are none.
pub(super) fn lines_where<'a>(
    room: &'a mut Room,
    screen: &'a Screen,
    rows: Range<usize>,
    wanted: impl Fn(&Row) -> bool,
) -> Option<Lines<'a>> {
    room.text.clear();
    room.lines.clear();
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
        let line = window(screen, at..last + 1);
        push_line(screen, line.clone(), &mut room.text);
        room.lines.push(line);
        at = end;
    }
    (!room.lines.is_empty()).then_some(Lines { screen, text: &room.text, lines: &room.lines })
}

/// The logical lines of whole rows `rows`, with their stamps.
pub(super) fn whole_lines(screen: &Screen, rows: Range<usize>) -> Vec<LineText> {
    let mut room = Room::default();
    lines_where(&mut room, screen, rows, |_| true).map(|lines| lines.iter().collect()).unwrap_or_default()
}

/// Appends a newline and the text of some rows; if it ends in blanks, the same without them too, and without those
/// that nobody printed.
fn push_line(screen: &Screen, rows: Range<usize>, text: &mut String) {
    text.push('\n');
    let start = text.len();
    for row in rows.clone().filter_map(|index| screen.row(index)) {
        row.push_text(text);
    }
    if text.ends_with(' ') {
        let end = text.len();
        let trimmed = text.get(start..).map_or(start, |line| start + line.trim_end_matches(' ').len());
        text.push('\n');
        text.extend_from_within(start..trimmed);
        let printed = end.saturating_sub(unprinted(screen, rows));
        if trimmed < printed && printed < end {
            text.push('\n');
            text.extend_from_within(start..printed);
        }
    }
}

/// The number of cells without a glyph at the end of some rows; they are blanks.
fn unprinted(screen: &Screen, rows: Range<usize>) -> usize {
    let mut cells = 0;
    for row in rows.rev().filter_map(|index| screen.row(index)) {
        cells += usize::from(row.used()).saturating_sub(row.glyph_end());
        if row.has_glyphs() {
            break;
        }
    }
    cells
}

/// Some rows as a line with its stamps.
fn line_of(screen: &Screen, rows: Range<usize>) -> LineText {
    let mut line = LineText::default();
    for row in rows.filter_map(|index| screen.row(index)) {
        line.push_row(row);
    }
    line.cut();
    line
}

/// One past the last row of the logical line that `row` belongs to.
fn line_end(screen: &Screen, row: usize) -> usize {
    let mut end = row + 1;
    while screen.row(end - 1).is_some_and(Row::is_wrapped) && end < screen.len() {
        end += 1;
    }
    end
}

/// Rows `core` and what is joined to them, as far as the window reaches.
fn window(screen: &Screen, core: Range<usize>) -> Range<usize> {
    let mut room = LINE_WINDOW_BYTES;
    let mut start = core.start;
    while start > screen.retained() {
        let Some(row) = screen.row(start - 1).filter(|row| row.is_wrapped()) else { break };
        let Some(left) = room.checked_sub(usize::from(row.used()).max(1)) else { break };
        room = left;
        start -= 1;
    }
    let mut room = LINE_WINDOW_BYTES;
    let mut end = core.end;
    while screen.row(end - 1).is_some_and(Row::is_wrapped) {
        let Some(row) = screen.row(end) else { break };
        let Some(left) = room.checked_sub(usize::from(row.used()).max(1)) else { break };
        room = left;
        end += 1;
    }
    start..end
}
