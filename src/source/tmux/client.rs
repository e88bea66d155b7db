//! One control client: a tmux process that is attached to one session and reads for us.
//!
//! ```text
//!   post(line) ──► stdin  ┌────────────┐        reader thread
//!                         │ tmux -C    │ stdout ──► Parser ──┬─► replies to their askers
//!                         └────────────┘                     ├─► output to its pane
//!                                                            └─► notices to the server's task
//! ```
//!
//! Both pipes are socket pairs: a read that waits is ended by shutting the socket down, even while the tmux server is
//! stopped and keeps its end open.

use std::io::Read;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};

use super::launch::Settings;
use super::line::Line;
use super::protocol::{Event, Parser, Reply, layout_panes};
use super::routes::{Routes, Step, Tap};
use super::wire::{Answer, Matched, Wire};
use crate::error::{Error, Result};

/// Longest wait for a reply.
pub(super) const REPLY_LIMIT: Duration = Duration::from_secs(2);

/// How long a client may take to detach before it is killed.
const DETACH_GRACE: Duration = Duration::from_millis(50);

/// Bytes of one read from a client.
const READ: usize = 64 << 10;

/// What the server's task is told by a client's reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// Windows, panes or sessions came, went or changed their sizes.
    Topology,
    /// The subscription on pids and deaths has a new value.
    Panes,
    /// A mode was opened or closed in a pane.
    Mode(u32),
    /// tmux dropped output of a pane.
    Gap(u32),
    /// The client looks at another session than its own.
    Foreign(u32),
    /// The client ended, with the reason that it gave.
    Closed(String),
}

/// How far a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Starting,
    Attached,
    /// Its output ended; the process has been waited for.
    Ended,
}

/// A running control client. Dropping it ends it.
pub(super) struct Client {
    id: u64,
    session: u32,
    shared: Arc<Shared>,
    phase: watch::Receiver<Phase>,
}

struct Shared {
    id: u64,
    session: u32,
    settings: Settings,
    wire: Mutex<Wire>,
    routes: Mutex<Routes>,
    output: UnixStream,
    phase: watch::Sender<Phase>,
    notices: mpsc::UnboundedSender<(u64, Notice)>,
}

