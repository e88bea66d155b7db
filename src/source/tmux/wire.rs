//! The input side of a control client: lines out, replies matched.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;

use tokio::sync::oneshot;

use super::launch::tmux_error;
use super::line::Line;
use super::protocol::Reply;
use crate::error::{Error, Result};

/// Most bytes of commands that wait for a server that does not read.
const MAX_BACKLOG: usize = 4 << 20;

/// The replies of one line, one for each command; or why it failed.
pub(super) type Answer = oneshot::Receiver<Result<Vec<Reply>>>;

/// Commands on their way to tmux and those whose replies are due.
///
/// tmux runs the lines of one client in order, and each command of a line gives one block; the first failing command
/// ends its line. So a block belongs to the oldest line that is not complete; its flags tell it from blocks of hooks,
/// and its number must be larger than the one before.
pub(super) struct Wire {
    socket: UnixStream,
    backlog: Vec<u8>,
    pending: VecDeque<Pending>,
    newest: u64,
    closed: Option<Error>,
}

struct Pending {
    commands: VecDeque<bool>,
    replies: Vec<Reply>,
    answer: oneshot::Sender<Result<Vec<Reply>>>,
}

/// Whose a reply was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matched {
    /// It answers one of our commands.
    Ours,
    /// Not ours: of a hook, or of the attach.
    Foreign,
    /// A reply to nothing we asked: the client cannot be trusted any more.
    Unexpected,
}

impl Wire {
    /// Takes the socket that is the client's standard input.
    pub(super) fn new(socket: UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket, backlog: Vec::new(), pending: VecDeque::new(), newest: 0, closed: None })
    }

    /// Sends a line without waiting, as much of it as the socket takes.
    pub(super) fn post(&mut self, line: &Line) -> Result<Answer> {
        if let Some(error) = &self.closed {
            return Err(error.clone());
        }
        let bytes = line.to_bytes()?;
        if self.backlog.len() + bytes.len() > MAX_BACKLOG {
            return Err(Error::ServerLost("the tmux server takes no more commands".to_owned()));
        }
        let (answer, receiver) = oneshot::channel();
        self.pending.push_back(Pending {
            commands: line
                .commands()
                .iter()
                .map(|command| command.first().is_some_and(|name| name == "refresh-client"))
                .collect(),
            replies: Vec::new(),
            answer,
        });
        self.backlog.extend_from_slice(&bytes);
        self.flush();
        Ok(receiver)
    }

    /// Writes what waits; `true` when nothing waits any more.
    pub(super) fn flush(&mut self) -> bool {
        while !self.backlog.is_empty() {
            match self.socket.write(&self.backlog) {
                Ok(0) => break,
                Ok(written) => {
                    self.backlog.drain(..written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Full: later. Broken: the reader sees the end of the client and closes this side.
                Err(_) => break,
            }
        }
        self.backlog.is_empty()
    }

    /// Tells whether the next reply answers a `refresh-client`, so that its lines are notices.
    pub(super) fn is_refresh(&self) -> bool {
        let command = self.pending.front().and_then(|pending| pending.commands.front());
        command.copied().unwrap_or_default()
    }

    /// Gives a reply to its line.
    pub(super) fn matched(&mut self, reply: Reply) -> Matched {
        if reply.flags & 1 == 0 {
            return Matched::Foreign;
        }
        let Some(pending) = self.pending.front_mut() else {
            return Matched::Unexpected;
        };
        if reply.number <= self.newest {
            return Matched::Unexpected;
        }
        self.newest = reply.number;
        pending.commands.pop_front();
        let ok = reply.ok && !reply.cut;
        pending.replies.push(reply);
        if ok && !pending.commands.is_empty() {
            return Matched::Ours;
        }
        if let Some(Pending { replies, answer, .. }) = self.pending.pop_front() {
            let result = match replies.last() {
                Some(last) if !last.ok => Err(tmux_error(&last.text())),
                Some(last) if last.cut => Err(Error::Limit("a reply of tmux exceeds 64 MiB".to_owned())),
                _ => Ok(replies),
            };
            // An asker that has gone wants no answer.
            drop(answer.send(result));
        }
        Matched::Ours
    }

    /// Fails everything that is due and all that comes.
    pub(super) fn close(&mut self, error: &Error) {
        self.closed.get_or_insert_with(|| error.clone());
        for pending in self.pending.drain(..) {
            drop(pending.answer.send(Err(error.clone())));
        }
        drop(self.socket.shutdown(std::net::Shutdown::Both));
    }

    /// Asks the client to detach: an empty line, then the end of its input.
    pub(super) fn detach(&mut self) {
        self.backlog.push(b'\n');
        self.flush();
        drop(self.socket.shutdown(std::net::Shutdown::Write));
    }
}
