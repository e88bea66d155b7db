//! Mirrors of panes: the exact opening, and taking one up again.
//!
//! ```text
//!  caller            opening                       tmux
//!  snapshot ────────────────────────────────────► capture-pane (any session's client)
//!  open ───────────► hold ──────────────────────► refresh-client -A %P:pause
//!                      ◄────────────────────────── %pause %P       from here on output is held
//!                    all snapshots are in
//!                    post ──────────────────────► …:continue ; display-message … ; capture-pane …
//!                    open the mirror ◄──────────── replies
//!  pane, mark ◄───── release what was held
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use super::alive::Alive;
use super::capture::{self, Captured};
use super::client::Client;
use super::list::PaneInfo;
use super::routes::Tap;
use super::seed;
use super::server::{Server, State, TICKET, may_attach, no_pane};
use super::wire::Answer;
use crate::error::{Error, Result};
use crate::geometry::Size;
use crate::mirror::{Mark, Mirror, Snapshot};
use crate::pane::{Ended, Pane, PaneId};
use crate::term::{Options, Profile, Terminal};

/// Mirrors of one server at the same time.
const MIRRORS: usize = 256;

/// How often a pane that floods is captured again because too much came meanwhile.
const ATTEMPTS: usize = 3;

/// A pane that has a mirror.
pub(super) struct Mirrored {
    pub(super) pane: Arc<Pane>,
    /// The client that feeds it.
    pub(super) client: Arc<Client>,
    /// Its process as it was when the mirror was opened, if it can be seen from here.
    pub(super) alive: Option<Alive>,
    /// Deliveries at the newest check against tmux's screen; `None` asks for one.
    pub(super) checked: Option<u64>,
    pub(super) checked_at: Instant,
    /// The size at that check: after a change a difference is no drift.
    pub(super) checked_size: Size,
    /// The moment of its seed, for callers that were late to join.
    seeded: Mark,
    seeded_at: Instant,
}

impl Mirrored {
    /// The mirror's size.
    pub(super) fn size(&self) -> Size {
        self.pane.with_mirror(|mirror| mirror.screen().size())
    }
}

/// A mirror in the making.
#[derive(Default)]
pub(super) struct Opening {
    joiners: Vec<Joiner>,
    /// The capture has been asked for: whoever joins now is too late for a snapshot of before it.
    fixed: bool,
}

/// A capture that was asked for and has not come yet.
pub struct Glimpse {
    pane: u32,
    client: Arc<Client>,
    answer: Answer,
}

type Opened = Result<(Arc<Pane>, Mark)>;

struct Joiner {
    snapshot: Option<Snapshot>,
    answer: oneshot::Sender<Opened>,
}

impl Tap for Pane {
    fn deliver(&self, bytes: &[u8], now: Instant) {
        Self::deliver(self, bytes, now);
    }

    fn resize(&self, size: Size) {
        if self.with_mirror(|mirror| mirror.screen().size()) != size {
            Self::resize(self, size);
        }
    }
}

impl Server {
    /// Captures what a pane shows at this moment, whatever its session, for [`Server::open`] to compare with.
    ///
    /// # Errors
    /// No such pane, or the server is gone.
    pub async fn snapshot(&self, pane: u32) -> Result<Snapshot> {
        self.any_client().await?;
        let glimpse = self.glimpse(pane).ok_or_else(|| no_pane(pane))?;
        self.snapshot_of(glimpse).await
    }

    /// Asks for the capture of [`Server::snapshot`] at this moment, over a client that is open already. Waits for
    /// nothing; `None` if no client is open.
    pub fn glimpse(&self, pane: u32) -> Option<Glimpse> {
        let client = self.open_client()?;
        self.state.lock().tickets.entry(pane).or_default().push(Instant::now());
        let answer = client.post(&capture::glance_line(pane)).ok()?;
        Some(Glimpse { pane, client, answer })
    }

    /// Waits for a capture that was asked for.
    ///
    /// # Errors
    /// No such pane, or the server is gone.
    pub async fn snapshot_of(&self, glimpse: Glimpse) -> Result<Snapshot> {
        let Glimpse { pane, client, answer } = glimpse;
        let taken = client.answer(answer).await;
        let snapshot = taken.and_then(|replies| capture::read_glance(pane, &replies));
        if snapshot.is_err() {
            self.state.lock().take_ticket(pane);
            self.joined.notify_waiters();
        }
        snapshot.map(seed::snapshot)
    }

