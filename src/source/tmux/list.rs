//! The panes of a server, as tmux lists them. Pure.

use super::line::Line;
use crate::geometry::Size;

/// The fields of a row, in the order of the reader. `q:` puts a backslash before blanks and everything special.
const FIELDS: [&str; 24] = [
    "pane_id",
    "session_id",
    "window_id",
    "window_index",
    "pane_index",
    "pane_height",
    "pane_width",
    "pane_pid",
    "pane_dead",
    "pane_dead_status",
    "pane_active",
    "window_active",
    "session_attached",
    "destroy-unattached",
    "alternate_on",
    "pane_in_mode",
    "history_size",
    "pane_tty",
    "pane_current_command",
    "session_name",
    "window_name",
    "pane_title",
    "pane_current_path",
    "session_group",
];

/// A pane as it stands in one session: a window linked to two sessions has two rows for each of its panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneInfo {
    /// The pane's number, shown as `%N`.
    pub pane: u32,
    /// The session's number, shown as `$N`.
    pub session: u32,
    /// The session's name.
    pub session_name: String,
    /// The window's number, shown as `@N`.
    pub window: u32,
    /// The window's place in the session.
    pub window_index: u32,
    /// The window's name.
    pub window_name: String,
    /// The pane's place in the window.
    pub pane_index: u32,
    /// The pane's size.
    pub size: Size,
    /// The process that tmux started in the pane.
    pub process: u32,
    /// The process ended and the pane was kept (`remain-on-exit`).
    pub dead: bool,
    /// The exit status of a dead pane's process.
    pub dead_status: Option<i32>,
    /// The pane is the active one of its window.
    pub active: bool,
    /// The window is the current one of its session.
    pub is_current_window: bool,
    /// How many clients are attached to the session, ours included.
    pub attached: u32,
    /// The alternate screen is shown.
    pub is_alternate: bool,
    /// Copy mode or another mode is open.
    pub in_mode: bool,
    /// Rows of history.
    pub history: u64,
    /// The pane's terminal device.
    pub tty: String,
    /// The name of the foreground program.
    pub command: String,
    /// The title that the program set.
    pub title: String,
    /// The foreground program's directory.
    pub path: String,
    /// The session ends when its last client leaves it.
    pub(super) is_fleeting: bool,
}

/// The line that lists all panes of all sessions.
pub(super) fn list_line() -> Line {
    Line::new(&["list-panes", "-a", "-F", &format()])
}

/// The format of one row.
pub(super) fn format() -> String {
    FIELDS.map(|field| format!("#{{q:{field}}}")).join(" ")
}

/// Reads the rows of a list. A directory's name may hold newlines; such a row goes on in the next line.
pub(super) fn read<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<PaneInfo> {
    let mut rows = Vec::new();
    let mut partial = String::new();
    for line in lines {
        if !partial.is_empty() {
            partial.push('\n');
        }
        partial.push_str(&String::from_utf8_lossy(line));
        let fields = fields(&partial);
        if fields.len() < FIELDS.len() {
            continue;
        }
        rows.extend(row(&fields));
        partial.clear();
    }
    rows
}

/// Splits at blanks that no backslash stands before.
fn fields(text: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => fields.push(String::new()),
            '\\' => {
                if let (Some(field), Some(c)) = (fields.last_mut(), chars.next()) {
                    field.push(c);
                }
            }
            c => {
                if let Some(field) = fields.last_mut() {
                    field.push(c);
                }
            }
        }
    }
    fields
}

fn row(fields: &[String]) -> Option<PaneInfo> {
    let mut fields = fields.iter().map(String::as_str);
    let mut next = || fields.next();
    let id = |field: Option<&str>, sign: char| field?.strip_prefix(sign)?.parse().ok();
    let pane = id(next(), '%')?;
    let session = id(next(), '$')?;
    let window = id(next(), '@')?;
    let mut number = || next()?.parse::<u32>().ok();
    let (window_index, pane_index) = (number()?, number()?);
    let (rows, cols) = (number()?, number()?);
    let process = number()?;
    let dead = number() == Some(1);
    let dead_status = next()?.parse().ok();
    let mut flag = || Some(next()? == "1");
    let (active, is_current_window) = (flag()?, flag()?);
    let attached = next()?.parse().ok()?;
    let is_fleeting = !matches!(next()?, "" | "0" | "off");
    let is_alternate = next()? == "1";
    let in_mode = next()?.parse::<u32>().is_ok_and(|modes| modes > 0);
    let history = next()?.parse().ok()?;
    let mut text = || next().map(str::to_owned);
    Some(PaneInfo {
        pane,
        session,
        window,
        window_index,
        pane_index,
        size: Size::new(clamp(rows), clamp(cols)),
        process,
        dead,
        dead_status,
        active,
        is_current_window,
        attached,
        is_alternate,
        in_mode,
        history,
        is_fleeting,
        tty: text()?,
        command: text()?,
        session_name: text()?,
        window_name: text()?,
        title: text()?,
        path: text()?,
    })
}

fn clamp(number: u32) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_hard_names() {
        let text = b"%5 $1 @2 0 1 24 80 77 0  1 1 0 0 0 0 12 /dev/pts/1 sh a\\ b\\;c w \\#\\{x\\} /tmp/a\nb \n\
%6 $1 @2 0 1 24 80 77 1 3 1 1 2 1 1 0 12 /dev/pts/1 sh n   / \n";
        let rows = read(text.split(|byte| *byte == b'\n'));
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].pane, rows[0].session, rows[0].window, rows[0].process), (5, 1, 2, 77));
        assert_eq!(rows[0].session_name, "a b;c");
        assert_eq!((rows[0].title.as_str(), rows[0].path.as_str()), ("#{x}", "/tmp/a\nb"));
        assert_eq!((rows[0].dead_status, rows[0].dead, rows[0].is_fleeting), (None, false, false));
        assert_eq!(rows[0].size, Size::new(24, 80));
        assert_eq!((rows[1].dead_status, rows[1].dead, rows[1].is_fleeting), (Some(3), true, true));
        assert_eq!((rows[1].attached, rows[1].title.as_str()), (2, ""));
    }
}
