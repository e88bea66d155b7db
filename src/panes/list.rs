//! `list_panes` and `snapshot_pane`.

use std::time::Instant;

use crate::geometry::{Point, Size};
use crate::limits::ANSWER;
use crate::pane::{Ended, Pane, PaneId};
use crate::source::pty::Pty;
use crate::source::tmux::PaneInfo;
use crate::term::Modes;
use crate::{Error, Result};

use super::target::no_such_pane;
use super::{Found, Panes, Target, until};

/// All panes that can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Embedded panes first, then tmux's in the order of sessions, windows, panes.
    pub panes: Vec<PaneSummary>,
    /// The tmux version, if its server was asked.
    pub tmux: Option<String>,
    /// Why there are no tmux panes in the list, if the server could not be asked.
    pub note: Option<String>,
}

/// A pane in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaneSummary {
    /// `%N` or `pty:N-XXXX`.
    pub pane_id: String,
    /// `tmux` or `pty` (embedded).
    pub kind: &'static str,
    /// `$N`, for tmux panes.
    pub session_id: Option<String>,
    /// Name of the session, for tmux panes.
    pub session_name: Option<String>,
    /// `@N`, for tmux panes.
    pub window_id: Option<String>,
    /// Index of the window in its session, for tmux panes.
    pub window_index: Option<u32>,
    /// Name of the window, for tmux panes.
    pub window_name: Option<String>,
    /// Index of the pane in its window, for tmux panes.
    pub pane_index: Option<u32>,
    /// Program in the foreground (tmux), or the command that was started (embedded).
    pub command: String,
    /// Title that the program set.
    pub title: String,
    /// Size.
    pub size: Size,
    /// The window's active pane; an embedded pane is one while its program runs.
    pub active: bool,
    /// Process id of the program that was started.
    pub pid: Option<u32>,
    /// How the program ended, if it did.
    pub ended: Option<String>,
    /// The pane that this server itself runs in.
    pub is_own: bool,
}

/// What a pane shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneSnapshot {
    /// The pane.
    pub summary: PaneSummary,
    /// The visible rows, top first, blanks at the end of rows and blank rows at the bottom cut.
    pub rows: Vec<String>,
    /// Where the cursor is; its column may equal the number of columns (a wrap is pending).
    pub cursor: Point,
    /// The cursor is shown.
    pub cursor_visible: bool,
    /// A full-screen program shows the alternate screen.
    pub alternate_screen: bool,
    /// Modes that change what keys send or how output is taken.
    pub modes: Vec<&'static str>,
    /// Rows of grid history.
    pub history_rows: usize,
    /// Status of the program, where known.
    pub exit_status: Option<i32>,
    /// How often the mirror was found to differ from tmux and repaired.
    pub drift: u64,
}

impl Panes {
    /// Lists the panes of the tmux server on a socket, and the embedded ones.
    ///
    /// # Errors
    ///
    /// A malformed socket name, or a server that does not answer. That there is none is said in the result.
    pub async fn list(&self, socket_name: Option<&str>) -> Result<Listing> {
        let socket = self.socket(socket_name)?;
        let mut listing = Listing { panes: self.list_embedded(), ..Listing::default() };
        let deadline = Instant::now() + ANSWER;
        let listed = until(deadline, "listing panes", async {
            let server = self.server(&socket).await?;
            let panes = server.list().await?;
            Ok((server, panes))
        });
        match listed.await {
            Ok((server, mut panes)) => {
                panes.sort_by_key(|info| (info.session, info.window_index, info.pane_index));
                let own = self.own_pane_on(&server);
                listing.panes.extend(panes.iter().map(|info| tmux_summary(info, own)));
                listing.tmux = Some(server.version().to_owned());
            }
            Err(Error::NoServer(why) | Error::NoTmux(why) | Error::Refused(why)) => listing.note = Some(why),
            Err(error) => return Err(error),
        }
        Ok(listing)
    }

    fn list_embedded(&self) -> Vec<PaneSummary> {
        self.bury();
        let ptys: Vec<_> = self.ptys.lock().values().cloned().collect();
        ptys.iter().map(|pty| embedded_summary(pty)).collect()
    }