    /// Opens the mirror of a pane, or takes the one that is open; cells that differ from the snapshot are new since
    /// the returned mark. Callers that come at the same time share one opening, each with a snapshot and mark of its
    /// own.
    ///
    /// # Errors
    /// No such pane, a session that we must not attach to, too many mirrors, or the server is gone.
    pub async fn open(self: &Arc<Self>, pane: u32, snapshot: Snapshot) -> Result<(Arc<Pane>, Mark)> {
        let answer = {
            let mut state = self.state.lock();
            state.take_ticket(pane);
            self.joined.notify_waiters();
            if let Some(error) = &state.over {
                return Err(error.clone());
            }
            if let Some(mirrored) = state.live(pane) {
                // It was opened between the snapshot and now: what came since its seed is new.
                let mark = (mirrored.seeded_at.elapsed() < TICKET).then_some(mirrored.seeded);
                let pane = Arc::clone(&mirrored.pane);
                drop(state);
                let now = pane.enter().mark;
                return Ok((pane, mark.unwrap_or(now)));
            }
            let (answer, receiver) = oneshot::channel();
            let is_first = !state.openings.contains_key(&pane);
            let opening = state.openings.entry(pane).or_default();
            let snapshot = (!opening.fixed).then_some(snapshot);
            opening.joiners.push(Joiner { snapshot, answer });
            if is_first {
                tokio::spawn(Arc::clone(self).run_opening(pane));
            }
            receiver
        };
        answer.await.unwrap_or_else(|_| Err(no_pane(pane)))
    }

    async fn run_opening(self: Arc<Self>, number: u32) {
        let mut first = Vec::new();
        if let Err(error) = self.mirror(number, &mut first).await {
            let opening = self.state.lock().openings.remove(&number);
            let late = opening.into_iter().flat_map(|opening| opening.joiners).map(|joiner| joiner.answer);
            for joiner in first.into_iter().chain(late) {
                // A caller that has gone wants no answer.
                let _ = joiner.send(Err(error.clone()));
            }
        }
    }

    /// Opens a mirror and answers all who joined; those left in `first` have joined before it failed.
    async fn mirror(&self, number: u32, first: &mut Vec<oneshot::Sender<Opened>>) -> Result<()> {
        self.make_room()?;
        let row = self.locate(number).await?;
        let client = self.client_for(&row).await?;
        client.hold(number).await?;
        let (answer, snapshots) = self.fix(&client, number, first).await?;
        let captured = self.captured(&client, number, answer).await?;
        let facts = captured.facts.clone();
        let (pane, marks) = self.seeded(number, captured, &snapshots);
        pane.with_mirror(|mirror| mirror.terminal_mut().set_mode_open(facts.mode_open));
        let late = pane.with_mirror(Mirror::mark);
        let tap: Arc<dyn Tap> = pane.clone();
        let kept = client.release(number, tap, facts.follows_layout);
        if !kept {
            self.catch_up(&client, number, &pane).await?;
        }
        if facts.dead {
            pane.end(Ended::Exited(row.dead_status));
            client.forget(number);
        }
        let mut state = self.state.lock();
        if let Some(error) = &state.over {
            pane.end(Ended::ServerGone);
            return Err(error.clone());
        }
        for (joiner, mark) in first.drain(..).zip(marks) {
            let _ = joiner.send(Ok((Arc::clone(&pane), mark)));
        }
        let rest = state.openings.remove(&number);
        for joiner in rest.into_iter().flat_map(|opening| opening.joiners) {
            let _ = joiner.answer.send(Ok((Arc::clone(&pane), late)));
        }
        if !facts.dead {
            let now = Instant::now();
            let alive = Alive::of(pane.process(), self.id().pid);
            let mirrored = Mirrored {
                alive,
                pane,
                client,
                checked: None,
                checked_at: now,
                checked_size: facts.size,
                seeded: late,
                seeded_at: now,
            };
            state.panes.insert(number, mirrored);
        }
        drop(state);
        // What happened to it meanwhile was nobody's concern yet.
        self.look();
        Ok(())
    }

