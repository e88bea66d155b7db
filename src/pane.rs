//! A pane: one lock over its mirror and watchers, shared by whoever feeds it and whoever waits on it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::geometry::Size;
use crate::limits;
use crate::mirror::{LineText, Mark, Mirror, WatcherId};
use crate::term::Seed;
use crate::wait::{TextVerdict, TextWatch, TextWatcher};
use crate::{Error, Result};

/// A tmux server, told apart from every other one by its process and start time: never by its socket, which a later
/// server may take over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerId {
    /// `#{pid}` of the server.
    pub pid: u32,
    /// `#{start_time}` of the server, in seconds since 1970.
    pub start_time: u64,
}

/// Names a pane; shown as `%5` (tmux) or `pty:3-a1b2` (embedded).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaneId {
    /// A pane of a tmux server.
    Tmux {
        /// The server.
        server: ServerId,
        /// The number behind the `%`.
        pane: u32,
    },
    /// An embedded pane of this process.
    Pty {
        /// Counts the panes of this process.
        number: u32,
        /// Random, one for each process, so that ids of an earlier process are not taken for ours.
        tag: u16,
    },
}

impl fmt::Display for PaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tmux { pane, .. } => write!(f, "%{pane}"),
            Self::Pty { number, tag } => write!(f, "pty:{number}-{tag:04x}"),
        }
    }
}

/// Why a pane is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The pane was killed or closed.
    Killed,
    /// Its program ended (the status, where it is known: 128 + n for signal n).
    Exited(Option<i32>),
    /// Another program runs in it now.
    Respawned,
    /// The tmux server is gone.
    ServerGone,
    /// The pane cannot be followed any more, and why.
    Unreachable(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Killed => f.write_str("killed"),
            Self::Exited(Some(status)) => write!(f, "exited with status {status}"),
            Self::Exited(None) => f.write_str("exited"),
            Self::Respawned => f.write_str("respawned"),
            Self::ServerGone => f.write_str("its tmux server is gone"),
            Self::Unreachable(why) => write!(f, "cannot be followed: {why}"),
        }
    }
}

impl Ended {
    /// The error that a call on such a pane gets.
    pub fn error(&self, id: &PaneId) -> Error {
        match self {
            Self::Killed => Error::PaneEnded(format!("pane {id} was killed; list_panes shows the live ones")),
            Self::Exited(Some(status)) => Error::PaneEnded(format!(
                "the program in pane {id} ended with status {status}; snapshot_pane shows what it left"
            )),
            Self::Exited(None) => {
                Error::PaneEnded(format!("the program in pane {id} ended; snapshot_pane shows what it left"))
            }
            Self::Respawned => Error::PaneRespawned(format!(
                "pane {id} was respawned: another program runs in it now; call again to watch that one"
            )),
            Self::ServerGone => Error::ServerLost(format!(
                "the tmux server of pane {id} is gone; list_panes finds a server that was started again"
            )),
            Self::Unreachable(why) => Error::ServerLost(format!("pane {id} cannot be followed: {why}")),
        }
    }
}

/// The moment a call was read, in one pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The moment: all that was applied by then is old.
    pub mark: Mark,
    /// Identity of the row that the cursor was in.
    pub cursor_row: u64,
    /// The alternate screen was shown.
    pub alternate: bool,
    /// How often the alternate screen had been entered.
    pub alternate_entries: u64,
}

impl Entry {
    fn of(mirror: &Mirror, mark: Mark) -> Self {
        let screen = mirror.screen();
        Self {
            mark,
            cursor_row: mirror.cursor_row(),
            alternate: screen.is_alternate(),
            alternate_entries: screen.alternate_entries(),
        }
    }
}

/// A pane that is mirrored.
pub struct Pane {
    id: PaneId,
    /// Process id of the program, to tell a respawned pane.
    process: u32,
    /// Counts the mirrors of this process: marks of one mean nothing in another.
    serial: u32,
    born: Instant,
    state: Mutex<State>,
}

struct State {
    mirror: Mirror,
    waiting: Vec<(WatcherId, oneshot::Sender<Ended>)>,
    ended: Option<Ended>,
    used: Instant,
    /// Memory of the rows as it was last counted.
    bytes: usize,
}

/// Memory of the rows of all panes, in bytes, as of their newest deliveries.
static ROWS_BYTES: AtomicUsize = AtomicUsize::new(0);

