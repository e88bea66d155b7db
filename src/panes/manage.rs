//! Opening panes, typing into them, closing them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::geometry::Size;
use crate::keys::{self, KeyModes};
use crate::limits::ANSWER;
use crate::mirror::Snapshot;
use crate::pane::PaneId;
use crate::source::pty::{self, Pty, Spawn};
use crate::source::tmux::{self, Server, TmuxPlace, TmuxSpawn};
use crate::term::{Options, Profile};
use crate::wait::{TextResult, TextWatch};
use crate::{Error, Result};

use super::list::{PaneSummary, embedded_summary, tmux_summary};
use super::target::{Target, tmux_number};
use super::{Found, Panes, until};

/// Where a new pane goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// An embedded pseudo-terminal.
    #[default]
    Pty,
    /// A new tmux session; starts a server if there is none.
    Session {
        /// Its name; tmux chooses one otherwise.
        name: Option<String>,
    },
    /// A new window of the target's session.
    Window,
    /// A part of the target pane's place.
    Split {
        /// To its right instead of below it.
        beside: bool,
    },
}

/// A pane to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenSpec {
    /// Where it goes.
    pub place: Place,
    /// The session or pane beside which it goes (`Window`, `Split`), and the socket.
    pub target: Target,
    /// Program and arguments; `None` is the user's shell.
    pub command: Option<Vec<String>>,
    /// Working directory.
    pub cwd: Option<PathBuf>,
    /// Environment variables set on top of ours (embedded) or tmux's.
    pub env: BTreeMap<String, String>,
    /// Size of an embedded pane or a new session; tmux decides the size of windows and splits.
    pub size: Option<Size>,
}

/// A pane that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The pane.
    pub summary: PaneSummary,
    /// A cursor taken when it was opened: `capture_since` returns all that it printed since.
    pub cursor: String,
}

/// What is typed into a pane: the text, then the keys, then Enter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Text, taken literally.
    pub text: Option<String>,
    /// Names of keys.
    pub keys: Vec<String>,
    /// Enter comes last.
    pub enter: bool,
}

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The pane.
    pub pane_id: String,
    /// Number of bytes that went to the program.
    pub bytes: usize,
    /// A cursor taken before them.
    pub cursor: String,
}

/// A pane that was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The pane.
    pub pane_id: String,
    /// Status of an embedded pane's program, where known.
    pub exit_status: Option<i32>,
}

impl Panes {
    /// Opens a pane.
    ///
    /// # Errors
    ///
    /// A program that cannot be started, a limit, or what tmux says.
    pub async fn open(&self, spec: OpenSpec) -> Result<Opened> {
        if spec.place == Place::Pty {
            let pty = self.open_embedded(spec)?;
            let pane = pty.pane();
            let cursor = self.cursor_at(pane, pane.first_mark()).encode();
            return Ok(Opened { summary: embedded_summary(&pty), cursor });
        }
        until(Instant::now() + ANSWER, "opening a pane", self.open_tmux(spec)).await
    }

    /// Starts a command on an embedded pane and waits for its text; all that it writes is new. The pane is closed
    /// afterwards.
    ///
    /// # Errors
    ///
    /// A program that cannot be started, or that ended before anything matched.
    pub async fn wait_on_command(&self, spec: OpenSpec, watch: TextWatch, timeout: Duration) -> Result<TextResult> {
        let pty = self.open_embedded(spec)?;
        let mark = pty.pane().first_mark();
        let found = Found { pane: Arc::clone(pty.pane()), server: None };
        let result = self.wait_from(&found, found.pane.entry_at(mark), watch, timeout, Instant::now()).await;
        pty::end_all(&[pty]).await;
        result
    }

    fn open_embedded(&self, spec: OpenSpec) -> Result<Arc<Pty>> {
        let settings = self.settings();
        self.spawn(Spawn {
            command: spec.command.unwrap_or_default(),
            directory: spec.cwd,
            environment: spec.env.into_iter().collect(),
            term: settings.term.clone(),
            size: spec.size.unwrap_or(Size::new(24, 80)),
            options: Options {
                profile: Profile::for_version(&settings.profile),
                history_limit: settings.history_limit,
                retention: settings.retention,
                answer_queries: true,
            },
        })
    }

    async fn open_tmux(&self, spec: OpenSpec) -> Result<Opened> {
        let socket = self.socket(spec.target.socket_name.as_deref())?;
        let place = match &spec.place {
            Place::Split { beside } => {
                TmuxPlace::Split { pane: self.beside(&spec.target).await?.pane, beside: *beside }
            }
            Place::Window => TmuxPlace::Window { session: self.beside(&spec.target).await?.session },
            Place::Session { name } => TmuxPlace::Session { name: name.clone() },
            Place::Pty => return Err(Error::Internal("an embedded pane is not tmux's".into())),
        };
        let is_session = matches!(place, TmuxPlace::Session { .. });
        let tmux_spawn = TmuxSpawn {
            place,
            command: spec.command.unwrap_or_default(),
            directory: spec.cwd,
            environment: spec.env.into_iter().collect(),
            size: spec.size,
        };
        let (server, info) = match self.server(&socket).await {
            Ok(server) => {
                let info = server.new_pane(&tmux_spawn).await?;
                (server, info)
            }
            Err(Error::NoServer(_)) if is_session => {
                let settings = tmux::Settings { socket: socket.clone(), ..self.settings().tmux.clone() };
                let pane = tmux::start_server(&settings, &tmux_spawn).await?;
                let server = self.server(&socket).await?;
                let list = server.list().await?;
                let info = list.into_iter().find(|info| info.pane == pane);
                (server, info.ok_or_else(|| Error::PaneEnded("the new pane's program ended at once".into()))?)
            }
            Err(error) => return Err(error),
        };
        // All that the program prints is new since this cursor: a blank screen is what it started from.
        let blank = Snapshot { history: 0, size: info.size, rows: Vec::new(), alternate: false, process: 0 };
        let (pane, mark) = server.open(info.pane, blank).await?;
        let cursor = self.cursor_at(&pane, mark).encode();
        Ok(Opened { summary: tmux_summary(&info, self.own_pane_on(&server)), cursor })
    }