    /// Returns what a pane shows now. An ended embedded pane shows what it left.
    ///
    /// # Errors
    ///
    /// No such pane, or no answer from tmux.
    pub async fn snapshot(&self, target: &Target) -> Result<PaneSnapshot> {
        until(Instant::now() + ANSWER, "reading the pane", async {
            let (found, _) = self.enter(target, None).await?;
            let summary = self.summary(&found).await?;
            Ok(snapshot_of(&found.pane, summary))
        })
        .await
    }

    /// The pane in short, with all applied that its server had by the time of the call.
    async fn summary(&self, found: &Found) -> Result<PaneSummary> {
        match (found.pane.id(), &found.server) {
            (PaneId::Tmux { pane, .. }, Some(server)) => {
                // A dead pane that tmux keeps (remain-on-exit) still has its screen.
                match server.confirm(&found.pane).await {
                    Ok(()) | Err(Error::PaneEnded(_)) => {}
                    Err(error) => return Err(error),
                }
                let list = server.list().await?;
                let info = list.iter().find(|info| info.pane == *pane);
                let info = info.ok_or_else(|| no_such_pane(&format!("%{pane}")))?;
                Ok(tmux_summary(info, self.own_pane_on(server)))
            }
            (PaneId::Pty { number, .. }, _) => {
                let pty = self.pty(*number).ok_or_else(|| no_such_pane(&found.pane.id().to_string()))?;
                Ok(embedded_summary(&pty))
            }
            _ => Err(Error::Internal("a tmux pane without a server".into())),
        }
    }
}

fn snapshot_of(pane: &Pane, summary: PaneSummary) -> PaneSnapshot {
    let exit_status = match pane.ended() {
        Some(Ended::Exited(status)) => status,
        _ => None,
    };
    pane.with_mirror(|mirror| {
        let screen = mirror.screen();
        PaneSnapshot {
            summary,
            rows: mirror.visible_rows_trimmed(),
            cursor: screen.cursor(),
            cursor_visible: screen.modes().cursor_visible,
            alternate_screen: screen.is_alternate(),
            modes: mode_names(screen.modes()),
            history_rows: screen.history(),
            exit_status,
            drift: mirror.drift(),
        }
    })
}

fn mode_names(modes: &Modes) -> Vec<&'static str> {
    let all = [
        (modes.cursor_keys, "application_cursor"),
        (modes.keypad, "application_keypad"),
        (modes.bracketed_paste, "bracketed_paste"),
        (modes.mouse_standard || modes.mouse_button || modes.mouse_all, "mouse"),
        (modes.focus, "focus"),
        (modes.insert, "insert"),
        (modes.origin, "origin"),
        (!modes.wrap, "no_wrap"),
    ];
    all.into_iter().filter_map(|(on, name)| on.then_some(name)).collect()
}

pub(super) fn embedded_summary(pty: &Pty) -> PaneSummary {
    let pane = pty.pane();
    let (size, title) = pane.with_mirror(|mirror| (mirror.screen().size(), mirror.screen().title().to_owned()));
    let ended = pane.ended();
    PaneSummary {
        pane_id: pane.id().to_string(),
        kind: "pty",
        command: command_line(pty.command()),
        title,
        size,
        active: ended.is_none(),
        pid: Some(pane.process()),
        ended: ended.map(|why| why.to_string()),
        ..PaneSummary::default()
    }
}

pub(super) fn tmux_summary(info: &PaneInfo, own: Option<u32>) -> PaneSummary {
    PaneSummary {
        pane_id: format!("%{}", info.pane),
        kind: "tmux",
        session_id: Some(format!("${}", info.session)),
        session_name: Some(info.session_name.clone()),
        window_id: Some(format!("@{}", info.window)),
        window_index: Some(info.window_index),
        window_name: Some(info.window_name.clone()),
        pane_index: Some(info.pane_index),
        command: info.command.clone(),
        title: info.title.clone(),
        size: info.size,
        active: info.active,
        pid: Some(info.process),
        ended: info.dead.then(|| Ended::Exited(info.dead_status).to_string()),
        is_own: own == Some(info.pane),
    }
}

/// A command as the list shows it: the words, joined.
fn command_line(command: &[String]) -> String {
    if command.is_empty() { "(shell)".to_owned() } else { command.join(" ") }
}
