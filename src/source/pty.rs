//! Embedded panes: a program on a pseudo-terminal of ours. Here panemirror is the terminal, so it answers queries.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::geometry::Size;
use crate::limits::{PTY_GRACE, PTY_INPUT_BYTES, PTY_READ_BYTES, PTY_REAP};
use crate::mirror::Mirror;
use crate::pane::{Ended, Pane, PaneId};
use crate::term::{Options, Terminal};
use crate::{Error, Result};

/// A program to start on a pseudo-terminal.
#[derive(Clone, Debug)]
pub struct Spawn {
    /// Program and arguments; empty for the user's shell.
    pub command: Vec<String>,
    /// Working directory; ours if `None`.
    pub directory: Option<PathBuf>,
    /// Environment variables set on top of ours.
    pub environment: Vec<(String, String)>,
    /// Value of `TERM`.
    pub term: String,
    /// Size of the terminal.
    pub size: Size,
    /// How the terminal behaves and what it keeps.
    pub options: Options,
}

/// A running or ended program on a pseudo-terminal.
pub struct Pty {
    pane: Arc<Pane>,
    command: Vec<String>,
    master: Mutex<Box<dyn MasterPty + Send>>,
    input: mpsc::Sender<Vec<u8>>,
    queued: Arc<AtomicUsize>,
    ended: Mutex<Option<Instant>>,
}

impl Pty {
    /// Starts a program.
    ///
    /// # Errors
    ///
    /// [`Error::Spawn`] if there is no pseudo-terminal or the program cannot be started; the message names it.
    pub fn spawn(id: PaneId, spawn: Spawn) -> Result<Arc<Self>> {
        if let Some(directory) = spawn.directory.as_ref().filter(|directory| !directory.is_dir()) {
            return Err(Error::Spawn(format!("{} is not a directory", directory.display())));
        }
        let pair = native_pty_system()
            .openpty(pty_size(spawn.size))
            .map_err(|error| Error::Spawn(format!("no pseudo-terminal: {error}")))?;
        let builder = builder(&spawn);
        let child = pair.slave.spawn_command(builder).map_err(|error| {
            let program = spawn.command.first().map_or("the shell", String::as_str);
            Error::Spawn(format!("{program} cannot be started: {error}"))
        })?;
        drop(pair.slave);
        let child: Box<dyn Child> = child;
        let child = child
            .downcast::<std::process::Child>()
            .map_err(|_| Error::Internal("the child of a pseudo-terminal is of an unknown kind".into()))?;
        let reader = pair.master.try_clone_reader().map_err(|error| Error::Spawn(error.to_string()))?;
        let writer = pair.master.take_writer().map_err(|error| Error::Spawn(error.to_string()))?;

        let options = Options { answer_queries: true, ..spawn.options };
        let pane = Pane::new(id, child.id(), Mirror::new(Terminal::new(spawn.size, options)));
        let queued = Arc::new(AtomicUsize::new(0));
        let input = start_writer(writer, Arc::clone(&queued))?;
        let pty = Arc::new(Self {
            pane,
            command: spawn.command,
            master: Mutex::new(pair.master),
            input,
            queued,
            ended: Mutex::new(None),
        });
        let feeder = Arc::clone(&pty);
        thread::Builder::new()
            .name(format!("{id} reader"))
            .spawn(move || feeder.run(reader, *child))
            .map_err(|error| Error::Spawn(format!("no thread: {error}")))?;
        Ok(pty)
    }

    /// The pane.
    pub fn pane(&self) -> &Arc<Pane> {
        &self.pane
    }

    /// Program and arguments as given; empty for the user's shell.
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// When the program ended, if it did.
    pub fn ended_at(&self) -> Option<Instant> {
        *self.ended.lock()
    }

    /// Queues bytes for the program, behind what is queued already.
    ///
    /// # Errors
    ///
    /// The pane's end; [`Error::Limit`] if the program does not read and [`PTY_INPUT_BYTES`] are waiting for it.
    pub fn send(&self, bytes: &[u8]) -> Result<()> {
        self.pane.check_alive()?;
        let waiting = self.queued.load(Ordering::Relaxed);
        if waiting + bytes.len() > PTY_INPUT_BYTES {
            return Err(Error::Limit(format!(
                "the program in pane {} does not read: {waiting} bytes are waiting for it, at most {PTY_INPUT_BYTES} may",
                self.pane.id()
            )));
        }
        self.queue(bytes.to_vec());
        Ok(())
    }

