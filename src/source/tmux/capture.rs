//! Reading what a pane shows: the commands, and what their replies mean. Pure.
//!
//! One line of commands reads everything at one moment of the pane (RULES 11, TMUX "(a)").

use super::line::Line;
use super::protocol::{Reply, unescape};
use crate::error::{Error, Result};
use crate::geometry::{Point, Size};

/// Rows of history that are read with a screen. tmux serves nobody while it captures: 2,000 coloured rows of 190 columns
/// take it 30 ms with styles, and 4 ms without. So a mirror starts with as many as cost a few milliseconds, and older
/// ones come in pages.
pub(super) const HISTORY_ROWS: u64 = 200;

/// Most rows of a page of older history, without styles.
pub(super) const PAGE_ROWS: i64 = 2_000;

/// The format of [`Facts`], in the order of its reader.
const FACTS: &str = "#{pane_id};#{pane_pid};#{pane_dead};#{pane_width};#{pane_height};#{cursor_x};#{cursor_y};\
#{alternate_on};#{alternate_saved_x};#{alternate_saved_y};#{history_size};#{history_limit};\
#{scroll_region_upper};#{scroll_region_lower};#{pane_tabs};#{insert_flag};#{origin_flag};#{wrap_flag};#{cursor_flag};\
#{keypad_flag};#{keypad_cursor_flag};#{mouse_standard_flag};#{mouse_button_flag};#{mouse_all_flag};\
#{mouse_sgr_flag};#{mouse_utf8_flag};#{pane_in_mode};#{bracket_paste_flag};#{pane-border-status};\
#{scroll-on-clear};#{alternate-screen}";

/// What tmux's formats tell about a pane (RULES 11.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) pane: u32,
    pub(super) pid: u32,
    pub(super) dead: bool,
    pub(super) size: Size,
    /// Not clamped: the column may equal the width, or exceed it on a shrunken alternate screen.
    pub(super) cursor: Point,
    pub(super) alternate: bool,
    /// The cursor of the 1049 slot, if it was ever set.
    pub(super) saved_cursor: Option<Point>,
    pub(super) history_size: u64,
    pub(super) history_limit: usize,
    pub(super) region: (u16, u16),
    pub(super) tabs: Vec<u16>,
    pub(super) insert: bool,
    pub(super) origin: bool,
    pub(super) wrap: bool,
    pub(super) cursor_visible: bool,
    pub(super) keypad: bool,
    pub(super) cursor_keys: bool,
    pub(super) mouse_standard: bool,
    pub(super) mouse_button: bool,
    pub(super) mouse_all: bool,
    pub(super) mouse_sgr: bool,
    pub(super) mouse_utf8: bool,
    pub(super) mode_open: bool,
    /// Unknown before 3.7.
    pub(super) bracketed_paste: Option<bool>,
    /// The rows of the layout are the pane's rows: no status line is drawn on its border.
    pub(super) follows_layout: bool,
    /// The option scroll-on-clear, 3.3 and newer.
    pub(super) scroll_on_clear: bool,
    /// The option alternate-screen.
    pub(super) alternate_allowed: bool,
}

/// One row of a capture with styles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CapturedRow {
    /// Text and styles; the style runs on from row to row.
    pub(super) ansi: Vec<u8>,
    /// The text goes on in the next row.
    pub(super) wrapped: bool,
}

/// Everything that can be read of a pane, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Captured {
    pub(super) facts: Facts,
    pub(super) title: String,
    pub(super) path: String,
    /// The newest rows of history, oldest first, at most [`HISTORY_ROWS`].
    pub(super) history: Vec<CapturedRow>,
    /// One for each row of the screen.
    pub(super) screen: Vec<CapturedRow>,
    /// The main screen while the alternate one is shown.
    pub(super) saved: Option<Vec<CapturedRow>>,
    /// The bytes of an escape sequence that is not complete.
    pub(super) pending: Vec<u8>,
}

/// What the commands of a tmux version can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abilities {
    /// `capture-pane -T`: rows are cut at what was written.
    pub(super) trims: bool,
    /// `capture-pane -F`: rows come with their flags.
    pub(super) row_flags: bool,
}

impl Abilities {
    /// What a version can do.
    pub(super) fn of((major, minor): (u32, u32)) -> Self {
        Self { trims: (major, minor) >= (3, 4), row_flags: (major, minor) >= (3, 7) }
    }
}

impl Captured {
    /// Takes back what tmux does to the screen when it says that the pane is dead (RULES 9.7): a linefeed on the last
    /// row and these words there.
    pub(super) fn undo_death(&mut self, words: &str) {
        let is_said = |row: &CapturedRow| plain(&row.ansi).trim_ascii_end() == words.as_bytes().trim_ascii_end();
        if words.is_empty() || !self.screen.last().is_some_and(is_said) {
            return;
        }
        self.screen.pop();
        match self.history.pop() {
            Some(row) if !self.facts.alternate => {
                self.screen.insert(0, row);
                self.facts.history_size -= 1;
            }
            row => {
                self.history.extend(row);
                self.screen.push(CapturedRow::default());
            }
        }
    }
}