impl Client {
    /// Starts a client on a session and waits until it is attached.
    pub(super) async fn start(
        settings: &Settings,
        id: u64,
        session: u32,
        notices: mpsc::UnboundedSender<(u64, Notice)>,
    ) -> Result<Arc<Self>> {
        let (input, their_input) = UnixStream::pair().map_err(|error| no_client(&error))?;
        let (output, their_output) = UnixStream::pair().map_err(|error| no_client(&error))?;
        let child = settings
            .command(false)
            .args(["-C", "attach-session", "-E", "-f", "ignore-size", "-t"])
            .arg(format!("${session}"))
            .stdin(Stdio::from(OwnedFd::from(their_input)))
            .stdout(Stdio::from(OwnedFd::from(their_output)))
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| settings.not_started(&error))?;
        let (phase, watched) = watch::channel(Phase::Starting);
        let reading = output.try_clone().map_err(|error| no_client(&error))?;
        let shared = Arc::new(Shared {
            id,
            session,
            settings: settings.clone(),
            wire: Mutex::new(Wire::new(input).map_err(|error| no_client(&error))?),
            routes: Mutex::default(),
            output,
            phase,
            notices,
        });
        let reader = Arc::clone(&shared);
        std::thread::Builder::new()
            .name(format!("tmux-client-{id}"))
            .spawn(move || reader.read(reading, child))
            .map_err(|error| no_client(&error))?;
        let client = Arc::new(Self { id, session, shared, phase: watched });
        client.attached().await?;
        Ok(client)
    }

    async fn attached(&self) -> Result<()> {
        let mut phase = self.phase.clone();
        let seen = tokio::time::timeout(REPLY_LIMIT, phase.wait_for(|phase| *phase != Phase::Starting)).await;
        match seen {
            Ok(Ok(phase)) if *phase == Phase::Attached => Ok(()),
            Ok(_) => Err(Error::ServerLost(format!(
                "a control client could not attach to session ${} on {}",
                self.session, self.shared.settings.socket
            ))),
            Err(_) => Err(self.shared.settings.frozen(REPLY_LIMIT)),
        }
    }

    /// The client's number, in its notices.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The session that it is attached to.
    pub(super) fn session(&self) -> u32 {
        self.session
    }

    /// Tells whether the client still runs.
    pub(super) fn is_open(&self) -> bool {
        *self.phase.borrow() == Phase::Attached
    }

    /// Sends a line at once, without waiting for anything; lines run in the order in which they are posted.
    pub(super) fn post(&self, line: &Line) -> Result<Answer> {
        self.shared.wire.lock().post(line)
    }

    /// Waits for the replies to a posted line.
    pub(super) async fn answer(&self, mut answer: Answer) -> Result<Vec<Reply>> {
        let deadline = Instant::now() + REPLY_LIMIT;
        // A server that does not read leaves part of a line here; see to it that it gets the rest.
        while !self.shared.wire.lock().flush() && Instant::now() < deadline {
            if let Ok(replies) = tokio::time::timeout(Duration::from_millis(5), &mut answer).await {
                return replies.unwrap_or_else(|_| Err(self.lost()));
            }
        }
        match tokio::time::timeout_at(deadline.into(), answer).await {
            Ok(replies) => replies.unwrap_or_else(|_| Err(self.lost())),
            Err(_) => Err(self.shared.settings.frozen(REPLY_LIMIT)),
        }
    }

    /// Runs a line and returns one reply for each of its commands.
    pub(super) async fn run(&self, line: &Line) -> Result<Vec<Reply>> {
        let answer = self.post(line)?;
        self.answer(answer).await
    }

    /// Pauses a pane: all its output from here on is held until it is released.
    pub(super) async fn hold(&self, pane: u32) -> Result<()> {
        let held = self.shared.routes.lock().hold(pane);
        let Some(held) = held else {
            return Ok(());
        };
        let id = format!("%{pane}");
        let line = Line::new(&["display-message", "-p", "-t", &id, "#{pane_id}"]).then(&[
            "refresh-client",
            "-A",
            &format!("{id}:pause"),
        ]);
        let replies = self.run(&line).await?;
        // A target that does not exist is silently replaced by another pane.
        if replies.first().map(Reply::text).as_ref() != Some(&id) {
            self.shared.routes.lock().remove(pane);
            return Err(Error::NoSuchPane(format!("no pane {id}; list_panes shows the live ones")));
        }
        match tokio::time::timeout(REPLY_LIMIT, held).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(self.lost()),
            Err(_) => Err(self.shared.settings.frozen(REPLY_LIMIT)),
        }
    }

    /// Hands the held output of a pane on, and all that follows; `false` if too much was held to keep.
    pub(super) fn release(&self, pane: u32, tap: Arc<dyn Tap>, follow_layout: bool) -> bool {
        self.shared.routes.lock().release(pane, tap, Instant::now(), follow_layout)
    }

    /// Mutes a pane that nobody wants any more.
    pub(super) fn forget(&self, pane: u32) {
        let mute = self.shared.routes.lock().forget(pane);
        if mute {
            self.shared.mute(pane);
        }
    }

    /// Forgets a pane that is gone.
    pub(super) fn remove(&self, pane: u32) {
        self.shared.routes.lock().remove(pane);
    }

    /// How many deliveries a live pane got from this client, and when it got the newest.
    pub(super) fn activity(&self, pane: u32) -> Option<(u64, Option<Instant>)> {
        self.shared.routes.lock().activity(pane)
    }

    /// Detaches and waits until the process is gone; kills it after a grace.
    pub(super) async fn end(&self) {
        let mut phase = self.phase.clone();
        self.shared.wire.lock().detach();
        let ended = tokio::time::timeout(DETACH_GRACE, phase.wait_for(|phase| *phase == Phase::Ended));
        if ended.await.is_ok() {
            return;
        }
        drop(self.shared.output.shutdown(Shutdown::Both));
        let killed = tokio::time::timeout(DETACH_GRACE, phase.wait_for(|phase| *phase == Phase::Ended));
        drop(killed.await);
    }

    fn lost(&self) -> Error {
        self.shared.lost("")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.shared.wire.lock().detach();
        drop(self.shared.output.shutdown(Shutdown::Both));
    }
}