    /// Waits for the snapshots that are under way, then asks for the capture that all of them are compared with.
    async fn fix(
        &self,
        client: &Client,
        number: u32,
        first: &mut Vec<oneshot::Sender<Opened>>,
    ) -> Result<(Answer, Vec<Snapshot>)> {
        let deadline = Instant::now() + TICKET;
        loop {
            let joined = self.joined.notified();
            tokio::pin!(joined);
            joined.as_mut().enable();
            {
                let mut state = self.state.lock();
                if Instant::now() >= deadline || !state.has_tickets(number) {
                    let opening = state.openings.entry(number).or_default();
                    opening.fixed = true;
                    let mut snapshots = Vec::new();
                    for joiner in opening.joiners.drain(..) {
                        snapshots.extend(joiner.snapshot);
                        first.push(joiner.answer);
                    }
                    let answer = client.post(&capture::exact_line(number, self.abilities))?;
                    return Ok((answer, snapshots));
                }
            }
            let _ = tokio::time::timeout_at(deadline.into(), joined).await;
        }
    }

    pub(super) async fn captured(&self, client: &Client, number: u32, answer: Answer) -> Result<Captured> {
        let replies = client.answer(answer).await?;
        capture::read(number, self.abilities, &replies)
    }

    /// Seeds a new pane, or one that was put to sleep, and takes a mark for each snapshot.
    fn seeded(&self, number: u32, captured: Captured, snapshots: &[Snapshot]) -> (Arc<Pane>, Vec<Mark>) {
        let process = captured.facts.pid;
        let asleep = self.state.lock().asleep.remove(&number);
        if let Some(pane) = asleep.filter(|pane| pane.process() == process && pane.ended().is_none()) {
            let marks = wake(&pane, captured, snapshots, self.settings.retention);
            return (pane, marks);
        }
        let options = Options {
            profile: Profile::for_version(self.version()),
            history_limit: captured.facts.history_limit,
            retention: self.settings.retention.max(captured.facts.history_limit),
            answer_queries: false,
        };
        let mirror = Mirror::new(Terminal::new(captured.facts.size, options));
        let pane = Pane::new(PaneId::Tmux { server: self.id(), pane: number }, process, mirror);
        let marks = pane.with_mirror(|mirror| mirror.open(seed::build(captured), snapshots));
        (pane, marks)
    }

