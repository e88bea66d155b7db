//! A tmux server: its control clients and what is asked of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::capture::{self, Abilities};
use super::client::{Client, Notice, REPLY_LIMIT};
use super::launch::{self, Settings, version_number};
use super::line::Line;
use super::list::{self, PaneInfo};
use super::open::{Mirrored, Opening};
use super::protocol::Reply;
use super::watch;
use crate::error::{Error, Result};
use crate::pane::{Ended, Pane, ServerId};

/// Bytes of one `send-keys`.
const KEYS: usize = 512;

/// Tells which server it is.
const IDENTITY: [&str; 3] = ["display-message", "-p", "#{pid} #{start_time} #{version}"];

/// Tells pids and deaths of all panes of a session, within a second (TMUX, "Sessions, death and respawn").
const SUBSCRIPTION: &str = "panes::#{W:#{P:#{pane_id} #{pane_pid} #{pane_dead};}}";

/// A tmux server that we are connected to. Dropping it ends its control clients.
///
/// It is one server process: another one on the same socket is another `Server`.
pub struct Server {
    pub(super) settings: Settings,
    id: ServerId,
    version: String,
    number: (u32, u32),
    pub(super) abilities: Abilities,
    pub(super) state: Mutex<State>,
    /// Held while a client is started, so that a session gets one.
    starting: tokio::sync::Mutex<()>,
    notices: mpsc::UnboundedSender<(u64, Notice)>,
    /// Told when somebody who took a snapshot has asked for the mirror.
    pub(super) joined: tokio::sync::Notify,
}

/// What changes in the life of a server.
#[derive(Default)]
pub(super) struct State {
    /// One client for each session in use.
    pub(super) clients: HashMap<u32, Arc<Client>>,
    next_client: u64,
    /// The panes that have a mirror.
    pub(super) panes: HashMap<u32, Mirrored>,
    /// The panes that had one and were unused for long.
    pub(super) asleep: HashMap<u32, Arc<Pane>>,
    /// The panes that get one now.
    pub(super) openings: HashMap<u32, Opening>,
    /// When a pane was captured for a call that has not asked for its mirror yet.
    pub(super) tickets: HashMap<u32, Vec<Instant>>,
    /// Why there is no server any more.
    pub(super) over: Option<Error>,
    pub(super) used: Option<Instant>,
}

impl Server {
    /// Connects to the server on a socket.
    ///
    /// # Errors
    /// [`Error::NoTmux`] if tmux is missing or older than 3.2, [`Error::NoServer`] if no server runs or it may not be
    /// used, [`Error::ServerLost`] if it does not answer.
    pub async fn connect(settings: &Settings) -> Result<Arc<Self>> {
        let (id, version) = match settings.run(&Line::new(&IDENTITY), false, REPLY_LIMIT).await {
            Ok(text) => match identity(&text) {
                Some(identity) => identity,
                None => return Err(settings.unusable(text.trim()).await),
            },
            // Before 3.2 it does not know the flags that it was started with.
            Err(Error::BadArgument(said)) => return Err(settings.unusable(&said).await),
            Err(error) => return Err(error),
        };
        // Versions without a number are builds of OpenBSD or of git: newer than any that is too old.
        let number = version_number(&version).unwrap_or((3, 3));
        if number < launch::OLDEST {
            return Err(Error::NoTmux(format!(
                "the tmux server on {} is version {version}; 3.2 or newer is needed: install it and restart the server",
                settings.socket
            )));
        }
        let (notices, told) = mpsc::unbounded_channel();
        let server = Arc::new(Self {
            settings: settings.clone(),
            id,
            version,
            number,
            abilities: Abilities::of(number),
            state: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
            notices,
            joined: tokio::sync::Notify::new(),
        });
        watch::start(&server, told);
        match server.any_client().await {
            // Sessions that end when we leave them: the server can still be listed.
            Ok(_) | Err(Error::Refused(_)) => Ok(server),
            Err(error) => Err(error),
        }
    }

    /// The server's process and start time.
    pub fn id(&self) -> ServerId {
        self.id
    }

    /// The server's version, as `#{version}` gives it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The version as major and minor number.
    pub fn version_number(&self) -> (u32, u32) {
        self.number
    }

    /// Tells whether the server is still there, as far as is known.
    pub fn is_alive(&self) -> bool {
        self.state.lock().over.is_none()
    }

