//! New panes, and new servers.

use std::path::PathBuf;
use std::time::Duration;

use super::launch::Settings;
use super::line::Line;
use super::list::PaneInfo;
use super::protocol::Reply;
use super::server::Server;
use crate::error::{Error, Result};
use crate::geometry::Size;

/// Longest start of a server: it reads the user's configuration first.
const START_LIMIT: Duration = Duration::from_secs(10);

/// The size of a new session that nobody chose one for.
const SIZE: Size = Size { rows: 24, cols: 80 };

/// Where a new tmux pane goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TmuxPlace {
    /// A new session.
    Session {
        /// Its name; tmux numbers it otherwise.
        name: Option<String>,
    },
    /// A new window at the end of a session, not made the current one.
    Window {
        /// The session's number.
        session: u32,
    },
    /// Half the place of a pane, without the focus.
    Split {
        /// The pane's number.
        pane: u32,
        /// To its right instead of below it.
        beside: bool,
    },
}

/// A tmux pane to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxSpawn {
    /// Where it goes.
    pub place: TmuxPlace,
    /// Program and arguments, run without a shell; empty is tmux's default command.
    pub command: Vec<String>,
    /// Working directory; tmux's choice otherwise.
    pub directory: Option<PathBuf>,
    /// Variables set for the program.
    pub environment: Vec<(String, String)>,
    /// Size of a new session.
    pub size: Option<Size>,
}

impl TmuxSpawn {
    fn line(&self) -> Result<Line> {
        let mut args: Vec<String> = match &self.place {
            TmuxPlace::Session { name } => {
                let size = self.size.unwrap_or(SIZE);
                let mut args = vec!["new-session".into(), "-x".into(), size.cols.to_string()];
                args.extend(["-y".into(), size.rows.to_string()]);
                if let Some(name) = name {
                    args.extend(["-s".into(), session_name(name)?]);
                }
                args
            }
            TmuxPlace::Window { session } => {
                vec!["new-window".into(), "-t".into(), format!("${session}:")]
            }
            TmuxPlace::Split { pane, beside } => {
                let side = if *beside { "-h" } else { "-v" };
                vec!["split-window".into(), side.into(), "-t".into(), format!("%{pane}")]
            }
        };
        args.extend(["-d", "-P", "-F", "#{pane_id}"].map(str::to_owned));
        if let Some(directory) = &self.directory {
            args.extend(["-c".into(), literal(&directory.to_string_lossy())]);
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains('=') {
                return Err(Error::BadArgument(format!("{name:?} is not the name of an environment variable")));
            }
            args.extend(["-e".into(), format!("{name}={value}")]);
        }
        args.extend(argv(&self.command));
        Ok(Line::new(&args))
    }
}

/// tmux runs several arguments as they are, but gives a single one to a shell.
fn argv(command: &[String]) -> Vec<String> {
    match command {
        [] => Vec::new(),
        [program] => {
            let direct = ["--", "/bin/sh", "-c", "exec \"$0\"", program.as_str()];
            direct.map(str::to_owned).to_vec()
        }
        many => std::iter::once("--".to_owned()).chain(many.iter().cloned()).collect(),
    }
}

/// `-c` is expanded as a format: `##` is a `#`, but tmux leaves any number of them as they are before a `[`.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('#') {
        let (before, hashes) = rest.split_at(at);
        let after = hashes.trim_start_matches('#');
        let count = hashes.len() - after.len();
        let times = if after.starts_with('[') { count } else { 2 * count };
        out.push_str(before);
        out.extend(std::iter::repeat_n('#', times));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// `-s` is expanded as a format, and tmux replaces `:` and `.` by itself.
fn session_name(name: &str) -> Result<String> {
    if name.is_empty() || name.contains([':', '.', '#']) || name.chars().any(char::is_control) {
        return Err(Error::BadArgument(format!(
            "{name:?} is not a session name: it must not be empty or hold `:`, `.`, `#` or control characters"
        )));
    }
    Ok(name.to_owned())
}

impl Server {
    /// Makes a pane.
    ///
    /// # Errors
    /// What tmux says: no such session or pane, no space, a name that is taken; or the program ended at once.
    pub async fn new_pane(&self, spawn: &TmuxSpawn) -> Result<PaneInfo> {
        let replies = self.run(&spawn.line()?).await?;
        let text = replies.first().map(Reply::text).unwrap_or_default();
        let pane = pane_number(&text)?;
        let rows = self.list().await?;
        rows.into_iter().find(|row| row.pane == pane).ok_or_else(ended_at_once)
    }
}

/// Starts a server, or uses the one that runs, with a new session; returns the number of its pane.
///
/// # Errors
/// tmux cannot be started, or what it says.
pub async fn start_server(settings: &Settings, spawn: &TmuxSpawn) -> Result<u32> {
    let text = settings.run(&spawn.line()?, true, START_LIMIT).await?;
    pane_number(text.trim())
}

fn pane_number(text: &str) -> Result<u32> {
    text.strip_prefix('%').and_then(|digits| digits.parse().ok()).ok_or_else(ended_at_once)
}

fn ended_at_once() -> Error {
    Error::PaneEnded("the new pane's program ended at once; check the command".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let spawn = TmuxSpawn {
            place: TmuxPlace::Session { name: Some("a b".into()) },
            command: vec!["printf".into(), "%s;".into(), "a'b".into()],
            directory: Some("/tmp/#{pid}".into()),
            environment: vec![("K".into(), "v w".into())],
            size: Some(Size::new(10, 20)),
        };
        let line = String::from_utf8(spawn.line().unwrap().to_bytes().unwrap()).unwrap();
        assert_eq!(
            line,
            "new-session -x 20 -y 10 -s 'a b' -d -P -F '#{pane_id}' -c '/tmp/##{pid}' -e 'K=v w' -- printf '%s;' 'a'\\''b'\n"
        );
        for (text, format) in [("a#b", "a##b"), ("##", "####"), ("#[x]#{y}##[", "#[x]##{y}##["), ("é#", "é##")] {
            assert_eq!(literal(text), format);
        }
        let one = argv(&["top".to_owned()]);
        assert_eq!(one.last().map(String::as_str), Some("top"));
        assert_eq!(one.len(), 5);
        for name in ["", "a:b", "#(id)", "x\n"] {
            assert!(session_name(name).is_err(), "{name:?}");
        }
    }
}