    /// Reads a pane again whose held output was too much to keep.
    async fn catch_up(&self, client: &Arc<Client>, number: u32, pane: &Arc<Pane>) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let captured = self.exact(client, number).await?;
            let follows = captured.facts.follows_layout;
            pane.with_mirror(|mirror| {
                mirror.rejoin(seed::build(captured));
            });
            let tap: Arc<dyn Tap> = pane.clone();
            if client.release(number, tap, follows) {
                return Ok(());
            }
        }
        Err(Error::Limit(format!("pane %{number} writes faster than it can be read")))
    }

    /// Reads a pane at an exact moment of its stream; its output is held from then on until it is released.
    pub(super) async fn exact(&self, client: &Client, number: u32) -> Result<Captured> {
        client.hold(number).await?;
        let answer = client.post(&capture::exact_line(number, self.abilities))?;
        self.captured(client, number, answer).await
    }

    /// Takes a mirrored pane up again, through whatever session it is in now: what changed meanwhile counts as
    /// written.
    pub(super) async fn rejoin(&self, number: u32) -> Result<()> {
        let Some((pane, old)) = self.state.lock().live(number).map(|m| (Arc::clone(&m.pane), Arc::clone(&m.client)))
        else {
            return Ok(());
        };
        let row = self.locate(number).await?;
        let client = self.client_for(&row).await?;
        let captured = self.exact(&client, number).await?;
        if captured.facts.pid != pane.process() {
            self.over(number, Ended::Respawned);
            return Ok(());
        }
        if !Arc::ptr_eq(&old, &client) {
            old.forget(number);
        }
        let follows = captured.facts.follows_layout;
        pane.with_mirror(|mirror| {
            mirror.rejoin(seed::build(captured));
        });
        let tap: Arc<dyn Tap> = pane.clone();
        if !client.release(number, tap, follows) {
            self.catch_up(&client, number, &pane).await?;
        }
        if let Some(mirrored) = self.state.lock().panes.get_mut(&number) {
            mirrored.client = client;
            mirrored.checked = None;
        }
        Ok(())
    }

    /// The row of a pane in the session through which it is read: one with a client if there is such a one.
    pub(super) async fn locate(&self, number: u32) -> Result<PaneInfo> {
        let rows = self.list().await?;
        let state = self.state.lock();
        let rank = |row: &PaneInfo| {
            let has_client = state.clients.get(&row.session).is_some_and(|client| client.is_open());
            (!has_client, !may_attach(row), row.session)
        };
        let rows = rows.into_iter().filter(|row| row.pane == number);
        rows.min_by_key(|row| rank(row)).ok_or_else(|| no_pane(number))
    }

    /// A pane has ended: its waits are told.
    pub(super) fn over(&self, number: u32, why: Ended) {
        let mirrored = self.state.lock().panes.remove(&number);
        if let Some(Mirrored { pane, client, .. }) = mirrored {
            let gone = matches!(why, Ended::Killed | Ended::ServerGone);
            pane.end(why);
            if gone {
                client.remove(number);
            } else {
                client.forget(number);
            }
        }
    }

    /// Puts the mirror that was longest unused to sleep if there are too many.
    fn make_room(&self) -> Result<()> {
        let idlest = {
            let state = self.state.lock();
            if state.panes.len() < MIRRORS {
                return Ok(());
            }
            let idle = state.panes.iter().map(|(number, mirrored)| (mirrored.pane.idle(), *number));
            idle.filter(|(idle, _)| !idle.is_zero()).max()
        };
        let Some((_, number)) = idlest else {
            return Err(Error::Limit(format!("{MIRRORS} panes are waited on already, at most {MIRRORS} may be")));
        };
        self.put_to_sleep(number);
        Ok(())
    }

    /// Mutes a pane that nobody asked for lately; its last screen is kept to compare with.
    pub(super) fn put_to_sleep(&self, number: u32) {
        let mut state = self.state.lock();
        let Some(Mirrored { pane, client, .. }) = state.panes.remove(&number) else {
            return;
        };
        client.forget(number);
        pane.with_mirror(|mirror| mirror.terminal_mut().set_retention(0));
        state.asleep.insert(number, pane);
    }
}

/// Takes a pane up that was put to sleep. A caller whose snapshot is what the pane shows now has seen nothing new yet;
/// for any other everything that changed since the pane fell asleep is new.
fn wake(pane: &Pane, captured: Captured, snapshots: &[Snapshot], retention: usize) -> Vec<Mark> {
    let limit = captured.facts.history_limit;
    pane.with_mirror(|mirror| {
        mirror.terminal_mut().set_retention(retention.max(limit));
        let before = mirror.mark();
        mirror.rejoin(seed::build(captured));
        let after = mirror.mark();
        let shown = mirror.visible_rows();
        let mark = |snapshot: &Snapshot| {
            if same_rows(&snapshot.rows, &shown) { after } else { before }
        };
        snapshots.iter().map(mark).collect()
    })
}

pub(super) fn same_rows(left: &[String], right: &[String]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| left.trim_end_matches(' ') == right.trim_end_matches(' '))
}

impl State {
    /// A mirrored pane that has not ended.
    pub(super) fn live(&self, pane: u32) -> Option<&Mirrored> {
        self.panes.get(&pane).filter(|mirrored| mirrored.pane.ended().is_none())
    }

    fn take_ticket(&mut self, pane: u32) {
        if let Some(tickets) = self.tickets.get_mut(&pane) {
            tickets.pop();
        }
    }

    fn has_tickets(&mut self, pane: u32) -> bool {
        prune(&mut self.tickets);
        self.tickets.contains_key(&pane)
    }
}

fn prune(tickets: &mut HashMap<u32, Vec<Instant>>) {
    tickets.retain(|_, taken| {
        taken.retain(|taken| taken.elapsed() < TICKET);
        !taken.is_empty()
    });
}
