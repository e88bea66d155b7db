//! From the print in a pane to the answer, beside a bare control client that reads the same bytes in the same run.
//!
//! `cargo bench --bench wait_latency [ROUNDS]`. Each round: a `wait_for_text` is sent over MCP, the pane's own program
//! notes the time and prints a marker, the bare client notes when it has read the marker, the MCP client when it has
//! read the answer. Printed: median and 99th percentile of both, and their ratio; then what a wait costs a flooding program and its sibling, and the cost of
//! 50 idle waits.

// A bench stops where something is not as it must be.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn nanos() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// The program in the pane: for each line on the fifo, notes the time and prints that line.
fn printer(fifo: &str, times: &str) {
    let fifo = BufReader::new(std::fs::File::open(fifo).expect("fifo"));
    let mut times = std::fs::OpenOptions::new().write(true).open(times).expect("times");
    for line in fifo.lines() {
        let line = format!("{}\r\n", line.expect("line"));
        let now = nanos();
        std::io::stdout().write_all(line.as_bytes()).expect("print");
        std::io::stdout().flush().expect("print");
        writeln!(times, "{now}").expect("time");
    }
}

struct Tmux {
    dir: tempfile::TempDir,
}

impl Tmux {
    fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-f", "/dev/null", "-S"]).arg(self.socket()).env_remove("TMUX");
        command
    }

    fn run(&self, args: &[&str]) {
        assert!(self.command().args(args).status().expect("tmux").success(), "tmux {args:?}");
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").status();
    }
}

struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(socket: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_panemirror"))
            .arg("-S")
            .arg(socket)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("panemirror");
        let (stdin, stdout) = (child.stdin.take().expect("pipe"), child.stdout.take().expect("pipe"));
        let mut client = Self { child, stdin, stdout: BufReader::new(stdout), id: 0 };
        client.send(
            "initialize",
            r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}"#,
        );
        client.answer();
        writeln!(client.stdin, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).expect("pipe");
        client
    }

    fn send(&mut self, method: &str, params: &str) {
        self.id += 1;
        writeln!(self.stdin, r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, self.id)
            .expect("pipe");
    }

    fn call(&mut self, tool: &str, arguments: &str) {
        self.send("tools/call", &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#));
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("answer");
        line
    }
}

fn bare_client(tmux: &Tmux, session: &str, marks: mpsc::Sender<u128>) -> Child {
    let mut child = tmux
        .command()
        .args(["-C", "attach-session", "-E", "-f", "ignore-size", "-t", session])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("control client");
    let mut stdout = child.stdout.take().expect("pipe");
    std::thread::spawn(move || {
        let mut buffer = [0u8; 65536];
        while let Ok(length @ 1..) = stdout.read(&mut buffer) {
            if buffer[..length].windows(7).any(|bytes| bytes == b"marker-") {
                let _ = marks.send(nanos());
            }
        }
    });
    child
}

fn figures(name: &str, mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize];
    println!("{name:24} median {:7.1} us   p99 {:7.1} us   n {}", at(0.5), at(0.99), all.len());
    at(0.5)
}