    /// Resizes mirror and pseudo-terminal in one step; only the mirror's record once the program has ended.
    pub fn resize(&self, size: Size) {
        self.pane.with_mirror(|mirror| {
            mirror.resize(size);
            // An ended program has no terminal to tell.
            let _ = self.master.lock().resize(pty_size(size));
        });
    }

    /// Asks the program and its foreground job to end (SIGHUP).
    pub fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    /// Ends the program and its foreground job at once (SIGKILL).
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if self.ended.lock().is_some() {
            return;
        }
        let leader = i32::try_from(self.pane.process()).ok();
        let foreground = self.master.lock().process_group_leader().filter(|group| Some(*group) != leader);
        for group in leader.into_iter().chain(foreground).filter_map(Pid::from_raw) {
            // The group may be gone already.
            let _ = kill_process_group(group, signal);
        }
    }

    fn queue(&self, bytes: Vec<u8>) {
        self.queued.fetch_add(bytes.len(), Ordering::Relaxed);
        // The writer is gone only when the program is.
        let _ = self.input.send(bytes);
    }

    /// Feeds the pane until the program has closed its terminal, then waits for its end.
    fn run(&self, mut reader: Box<dyn Read + Send>, mut child: std::process::Child) {
        let mut buffer = vec![0; PTY_READ_BYTES];
        while let Ok(length) = reader.read(&mut buffer) {
            let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else { break };
            self.pane.deliver(bytes, Instant::now());
            let replies = self.pane.with_mirror(|mirror| mirror.terminal_mut().take_replies());
            if !replies.is_empty() {
                self.queue(replies);
            }
        }
        let status = child.wait().ok().map(exit_status);
        *self.ended.lock() = Some(Instant::now());
        self.pane.end(Ended::Exited(status));
    }
}

/// Ends all these programs: SIGHUP to their groups, SIGKILL to what is left after [`PTY_GRACE`]. Returns as soon as all
/// have ended.
pub async fn end_all(ptys: &[Arc<Pty>]) {
    for pty in ptys {
        pty.hang_up();
    }
    let deadline = Instant::now() + PTY_GRACE;
    let mut pause = Duration::from_millis(1);
    let mut killed = false;
    while ptys.iter().any(|pty| pty.ended_at().is_none()) {
        if Instant::now() >= deadline && !killed {
            ptys.iter().for_each(|pty| pty.kill());
            killed = true;
        }
        // A program that the kernel does not let go of is not waited for.
        if Instant::now() >= deadline + PTY_REAP {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn pty_size(size: Size) -> PtySize {
    PtySize { rows: size.rows, cols: size.cols, pixel_width: 0, pixel_height: 0 }
}

fn builder(spawn: &Spawn) -> CommandBuilder {
    let mut builder = match spawn.command.split_first() {
        None => CommandBuilder::new_default_prog(),
        Some((program, arguments)) => {
            let mut builder = CommandBuilder::new(program);
            builder.args(arguments);
            builder
        }
    };
    let ours = |name: &str| ["TMUX", "PANEMIRROR_", "LIBTMUX_"].iter().any(|prefix| name.starts_with(prefix));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(ours) {
            builder.env_remove(name);
        }
    }
    for name in ["COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM"] {
        builder.env_remove(name);
    }
    builder.env("TERM", &spawn.term);
    for (name, value) in &spawn.environment {
        builder.env(name, value);
    }
    if let Some(directory) = spawn.directory.clone().or_else(|| std::env::current_dir().ok()) {
        builder.cwd(directory);
    }
    builder
}

/// Starts the thread that writes what is queued: a program that does not read holds up nobody else.
fn start_writer(mut writer: Box<dyn Write + Send>, queued: Arc<AtomicUsize>) -> Result<mpsc::Sender<Vec<u8>>> {
    let (input, waiting) = mpsc::channel::<Vec<u8>>();
    let run = move || {
        while let Ok(bytes) = waiting.recv() {
            // Small pieces: some systems drop what is over the line discipline's buffer.
            let written = bytes.chunks(512).try_for_each(|piece| writer.write_all(piece));
            queued.fetch_sub(bytes.len(), Ordering::Relaxed);
            if written.is_err() {
                break;
            }
        }
    };
    thread::Builder::new()
        .name("pty writer".into())
        .spawn(run)
        .map_err(|error| Error::Spawn(format!("no thread: {error}")))?;
    Ok(input)
}

/// An exit status as a shell shows it: 128 + n for signal n.
fn exit_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