    /// Lists the panes of all sessions; a window linked to two sessions appears in both.
    ///
    /// # Errors
    /// The server is gone or does not answer.
    pub async fn list(&self) -> Result<Vec<PaneInfo>> {
        let replies = match self.open_client() {
            Some(client) => client.run(&list::list_line()).await,
            None => return self.list_without_client().await,
        };
        match replies {
            Ok(replies) => Ok(replies.first().map(|reply| list::read(reply.lines())).unwrap_or_default()),
            // The client may have ended, and the server lives.
            Err(Error::ServerLost(_)) if self.is_alive() => self.list_without_client().await,
            Err(error) => Err(error),
        }
    }

    /// Lists by a process of its own, which may find another server on the socket than ours.
    async fn list_without_client(&self) -> Result<Vec<PaneInfo>> {
        self.check_alive()?;
        let args = list::list_line();
        let line = args.commands().iter().fold(Line::new(&IDENTITY), |line, args| line.then(args));
        match self.settings.run(&line, false, REPLY_LIMIT).await {
            Ok(text) => {
                let (first, rows) = text.split_once('\n').unwrap_or((&text, ""));
                if identity(first).is_some_and(|(id, _)| id == self.id) {
                    return Ok(list::read(rows.as_bytes().split(|byte| *byte == b'\n')));
                }
                self.gone();
            }
            Err(Error::NoServer(_)) => self.gone(),
            Err(error) => return Err(error),
        }
        self.check_alive().map(|()| Vec::new())
    }

    /// Types bytes into a pane, as its terminal would send them.
    ///
    /// # Errors
    /// No such pane, or a mode such as copy mode is open in it, which would take the keys.
    pub async fn send(&self, pane: u32, bytes: &[u8]) -> Result<()> {
        let client = self.any_client().await?;
        let id = format!("%{pane}");
        let line = Line::new(&["display-message", "-p", "-t", &id, "#{pane_id} #{pane_in_mode}"]);
        let seen = client.run(&line).await?.first().map(Reply::text).unwrap_or_default();
        match seen.split_once(' ') {
            Some((seen, mode)) if seen == id && matches!(mode, "" | "0") => {}
            Some((seen, _)) if seen == id => {
                return Err(Error::Refused(format!(
                    "pane {id} is in copy mode or another mode of tmux, which would take the keys; leave it first (q)"
                )));
            }
            _ => return Err(no_pane(pane)),
        }
        let mut answers = Vec::new();
        for chunk in bytes.chunks(KEYS) {
            let mut args = vec!["send-keys".to_owned(), "-t".to_owned(), id.clone(), "-H".to_owned()];
            args.extend(chunk.iter().map(|byte| format!("{byte:02x}")));
            answers.push(client.post(&Line::new(&args))?);
        }
        for answer in answers {
            client.answer(answer).await?;
        }
        Ok(())
    }

    /// Kills a pane.
    ///
    /// # Errors
    /// No such pane.
    pub async fn kill_pane(&self, pane: u32) -> Result<()> {
        self.run(&Line::new(&["kill-pane", "-t", &format!("%{pane}")])).await?;
        Ok(())
    }

    /// Reads plain rows of a pane's history: `from..=to`, where -1 is the newest row, at most 2,000 of them. Rows that do not exist are left out.
    ///
    /// # Errors
    /// No such pane, or more than 2,000 rows.
    pub async fn history_page(&self, pane: u32, from: i64, to: i64) -> Result<Vec<String>> {
        let rows = capture::PAGE_ROWS;
        if from > to || to >= 0 || to.saturating_sub(from) >= rows {
            return Err(Error::BadArgument(format!(
                "rows {from} to {to} are no page of at most {rows} rows of history"
            )));
        }
        let replies = self.run(&capture::page_line(pane, from, to, self.abilities)).await?;
        capture::read_page(pane, from, to, &replies)
    }

    /// Ends the control clients, within 100 ms; tmux is left as it was.
    pub async fn shutdown(&self) {
        let clients: Vec<Arc<Client>> = {
            let mut state = self.state.lock();
            let gone = Error::Withdrawn("the connection to the tmux server was closed".to_owned());
            state.over.get_or_insert(gone);
            for mirrored in std::mem::take(&mut state.panes).into_values() {
                mirrored.pane.end(Ended::Unreachable("the connection was closed".to_owned()));
            }
            state.clients.drain().map(|(_, client)| client).collect()
        };
        let ends: Vec<_> = clients.into_iter().map(|client| tokio::spawn(async move { client.end().await })).collect();
        for end in ends {
            drop(end.await);
        }
    }

    /// Runs a line on whatever client is there.
    pub(super) async fn run(&self, line: &Line) -> Result<Vec<Reply>> {
        let client = self.any_client().await?;
        client.run(line).await
    }