/// The line that lets a paused pane go on and reads it at that very moment.
pub(super) fn exact_line(pane: u32, abilities: Abilities) -> Line {
    let line = Line::new(&["refresh-client", "-A", &format!("%{pane}:continue")]);
    reading_line(line, pane, abilities)
}

/// The line that reads a pane as it goes.
pub(super) fn passing_line(pane: u32, abilities: Abilities) -> Line {
    reading_line(Line::default(), pane, abilities)
}

fn reading_line(line: Line, pane: u32, abilities: Abilities) -> Line {
    let id = format!("%{pane}");
    let start = format!("-{HISTORY_ROWS}");
    let capture = |more: &[&str]| -> Vec<String> {
        let mut args = vec!["capture-pane", "-p", "-N", "-t", &id];
        if abilities.trims {
            args.push("-T");
        }
        args.extend(more);
        args.into_iter().map(str::to_owned).collect()
    };
    let flags = if abilities.row_flags { "-F" } else { "-J" };
    line.then(&["display-message", "-p", "-t", &id, FACTS])
        .then(&["display-message", "-p", "-t", &id, "#{pane_title}"])
        .then(&["display-message", "-p", "-t", &id, "#{pane_path}"])
        .then(&capture(&["-e", "-S", &start]))
        .then(&capture(&[flags, "-S", &start]))
        .then(&["capture-pane", "-p", "-P", "-C", "-t", &id])
        .then(&capture(&["-e", "-a", "-q"]))
        .then(&capture(&[flags, "-a", "-q"]))
}

/// Reads the replies to [`exact_line`] or [`passing_line`].
///
/// # Errors
/// The pane is gone, or the replies do not fit each other.
pub(super) fn read(pane: u32, abilities: Abilities, replies: &[Reply]) -> Result<Captured> {
    // The reply to `continue` comes first where there is one.
    let replies = match replies {
        [_, rest @ ..] if rest.len() == 8 => rest,
        all => all,
    };
    let [facts, title, path, rows, flags, pending, saved, saved_flags] = replies else {
        return Err(misfit(pane, "the number of replies"));
    };
    let facts = Facts::read(pane, &facts.text())?;
    let height = usize::from(facts.size.rows);
    let wanted = usize::try_from(facts.history_size.min(HISTORY_ROWS)).unwrap_or_default();
    let mut history = captured_rows(rows, flags, abilities);
    if history.len() != wanted + height {
        return Err(misfit(pane, "the number of rows"));
    }
    let screen = history.split_off(wanted);
    let saved = facts.alternate.then(|| captured_rows(saved, saved_flags, abilities));
    let mut bytes = Vec::new();
    for line in pending.lines() {
        unescape(line, &mut bytes);
    }
    Ok(Captured { facts, title: title.text(), path: path.text(), history, screen, saved, pending: bytes })
}

fn misfit(pane: u32, what: &str) -> Error {
    Error::Internal(format!("a capture of %{pane} does not fit: {what}"))
}

fn captured_rows(rows: &Reply, flags: &Reply, abilities: Abilities) -> Vec<CapturedRow> {
    let texts: Vec<&[u8]> = rows.lines().collect();
    let wrapped: Vec<bool> = if abilities.row_flags {
        flags.lines().map(is_flagged_wrapped).collect()
    } else {
        let plain: Vec<Vec<u8>> = texts.iter().map(|row| plain(row)).collect();
        wrapped_flags(&plain, flags.body.strip_suffix(b"\n").unwrap_or(&flags.body))
    };
    let flags = wrapped.into_iter().chain(std::iter::repeat(false));
    texts.into_iter().zip(flags).map(|(ansi, wrapped)| CapturedRow { ansi: ansi.to_vec(), wrapped }).collect()
}

/// `-F` puts a row's flags before it, up to a blank.
fn is_flagged_wrapped(line: &[u8]) -> bool {
    line.split(|byte| *byte == b' ').next().is_some_and(|flags| flags.contains(&b'W'))
}

/// The text of a row without what `-e` puts in: SGR, SO and SI around line drawing, OSC 8.
fn plain(row: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(row.len());
    let mut rest = row;
    loop {
        let at = rest.iter().position(|byte| matches!(byte, 0x0e | 0x0f | 0x1b));
        let (text, special) = rest.split_at(at.unwrap_or(rest.len()));
        out.extend_from_slice(text);
        rest = match special {
            [] => return out,
            [0x1b, b'[', after @ ..] => after_byte(after, b'm'),
            [0x1b, b']', after @ ..] => after_byte(after, b'\\'),
            [_, after @ ..] => after,
        };
    }
}

