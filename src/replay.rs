//! Replaying raw bytes: what `panemirror replay` does.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use crate::geometry::Size;
use crate::term::{Options, Profile, Screen, Terminal};
use crate::{Error, Result};

/// How much of the input is read at once, in bytes.
const PIECE: usize = 65_536;

/// The emulator that replays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// This crate's own.
    Native,
    /// The `vt100` crate.
    Vt100,
}

/// What to replay.
#[derive(Clone, Debug)]
pub struct ReplayArgs {
    /// The raw bytes.
    pub file: PathBuf,
    /// Size at the start.
    pub size: Size,
    /// Sizes after so many bytes.
    pub resizes: Vec<(u64, Size)>,
    /// The emulator.
    pub engine: Engine,
    /// The tmux version whose rules apply; 3.3a if none is given.
    pub tmux: Option<String>,
}

/// Replays a file and returns the screen as one line of JSON.
///
/// # Errors
///
/// A file that cannot be read, an engine that is not built in.
pub fn run(args: &ReplayArgs) -> Result<String> {
    if args.engine == Engine::Vt100 {
        return Err(Error::BadArgument("engine vt100 is not built in; use native".into()));
    }
    let profile = args.tmux.as_deref().map_or_else(Profile::default, Profile::for_version);
    let options = Options { profile, ..Options::default() };
    let failed = |error: std::io::Error| Error::Io(format!("{}: {error}", args.file.display()));
    let mut input = File::open(&args.file).map_err(failed)?;
    let terminal = replay(&mut input, args.size, &args.resizes, options).map_err(failed)?;
    Ok(to_json(terminal.screen()).to_string())
}

/// Feeds everything that `input` gives, in pieces of 64 KiB, and resizes at the given offsets.
///
/// # Errors
///
/// Those of reading.
pub fn replay(
    input: &mut dyn Read,
    size: Size,
    resizes: &[(u64, Size)],
    options: Options,
) -> std::io::Result<Terminal> {
    let mut terminal = Terminal::new(size, options);
    let mut resizes = resizes.to_vec();
    resizes.sort_by_key(|(offset, _)| *offset);
    let mut resizes = resizes.into_iter().peekable();
    let mut piece = vec![0; PIECE];
    let mut offset = 0;
    loop {
        while let Some((_, size)) = resizes.next_if(|(due, _)| *due <= offset) {
            terminal.resize(size, &mut ());
        }
        let room = resizes.peek().map_or(PIECE as u64, |(due, _)| (due - offset).min(PIECE as u64));
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
    fn resizes_cut_the_input() {
        let at = |offset, rows, cols| (offset, Size { rows, cols });
        let terminal =
            replay(&mut &b"abcdef"[..], Size { rows: 2, cols: 4 }, &[at(2, 2, 3), at(6, 3, 6)], Options::default());
        let screen = to_json(terminal.expect("reads").screen());
        assert_eq!(screen["lines"], json!(["abcdef", "", ""]));
    }
}
