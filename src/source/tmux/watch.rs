//! The task that keeps mirrors in step with what happens to their panes: deaths, moves, sizes, drift.
//!
//! It acts on notices of the clients' readers and, while there are mirrors, looks every two seconds at panes that have
//! gone quiet. One look at the list of all panes settles everything but drift.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::capture::{self, Glance};
use super::client::{Client, Notice};
use super::line::Line;
use super::list::PaneInfo;
use super::open::same_rows;
use super::protocol::Reply;
use super::routes::Tap;
use super::seed;
use super::server::Server;
use crate::error::{Error, Result};
use crate::geometry::Size;
use crate::pane::{Ended, Pane};

/// How often quiet panes are looked for.
const TICK: Duration = Duration::from_secs(2);

/// How long a pane must be quiet before it is checked.
const QUIET: Duration = Duration::from_secs(1);

/// The same after a change of size, which programs answer by painting anew.
const SETTLED: Duration = Duration::from_millis(100);

/// How often a pane that stays quiet is checked.
const CHECK: Duration = Duration::from_secs(60);

/// How long mirrors and clients are kept that nobody uses.
const IDLE: Duration = Duration::from_secs(600);

/// When a server whose client ended is asked again.
const DOUBT: Duration = Duration::from_millis(200);

/// How often a server that does not answer is asked whether it still runs.
const ASKS: usize = 5;

/// Starts the task; it ends with the server.
pub(super) fn start(server: &Arc<Server>, notices: mpsc::UnboundedReceiver<(u64, Notice)>) {
    tokio::spawn(watch(Arc::downgrade(server), notices));
}

async fn watch(server: Weak<Server>, mut notices: mpsc::UnboundedReceiver<(u64, Notice)>) {
    let mut next = Instant::now() + TICK;
    loop {
        let first = match tokio::time::timeout_at(next.into(), notices.recv()).await {
            Ok(Some(notice)) => Some(notice),
            Ok(None) => return,
            Err(_) => None,
        };
        let Some(server) = server.upgrade() else {
            return;
        };
        if !server.is_alive() {
            return;
        }
        if let Some(first) = first {
            let mut all = vec![first];
            while let Ok(notice) = notices.try_recv() {
                all.push(notice);
            }
            server.heed(&all).await;
            if all.iter().any(|(_, notice)| matches!(notice, Notice::Closed(_))) {
                tokio::spawn(ask_again(Arc::downgrade(&server)));
            }
        }
        if Instant::now() >= next {
            server.tick().await;
            next = Instant::now() + server.next_look();
        } else {
            next = next.min(Instant::now() + server.next_look());
        }
    }
}

/// A server that is about to end may have answered that it runs.
async fn ask_again(server: Weak<Server>) {
    tokio::time::sleep(DOUBT).await;
    if let Some(server) = server.upgrade()
        && server.is_alive()
        && !server.still_runs().await
    {
        server.gone();
    }
}

impl Server {
    async fn heed(&self, notices: &[(u64, Notice)]) {
        for (id, notice) in notices {
            match notice {
                Notice::Closed(reason) => {
                    self.drop_client(*id);
                    if reason.starts_with("server exited") || !self.still_runs().await {
                        self.gone();
                        return;
                    }
                }
                Notice::Foreign(_) => {
                    if let Some(client) = self.drop_client(*id) {
                        client.end().await;
                    }
                }
                Notice::Gap(pane) => self.settle(*pane, self.rejoin(*pane).await).await,
                Notice::Topology | Notice::Panes | Notice::Mode(_) => {}
            }
        }
        self.reconcile().await;
    }

    /// Asks until there is an answer: a server that is about to end may take a question and never answer it.
    async fn still_runs(&self) -> bool {
        for _ in 0..ASKS {
            if let Ok(runs) = self.is_running().await {
                return runs;
            }
        }
        true
    }

    fn drop_client(&self, id: u64) -> Option<Arc<Client>> {
        let mut state = self.state.lock();
        let session = state.clients.iter().find(|(_, client)| client.id() == id).map(|(session, _)| *session)?;
        state.clients.remove(&session)
    }

    /// The server is gone: every pane of it has ended.
    pub(super) fn gone(&self) {
        let panes = {
            let mut state = self.state.lock();
            let socket = &self.settings.socket;
            let error = Error::ServerLost(format!("the tmux server on {socket} has ended"));
            state.over.get_or_insert(error);
            state.clients.clear();
            state.asleep.clear();
            std::mem::take(&mut state.panes)
        };
        for mirrored in panes.into_values() {
            mirrored.pane.end(Ended::ServerGone);
        }
    }

