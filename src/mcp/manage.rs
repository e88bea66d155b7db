//! Tools that open things: `open_pane`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::inspect::PaneEntry;
use super::target::TargetArguments;
use super::tool::{Effect, Tool};
use crate::config::Toolset;
use crate::error::{Error, Result};
use crate::geometry::Size;
use crate::panes::{OpenSpec, Panes, Place, Target};

pub(super) struct OpenPane;

/// Where the pane lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Kind {
    #[default]
    Pty,
    Tmux,
}

/// Where in tmux the pane goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum TmuxPlace {
    #[default]
    Session,
    Window,
    Split,
    SplitBeside,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct OpenArguments {
    /// "pty": an embedded pane, no tmux needed, ended with this server. "tmux": a pane of tmux, which stays.
    kind: Kind,
    /// Only with kind "tmux". "session": a new one (starts a tmux server if none runs; `session_name` names it).
    /// "window": in the session that the IDs name. "split": below the pane that the IDs name; "split_beside": to its right.
    place: TmuxPlace,
    /// Program and arguments, run without a shell. Left out: your shell.
    command: Option<Vec<String>>,
    /// Working directory.
    cwd: Option<String>,
    /// Environment variables to set.
    env: BTreeMap<String, String>,
    /// Default 24 (pty and new sessions).
    #[schemars(range(min = 1, max = 1000))]
    rows: Option<u16>,
    /// Default 80 (pty and new sessions).
    #[schemars(range(min = 1, max = 1000))]
    cols: Option<u16>,
    #[serde(flatten)]
    target: TargetArguments,
}

/// The pane that was opened.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenReport {
    /// Give this to the other tools.
    pane_id: String,
    /// Give this to capture_since: all that the pane printed since it was opened.
    cursor: String,
    /// The pane.
    pane: PaneEntry,
}

impl Tool for OpenPane {
    const NAME: &'static str = "open_pane";
    const TITLE: &'static str = "Open a pane";
    const DESCRIPTION: &'static str = "Use this when you need a terminal to run something in: starts a program or a shell on a new pane and \
        returns its `pane_id`.\n\
        By default the pane is embedded: it needs no tmux, has 24 rows of 80 columns and ends with this server. Ask for \
        kind \"tmux\" only if a person should see the pane or it must outlive you. capture_since with the `cursor` returns all \
        that the program printed from its start.";
    const TOOLSET: Toolset = Toolset::Manage;
    const EFFECT: Effect = Effect::Adds;
    type Arguments = OpenArguments;
    type Output = OpenReport;

    async fn call(panes: Arc<Panes>, arguments: OpenArguments, _call: &Call) -> Result<OpenReport> {
        let opened = panes.open(spec(arguments)?).await?;
        Ok(OpenReport { pane_id: opened.summary.pane_id.clone(), cursor: opened.cursor, pane: opened.summary.into() })
    }
}

fn spec(arguments: OpenArguments) -> Result<OpenSpec> {
    let mut target = Target::try_from(arguments.target)?;
    let place = match (arguments.kind, arguments.place) {
        (Kind::Pty, TmuxPlace::Session) if target == Target::default() => Place::Pty,
        (Kind::Pty, _) => {
            return Err(bad("`place` and the IDs go with `kind` \"tmux\""));
        }
        (Kind::Tmux, TmuxPlace::Session) => {
            if target.pane_id.is_some() || target.window_id.is_some() || target.session_id.is_some() {
                return Err(bad(
                    "a new session takes no pane, window or session ID; `place` may be \"window\" or \"split\"",
                ));
            }
            let name = target.session_name.take();
            if let Some(name) = name.as_deref().filter(|name| name.contains([':', '.'])) {
                return Err(bad(&format!(
                    "`session_name` is {name:?}; tmux allows no `:` and `.` in the name of a new session"
                )));
            }
            Place::Session { name }
        }
        (Kind::Tmux, TmuxPlace::Window) => Place::Window,
        (Kind::Tmux, TmuxPlace::Split) => Place::Split { beside: false },
        (Kind::Tmux, TmuxPlace::SplitBeside) => Place::Split { beside: true },
    };
    if arguments.command.as_ref().is_some_and(|argv| argv.first().is_none_or(String::is_empty)) {
        return Err(bad("`command` names no program; leave it out for a shell"));
    }
    let words = arguments.command.iter().flatten();
    let pairs = arguments.env.iter().flat_map(|(name, value)| [name, value]);
    if words.chain(pairs).chain(&arguments.cwd).any(|text| text.contains('\0')) {
        return Err(bad("`command`, `cwd` and `env` cannot hold a NUL"));
    }
    if let Some(name) = arguments.env.keys().find(|name| name.is_empty() || name.contains('=')) {
        return Err(bad(&format!("`env` has {name:?}, which is no name of a variable")));
    }
    let size = (arguments.rows.is_some() || arguments.cols.is_some())
        .then(|| Size::new(arguments.rows.unwrap_or(24), arguments.cols.unwrap_or(80)));
    Ok(OpenSpec {
        place,
        target,
        command: arguments.command,
        cwd: arguments.cwd.map(PathBuf::from),
        env: arguments.env,
        size,
    })
}

fn bad(message: &str) -> Error {
    Error::BadArgument(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(arguments: Value) -> Result<OpenSpec> {
        spec(serde_json::from_value(arguments).unwrap())
    }

    #[test]
    fn arguments_that_contradict_each_other_are_refused() {
        let cases = [
            json!({ "place": "split" }),
            json!({ "pane_id": "%1" }),
            json!({ "kind": "tmux", "pane_id": "%1" }),
            json!({ "kind": "tmux", "session_name": "a:b" }),
            json!({ "command": [] }),
            json!({ "command": [""] }),
            json!({ "command": ["a\u{0}b"] }),
            json!({ "env": { "A=B": "c" } }),
            json!({ "env": { "": "c" } }),
            json!({ "cwd": "/a\u{0}" }),
        ];
        for case in cases {
            let error = read(case.clone()).map(|spec| format!("{spec:?}")).unwrap_err();
            assert_eq!(error.kind(), "bad_argument", "{case}");
        }
    }

    #[test]
    fn a_place_is_read_with_its_target() {
        assert_eq!(read(json!({})).unwrap().place, Place::Pty);
        assert_eq!(read(json!({ "rows": 5 })).unwrap().size, Some(Size::new(5, 80)));
        let spec = read(json!({ "kind": "tmux", "session_name": "new" })).unwrap();
        assert_eq!(spec.place, Place::Session { name: Some("new".into()) });
        assert_eq!(spec.target, Target::default());
        let spec = read(json!({ "kind": "tmux", "place": "split_beside", "pane_id": "%3" })).unwrap();
        assert_eq!(spec.place, Place::Split { beside: true });
        assert_eq!(spec.target.pane_id.as_deref(), Some("%3"));
    }
}
