//! The arguments that say which pane is meant.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use crate::config::is_socket_name;
use crate::error::{Error, Result};
use crate::panes::Target;

/// Which pane a call is about; nothing at all means the first pane of the lowest session.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct TargetArguments {
    /// Pane ID: `%1` (tmux) or `pty:1-a1b2` (embedded).
    pub(super) pane_id: Option<String>,
    /// Window ID (`@1`): its first pane.
    pub(super) window_id: Option<String>,
    /// Session ID (`$1`): the first pane of its first window.
    pub(super) session_id: Option<String>,
    /// Session name, the whole of it.
    pub(super) session_name: Option<String>,
    /// tmux socket name, as in `tmux -L`; default: the configured server.
    pub(super) socket_name: Option<String>,
}

impl TryFrom<TargetArguments> for Target {
    type Error = Error;

    fn try_from(arguments: TargetArguments) -> Result<Self> {
        shape("pane_id", &arguments.pane_id, is_pane_id, "`%1` or `pty:1-a1b2`")?;
        shape("window_id", &arguments.window_id, |id| is_id('@', id), "`@1`")?;
        shape("session_id", &arguments.session_id, |id| is_id('$', id), "`$1`")?;
        shape(
            "session_name",
            &arguments.session_name,
            |name| !name.is_empty() && name.len() <= 1_024,
            "the whole name of a session",
        )?;
        shape(
            "socket_name",
            &arguments.socket_name,
            is_socket_name,
            "letters, digits, `_`, `.` and `-`, as in `tmux -L`",
        )?;
        Ok(Self {
            pane_id: arguments.pane_id,
            window_id: arguments.window_id,
            session_id: arguments.session_id,
            session_name: arguments.session_name,
            socket_name: arguments.socket_name,
        })
    }
}

/// Makes a target of a pane ID alone.
///
/// # Errors
///
/// [`Error::BadArgument`] if it does not look like one.
pub fn pane_target(id: &str) -> Result<Target> {
    Target::try_from(TargetArguments { pane_id: Some(id.to_owned()), ..TargetArguments::default() })
}

/// Checks a socket name that stands alone.
pub(super) fn socket_name(name: &Option<String>) -> Result<()> {
    shape("socket_name", name, is_socket_name, "letters, digits, `_`, `.` and `-`, as in `tmux -L`")
}

fn shape(argument: &str, value: &Option<String>, fits: impl Fn(&str) -> bool, wanted: &str) -> Result<()> {
    match value {
        Some(value) if !fits(value) => {
            let shown: String = value.chars().take(80).collect();
            Err(Error::BadArgument(format!(
                "`{argument}` is {shown:?}; it must look like {wanted}. list_panes shows what there is"
            )))
        }
        _ => Ok(()),
    }
}

fn is_id(sigil: char, id: &str) -> bool {
    id.strip_prefix(sigil).is_some_and(is_number)
}

fn is_pane_id(id: &str) -> bool {
    if let Some(rest) = id.strip_prefix("pty:") {
        return rest.split_once('-').is_some_and(|(number, tag)| {
            is_number(number) && tag.len() == 4 && tag.bytes().all(|b| b.is_ascii_hexdigit())
        });
    }
    is_id('%', id)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 10 && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_wrong_shape_never_get_further() {
        let bad = [
            ("pane_id", "keep:0"),
            ("pane_id", "%0; kill-server"),
            ("pane_id", "%"),
            ("pane_id", ""),
            ("pane_id", "%-1"),
            ("pane_id", "%99999999999"),
            ("pane_id", "pty:1"),
            ("pane_id", "pty:1-zzzz"),
            ("window_id", "1"),
            ("window_id", "%1"),
            ("session_id", "main"),
            ("session_name", ""),
            ("socket_name", "a/b"),
            ("socket_name", "../x"),
            ("socket_name", ".."),
        ];
        for (argument, value) in bad {
            let json = serde_json::json!({ argument: value });
            let arguments: TargetArguments = serde_json::from_value(json).unwrap();
            let error = Target::try_from(arguments).unwrap_err();
            assert_eq!(error.kind(), "bad_argument", "{argument}={value}");
            assert!(error.message().contains(argument), "{error}");
        }
    }

    #[test]
    fn ids_of_the_right_shape_pass() {
        let json = serde_json::json!({
            "pane_id": "%12", "window_id": "@3", "session_id": "$0", "session_name": "a:b.c $x", "socket_name": "work-1",
        });
        let arguments: TargetArguments = serde_json::from_value(json).unwrap();
        assert_eq!(Target::try_from(arguments).unwrap().pane_id.as_deref(), Some("%12"));
        let json = serde_json::json!({ "pane_id": "pty:3-a1B2" });
        let arguments: TargetArguments = serde_json::from_value(json).unwrap();
        assert!(Target::try_from(arguments).is_ok());
    }
}