    /// Compares the mirrored panes with the list of all panes.
    async fn reconcile(&self) {
        if self.state.lock().panes.is_empty() {
            return;
        }
        let rows = match self.list().await {
            Ok(rows) => rows,
            Err(_) => {
                if !self.still_runs().await {
                    self.gone();
                }
                return;
            }
        };
        let mut places: HashMap<u32, Vec<&PaneInfo>> = HashMap::new();
        for row in &rows {
            places.entry(row.pane).or_default().push(row);
        }
        for (number, pane) in self.mirrored_panes() {
            let places = places.get(&number).map(Vec::as_slice).unwrap_or_default();
            self.reconcile_pane(number, &pane, places).await;
        }
        self.state.lock().asleep.retain(|number, _| places.contains_key(number));
    }

    async fn reconcile_pane(&self, number: u32, pane: &Arc<Pane>, places: &[&PaneInfo]) {
        let Some(row) = places.first() else {
            self.over(number, Ended::Killed);
            return;
        };
        if row.process != pane.process() {
            self.over(number, Ended::Respawned);
        } else if row.dead {
            self.read_last(number, pane).await;
            self.over(number, Ended::Exited(row.dead_status));
        } else if !self.is_fed(number, places) {
            self.settle(number, self.rejoin(number).await).await;
        } else {
            let resized = pane.with_mirror(|mirror| {
                mirror.terminal_mut().set_mode_open(row.in_mode);
                mirror.screen().size() != row.size
            });
            if resized {
                pane.resize(row.size);
            }
        }
    }

    /// Reads what a dead pane has left: tmux drops what it has not sent yet when a program ends, so its last words may
    /// stand on the screen alone. They are output; tmux's own words about the death are not.
    async fn read_last(&self, number: u32, pane: &Arc<Pane>) {
        let Some(client) = self.state.lock().live(number).map(|mirrored| Arc::clone(&mirrored.client)) else {
            return;
        };
        let format = "#{E:remain-on-exit-format}";
        let line = Line::new(&["display-message", "-p", "-t", &format!("%{number}"), format]);
        let words = client.run(&line).await.ok().and_then(|replies| replies.first().map(Reply::text));
        // It may be gone altogether by now.
        if let Ok(mut captured) = self.exact(&client, number).await {
            captured.undo_death(&words.unwrap_or_default());
            pane.with_mirror(|mirror| {
                mirror.rejoin(seed::build(captured));
            });
        }
    }

    /// The client that feeds the pane is open and in a session that the pane is in.
    fn is_fed(&self, number: u32, places: &[&PaneInfo]) -> bool {
        let state = self.state.lock();
        state.live(number).is_some_and(|mirrored| {
            let session = mirrored.client.session();
            let is_ours = state.clients.get(&session).is_some_and(|client| Arc::ptr_eq(client, &mirrored.client));
            is_ours && mirrored.client.is_open() && places.iter().any(|row| row.session == session)
        })
    }

    /// Ends a pane that could not be taken up again.
    async fn settle(&self, number: u32, result: Result<()>) {
        match result {
            Ok(()) => {}
            Err(Error::NoSuchPane(_)) => self.over(number, Ended::Killed),
            Err(Error::ServerLost(_)) if !self.still_runs().await => self.gone(),
            Err(error) => self.over(number, Ended::Unreachable(error.to_string())),
        }
    }