impl Shared {
    /// The reader thread: reads until the client's end, then sees the process off.
    fn read(&self, mut output: UnixStream, mut child: Child) {
        let mut parser = Parser::default();
        let mut buffer = vec![0; READ];
        let mut reason = None;
        while reason.is_none() {
            let read = match output.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let now = Instant::now();
            let bytes = buffer.get(..read).unwrap_or_default();
            parser.feed(bytes, |event| {
                if let Some(end) = self.event(event, now) {
                    reason.get_or_insert(end);
                }
            });
        }
        let reason = reason.unwrap_or_default();
        self.wire.lock().close(&self.lost(&reason));
        // Failing means that it has ended already.
        drop(child.kill());
        drop(child.wait());
        self.phase.send_replace(Phase::Ended);
        drop(self.notices.send((self.id, Notice::Closed(reason))));
    }

    /// Acts on one event; gives the reason when the client is at its end.
    fn event(&self, event: Event<'_>, now: Instant) -> Option<String> {
        match event {
            Event::Output { pane, data } => {
                let step = self.routes.lock().output(pane, data, now);
                match step {
                    Step::Deliver(tap) => tap.deliver(data, now),
                    Step::Mute => self.mute(pane),
                    Step::Done => {}
                }
            }
            Event::Reply(reply) => return self.reply(reply),
            Event::Pause(pane) => {
                if !self.routes.lock().paused(pane) {
                    self.tell(Notice::Gap(pane));
                }
            }
            Event::Continue(pane) => self.routes.lock().continued(pane),
            Event::SessionChanged(session) if session == self.session => {
                self.phase.send_if_modified(|phase| {
                    let starting = *phase == Phase::Starting;
                    if starting {
                        *phase = Phase::Attached;
                    }
                    starting
                });
            }
            Event::SessionChanged(session) => self.tell(Notice::Foreign(session)),
            Event::LayoutChange { layout, .. } => {
                for (pane, size) in layout_panes(layout) {
                    let tap = self.routes.lock().follows_layout(pane);
                    if let Some(tap) = tap {
                        tap.resize(size);
                    }
                }
                self.tell(Notice::Topology);
            }
            Event::TopologyChanged => self.tell(Notice::Topology),
            Event::PaneModeChanged(pane) => self.tell(Notice::Mode(pane)),
            Event::Subscription { .. } => self.tell(Notice::Panes),
            Event::Exit(reason) => return Some(String::from_utf8_lossy(reason).into_owned()),
            Event::Broken(why) => return Some(format!("broken stream: {why}")),
        }
        None
    }

    fn reply(&self, reply: Reply) -> Option<String> {
        let number = reply.number;
        // Notices act before the asker hears of the reply: it may rely on them.
        if reply.flags & 1 == 1 && reply.body.first() == Some(&b'%') && self.wire.lock().is_refresh() {
            for notice in reply.notices() {
                match notice {
                    Event::Pause(pane) if !self.routes.lock().paused(pane) => self.tell(Notice::Gap(pane)),
                    Event::Continue(pane) => self.routes.lock().continued(pane),
                    _ => {}
                }
            }
        }
        match self.wire.lock().matched(reply) {
            Matched::Unexpected => Some(format!("broken stream: unexpected reply {number}")),
            Matched::Ours | Matched::Foreign => None,
        }
    }

    fn mute(&self, pane: u32) {
        let line = Line::new(&["refresh-client", "-A", &format!("%{pane}:pause")]);
        // Should it fail the client is at its end.
        drop(self.wire.lock().post(&line));
    }

    fn tell(&self, notice: Notice) {
        drop(self.notices.send((self.id, notice)));
    }

    fn lost(&self, reason: &str) -> Error {
        let session = self.session;
        let socket = &self.settings.socket;
        let why = if reason.is_empty() { "its client ended" } else { reason };
        Error::ServerLost(format!("the connection to session ${session} on {socket} ended: {why}"))
    }
}

fn no_client(error: &std::io::Error) -> Error {
    Error::Io(format!("no control client could be made: {error}"))
}
