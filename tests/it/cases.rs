//! What the cases of both contract tools share: a pane whose program does what a script says, when told.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{CallError, Launch, McpClient, Pending};
use crate::support::TmuxServer;

/// How often each case runs: `CASES_REPEAT`, once if it is not set.
pub fn repeats() -> usize {
    std::env::var("CASES_REPEAT").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// A tmux server, a panemirror on it, and panes that follow scripts.
pub struct Stage {
    pub tmux: TmuxServer,
    pub mcp: McpClient,
}

impl Stage {
    /// Starts both; the server knows its tmux (one `list_panes` has been answered) but no pane has a mirror.
    pub fn new() -> Self {
        let tmux = TmuxServer::start();
        let mcp = Launch::default().arg("-S").arg(tmux.socket().to_str().unwrap()).start();
        mcp.call("list_panes", json!({})).unwrap();
        Self { tmux, mcp }
    }

    /// A panemirror process of its own on the same tmux server.
    pub fn restart(&mut self) {
        self.mcp = Launch::default().arg("-S").arg(self.tmux.socket().to_str().unwrap()).start();
    }

    /// Opens a window whose program runs `prepare` (shell), waits for [`Actor::act`], then runs `act`, and stays.
    pub fn actor(&self, prepare: &str, act: &str) -> Actor {
        self.actor_in("main", prepare, act)
    }

    /// The same in another session.
    pub fn actor_in(&self, session: &str, prepare: &str, act: &str) -> Actor {
        let command = ["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", &format!("{session}:")];
        self.actor_by(&command, prepare, act)
    }

    /// The same by any command that makes a pane and prints its id.
    pub fn actor_by(&self, command: &[&str], prepare: &str, act: &str) -> Actor {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let base = self.tmux.socket().with_file_name(format!("a{number}"));
        let (fifo, script) = (base.with_extension("fifo"), base.with_extension("sh"));
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        // The title tells when all that was prepared has reached the screen.
        let text = format!(
            "stty raw -echo\np() {{ printf \"$@\"; }}\n{prepare}\np '\\033]2;prepared\\007'\nread go <{}\n{act}\n\
             p '\\033]2;acted\\007'\nexec sleep 1000\n",
            fifo.display()
        );
        std::fs::write(&script, text).unwrap();
        let run = format!("exec sh {}", script.display());
        let id = self.tmux.tmux(&[command, &[run.as_str()]].concat());
        let actor = Actor { id, fifo };
        self.titled(&actor, "prepared");
        actor
    }

    /// Waits until the actor has come so far.
    pub fn titled(&self, actor: &Actor, title: &str) {
        let start = Instant::now();
        while self.tmux.format(&actor.id, "#{pane_title}") != title {
            assert!(start.elapsed() < Duration::from_secs(60), "{} is not {title}", actor.id);
        }
    }

    /// Runs the actor to its end.
    pub fn play(&self, actor: &Actor) {
        actor.act();
        self.titled(actor, "acted");
    }

    /// Sends a wait and makes sure that the server has read it.
    pub fn wait(&self, arguments: Value) -> Pending<'_> {
        let pending = self.mcp.begin("wait_for_text", arguments);
        self.mcp.ping();
        pending
    }

    /// Calls `capture_since`.
    pub fn capture(&self, arguments: Value) -> Result<Value, CallError> {
        self.mcp.call("capture_since", arguments)
    }

    /// A cursor of a pane as it is now.
    pub fn cursor(&self, actor: &Actor) -> String {
        let answer = self.capture(json!({ "pane_id": actor.id })).unwrap();
        answer["cursor"].as_str().unwrap().to_owned()
    }
}

/// A pane that follows a script.
pub struct Actor {
    pub id: String,
    fifo: PathBuf,
}

impl Actor {
    /// Lets the second part of the script run.
    pub fn act(&self) {
        File::options().write(true).open(&self.fifo).unwrap().write_all(b"go\n").unwrap();
    }
}

/// Runs jobs on a few threads: at most `at_once` at the same time. A job's panic names it and fails the test.
pub fn run_all(at_once: usize, jobs: Vec<(String, Box<dyn FnOnce() + Send>)>) {
    let jobs = std::sync::Mutex::new(jobs.into_iter());
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let Some((name, job)) = jobs.lock().unwrap().next() else { return };
                    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err() {
                        failed.lock().unwrap().push(name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "failed: {failed:?}");
}