    /// The pane that a new window or split goes beside.
    async fn beside(&self, target: &Target) -> Result<tmux::PaneInfo> {
        let socket = self.socket(target.socket_name.as_deref())?;
        let server = self.server(&socket).await?;
        let list = server.list().await?;
        super::target::resolve(&list, target, self).cloned()
    }

    /// Types keys and text into a pane, in order. Nothing is typed if a key is unknown.
    ///
    /// # Errors
    ///
    /// An unknown key, our own pane, a pane that ended or does not read.
    pub async fn send(&self, target: &Target, input: &Input) -> Result<Sent> {
        until(Instant::now() + ANSWER, "typing into the pane", async {
            let (found, _) = self.enter(target, None).await?;
            found.pane.check_alive()?;
            self.refuse_own(&found, "typed into")?;
            let modes = found.pane.with_mirror(|mirror| {
                let modes = mirror.screen().modes();
                KeyModes { application_cursor: modes.cursor_keys, application_keypad: modes.keypad }
            });
            let bytes = encode(input, modes)?;
            let entry = found.pane.enter();
            match (&found.server, found.pane.id()) {
                (Some(server), PaneId::Tmux { pane, .. }) => {
                    server.confirm(&found.pane).await?;
                    server.send(*pane, &bytes).await?;
                }
                (_, PaneId::Pty { number, .. }) => {
                    self.pty(*number).ok_or_else(|| Error::NoSuchPane(found.pane.id().to_string()))?.send(&bytes)?;
                }
                _ => return Err(Error::Internal("a tmux pane without a server".into())),
            }
            Ok(Sent {
                pane_id: found.pane.id().to_string(),
                bytes: bytes.len(),
                cursor: self.cursor_at(&found.pane, entry.mark).encode(),
            })
        })
        .await
    }

    /// Closes a pane: a tmux pane is killed, an embedded one's program is ended.
    ///
    /// # Errors
    ///
    /// No target given, no such pane, or our own pane.
    pub async fn close(&self, target: &Target) -> Result<Closed> {
        if target.pane_id.is_none() {
            return Err(Error::BadArgument("pane_id is needed to close a pane; list_panes shows the ids".into()));
        }
        if let Some(found) = self.embedded(target)? {
            return self.close_embedded(&found).await;
        }
        until(Instant::now() + ANSWER, "closing the pane", async {
            let info = self.beside(target).await?;
            let socket = self.socket(target.socket_name.as_deref())?;
            let server = self.server(&socket).await?;
            if self.own_pane_on(&server) == Some(info.pane) {
                return Err(own_pane(&format!("%{}", info.pane), "closed"));
            }
            server.kill_pane(info.pane).await?;
            Ok(Closed { pane_id: format!("%{}", info.pane), exit_status: None })
        })
        .await
    }

    async fn close_embedded(&self, found: &Found) -> Result<Closed> {
        let PaneId::Pty { number, .. } = found.pane.id() else {
            return Err(Error::Internal("not an embedded pane".into()));
        };
        if let Some(pty) = self.pty(*number) {
            pty::end_all(&[Arc::clone(&pty)]).await;
            self.ptys.lock().remove(number);
        }
        let exit_status = match found.pane.ended() {
            Some(crate::pane::Ended::Exited(status)) => status,
            _ => None,
        };
        Ok(Closed { pane_id: found.pane.id().to_string(), exit_status })
    }

    /// The number of our own pane, if it is on that server.
    pub(super) fn own_pane_on(&self, server: &Server) -> Option<u32> {
        let own = self.settings().own_pane.as_ref()?;
        (server.id().pid == own.server_pid).then_some(own.pane)
    }

    fn refuse_own(&self, found: &Found, what: &str) -> Result<()> {
        let own = found.server.as_ref().and_then(|server| self.own_pane_on(server));
        if own.is_some() && own == tmux_number(found.pane.id()) {
            return Err(own_pane(&found.pane.id().to_string(), what));
        }
        Ok(())
    }
}

fn own_pane(id: &str, what: &str) -> Error {
    Error::Refused(format!("pane {id} is the one that this server runs in: it is never {what}; choose another"))
}

fn encode(input: &Input, modes: KeyModes) -> Result<Vec<u8>> {
    let mut bytes: Vec<u8> = input.text.as_deref().unwrap_or_default().into();
    let enter = input.enter.then_some("Enter");
    for name in input.keys.iter().map(String::as_str).chain(enter) {
        bytes.extend(keys::encode(name, modes).map_err(|error| Error::BadArgument(error.to_string()))?);
    }
    if bytes.is_empty() {
        return Err(Error::BadArgument("nothing to type: give text, keys or enter".into()));
    }
    Ok(bytes)
}
