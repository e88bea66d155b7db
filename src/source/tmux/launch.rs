//! The tmux program: how it is started, and what its messages mean.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use super::line::Line;
use crate::error::{Error, Result};

/// The oldest tmux whose control mode can do what is needed.
pub(super) const OLDEST: (u32, u32) = (3, 2);

/// Longest wait for a program to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(1);

/// Which socket a tmux server listens on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Socket {
    /// tmux's own choice: `default` in its socket directory.
    #[default]
    Default,
    /// A name in tmux's socket directory, `tmux -L NAME`.
    Name(String),
    /// A path, `tmux -S PATH`.
    Path(PathBuf),
}

impl std::fmt::Display for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("the default socket"),
            Self::Name(name) => write!(f, "socket {name}"),
            Self::Path(path) => write!(f, "socket {}", path.display()),
        }
    }
}

/// How to reach a tmux server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The tmux program: a path, or a name looked up in `PATH`.
    pub program: PathBuf,
    /// The socket.
    pub socket: Socket,
    /// The configuration a server that we start reads (`tmux -f`); tmux's own choice if `None`.
    pub config: Option<PathBuf>,
    /// Rows that a mirror keeps after tmux has dropped them from its history; never fewer than the pane's
    /// history-limit.
    pub retention: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { program: PathBuf::from("tmux"), socket: Socket::Default, config: None, retention: 50_000 }
    }
}

impl Settings {
    /// The tmux program with its socket and a clean environment; `start` allows it to start a server.
    ///
    /// `TMUX` and `TMUX_PANE` are taken away, since they point at the server that we may run in ourselves. `-u` is
    /// always given: tmux would otherwise replace what is not ASCII in replies.
    pub(super) fn command(&self, start: bool) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.env_remove("TMUX").env_remove("TMUX_PANE").arg("-u");
        if !start {
            command.arg("-N");
        }
        match &self.socket {
            Socket::Default => {}
            Socket::Name(name) => {
                command.arg("-L").arg(name);
            }
            Socket::Path(path) => {
                command.arg("-S").arg(path);
            }
        }
        if start && let Some(config) = &self.config {
            command.arg("-f").arg(config);
        }
        command
    }

    /// Runs commands by a short-lived tmux process and returns what they print.
    pub(super) async fn run(&self, line: &Line, start: bool, limit: Duration) -> Result<String> {
        let mut command = tokio::process::Command::from(self.command(start));
        for (at, args) in line.commands().iter().enumerate() {
            if at > 0 {
                command.arg(";");
            }
            // An argument that ends in a semicolon would end the command.
            command.args(args.iter().map(|arg| match arg.strip_suffix(';') {
                Some(head) => format!("{head}\\;"),
                None => arg.clone(),
            }));
        }
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(limit, command.output())
            .await
            .map_err(|_| self.frozen(limit))?
            .map_err(|error| self.not_started(&error))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(self.failure(&String::from_utf8_lossy(&output.stderr)))
        }
    }

    /// The error for a tmux program that could not be started.
    pub(super) fn not_started(&self, error: &std::io::Error) -> Error {
        let program = self.program.display();
        if error.kind() == std::io::ErrorKind::NotFound {
            Error::NoTmux(format!(
                "no program {program}; install tmux 3.2 or newer or name it with PANEMIRROR_TMUX_BIN, or use embedded panes"
            ))
        } else {
            Error::NoTmux(format!("{program} cannot be started: {error}"))
        }
    }

    /// The error for a program that does not do what tmux does: too old, or no tmux at all.
    pub(super) async fn unusable(&self, said: &str) -> Error {
        let program = self.program.display();
        let mut command = tokio::process::Command::new(&self.program);
        command.arg("-V").env_remove("TMUX").stdin(Stdio::null()).kill_on_drop(true);
        let told = tokio::time::timeout(VERSION_LIMIT, command.output()).await.ok().and_then(std::io::Result::ok);
        let told = told.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
        let version = told.strip_prefix("tmux ");
        if version.and_then(version_number).is_some_and(|number| number < OLDEST) {
            return Error::NoTmux(format!(
                "{program} is {told}; 3.2 or newer is needed: install it or name it with PANEMIRROR_TMUX_BIN, or use \
                 embedded panes"
            ));
        }
        let said: String = said.chars().take(200).collect();
        Error::NoTmux(format!(
            "{program} does not answer as tmux does ({said:?}); name another with PANEMIRROR_TMUX_BIN, or use embedded panes"
        ))
    }

    /// The error for a server that does not answer.
    pub(super) fn frozen(&self, limit: Duration) -> Error {
        Error::ServerLost(format!(
            "the tmux server on {} did not answer within {} ms; it may be stopped or busy",
            self.socket,
            limit.as_millis()
        ))
    }

    /// What a failed tmux process meant by its message.
    pub(super) fn failure(&self, message: &str) -> Error {
        let message = message.trim();
        let socket = &self.socket;
        if message.contains("no server running")
            || message.contains("No such file or directory")
            || message.contains("Connection refused")
            || message.contains("server exited")
            || message.contains("lost server")
        {
            Error::NoServer(format!(
                "no tmux server on {socket}; start one with `tmux new-session -d`, or open an embedded pane"
            ))
        } else if message.contains("no current") || message.contains("no sessions") {
            Error::NoServer(format!("the tmux server on {socket} has no session; start one with `tmux new-session -d`"))
        } else if message.contains("ermission denied") || message.contains("access not allowed") {
            Error::NoServer(format!(
                "the tmux server on {socket} may not be used by this user ({message}); run as its owner"
            ))
        } else if message.contains("protocol version mismatch") {
            Error::NoTmux(format!(
                "the tmux server on {socket} is of another version than {} ({message}); name its program",
                self.program.display()
            ))
        } else {
            tmux_error(message)
        }
    }
}

/// What an `%error` reply means.
pub(super) fn tmux_error(message: &str) -> Error {
    let message = message.trim();
    if message.contains("can't find") || message.contains("no such") {
        Error::NoSuchPane(format!("tmux: {message}; list_panes shows the live ones"))
    } else if message.contains("no space for") || message.contains("too small") {
        Error::Limit(format!("tmux: {message}"))
    } else {
        Error::BadArgument(format!("tmux: {message}"))
    }
}

/// The version of a server as (major, minor), of `3.3a`, `next-3.8`, `openbsd-7.4` (none) or `master`.
pub(super) fn version_number(version: &str) -> Option<(u32, u32)> {
    let version = version.strip_prefix("next-").unwrap_or(version);
    if version == "master" {
        return Some((u32::MAX, 0));
    }
    let (major, rest) = version.split_once('.')?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, digits.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (text, number) in [
            ("3.3a", Some((3, 3))),
            ("3.2", Some((3, 2))),
            ("next-3.8", Some((3, 8))),
            ("3.10b", Some((3, 10))),
            ("master", Some((u32::MAX, 0))),
            ("openbsd-7.4", None),
            ("", None),
        ] {
            assert_eq!(version_number(text), number, "{text}");
        }
    }

    #[test]
    fn messages() {
        let settings = Settings::default();
        for (message, kind) in [
            ("no server running on /tmp/x", "no_server"),
            ("error connecting to /tmp/x (No such file or directory)", "no_server"),
            ("error connecting to /tmp/x (Permission denied)", "no_server"),
            ("can't find pane: %9", "no_such_pane"),
            ("no space for new pane", "limit"),
            ("usage: ...", "bad_argument"),
        ] {
            assert_eq!(settings.failure(message).kind(), kind, "{message}");
        }
    }
}