fn after_byte(text: &[u8], byte: u8) -> &[u8] {
    let at = text.iter().position(|other| *other == byte);
    at.and_then(|at| text.get(at + 1..)).unwrap_or_default()
}

/// Which rows are wrapped: after the text of a row that is, the joined text has no newline (RULES 11.4).
///
/// Among empty rows only the number of wrapped ones is known; the last ones are taken. The last row of all is taken as
/// not wrapped.
fn wrapped_flags<R: AsRef<[u8]>>(rows: &[R], joined: &[u8]) -> Vec<bool> {
    let mut rest = joined;
    let mut flags = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(after) = rest.strip_prefix(row.as_ref()) else {
            // The texts differ, which they never should.
            break;
        };
        let (wrapped, after) = match after {
            [] => (false, after),
            [b'\n', after @ ..] => (false, after),
            _ => (true, after),
        };
        flags.push(wrapped);
        rest = after;
    }
    flags
}

impl Facts {
    /// Reads the reply to [`FACTS`], which must be about `pane`: tmux replaces a target that is gone by another pane.
    pub(super) fn read(pane: u32, text: &str) -> Result<Self> {
        let mut fields = text.split(';');
        let id = fields.next().unwrap_or_default();
        if id != format!("%{pane}") {
            return Err(Error::NoSuchPane(format!("no pane %{pane}; list_panes shows the live ones")));
        }
        Self::fields(pane, &mut fields).ok_or_else(|| misfit(pane, "its formats"))
    }

    fn fields<'a>(pane: u32, fields: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut number = || fields.next()?.parse::<u64>().ok();
        let pid = u32::try_from(number()?).ok()?;
        let dead = number().unwrap_or_default() == 1;
        let cols = short(number()?);
        let size = Size::new(short(number()?), cols);
        // `number` borrows `fields`; a row follows its column everywhere.
        let col = short(number()?);
        let cursor = Point::new(short(number()?), col);
        let alternate = number()? == 1;
        let (col, row) = (number(), number());
        let saved_cursor = match (col, row) {
            (Some(col), Some(row)) if col < u64::from(u32::MAX) => Some(Point::new(short(row), short(col))),
            _ => None,
        };
        let history_size = number()?;
        let history_limit = usize::try_from(number()?).ok()?;
        let region = (short(number()?), short(number()?));
        let tabs = fields.next()?.split(',').filter_map(|stop| stop.parse().ok()).collect();
        let mut flag = || fields.next().map(|field| field == "1");
        Some(Self {
            pane,
            pid,
            dead,
            size,
            cursor,
            alternate,
            saved_cursor,
            history_size,
            history_limit,
            region,
            tabs,
            insert: flag()?,
            origin: flag()?,
            wrap: flag()?,
            cursor_visible: flag()?,
            keypad: flag()?,
            cursor_keys: flag()?,
            mouse_standard: flag()?,
            mouse_button: flag()?,
            mouse_all: flag()?,
            mouse_sgr: flag()?,
            mouse_utf8: flag()?,
            mode_open: fields.next()?.parse::<u32>().is_ok_and(|modes| modes > 0),
            bracketed_paste: fields.next().filter(|flag| !flag.is_empty()).map(|flag| flag == "1"),
            follows_layout: fields.next()? == "off",
            scroll_on_clear: fields.next()? != "0",
            alternate_allowed: fields.next()? != "0",
        })
    }
}

/// tmux's numbers are `u_int`; what does not fit is far outside any screen.
fn short(number: u64) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// The line that reads a screen's text cheaply, for the moment a call is read.
pub(super) fn glance_line(pane: u32) -> Line {
    let id = format!("%{pane}");
    Line::new(&["display-message", "-p", "-t", &id, FACTS]).then(&["capture-pane", "-p", "-N", "-t", &id])
}

/// What [`glance_line`] saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Glance {
    pub(super) facts: Facts,
    /// Plain text of each screen row.
    pub(super) rows: Vec<String>,
}

/// Reads the replies to [`glance_line`].
pub(super) fn read_glance(pane: u32, replies: &[Reply]) -> Result<Glance> {
    let [facts, rows] = replies else {
        return Err(misfit(pane, "the number of replies"));
    };
    let facts = Facts::read(pane, &facts.text())?;
    let rows = rows.lines().map(|row| String::from_utf8_lossy(row).into_owned()).collect();
    Ok(Glance { facts, rows })
}

/// The line that reads rows `from..=to` of a pane's history, counted as tmux counts: -1 is the newest.
pub(super) fn page_line(pane: u32, from: i64, to: i64, abilities: Abilities) -> Line {
    let id = format!("%{pane}");
    let (from, to) = (from.to_string(), to.to_string());
    let mut args = vec!["capture-pane", "-p", "-N", "-t", &id, "-S", &from, "-E", &to];
    if abilities.trims {
        args.push("-T");
    }
    Line::new(&["display-message", "-p", "-t", &id, FACTS]).then(&args)
}

