//! What can go wrong, one variant per thing a caller would do differently.

use std::fmt;

/// The result of an operation on a pane.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure that a caller can act on.
///
/// The message (its `Display`) names the value and the next step; [`Error::kind`] is stable for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An argument is malformed, out of range or contradicts another one.
    BadArgument(String),
    /// No pane has that id or fits that target.
    NoSuchPane(String),
    /// The pane's process ended or the pane was killed.
    PaneEnded(String),
    /// The pane was respawned: its process is another one than the one that was waited on.
    PaneRespawned(String),
    /// A cursor is malformed, of another pane or of another process.
    BadCursor(String),
    /// There is no tmux server on the socket, or it cannot be reached.
    NoServer(String),
    /// The tmux program is missing or too old.
    NoTmux(String),
    /// The tmux server ended or did not answer in time.
    ServerLost(String),
    /// The operation would harm the user's sessions and is refused.
    Refused(String),
    /// A limit of `limits.rs` was reached.
    Limit(String),
    /// A program could not be started on a pseudo-terminal.
    Spawn(String),
    /// A file could not be read or written.
    Io(String),
    /// The call was withdrawn or the server is shutting down.
    Withdrawn(String),
    /// Something that should not happen; the message says where.
    Internal(String),
}

impl Error {
    /// Names the kind of failure, as it stands in tool results (`{"kind": ...}`).
    pub fn kind(&self) -> &'static str {
        match self {
            Self::BadArgument(_) => "bad_argument",
            Self::NoSuchPane(_) => "no_such_pane",
            Self::PaneEnded(_) => "pane_ended",
            Self::PaneRespawned(_) => "pane_respawned",
            Self::BadCursor(_) => "bad_cursor",
            Self::NoServer(_) => "no_server",
            Self::NoTmux(_) => "no_tmux",
            Self::ServerLost(_) => "server_lost",
            Self::Refused(_) => "refused",
            Self::Limit(_) => "limit",
            Self::Spawn(_) => "spawn_failed",
            Self::Io(_) => "io",
            Self::Withdrawn(_) => "withdrawn",
            Self::Internal(_) => "internal",
        }
    }

    /// Tells whether the same call may succeed later without any change to it.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::NoServer(_) | Self::ServerLost(_) | Self::Limit(_) | Self::Withdrawn(_))
    }

    /// The message: what was wrong with which value, and the next step.
    pub fn message(&self) -> &str {
        match self {
            Self::BadArgument(m)
            | Self::NoSuchPane(m)
            | Self::PaneEnded(m)
            | Self::PaneRespawned(m)
            | Self::BadCursor(m)
            | Self::NoServer(m)
            | Self::NoTmux(m)
            | Self::ServerLost(m)
            | Self::Refused(m)
            | Self::Limit(m)
            | Self::Spawn(m)
            | Self::Io(m)
            | Self::Withdrawn(m)
            | Self::Internal(m) => m,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}