fn latency(tmux: &Tmux, client: &mut Client, rounds: usize) {
    let (fifo, times) = (tmux.dir.path().join("f"), tmux.dir.path().join("t"));
    for path in [&fifo, &times] {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    }
    let own = std::env::current_exe().expect("path");
    let program = format!("exec {} --printer {} {}", own.display(), fifo.display(), times.display());
    tmux.run(&["new-session", "-d", "-s", "b", "-x", "80", "-y", "24", &program]);
    let (send, marks) = mpsc::channel();
    let mut bare = bare_client(tmux, "=b", send);
    let mut trigger = std::fs::OpenOptions::new().write(true).open(&fifo).expect("fifo");
    let mut printed = BufReader::new(std::fs::File::open(&times).expect("times")).lines();
    let (mut ours, mut theirs, mut late) = (Vec::new(), Vec::new(), 0);
    for round in 0..rounds + 20 {
        client.call("wait_for_text", &format!(r#"{{"patterns":["marker-{round}."],"timeout":5,"session_name":"b"}}"#));
        // The first calls connect and open the mirror.
        std::thread::sleep(Duration::from_millis(if round < 20 { 50 } else { 3 }));
        writeln!(trigger, "marker-{round}.").expect("trigger");
        let answer = client.answer();
        let answered = nanos();
        let time: u128 = printed.next().expect("time").expect("time").parse().expect("number");
        let bare_time = marks.recv_timeout(Duration::from_secs(5)).expect("bare client");
        if !answer.contains("\"matched\"") {
            // The server got no processor in the 3 ms between request and print: the text was there before.
            assert!(answer.contains("\"matched_at_entry\":true"), "{answer}");
            late += 1;
        } else if round >= 20 {
            ours.push((answered - time) as f64 / 1e3);
            theirs.push((bare_time - time) as f64 / 1e3);
        }
    }
    let theirs = figures("bare control client", theirs);
    let ours = figures("wait_for_text", ours);
    println!("ratio of medians         {:.2} (budget 2); {late} requests read too late", ours / theirs);
    let _ = bare.kill();
    let _ = bare.wait();
}

/// CPU time of a process, in seconds, with its threads.
fn cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn idle(tmux: &Tmux, client: &mut Client) {
    for window in 0..10 {
        tmux.run(&["new-window", "-d", "-t", "=keep:", &format!("printf 'w{window}'; exec sleep 1000")]);
    }
    client.call("list_panes", "{}");
    let list = client.answer();
    let ids = list.split("\\\"pane_id\\\":\\\"").skip(1).filter_map(|rest| rest.split('\\').next());
    let panes: Vec<String> = ids.map(str::to_owned).collect();
    assert!(panes.len() >= 10, "{list}");
    let all = |client: &mut Client, timeout: f64, n: usize| {
        for at in 0..n {
            let pane = &panes[at % panes.len()];
            client
                .call("wait_for_text", &format!(r#"{{"patterns":["never"],"timeout":{timeout},"pane_id":"{pane}"}}"#));
        }
    };
    all(client, 0.2, 10);
    (0..10).for_each(|_| drop(client.answer()));
    all(client, 8.0, 50);
    std::thread::sleep(Duration::from_millis(500));
    let (before, start) = (cpu(client.child.id()), Instant::now());
    (0..50).for_each(|_| drop(client.answer()));
    println!(
        "50 waits of 8 s, 10 panes: {:.3} CPU s from all armed to the last answer, {:.1} s later (budget 0.02)",
        cpu(client.child.id()) - before,
        start.elapsed().as_secs_f64()
    );
}

/// Runs a shell command in a window of its own and returns the seconds that it took there.
fn timed(tmux: &Tmux, command: &str, start: impl FnOnce(&str)) -> f64 {
    let (go, out) = (tmux.dir.path().join("go"), tmux.dir.path().join("out"));
    for path in [&go, &out] {
        let _ = std::fs::remove_file(path);
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    }
    let (go_path, out_path) = (go.display(), out.display());
    let script = format!(
        "read go <{go_path}; a=$(date +%s%N); {command}; b=$(date +%s%N); echo $((b-a)) >{out_path}; exec sleep 100"
    );
    let output = tmux.command().args(["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=keep:", &script]).output();
    let pane = String::from_utf8(output.expect("tmux").stdout).expect("pane").trim().to_owned();
    start(&pane);
    std::fs::write(&go, "go\n").expect("go");
    let nanos: f64 = std::fs::read_to_string(&out).expect("out").trim().parse().expect("number");
    tmux.run(&["kill-pane", "-t", &pane]);
    nanos / 1e9
}

/// 2,000,000 lines in a pane without and with a wait on it, and 100,000 lines of a sibling beside it.
fn flood(tmux: &Tmux, client: &mut Client) {
    let lines = "seq 1 2000000";
    // tmux itself spends more where any control client reads: what a client that throws all away costs.
    let mut drained = Vec::new();
    let (mut alone, mut watched, mut sibling_alone, mut sibling) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let arm = |client: &mut Client, pane: &str| {
        client.call(
            "wait_for_text",
            &format!(r#"{{"pane_id":"{pane}","patterns":["^2000000$"],"regex":true,"timeout":30}}"#),
        );
        // Armed once a later request is answered.
        client.send("ping", "{}");
        assert!(client.answer().contains("\"result\":{}"));
    };
    for _ in 0..3 {
        alone.push(timed(tmux, lines, |_| ()));
        let (nobody, _) = mpsc::channel();
        let mut bare = bare_client(tmux, "=keep", nobody);
        drained.push(timed(tmux, lines, |_| ()));
        let _ = bare.kill();
        let _ = bare.wait();
        watched.push(timed(tmux, lines, |pane| arm(client, pane)));
        assert!(client.answer().contains("\"matched\""));
        sibling_alone.push(timed(tmux, "seq 1 100000", |_| ()));
        let flooding = tmux
            .command()
            .args(["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=keep:", "exec seq 1 100000000"])
            .output();
        let flooding = String::from_utf8(flooding.expect("tmux").stdout).expect("pane").trim().to_owned();
        let beside = timed(tmux, "seq 1 100000", |_| ());
        client.call("wait_for_text", &format!(r#"{{"pane_id":"{flooding}","patterns":["never"],"timeout":30}}"#));
        client.send("ping", "{}");
        client.answer();
        let watched_beside = timed(tmux, "seq 1 100000", |_| ());
        tmux.run(&["kill-pane", "-t", &flooding]);
        client.answer();
        sibling.push(watched_beside / beside);
    }
    let median = |all: &mut Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (alone, watched) = (median(&mut alone), median(&mut watched));
    println!(
        "2,000,000 lines          alone {alone:.2} s   with a wait {watched:.2} s   ratio {:.2} (budget 1.2)",
        watched / alone
    );
    let drained = median(&mut drained);
    println!(
        "                         with a bare client that drains {drained:.2} s: ratio to it {:.2}",
        watched / drained
    );
    println!(
        "a sibling's 100,000 lines beside a flood: with a wait on the flood / without {:.2}; alone {:.2} s",
        median(&mut sibling),
        median(&mut sibling_alone)
    );
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap_or_default();
    let memory = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    println!("our process at most: {memory}");
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--printer") {
        return printer(&args[at + 1], &args[at + 2]);
    }
    let rounds = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(300);
    let tmux = Tmux { dir: tempfile::tempdir_in("/tmp").expect("directory") };
    tmux.run(&["new-session", "-d", "-s", "keep", "-x", "80", "-y", "24", "sleep 1000"]);
    let mut client = Client::start(&tmux.socket());
    latency(&tmux, &mut client, rounds);
    flood(&tmux, &mut client);
    idle(&tmux, &mut client);
    drop(client.stdin);
    let _ = client.child.wait();
}
