//! The rows written since a mark.

use crate::term::{Row, Screen};

use super::screen_text::{is_blank, row_text};
use super::{Mark, Mirror};

/// What was left out of a [`Since`] because of its bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Rows.
    pub rows: usize,
    /// Bytes of their text.
    pub bytes: usize,
}

/// What was written since a mark and still stands somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// The rows that hold a glyph written since the mark, oldest first, with the blank rows that lie directly between
    /// two of them. If `missed`, the visible screen instead.
    pub rows: Vec<String>,
    /// A row written since the mark was not seen or is not kept any more.
    pub missed: bool,
}

impl Mirror {
    /// Collects the rows written since a mark: retained rows, grid history, screen, and while the alternate screen is
    /// shown the hidden main screen before it.
    ///
    /// `newest` bounds the number of rows made into text, the newest kept; the size of the older ones is returned too.
    pub fn rows_since(&self, mark: Mark, newest: usize) -> (Since, Skipped) {
        let screen = self.screen();
        if self.gap > mark.0 || mark.precedes(screen.newest_lost()) {
            return (Since { rows: self.visible_rows_trimmed(), missed: true }, Skipped::default());
        }
        let rows = written(screen, mark);
        let (older, newer) = rows.split_at(rows.len().saturating_sub(newest));
        let skipped = Skipped { rows: older.len(), bytes: older.iter().map(|row| row_text(row).len()).sum() };
        (Since { rows: newer.iter().map(|row| row_text(row)).collect(), missed: false }, skipped)
    }

    /// The visible rows down to the last one that shows anything.
    pub fn visible_rows_trimmed(&self) -> Vec<String> {
        let mut rows = self.visible_rows();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

/// The rows written since a mark, with blank runs directly between two of them, in order.
fn written(screen: &Screen, mark: Mark) -> Vec<&Row> {
    let main_end = if screen.is_alternate() { screen.first_visible() } else { screen.len() };
    let main = (0..main_end).filter_map(|index| screen.row(index));
    let hidden = screen.hidden_main().iter().map(AsRef::as_ref);
    let mut rows = between(main.chain(hidden), mark);
    if screen.is_alternate() {
        let alternate = (main_end..screen.len()).filter_map(|index| screen.row(index));
        rows.extend(between(alternate, mark));
    }
    rows
}

fn between<'a>(rows: impl Iterator<Item = &'a Row>, mark: Mark) -> Vec<&'a Row> {
    let mut kept: Vec<&Row> = Vec::new();
    let mut blanks: Vec<&Row> = Vec::new();
    let mut open = false;
    for row in rows {
        if mark.precedes(row.newest()) {
            if open {
                kept.append(&mut blanks);
            }
            blanks.clear();
            kept.push(row);
            open = true;
        } else if !open {
            continue;
        } else if is_blank(row) {
            blanks.push(row);
        } else {
            open = false;
            blanks.clear();
        }
    }
    kept
}
