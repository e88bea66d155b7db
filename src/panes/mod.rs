//! The one place that knows every pane: those of tmux servers and the embedded ones.

mod capture;
mod cursor;
mod list;
mod manage;
mod moment;
mod target;
mod wait;

pub use capture::{Capture, CaptureRequest};
pub use cursor::Cursor;
pub use list::{Listing, PaneSnapshot, PaneSummary};
pub use manage::{Closed, Input, OpenSpec, Opened, Place, Sent};
pub use moment::Moment;
pub use target::Target;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::limits::{EMBEDDED_PANES, TOMBSTONE, WAITS};
use crate::pane::{Pane, PaneId};
use crate::source::pty::{self, Pty};
use crate::source::tmux::{self, Server, Socket};
use crate::{Error, Result};

/// How panes are found, opened and waited on.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The tmux program and the socket used where a call names none.
    pub tmux: tmux::Settings,
    /// The longest wait.
    pub wait_max: Duration,
    /// Grid history of embedded panes, in rows.
    pub history_limit: usize,
    /// Rows kept of each pane after they left the grid history.
    pub retention: usize,
    /// The tmux version whose rules embedded panes follow.
    pub profile: String,
    /// `TERM` of embedded panes.
    pub term: String,
    /// Our own pane, if we run in one: it is never typed into or closed.
    pub own_pane: Option<OwnPane>,
}

/// The tmux pane that this process runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPane {
    /// The server's socket, from `TMUX`.
    pub socket: PathBuf,
    /// The server's process id, from `TMUX`.
    pub server_pid: u32,
    /// The pane's number, from `TMUX_PANE`.
    pub pane: u32,
}

/// Every pane that can be reached.
pub struct Panes {
    settings: Settings,
    ptys: Mutex<BTreeMap<u32, Arc<Pty>>>,
    /// Held while an embedded program is started, so that no more are than may be.
    spawning: Mutex<()>,
    next_pty: AtomicU32,
    servers: Mutex<HashMap<Socket, Arc<Server>>>,
    /// One connection attempt at a time.
    connecting: tokio::sync::Mutex<()>,
    waits: AtomicUsize,
    /// Random: tells this process's cursors and ids from those of an earlier one.
    nonce: u64,
}

/// A pane that a call is about, and its server if it is tmux's.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) pane: Arc<Pane>,
    pub(crate) server: Option<Arc<Server>>,
}

impl Panes {
    /// Knows no pane yet; nothing is started or contacted.
    pub fn new(settings: Settings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            ptys: Mutex::new(BTreeMap::new()),
            spawning: Mutex::new(()),
            next_pty: AtomicU32::new(1),
            servers: Mutex::new(HashMap::new()),
            connecting: tokio::sync::Mutex::new(()),
            waits: AtomicUsize::new(0),
            nonce: random(),
        })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The longest wait.
    pub fn wait_max(&self) -> Duration {
        self.settings.wait_max
    }

    /// Ends everything of ours: embedded programs, control clients. tmux is left as it was.
    pub async fn shutdown(&self) {
        let ptys: Vec<Arc<Pty>> = self.ptys.lock().values().cloned().collect();
        let servers: Vec<Arc<Server>> = self.servers.lock().drain().map(|(_, server)| server).collect();
        let clients = async {
            for server in &servers {
                server.shutdown().await;
            }
        };
        tokio::join!(pty::end_all(&ptys), clients);
        self.ptys.lock().clear();
    }

    /// The tmux socket that a `socket_name` argument means.
    fn socket(&self, name: Option<&str>) -> Result<Socket> {
        let Some(name) = name else { return Ok(self.settings.tmux.socket.clone()) };
        let fine = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(fine) || name.chars().all(|c| c == '.') {
            return Err(Error::BadArgument(format!(
                "socket_name {:?} is not a socket name: letters, digits, `_`, `.`, `-`, at most 64",
                name.chars().take(80).collect::<String>()
            )));
        }
        Ok(Socket::Name(name.to_owned()))
    }

    /// The server on a socket if it is known and alive.
    fn known_server(&self, socket: &Socket) -> Option<Arc<Server>> {
        self.servers.lock().get(socket).filter(|server| server.is_alive()).cloned()
    }

    /// The server on a socket, connected to.
    async fn server(&self, socket: &Socket) -> Result<Arc<Server>> {
        if let Some(server) = self.known_server(socket) {
            return Ok(server);
        }
        let _one = self.connecting.lock().await;
        if let Some(server) = self.known_server(socket) {
            return Ok(server);
        }
        let settings = tmux::Settings { socket: socket.clone(), ..self.settings.tmux.clone() };
        let server = Server::connect(&settings).await?;
        let old = self.servers.lock().insert(socket.clone(), Arc::clone(&server));
        if let Some(old) = old {
            old.shutdown().await;
        }
        Ok(server)
    }

    /// The embedded pane with that number.
    fn pty(&self, number: u32) -> Option<Arc<Pty>> {
        self.bury();
        self.ptys.lock().get(&number).cloned()
    }

    /// Forgets embedded panes that ended long ago, and the oldest of too many ended ones.
    fn bury(&self) {
        let mut ptys = self.ptys.lock();
        ptys.retain(|_, pty| pty.ended_at().is_none_or(|ended| ended.elapsed() < TOMBSTONE));
        let ended: Vec<u32> = ptys.iter().filter(|(_, pty)| pty.ended_at().is_some()).map(|(at, _)| *at).collect();
        for number in ended.iter().take(ended.len().saturating_sub(EMBEDDED_PANES)) {
            ptys.remove(number);
        }
    }

    /// Starts an embedded pane.
    fn spawn(&self, spawn: pty::Spawn) -> Result<Arc<Pty>> {
        self.bury();
        let _one = self.spawning.lock();
        let running = self.ptys.lock().values().filter(|pty| pty.ended_at().is_none()).count();
        if running >= EMBEDDED_PANES {
            return Err(Error::Limit(format!(
                "{running} embedded panes run already, at most {EMBEDDED_PANES} may; close_pane ends one"
            )));
        }
        let number = self.next_pty.fetch_add(1, Ordering::Relaxed);
        let pty = Pty::spawn(self.pty_id(number), spawn)?;
        self.ptys.lock().insert(number, Arc::clone(&pty));
        Ok(pty)
    }

    fn pty_id(&self, number: u32) -> PaneId {
        PaneId::Pty { number, tag: self.tag() }
    }

    fn tag(&self) -> u16 {
        (self.nonce & 0xffff) as u16
    }

    /// A place among the waits; given back when dropped.
    fn wait_place(&self) -> Result<WaitPlace<'_>> {
        let waits = self.waits.fetch_add(1, Ordering::Relaxed);
        let place = WaitPlace(&self.waits);
        if waits >= WAITS {
            return Err(Error::Limit(format!("{waits} waits are at work already, at most {WAITS} may")));
        }
        Ok(place)
    }
}

struct WaitPlace<'a>(&'a AtomicUsize);

impl Drop for WaitPlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for `answer` no longer than until `deadline`.
async fn until<T>(deadline: Instant, what: &str, answer: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout_at(deadline.into(), answer)
        .await
        .unwrap_or_else(|_| Err(Error::ServerLost(format!("tmux did not answer in time ({what})"))))
}

/// A random number, from the seed that the standard library draws for its hash maps.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
