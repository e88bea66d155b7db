//! Making sure, before a hit is answered, that the pane is still the one that was watched.

use std::sync::Arc;

use super::alive::Alive;
use super::client::Client;
use super::line::Line;
use super::protocol::Reply;
use super::server::Server;
use super::wire::Answer;
use crate::Result;
use crate::pane::{Ended, Pane, PaneId};

/// The question whether a pane still runs the process that was watched, ready to be asked.
pub struct Question {
    client: Arc<Client>,
    line: Line,
    alive: Option<Alive>,
}

impl Question {
    /// Asks it now: the system if it can tell, else tmux. Waits for nothing; `None` if the client is gone.
    pub fn ask(self) -> Option<Asked> {
        if self.alive.is_some_and(Alive::still) {
            return Some(Asked(None));
        }
        let answer = self.client.post(&self.line).ok()?;
        Some(Asked(Some((self.client, answer))))
    }
}

/// A question that was asked; with what tmux has still to say, if it had to be asked.
pub struct Asked(Option<(Arc<Client>, Answer)>);

impl Server {
    /// Confirms that a pane still runs the process that was watched, with everything applied that tmux had sent when
    /// it was asked.
    ///
    /// # Errors
    /// How the pane ended, or that the server is gone.
    pub async fn confirm(&self, pane: &Pane) -> Result<()> {
        pane.check_alive()?;
        // By tmux itself, over the client that feeds the pane, so that the output that tmux had by now comes first.
        let question = self.question(pane).map(|question| Question { alive: None, ..question });
        match question.and_then(Question::ask) {
            Some(asked) => self.confirmed(pane, asked).await,
            None => {
                let replies = self.run(&question_line(pane)).await;
                self.judge(pane, replies)
            }
        }
    }

    /// The question of [`Server::confirm`], to be asked later, over the client that feeds the pane, so that its output
    /// comes first; `None` if the pane is not fed.
    pub fn question(&self, pane: &Pane) -> Option<Question> {
        let PaneId::Tmux { pane: number, server } = *pane.id() else { return None };
        let (client, alive) =
            self.state.lock().live(number).map(|mirrored| (Arc::clone(&mirrored.client), mirrored.alive))?;
        (server == self.id() && client.is_open()).then(|| Question { client, line: question_line(pane), alive })
    }

    /// Waits for the answer to a question that was asked.
    ///
    /// # Errors
    /// Those of [`Server::confirm`].
    pub async fn confirmed(&self, pane: &Pane, asked: Asked) -> Result<()> {
        let Asked(Some((client, answer))) = asked else { return Ok(()) };
        let replies = client.answer(answer).await;
        self.judge(pane, replies)
    }

    fn judge(&self, pane: &Pane, replies: Result<Vec<Reply>>) -> Result<()> {
        let PaneId::Tmux { pane: number, server } = *pane.id() else {
            return Ok(());
        };
        if server != self.id() {
            return Err(Ended::ServerGone.error(pane.id()));
        }
        let id = format!("%{number}");
        let text = replies?.first().map(Reply::text).unwrap_or_default();
        let mut fields = text.split(' ');
        let (seen, process, dead) = (fields.next(), fields.next(), fields.next());
        let why = if seen != Some(&id) {
            Ended::Killed
        } else if process != Some(&pane.process().to_string()) {
            Ended::Respawned
        } else if dead == Some("1") {
            self.look();
            Ended::Exited(None)
        } else {
            return Ok(());
        };
        if !matches!(why, Ended::Exited(_)) {
            self.over(number, why.clone());
        }
        Err(why.error(pane.id()))
    }
}

fn question_line(pane: &Pane) -> Line {
    let id = pane.id().to_string();
    Line::new(&["display-message", "-p", "-t", &id, "#{pane_id} #{pane_pid} #{pane_dead}"])
}
