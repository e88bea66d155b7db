//! A private tmux server, and panes whose every byte the test writes itself.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use panemirror::source::tmux::{Settings, Socket};

/// The tmux program of the tests: `PANEMIRROR_TEST_TMUX` or the one in `PATH`.
pub fn tmux_program() -> PathBuf {
    std::env::var_os("PANEMIRROR_TEST_TMUX").map_or_else(|| PathBuf::from("tmux"), PathBuf::from)
}

/// A tmux server of the test alone: its own socket in its own directory, no configuration. Killed on drop, even when
/// it is stopped.
pub struct TmuxServer {
    directory: tempfile::TempDir,
    pid: u32,
}

impl TmuxServer {
    /// Starts a server with session `main`, one window of 80x24 that runs `cat`.
    pub fn start() -> Self {
        Self::start_sized(80, 24)
    }

    /// Starts a server whose first window has a size.
    pub fn start_sized(cols: u16, rows: u16) -> Self {
        // A socket's path may be no longer than about 100 bytes.
        Self::start_in(tempfile::Builder::new().prefix("pm").tempdir_in("/tmp").unwrap(), cols, rows)
    }

    /// Starts another server on the socket of one that has ended.
    pub fn restart(mut self) -> Self {
        self.pid = 0;
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap());
        Self::start_in(directory, 80, 24)
    }

    fn start_in(directory: tempfile::TempDir, cols: u16, rows: u16) -> Self {
        let mut server = Self { directory, pid: 0 };
        let (x, y) = (cols.to_string(), rows.to_string());
        server.tmux(&["new-session", "-d", "-s", "main", "-x", &x, "-y", &y, "cat"]);
        // 3.2 ignores -x and -y of a detached session.
        server.tmux(&["resize-window", "-t", "main:", "-x", &x, "-y", &y]);
        server.pid = server.format("main:", "#{pid}").parse().unwrap();
        server
    }

    /// The path of its socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("s")
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How panemirror reaches it.
    pub fn settings(&self) -> Settings {
        Settings {
            program: tmux_program(),
            socket: Socket::Path(self.socket()),
            config: Some("/dev/null".into()),
            ..Settings::default()
        }
    }

    /// Runs a tmux command and returns what it prints, without the last newline.
    pub fn tmux(&self, args: &[&str]) -> String {
        self.try_tmux(args).unwrap_or_else(|error| panic!("tmux {args:?}: {error}"))
    }

    /// Runs a tmux command that may fail; the error is its message.
    pub fn try_tmux(&self, args: &[&str]) -> Result<String, String> {
        let output = Command::new(tmux_program())
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(self.socket())
            .args(args)
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Expands a format for a target.
    pub fn format(&self, target: &str, format: &str) -> String {
        self.tmux(&["display-message", "-p", "-t", target, format])
    }

    /// Makes a window in a session whose program writes what the test gives it, and nothing else.
    pub fn scripted(&self, session: &str) -> ScriptedPane {
        self.scripted_by(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", &format!("{session}:")])
    }

    /// The same, by any command that makes a pane and prints its id.
    pub fn scripted_by(&self, command: &[&str]) -> ScriptedPane {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let fifo = self.directory.path().join(format!("f{number}"));
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let script = format!("stty raw -echo; exec cat {}", fifo.display());
        let id = self.tmux(&[command, &[script.as_str()]].concat());
        // Blocks until the pane's program has opened its end.
        let input = File::options().write(true).open(&fifo).unwrap();
        ScriptedPane { number: id.trim_start_matches('%').parse().unwrap(), input }
    }

    /// Everything of the server that a visit must leave as it was.
    pub fn state(&self) -> String {
        let mut state = String::new();
        let sizes = "#{session_id} #{session_name} #{window_id} #{pane_id} #{pane_width}x#{pane_height} \
                     #{window_layout} #{pane_pid} #{pane_pipe} #{session_attached} #{window-size}";
        for command in [
            &["list-panes", "-a", "-F", sizes][..],
            &["show-environment", "-g"],
            &["show-environment", "-t", "main:"],
            &["show-options", "-g"],
            &["show-options", "-s"],
            &["show-options", "-t", "main:"],
            &["show-window-options", "-g"],
            &["show-hooks", "-g"],
            &["list-buffers"],
            &["list-clients", "-F", "#{client_name}"],
            &["list-keys"],
        ] {
            state.push_str(&format!("{command:?}\n{}\n", self.tmux(command)));
        }
        state
    }

    /// Attaches a control client that stays until it is dropped.
    pub fn control(&self, session: &str) -> ControlClient {
        let mut child = Command::new(tmux_program())
            .arg("-S")
            .arg(self.socket())
            .args(["-C", "attach-session", "-E", "-f", "ignore-size", "-t", session])
            .env_remove("TMUX")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = ControlClient { child, output };
        while !client.line().starts_with("%session-changed") {}
        client
    }

    /// Sends a signal to the server process, by name.
    pub fn signal(&self, name: &str) {
        assert!(Command::new("kill").args(["-s", name, &self.pid.to_string()]).status().unwrap().success());
    }
}

impl Drop for TmuxServer {
    fn drop(&mut self) {
        if self.pid != 0 {
            let pid = self.pid.to_string();
            for signal in ["CONT", "TERM", "KILL"] {
                let _ = Command::new("kill").args(["-s", signal, &pid]).stderr(Stdio::null()).status();
                if signal == "TERM" {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }
}

/// A control client of the test's own.
pub struct ControlClient {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl ControlClient {
    /// Runs a line of commands; `true` if all of them succeeded.
    pub fn run(&mut self, line: &str) -> bool {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line} ; display-message -p done").unwrap();
        loop {
            let line = self.line();
            if line.starts_with("%error") || line == "done\n" {
                return line == "done\n";
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        assert!(self.output.read_until(b'\n', &mut line).unwrap() > 0, "the control client ended");
        String::from_utf8_lossy(&line).into_owned()
    }
}

impl Drop for ControlClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A pane whose program passes on what the test writes.
pub struct ScriptedPane {
    /// The number behind the `%`.
    pub number: u32,
    input: File,
}

impl ScriptedPane {
    /// The pane's id, `%N`.
    pub fn id(&self) -> String {
        format!("%{}", self.number)
    }

    /// Has the program write bytes, in one write. A line ends in `\r\n`: the terminal is raw.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.input.write_all(bytes.as_ref()).unwrap();
    }
}

/// Waits until something holds, and returns how long it took; panics after `limit`.
pub async fn eventually(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "not within {limit:?}: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    start.elapsed()
}