impl State {
    /// Counts the memory of the rows, and gives up retained ones if all panes together hold too much.
    fn weigh(&mut self) {
        let bytes = self.mirror.screen().bytes();
        let all = ROWS_BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let all = all.saturating_sub(self.bytes);
        ROWS_BYTES.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
        let over = all.saturating_sub(limits::ROWS_BYTES);
        let retained = self.mirror.screen().retained();
        if over > 0 && retained > 0 {
            // Rows weigh about the same; a part too many is better than a look at each.
            let share = over.saturating_mul(self.mirror.screen().len()) / bytes.max(1);
            self.mirror.terminal_mut().forget_retained(share.clamp(1, retained));
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        ROWS_BYTES.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Pane {
    /// Makes a pane around its mirror. `process` is the process id of its program.
    pub fn new(id: PaneId, process: u32, mirror: Mirror) -> Arc<Self> {
        let now = Instant::now();
        let state = State { mirror, waiting: Vec::new(), ended: None, used: now, bytes: 0 };
        static SERIAL: AtomicU32 = AtomicU32::new(1);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { id, process, serial, born: now, state: Mutex::new(state) })
    }

    /// The pane's name.
    pub fn id(&self) -> &PaneId {
        &self.id
    }

    /// Process id of the pane's program.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Number of the mirror, unique in this process.
    pub fn serial(&self) -> u32 {
        self.serial
    }

    /// Applies one delivery: the mirror first, then every watcher, before anybody else looks.
    pub fn deliver(&self, bytes: &[u8], now: Instant) {
        let since = now.saturating_duration_since(self.born);
        let mut state = self.state.lock();
        state.mirror.apply(bytes, since);
        state.weigh();
    }

    /// Applies a new size, as tmux does at the layout change.
    pub fn resize(&self, size: Size) {
        self.state.lock().mirror.resize(size);
    }

    /// Applies `clear-history`.
    pub fn clear_history(&self) {
        self.state.lock().mirror.clear_history();
    }

    /// Repairs the mirror from a captured screen; see [`Mirror::repair`].
    pub fn repair(&self, seed: Seed, counted: bool) {
        self.state.lock().mirror.repair(seed, counted);
    }

    /// Looks at or acts on the mirror under the lock. Short, and never across an await.
    pub fn with_mirror<R>(&self, act: impl FnOnce(&mut Mirror) -> R) -> R {
        act(&mut self.state.lock().mirror)
    }

    /// Ends the pane: waits that have no answer by now get `why`. The first reason stays.
    pub fn end(&self, why: Ended) {
        let mut state = self.state.lock();
        if state.ended.is_some() {
            return;
        }
        state.ended = Some(why.clone());
        for (_, waiter) in state.waiting.drain(..) {
            let _ = waiter.send(why.clone());
        }
    }

    /// Why the pane ended, if it did.
    pub fn ended(&self) -> Option<Ended> {
        self.state.lock().ended.clone()
    }

    /// The error of a pane that ended.
    ///
    /// # Errors
    ///
    /// The one that says how it ended.
    pub fn check_alive(&self) -> Result<()> {
        self.ended().map_or(Ok(()), |why| Err(why.error(&self.id)))
    }

    /// Notes that somebody asked for the pane; see [`Pane::idle`].
    pub fn touch(&self) {
        self.state.lock().used = Instant::now();
    }

    /// How long nobody asked for the pane; zero while somebody waits on it.
    pub fn idle(&self) -> Duration {
        let state = self.state.lock();
        if state.mirror.watchers() > 0 { Duration::ZERO } else { state.used.elapsed() }
    }

    /// Takes a mark now, with what a wait has to remember of this moment. O(1).
    pub fn enter(&self) -> Entry {
        let mut state = self.state.lock();
        let mark = state.mirror.mark();
        Entry::of(&state.mirror, mark)
    }

    /// The mark before everything that the pane's program wrote while it was mirrored.
    pub fn first_mark(&self) -> Mark {
        Mark::first()
    }

    /// The entry of a call whose mark was taken when the mirror was opened.
    pub fn entry_at(&self, mark: Mark) -> Entry {
        Entry::of(&self.state.lock().mirror, mark)
    }

    /// Starts a wait for text written after `mark`: what came since is judged at once, under the same lock that lets
    /// the next delivery in. Returns the visible lines at this moment as well.
    ///
    /// `on_hit` is called where the deciding bytes are applied, and its answer comes with the verdict; it must not block.
    pub fn watch_text<T: Send + 'static>(
        self: &Arc<Self>,
        watch: Arc<TextWatch>,
        mark: Mark,
        on_hit: impl FnOnce() -> T + Send + 'static,
    ) -> (TextWait<T>, Vec<LineText>) {
        let (answer, verdict) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let mut state = self.state.lock();
        state.used = Instant::now();
        let watcher = TextWatcher::new(watch, mark, move |verdict| {
            let _ = answer.send((verdict, on_hit()));
        });
        let shown = state.mirror.visible_lines();
        let id = state.mirror.watch(Box::new(watcher));
        state.mirror.examine_now(id, mark);
        match state.ended.clone() {
            Some(why) => {
                state.mirror.unwatch(id);
                let _ = end.send(why);
            }
            None => {
                state.waiting.retain(|(_, waiter)| !waiter.is_closed());
                state.waiting.push((id, end));
            }
        }
        drop(state);
        (TextWait { pane: Arc::clone(self), id, verdict, ended }, shown)
    }

    fn unwatch(&self, id: WatcherId) {
        let mut state = self.state.lock();
        state.mirror.unwatch(id);
        state.waiting.retain(|(other, _)| *other != id);
        state.used = Instant::now();
    }
}

/// A wait at work; dropping it withdraws it.
pub struct TextWait<T> {
    pane: Arc<Pane>,
    id: WatcherId,
    verdict: oneshot::Receiver<(TextVerdict, T)>,
    ended: oneshot::Receiver<Ended>,
}

impl<T> TextWait<T> {
    /// Waits for the verdict.
    ///
    /// # Errors
    ///
    /// How the pane ended, if it ended first.
    pub async fn verdict(&mut self) -> std::result::Result<(TextVerdict, T), Ended> {
        tokio::select! {
            biased;
            Ok(verdict) = &mut self.verdict => Ok(verdict),
            Ok(why) = &mut self.ended => self.verdict.try_recv().map_err(|_| why),
            else => Err(Ended::Unreachable("its mirror was dropped".into())),
        }
    }

    /// The verdict, if it has come.
    pub fn try_verdict(&mut self) -> Option<(TextVerdict, T)> {
        self.verdict.try_recv().ok()
    }
}

impl<T> Drop for TextWait<T> {
    fn drop(&mut self) {
        self.pane.unwatch(self.id);
    }
}