/// Reads the replies to [`page_line`]; the first is from the moment of the capture.
pub(super) fn read_page(pane: u32, from: i64, to: i64, replies: &[Reply]) -> Result<Vec<String>> {
    let Glance { facts, rows } = read_glance(pane, replies)?;
    let oldest = -i64::try_from(facts.history_size).unwrap_or(i64::MAX);
    // tmux moves a range that lies outside to the nearest row.
    if to < oldest || from > to {
        return Ok(Vec::new());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(body: &str) -> Reply {
        Reply { ok: true, body: body.as_bytes().to_vec(), ..Reply::default() }
    }

    const TEXT: &str =
        "%3;77;0;80;3;80;2;0;4294967295;4294967295;2;2000;0;2;8,16,72;0;0;1;1;0;1;0;0;0;0;0;0;;off;1;1\n";

    #[test]
    fn facts() {
        let facts = Facts::read(3, TEXT.trim_end()).unwrap();
        assert_eq!((facts.pid, facts.size, facts.cursor), (77, Size::new(3, 80), Point::new(2, 80)));
        assert_eq!((facts.saved_cursor, facts.history_size, facts.region), (None, 2, (0, 2)));
        assert_eq!(facts.tabs, [8, 16, 72]);
        assert!(facts.wrap && facts.cursor_visible && facts.cursor_keys && facts.follows_layout);
        assert!(!facts.insert && !facts.mode_open && facts.bracketed_paste.is_none());
        assert_eq!(Facts::read(4, TEXT).unwrap_err().kind(), "no_such_pane");
        assert_eq!(Facts::read(3, "%3;x").unwrap_err().kind(), "internal");
    }

    #[test]
    fn wrapped_rows_have_no_newline_in_the_joined_text() {
        for (rows, joined, flags) in [
            (vec!["ab", "cd", "e"], "abcd\ne", vec![true, false, false]),
            (vec!["ab", "", "e"], "ab\n\ne", vec![false, false, false]),
            (vec!["ab", "", "e"], "ab\ne", vec![false, true, false]),
            (vec!["", "", ""], "\n\n", vec![false, false, false]),
            (vec!["a", "a", "a"], "aaa", vec![true, true, false]),
            (vec!["a", "b"], "ax", vec![true]),
        ] {
            let rows: Vec<&[u8]> = rows.into_iter().map(str::as_bytes).collect();
            assert_eq!(wrapped_flags(&rows, joined.as_bytes()), flags, "{joined:?}");
        }
    }

    #[test]
    fn styles_are_no_text() {
        for (row, text) in [
            (&b"abc"[..], &b"abc"[..]),
            (b"\x1b[1;38;2;1;2;3mx\x1b[0m \x0eqq\x0f", b"x qq"),
            (b"\x1b]8;;http://m/\x1b\\link\x1b]8;;\x1b\\.", b"link."),
            (b"x\x1b[", b"x"),
        ] {
            assert_eq!(plain(row), text);
        }
    }

    #[test]
    fn a_whole_capture() {
        let abilities = Abilities::of((3, 3));
        let replies = [
            reply(""),
            reply(TEXT),
            reply("a title\n"),
            reply("\n"),
            reply("h1\nh2\n\x1b[31mred\nx\n\n"),
            reply("h1h2\nred\nx\n\n"),
            reply("\\033[3\n"),
            reply("\n"),
            reply("\n"),
        ];
        let mut captured = read(3, abilities, &replies).unwrap();
        let wraps: Vec<bool> = captured.history.iter().map(|row| row.wrapped).collect();
        assert_eq!(wraps, [true, false]);
        assert_eq!(captured.screen.len(), 3);
        assert_eq!(captured.screen[0].ansi, b"\x1b[31mred");
        captured.undo_death("red");
        assert_eq!((captured.title.as_str(), captured.path.as_str()), ("a title", ""));
        assert_eq!((captured.pending.as_slice(), captured.saved.is_none()), (&b"\x1b[3"[..], true));
        captured.screen[2].ansi = b"dead".to_vec();
        captured.undo_death("dead");
        let rows: Vec<&[u8]> = captured.screen.iter().map(|row| row.ansi.as_slice()).collect();
        assert_eq!(rows, [&b"h2"[..], b"\x1b[31mred", b"x"]);
        assert_eq!((captured.facts.history_size, captured.history.len()), (1, 1));
        assert_eq!(read(3, abilities, &replies[1..]).unwrap().history.len(), 2);
        assert_eq!(read(3, abilities, &replies[2..]).unwrap_err().kind(), "internal");
    }
}