    /// Checks quiet panes, puts unused ones to sleep, ends clients that nobody uses.
    async fn tick(&self) {
        let now = Instant::now();
        let (mut due, mut idle, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for (number, mirrored) in &self.state.lock().panes {
            let Some((deliveries, newest)) = mirrored.client.activity(*number) else {
                // A check or a rejoin had no answer in time: nobody would hand its output on again.
                held.push(*number);
                continue;
            };
            let size = mirrored.size();
            let is_resized = size != mirrored.checked_size;
            let quiet = if is_resized { SETTLED } else { QUIET };
            let is_old = now.saturating_duration_since(mirrored.checked_at) >= CHECK;
            if mirrored.pane.idle() >= IDLE {
                idle.push(*number);
            } else if newest.is_none_or(|newest| now.saturating_duration_since(newest) >= quiet)
                && (is_old || is_resized || mirrored.checked != Some(deliveries))
            {
                let (pane, client) = (Arc::clone(&mirrored.pane), Arc::clone(&mirrored.client));
                due.push(Due { number: *number, pane, client, deliveries, is_resized, size });
            }
        }
        for number in idle {
            self.put_to_sleep(number);
        }
        for number in held {
            self.settle(number, self.rejoin(number).await).await;
        }
        for due in due {
            if self.check(&due).await.is_ok()
                && let Some(mirrored) = self.state.lock().panes.get_mut(&due.number)
            {
                mirrored.checked = Some(due.deliveries);
                mirrored.checked_at = now;
                mirrored.checked_size = due.size;
            }
        }
        self.end_unused_clients().await;
    }

    /// When to look at the panes again, if nothing happens.
    fn next_look(&self) -> Duration {
        let state = self.state.lock();
        if state.panes.is_empty() {
            CHECK
        } else if state.panes.values().any(|mirrored| mirrored.size() != mirrored.checked_size) {
            SETTLED
        } else {
            TICK
        }
    }

    async fn end_unused_clients(&self) {
        let clients: Vec<Arc<Client>> = {
            let mut state = self.state.lock();
            let is_used = state.used.is_some_and(|used| used.elapsed() < IDLE);
            if is_used || !state.panes.is_empty() || !state.openings.is_empty() {
                return;
            }
            state.clients.drain().map(|(_, client)| client).collect()
        };
        for client in clients {
            client.end().await;
        }
    }

    /// Compares a quiet pane with tmux's screen, cheaply first; repairs it when an exact capture differs too.
    async fn check(&self, due: &Due) -> Result<()> {
        let Due { number, pane, client, deliveries, is_resized, .. } = due;
        let number = *number;
        let is_quiet = || client.activity(number).is_some_and(|(now, _)| now == *deliveries);
        let replies = client.run(&capture::glance_line(number)).await?;
        let glance = capture::read_glance(number, &replies)?;
        if !is_quiet() || glance.facts.pid != pane.process() || glance.facts.dead {
            return Ok(());
        }
        match compare(pane, &glance) {
            Likeness::Same => return Ok(()),
            Likeness::HistoryCleared => {
                pane.clear_history();
                return Ok(());
            }
            Likeness::Different => {}
        }
        let answer = client.post(&capture::passing_line(number, self.abilities))?;
        let passing = self.captured(client, number, answer).await?;
        if !is_quiet() {
            return Ok(());
        }
        let exact = self.exact(client, number).await?;
        let follows = exact.facts.follows_layout;
        let is_stable = exact == passing;
        let seed = seed::build(exact);
        if pane.with_mirror(|mirror| mirror.differs_from(&seed)) {
            if is_stable {
                tracing::warn!(pane = %pane.id(), is_resized, "the mirror differed from tmux's screen and was repaired");
                pane.repair(seed, !is_resized);
            } else {
                // The program wrote while the pane was paused: that is output, and new.
                pane.with_mirror(|mirror| {
                    mirror.rejoin(seed);
                });
            }
        }
        let tap: Arc<dyn Tap> = pane.clone();
        if client.release(number, tap, follows) { Ok(()) } else { self.rejoin(number).await }
    }
}

/// A quiet pane that is to be checked.
struct Due {
    number: u32,
    pane: Arc<Pane>,
    client: Arc<Client>,
    deliveries: u64,
    is_resized: bool,
    size: Size,
}

/// How a mirror compares with a glance at tmux's screen.
#[derive(Debug, PartialEq, Eq)]
enum Likeness {
    Same,
    /// All but the history, which is empty at tmux.
    HistoryCleared,
    Different,
}

fn compare(pane: &Pane, glance: &Glance) -> Likeness {
    let facts = &glance.facts;
    pane.with_mirror(|mirror| {
        let screen = mirror.screen();
        let cursor = screen.cursor();
        let cols = facts.size.cols;
        let is_same = screen.size() == facts.size
            && screen.is_alternate() == facts.alternate
            && cursor.row == facts.cursor.row
            && cursor.col.min(cols) == facts.cursor.col.min(cols)
            && same_rows(&glance.rows, &mirror.visible_rows());
        let history = u64::try_from(screen.history()).unwrap_or(u64::MAX);
        if !is_same {
            Likeness::Different
        } else if history == facts.history_size {
            Likeness::Same
        } else if facts.history_size == 0 {
            Likeness::HistoryCleared
        } else {
            Likeness::Different
        }
    })
}
