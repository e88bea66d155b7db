//! Replaying raw bytes: what `panemirror replay` does.

use std::io::Read;
use std::time::Duration;

use serde_json::json;

use crate::geometry::Size;
use crate::term::{Options, Screen, Terminal};

/// How much of the input is read at once, in bytes.
const PIECE: usize = 65_536;

/// A resize after a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResizeAt {
    /// Bytes fed before it.
    pub offset: u64,
    /// The new size.
    pub size: Size,
}

impl std::str::FromStr for ResizeAt {
    type Err = String;

    /// Reads `OFFSET:ROWSxCOLS`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("{text:?} is not OFFSET:ROWSxCOLS, such as 120:24x80");
        let (offset, size) = text.split_once(':').ok_or_else(wrong)?;
        let (rows, cols) = size.split_once('x').ok_or_else(wrong)?;
        let side = |s: &str| s.parse::<u16>().ok().filter(|n| *n > 0);
        Ok(Self {
            offset: offset.parse().map_err(|_| wrong())?,
            size: Size { rows: side(rows).ok_or_else(wrong)?, cols: side(cols).ok_or_else(wrong)? },
        })
    }
}

/// Feeds everything that `input` gives, in pieces of 64 KiB, and resizes at the given offsets.
///
/// # Errors
///
/// Those of reading.
pub fn replay(input: &mut dyn Read, size: Size, resizes: &[ResizeAt], options: Options) -> std::io::Result<Terminal> {
    let mut terminal = Terminal::new(size, options);
    let mut resizes = resizes.to_vec();
    resizes.sort_by_key(|r| r.offset);
    let mut resizes = resizes.into_iter().peekable();
    let mut piece = vec![0; PIECE];
    let mut offset = 0;
    loop {
        while let Some(due) = resizes.next_if(|r| r.offset <= offset) {
            terminal.resize(due.size, &mut ());
        }
        let room = resizes.peek().map_or(PIECE as u64, |r| (r.offset - offset).min(PIECE as u64));
        let Some(buffer) = piece.get_mut(..room as usize) else { return Ok(terminal) };
        let count = match input.read(buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        terminal.feed(buffer.get(..count).unwrap_or(&[]), Duration::ZERO, &mut ());
        offset += count as u64;
    }
    Ok(terminal)
}

/// The visible rows as `capture-pane -p` prints them: cut at the width, blanks at the end left out,
/// DEC line drawing as Unicode.
pub fn lines(screen: &Screen) -> Vec<String> {
    let cols = screen.size().cols;
    screen
        .visible()
        .map(|row| {
            let mut line = String::new();
            row.push_capture(cols, &mut line);
            line.truncate(line.trim_end_matches(' ').len());
            line
        })
        .collect()
}

/// The screen as one JSON object: `lines`, `cursor` (row, column), `alternate`, `history` (rows).
pub fn to_json(screen: &Screen) -> serde_json::Value {
    let cursor = screen.cursor();
    json!({
        "lines": lines(screen),
        "cursor": [cursor.row, cursor.col],
        "alternate": screen.is_alternate(),
        "history": screen.history(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resize_specs() {
        let size = Size { rows: 3, cols: 40 };
        assert_eq!("12:3x40".parse(), Ok(ResizeAt { offset: 12, size }));
        for bad in ["", "12", "12:3", "12:0x4", "x:3x4", "12:3x99999"] {
            assert!(bad.parse::<ResizeAt>().is_err(), "{bad}");
        }
    }

    #[test]
    fn resizes_cut_the_input() {
        let at = |offset, rows, cols| ResizeAt { offset, size: Size { rows, cols } };
        let terminal =
            replay(&mut &b"abcdef"[..], Size { rows: 2, cols: 4 }, &[at(2, 2, 3), at(6, 3, 6)], Options::default());
        let screen = to_json(terminal.expect("reads").screen());
        assert_eq!(screen["lines"], json!(["abcdef", "", ""]));
    }
}