    /// A client that is open, of whatever session.
    pub(super) fn open_client(&self) -> Option<Arc<Client>> {
        let mut state = self.state.lock();
        state.used = Some(Instant::now());
        state.clients.values().find(|client| client.is_open()).cloned()
    }

    /// A client of whatever session; one is started if there is none.
    pub(super) async fn any_client(&self) -> Result<Arc<Client>> {
        if let Some(client) = self.open_client() {
            return Ok(client);
        }
        let mut rows = self.list_without_client().await?;
        rows.sort_by_key(|row| row.session);
        let Some(first) = rows.first() else {
            return Err(Error::NoServer(format!(
                "the tmux server on {} has no session; start one with `tmux new-session -d`",
                self.settings.socket
            )));
        };
        let row = rows.iter().find(|row| may_attach(row)).unwrap_or(first);
        self.client_for(row).await
    }

    /// The client of a pane's session; one is started if there is none.
    pub(super) async fn client_for(&self, row: &PaneInfo) -> Result<Arc<Client>> {
        let open = |server: &Self| {
            let state = server.state.lock();
            state.clients.get(&row.session).filter(|client| client.is_open()).cloned()
        };
        if let Some(client) = open(self) {
            return Ok(client);
        }
        let _one = self.starting.lock().await;
        if let Some(client) = open(self) {
            return Ok(client);
        }
        self.check_alive()?;
        if !may_attach(row) {
            return Err(Error::Refused(format!(
                "session {} has destroy-unattached set and nobody attached: our leaving would end it; attach to it \
                 yourself or run `tmux set-option -t '${}' destroy-unattached off`",
                row.session_name, row.session
            )));
        }
        let id = {
            let mut state = self.state.lock();
            state.next_client += 1;
            state.next_client
        };
        let client = Client::start(&self.settings, id, row.session, self.notices.clone()).await?;
        let line = Line::new(&IDENTITY).then(&["refresh-client", "-B", SUBSCRIPTION]);
        let text = client.run(&line).await?.first().map(Reply::text).unwrap_or_default();
        if identity(&text).is_none_or(|(id, _)| id != self.id) {
            // Another server took the socket over.
            client.end().await;
            self.gone();
            return Err(Error::ServerLost(format!("the tmux server on {} was restarted", self.settings.socket)));
        }
        let mut state = self.state.lock();
        if let Some(error) = &state.over {
            return Err(error.clone());
        }
        state.clients.insert(row.session, Arc::clone(&client));
        Ok(client)
    }

    pub(super) fn check_alive(&self) -> Result<()> {
        self.state.lock().over.clone().map_or(Ok(()), Err)
    }

    /// Asks whether the server that we know still runs on its socket.
    pub(super) async fn is_running(&self) -> Result<bool> {
        // Where there is a /proc it answers at once.
        let processes = std::path::Path::new("/proc");
        if processes.join("self").exists() && !processes.join(self.id.pid.to_string()).exists() {
            return Ok(false);
        }
        match self.settings.run(&Line::new(&IDENTITY), false, REPLY_LIMIT).await {
            Ok(text) => Ok(identity(&text).is_some_and(|(id, _)| id == self.id)),
            Err(error @ Error::ServerLost(_)) => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Has the list of panes looked at again.
    pub(super) fn look(&self) {
        drop(self.notices.send((0, Notice::Topology)));
    }

    /// The panes that have a mirror, ended ones left out.
    pub fn mirrored_panes(&self) -> Vec<(u32, Arc<Pane>)> {
        let state = self.state.lock();
        state.panes.iter().map(|(number, mirrored)| (*number, Arc::clone(&mirrored.pane))).collect()
    }

    /// The mirror of a pane, if it has one.
    pub fn mirrored(&self, pane: u32) -> Option<Arc<Pane>> {
        self.state.lock().panes.get(&pane).map(|mirrored| Arc::clone(&mirrored.pane))
    }
}

/// Our leaving must not end the session.
pub(super) fn may_attach(row: &PaneInfo) -> bool {
    !row.is_fleeting || row.attached > 0
}

pub(super) fn no_pane(pane: u32) -> Error {
    Error::NoSuchPane(format!("no pane %{pane}; list_panes shows the live ones"))
}

fn identity(text: &str) -> Option<(ServerId, String)> {
    let mut fields = text.split_whitespace();
    let pid = fields.next()?.parse().ok()?;
    let start_time = fields.next()?.parse().ok()?;
    Some((ServerId { pid, start_time }, fields.collect::<Vec<_>>().join(" ")))
}

/// How long somebody who captured a pane has to ask for its mirror.
pub(super) const TICKET: Duration = Duration::from_millis(50);
