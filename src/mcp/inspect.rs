//! Tools that look at panes: `list_panes` and `snapshot_pane`.

use std::sync::Arc;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::target::{self, TargetArguments};
use super::tool::{Effect, Tool};
use crate::config::Toolset;
use crate::error::Result;
use crate::panes::{Listing, PaneSnapshot, PaneSummary, Panes, Target};

/// One pane, as it is listed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct PaneEntry {
    /// `%N` or `pty:N-XXXX`.
    pane_id: String,
    /// "tmux" or "pty" (embedded).
    kind: &'static str,
    /// The program in the foreground.
    command: String,
    /// The title that the program set.
    title: String,
    rows: u16,
    cols: u16,
    /// The active pane of its window.
    active: bool,
    session_id: Option<String>,
    session_name: Option<String>,
    window_id: Option<String>,
    window_index: Option<u32>,
    window_name: Option<String>,
    pane_index: Option<u32>,
    pid: Option<u32>,
    /// How the pane's program ended, null while it runs.
    ended: Option<String>,
    /// The pane that this server runs in: never typed into or closed.
    is_own: bool,
}

impl From<PaneSummary> for PaneEntry {
    fn from(pane: PaneSummary) -> Self {
        Self {
            pane_id: pane.pane_id,
            kind: pane.kind,
            command: pane.command,
            title: pane.title,
            rows: pane.size.rows,
            cols: pane.size.cols,
            active: pane.active,
            session_id: pane.session_id,
            session_name: pane.session_name,
            window_id: pane.window_id,
            window_index: pane.window_index,
            window_name: pane.window_name,
            pane_index: pane.pane_index,
            pid: pane.pid,
            ended: pane.ended,
            is_own: pane.is_own,
        }
    }
}

pub(super) struct ListPanes;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct ListArguments {
    /// tmux socket name, as in `tmux -L`; default: the configured server.
    socket_name: Option<String>,
}

/// The panes that there are.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PaneList {
    /// What there is to say about the list, such as that no tmux server runs.
    note: Option<String>,
    /// Version of the tmux server that was asked, null if there is none.
    tmux: Option<String>,
    /// Every pane.
    panes: Vec<PaneEntry>,
}

impl From<Listing> for PaneList {
    fn from(listing: Listing) -> Self {
        Self { note: listing.note, tmux: listing.tmux, panes: listing.panes.into_iter().map(PaneEntry::from).collect() }
    }
}

impl Tool for ListPanes {
    const NAME: &'static str = "list_panes";
    const TITLE: &'static str = "List panes";
    const DESCRIPTION: &'static str = "Use this first, to find the pane that you want to watch or type into: lists every pane of the tmux \
        server and every embedded one, with its program, title, size and place.\n\
        Without a tmux server it lists the embedded panes and says so; open_pane makes one.";
    const TOOLSET: Toolset = Toolset::Inspect;
    const EFFECT: Effect = Effect::Looks;
    type Arguments = ListArguments;
    type Output = PaneList;

    async fn call(panes: Arc<Panes>, arguments: ListArguments, _call: &Call) -> Result<PaneList> {
        target::socket_name(&arguments.socket_name)?;
        panes.list(arguments.socket_name.as_deref()).await.map(PaneList::from)
    }
}

pub(super) struct SnapshotPane;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct SnapshotArguments {
    #[serde(flatten)]
    target: TargetArguments,
}

/// What a pane shows at one moment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ScreenReport {
    /// The pane.
    pane: PaneEntry,
    /// A full-screen program (editor, pager, menu) is shown.
    alternate_screen: bool,
    /// Row of the cursor, from 0.
    cursor_row: u16,
    /// Column of the cursor, from 0; equal to `cols` if the next character wraps.
    cursor_col: u16,
    /// The cursor is shown.
    cursor_visible: bool,
    /// Terminal modes that are on, such as "bracketed_paste" or "mouse".
    modes: Vec<&'static str>,
    /// Rows above the screen.
    history_rows: usize,
    /// Exit status of the program, null while it runs or where none is known.
    exit_status: Option<i32>,
    /// How often the mirror had to be put right from tmux's own screen.
    drift: u64,
    /// The rows of the screen, top first, without colours and trailing blanks.
    text: Vec<String>,
}

impl From<PaneSnapshot> for ScreenReport {
    fn from(snapshot: PaneSnapshot) -> Self {
        Self {
            pane: snapshot.summary.into(),
            alternate_screen: snapshot.alternate_screen,
            cursor_row: snapshot.cursor.row,
            cursor_col: snapshot.cursor.col,
            cursor_visible: snapshot.cursor_visible,
            modes: snapshot.modes,
            history_rows: snapshot.history_rows,
            exit_status: snapshot.exit_status,
            drift: snapshot.drift,
            text: snapshot.rows,
        }
    }
}

impl Tool for SnapshotPane {
    const NAME: &'static str = "snapshot_pane";
    const TITLE: &'static str = "Look at a pane";
    const DESCRIPTION: &'static str = "Use this to see what a pane shows right now: its text, cursor, size, title, modes, and whether a \
        full-screen program (editor, pager, menu) is shown.\n\
        Do not call it in a loop to wait for something: wait_for_text returns the moment the text is printed.";
    const TOOLSET: Toolset = Toolset::Inspect;
    const EFFECT: Effect = Effect::Looks;
    type Arguments = SnapshotArguments;
    type Output = ScreenReport;

    async fn call(panes: Arc<Panes>, arguments: SnapshotArguments, _call: &Call) -> Result<ScreenReport> {
        let target = Target::try_from(arguments.target)?;
        panes.snapshot(&target).await.map(ScreenReport::from)
    }
}
