//! Rows of the screen as plain text.

use crate::term::Row;

use super::Mirror;
use super::line::{self, LineText};

impl Mirror {
    /// The text of the visible rows, top first, blanks at the end of each row cut.
    pub fn visible_rows(&self) -> Vec<String> {
        let screen = self.screen();
        (screen.first_visible()..screen.len()).filter_map(|index| screen.row(index)).map(row_text).collect()
    }

    /// The logical lines of the visible screen, oldest first.
    pub fn visible_lines(&self) -> Vec<LineText> {
        let screen = self.screen();
        line::whole_lines(screen, screen.first_visible()..screen.len())
    }

    /// The logical lines of grid history and screen, oldest first; long ones through their window.
    pub fn all_lines(&self) -> Vec<LineText> {
        let screen = self.screen();
        line::whole_lines(screen, screen.retained()..screen.len())
    }

    /// The identity of the row that the cursor is in.
    pub fn cursor_row(&self) -> u64 {
        let screen = self.screen();
        let index = screen.first_visible() + usize::from(screen.cursor().row);
        screen.row(index).map_or(0, Row::id)
    }

    /// The text from the row with that identity down to the last row that holds anything, at most `max_rows` rows, the
    /// newest kept; the whole screen if that row is gone or the alternate screen is shown.
    pub fn rows_from(&self, id: u64, max_rows: usize) -> Vec<String> {
        let screen = self.screen();
        let visible = screen.first_visible();
        let found = if screen.is_alternate() {
            None
        } else {
            // Mostly near the end: looked for from the bottom.
            (screen.retained()..screen.len()).rev().find(|index| screen.row(*index).is_some_and(|row| row.id() == id))
        };
        let start = found.unwrap_or(visible);
        let cursor = visible + usize::from(screen.cursor().row);
        let mut end = screen.len();
        while end > start && end > cursor + 1 && screen.row(end - 1).is_none_or(is_blank) {
            end -= 1;
        }
        let start = start.max(end.saturating_sub(max_rows));
        let mut rows: Vec<String> = (start..end).filter_map(|index| screen.row(index)).map(row_text).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

/// A row's text without blanks at its end.
pub(super) fn row_text(row: &Row) -> String {
    let mut text = String::with_capacity(usize::from(row.used()));
    row.push_text(&mut text);
    text.truncate(text.trim_end_matches(' ').len());
    text
}

/// Tells whether a row shows nothing but blanks.
pub(super) fn is_blank(row: &Row) -> bool {
    row_text(row).is_empty()
}
