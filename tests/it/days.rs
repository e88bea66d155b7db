//! Bad days: servers that die or stop, clients that leave, many waits, and panes without tmux.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cases::Stage;
use crate::client::{Launch, McpClient, Pending, read};

const WAITS: usize = 20;

/// Twenty waits on four panes that never print.
fn armed(stage: &Stage, timeout: f64) -> Vec<Pending<'_>> {
    let actors: Vec<_> = (0..4).map(|_| stage.actor("p x", "")).collect();
    actors.iter().for_each(|actor| drop(stage.cursor(actor)));
    (0..WAITS)
        .map(|at| stage.wait(json!({ "pane_id": actors[at % 4].id, "patterns": ["never"], "timeout": timeout })))
        .collect()
}

#[test]
fn a_killed_server_ends_every_wait_and_is_found_again() {
    let mut stage = Stage::new();
    let waits = armed(&stage, 25.0);
    stage.tmux.signal("KILL");
    let killed = Instant::now();
    for wait in waits {
        let error = wait.result().unwrap_err();
        assert_eq!(error.kind(), "server_lost", "{error}");
    }
    assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
    stage.tmux = stage.tmux.restart();
    let actor = stage.actor("p x", "sleep 0.1; p MARKER");
    let wait = stage.wait(json!({ "pane_id": actor.id, "patterns": ["MARKER"] }));
    actor.act();
    assert_eq!(wait.result().unwrap()["outcome"], "matched");
}

#[test]
fn a_stopped_server_holds_no_wait_beyond_its_deadline() {
    let stage = Stage::new();
    let waits = armed(&stage, 1.5);
    stage.tmux.signal("STOP");
    for wait in waits {
        let (took, answer) = wait.timed();
        let error = read(&answer).unwrap_err();
        assert_eq!(error.kind(), "server_lost", "{error}");
        assert!(took >= Duration::from_millis(1500) && took < Duration::from_secs(4), "{took:?}");
    }
    stage.tmux.signal("CONT");
    let actor = stage.actor("p x", "sleep 0.1; p MARKER");
    let wait = stage.wait(json!({ "pane_id": actor.id, "patterns": ["MARKER"] }));
    actor.act();
    assert_eq!(wait.result().unwrap()["outcome"], "matched");
}

/// The processes whose parent is `pid`.
fn children(pid: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let parent = |child: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse::<u32>().ok()) == Some(pid)
    };
    all.filter(parent).collect()
}

fn is_running(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn nothing_is_left_when_the_client_leaves_in_mid_wait() {
    for end in ["input", "TERM", "INT", "HUP"] {
        let stage = Stage::new();
        let _waits = armed(&stage, 25.0);
        let stubborn = json!({ "kind": "pty", "command": ["sh", "-c", "trap '' HUP; while :; do sleep 1; done"] });
        for command in [json!({ "kind": "pty", "command": ["sleep", "1000"] }), stubborn] {
            stage.mcp.call("open_pane", command).unwrap();
        }
        let ours = children(stage.mcp.pid());
        assert!(ours.len() >= 3, "a control client and two programs: {ours:?}");
        if end == "input" {
            stage.mcp.close_input();
        } else {
            stage.mcp.signal(end);
        }
        // 100 ms, and 500 ms for a program that does not want to end.
        stage.mcp.exit_within(Duration::from_secs(6));
        let start = Instant::now();
        while ours.iter().any(|pid| is_running(*pid)) {
            assert!(start.elapsed() < Duration::from_secs(5), "{end}: left behind: {ours:?}");
        }
        assert_eq!(stage.tmux.tmux(&["list-clients"]), "", "{end}");
    }
}

#[test]
fn a_withdrawn_wait_is_gone() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "sleep 0.1; p MARKER");
    let wait = stage.wait(json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 25 }));
    wait.cancel();
    stage.mcp.ping();
    assert!(!wait.is_answered_within(Duration::from_millis(300)));
    let next = stage.wait(json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 8 }));
    actor.act();
    assert_eq!(next.result().unwrap()["outcome"], "matched");
}

#[test]
fn two_hundred_waits_see_one_line() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "sleep 0.1; p MARKER");
    stage.cursor(&actor);
    let ask = json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 20 });
    let waits: Vec<_> = (0..200).map(|_| stage.mcp.begin("wait_for_text", ask.clone())).collect();
    stage.mcp.ping();
    actor.act();
    for wait in waits {
        assert_eq!(wait.result().unwrap()["outcome"], "matched");
    }
}

#[test]
fn hostile_output_leaves_the_server_well() {
    let stage = Stage::new();
    for act in [
        "head -c 2000000 /dev/zero | tr '\\0' a",
        "p '\\033]2;'; head -c 8000000 /dev/zero | tr '\\0' b",
        "head -c 5000000 /dev/urandom",
        "for i in $(seq 2000); do p 'e\\314\\201\\314\\202\\314\\203'; done",
    ] {
        let actor = stage.actor("p x", &format!("{act}; p '\\030\\033\\\\\\033c\\r\\nMARKER\\r\\n'"));
        stage.cursor(&actor);
        let wait = stage.wait(json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 30 }));
        actor.act();
        assert_eq!(wait.result().unwrap()["outcome"], "matched", "{act}");
        stage.tmux.tmux(&["kill-pane", "-t", &actor.id]);
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", stage.mcp.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 400_000, "{peak}");
}

#[test]
fn one_costly_pattern_and_many_plain_ones_are_all_answered() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "head -c 200000 /dev/zero | tr '\\0' a; p '\\r\\nMARKER\\r\\n'");
    stage.cursor(&actor);
    let ask =
        |pattern: &str, regex| json!({ "pane_id": actor.id, "patterns": [pattern], "regex": regex, "timeout": 30 });
    let hostile = stage.mcp.begin("wait_for_text", ask("(a+)+$x|(a|aa)+!", true));
    let plain: Vec<_> = (0..49).map(|_| stage.mcp.begin("wait_for_text", ask("MARKER", false))).collect();
    stage.mcp.ping();
    actor.act();
    for wait in plain {
        assert_eq!(wait.result().unwrap()["outcome"], "matched");
    }
    hostile.cancel();
}

/// A server that can reach no tmux at all.
fn without_tmux() -> McpClient {
    Launch::default().env("PANEMIRROR_TMUX_BIN", "/nowhere/tmux").arg("--toolsets").arg("all").start()
}

#[test]
fn embedded_panes_work_without_tmux() {
    let mcp = without_tmux();
    let list = mcp.call("list_panes", json!({})).unwrap();
    assert!(list["note"].as_str().unwrap().contains("tmux"), "{list}");
    let error = mcp.call("wait_for_text", json!({ "pane_id": "%1", "timeout": 1 })).unwrap_err();
    assert_eq!(error.kind(), "no_tmux", "{error}");

    let opened = mcp.call("open_pane", json!({ "kind": "pty", "command": ["sh"], "rows": 10, "cols": 40 })).unwrap();
    let id = opened["pane_id"].as_str().unwrap().to_owned();
    let sent = mcp
        .call("send_keys", json!({ "pane_id": id, "text": "PS1=; printf 'MAR'; printf 'KER\\n'", "enter": true }))
        .unwrap();
    let wait = mcp.call("wait_for_text", json!({ "pane_id": id, "patterns": ["nothing"], "timeout": 0.5 })).unwrap();
    assert_eq!(wait["outcome"], "timeout");
    let since = mcp.call("capture_since", json!({ "cursor": sent["cursor"] })).unwrap();
    assert!(since["lines"].as_array().unwrap().contains(&json!("MARKER")), "{since}");
    let shown = mcp.call("snapshot_pane", json!({ "pane_id": id })).unwrap();
    assert!(shown.to_string().contains("MARKER"), "{shown}");
    assert!(mcp.call("list_panes", json!({})).unwrap().to_string().contains(&id));

    let wait = mcp.begin("wait_for_text", json!({ "pane_id": id, "patterns": ["never"], "timeout": 20 }));
    mcp.ping();
    mcp.call("send_keys", json!({ "pane_id": id, "text": "exit 3", "enter": true })).unwrap();
    let error = wait.result().unwrap_err();
    assert_eq!(error.kind(), "pane_ended", "{error}");
    assert!(error.message().contains("status 3"), "{error}");
    let closed = mcp.call("close_pane", json!({ "pane_id": id })).unwrap();
    assert_eq!(closed["exit_status"], 3, "{closed}");
    let error = mcp.call("open_pane", json!({ "kind": "pty", "command": ["/nowhere/program"] })).unwrap_err();
    assert_eq!(error.kind(), "spawn_failed", "{error}");
}

#[test]
fn an_old_tmux_and_no_server_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let old = directory.path().join("tmux");
    std::fs::write(&old, "#!/bin/sh\necho '4711 1700000000 3.1c'\n").unwrap();
    assert!(std::process::Command::new("chmod").arg("+x").arg(&old).status().unwrap().success());
    let socket = directory.path().join("s");
    let mcp = Launch::default().arg("-S").arg(socket.to_str().unwrap()).start();
    let error = mcp.call("wait_for_text", json!({ "pane_id": "%1", "timeout": 1 })).unwrap_err();
    assert_eq!(error.kind(), "no_server", "{error}");
    std::fs::write(&socket, "").unwrap();
    let error = mcp.call("wait_for_text", json!({ "pane_id": "%1", "timeout": 1 })).unwrap_err();
    assert!(["no_server", "no_tmux"].contains(&error.kind()), "{error}");
    let mcp = Launch::default().env("PANEMIRROR_TMUX_BIN", old.to_str().unwrap()).start();
    let error = mcp.call("wait_for_text", json!({ "pane_id": "%1", "timeout": 1 })).unwrap_err();
    assert_eq!(error.kind(), "no_tmux", "{error}");
    assert!(error.message().contains("3.1c") && error.message().contains("3.2"), "{error}");
}

/// A program that stands in for tmux.
fn stand_in(directory: &Path, name: &str, script: &str) -> PathBuf {
    let program = directory.join(name);
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    assert!(std::process::Command::new("chmod").arg("755").arg(&program).status().unwrap().success());
    program
}

#[test]
fn a_tmux_that_cannot_be_used_is_named_with_the_next_step() {
    let directory = tempfile::Builder::new().prefix("pm").tempdir_in("/tmp").unwrap();
    // As 3.1 does with a flag that it does not know; as one that answers the same to everything; as no tmux at all.
    let cases = [
        (
            "case $* in *-V*) echo 'tmux 3.1c';; *) echo 'tmux: unknown option -- N\nusage: tmux' >&2; exit 1;; esac",
            "3.1c",
        ),
        ("echo 'tmux 3.1'", "3.1"),
        ("echo 'tmux 2.9a'; exit 1", "2.9a"),
        ("echo hello", "hello"),
        ("exit 3", "does not answer as tmux does"),
    ];
    for (at, (script, part)) in cases.into_iter().enumerate() {
        let program = stand_in(directory.path(), &format!("tmux{at}"), script);
        let mcp = Launch::default().env("PANEMIRROR_TMUX_BIN", program.to_str().unwrap()).start();
        let calls = [
            ("wait_for_text", json!({ "pane_id": "%1", "timeout": 1 })),
            ("capture_since", json!({ "pane_id": "%1" })),
            ("snapshot_pane", json!({})),
            ("send_keys", json!({ "session_name": "main", "text": "x" })),
            ("open_pane", json!({ "kind": "tmux" })),
        ];
        for (tool, arguments) in calls {
            let (took, answer) = mcp.begin(tool, arguments).timed();
            let error = read(&answer).unwrap_err();
            assert_eq!(error.kind(), "no_tmux", "{script}: {tool}: {error}");
            assert!(
                error.message().contains(part) && error.message().contains("PANEMIRROR_TMUX_BIN"),
                "{tool}: {error}"
            );
            assert!(took < Duration::from_secs(1), "{took:?}");
        }
        let list = mcp.call("list_panes", json!({})).unwrap();
        assert!(list["note"].as_str().unwrap().contains(part), "{list}");
        embedded_journey(&mcp);
    }
}

/// The least that must work whatever is wrong with tmux.
fn embedded_journey(mcp: &McpClient) {
    let opened = mcp.call("open_pane", json!({ "command": ["cat"] })).unwrap();
    let wait = json!({ "pane_id": opened["pane_id"], "patterns": ["typed"], "timeout": 10 });
    let wait = mcp.begin("wait_for_text", wait);
    mcp.ping();
    mcp.call("send_keys", json!({ "pane_id": opened["pane_id"], "text": "typed", "enter": true })).unwrap();
    assert_eq!(wait.result().unwrap()["outcome"], "matched");
    let since = mcp.call("capture_since", json!({ "cursor": opened["cursor"] })).unwrap();
    assert!(since["lines"].to_string().contains("typed"), "{since}");
}

#[test]
fn a_socket_that_cannot_be_used_is_named() {
    let stage = Stage::new();
    let directory = tempfile::Builder::new().prefix("pm").tempdir_in("/tmp").unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "no socket").unwrap();
    let dead = directory.path().join("dead");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    let long = directory.path().join("x".repeat(200));
    let missing = directory.path().join("missing/s");
    for socket in [file.as_path(), &dead, &long, &missing, directory.path()] {
        let mcp = Launch::default().arg("-S").arg(socket.to_str().unwrap()).start();
        let (took, answer) = mcp.begin("wait_for_text", json!({ "pane_id": "%1", "timeout": 1 })).timed();
        let error = read(&answer).unwrap_err();
        assert_eq!(error.kind(), "no_server", "{}: {error}", socket.display());
        assert!(error.message().contains(socket.to_str().unwrap()), "{error}");
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert!(mcp.call("list_panes", json!({})).unwrap()["note"].is_string());
        embedded_journey(&mcp);
    }
    // Another user's socket. Only root can be somebody else.
    let other =
        stand_in(directory.path(), "other", "exec setpriv --reuid=65534 --regid=65534 --clear-groups tmux \"$@\"");
    let setpriv =
        std::process::Command::new(&other).arg("-V").stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    if setpriv {
        let launch = Launch::default().arg("-S").arg(stage.tmux.socket().to_str().unwrap());
        let mcp = launch.env("PANEMIRROR_TMUX_BIN", other.to_str().unwrap()).start();
        let error = mcp.call("wait_for_text", json!({ "pane_id": "%0", "timeout": 1 })).unwrap_err();
        assert_eq!(error.kind(), "no_server", "{error}");
        assert!(error.message().contains("ermission denied") && error.message().contains("owner"), "{error}");
        embedded_journey(&mcp);
    }
}

#[test]
fn a_server_that_is_stopped_while_panes_are_opened_is_used_again_afterwards() {
    let stage = Stage::new();
    let actors: Vec<_> = (0..4).map(|_| stage.actor("p x", "sleep 0.1; p MARKER")).collect();
    stage.tmux.signal("STOP");
    let ask = |at: usize| json!({ "pane_id": actors[at % 4].id, "patterns": ["never"], "timeout": 1 });
    let waits: Vec<_> = (0..WAITS).map(|at| stage.mcp.begin("wait_for_text", ask(at))).collect();
    let list = stage.mcp.begin("list_panes", json!({}));
    let capture = stage.mcp.begin("capture_since", json!({ "pane_id": actors[0].id }));
    let typed = stage.mcp.begin("send_keys", json!({ "pane_id": actors[0].id, "text": "x" }));
    for wait in waits {
        let (took, answer) = wait.timed();
        let error = read(&answer).unwrap_err();
        assert_eq!(error.kind(), "server_lost", "{error}");
        assert!(took < Duration::from_millis(3_500), "{took:?}");
    }
    for call in [list, capture, typed] {
        let (took, answer) = call.timed();
        let error = read(&answer).unwrap_err();
        assert_eq!(error.kind(), "server_lost", "{error}");
        assert!(took < Duration::from_secs(8), "{took:?}");
    }
    stage.tmux.signal("CONT");
    for actor in &actors {
        let wait = stage.wait(json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 10 }));
        actor.act();
        assert_eq!(wait.result().unwrap()["outcome"], "matched");
    }
    assert!(stage.mcp.call("list_panes", json!({})).unwrap()["note"].is_null());
}

#[test]
fn a_server_that_was_stopped_goes_on_in_the_same_waits() {
    let stage = Stage::new();
    let actors: Vec<_> = (0..4).map(|_| stage.actor("p x", "sleep 0.1; p MARKER")).collect();
    let waits: Vec<_> = actors
        .iter()
        .map(|actor| stage.wait(json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 25 })))
        .collect();
    // Long enough for every question of ours to go unanswered, and for the look at quiet panes to fall into it.
    stage.tmux.signal("STOP");
    let error = stage.mcp.call("list_panes", json!({})).unwrap_err();
    assert_eq!(error.kind(), "server_lost", "{error}");
    stage
        .mcp
        .call("wait_for_text", json!({ "pane_id": actors[0].id, "patterns": ["never"], "timeout": 3 }))
        .unwrap_err();
    stage.tmux.signal("CONT");
    for (actor, wait) in actors.iter().zip(waits) {
        actor.act();
        assert_eq!(wait.result().unwrap()["outcome"], "matched");
    }
}

#[test]
fn a_stopped_server_does_not_hold_up_the_end() {
    let stage = Stage::new();
    let _waits = armed(&stage, 25.0);
    let ours = children(stage.mcp.pid());
    assert!(!ours.is_empty());
    stage.tmux.signal("STOP");
    stage.mcp.close_input();
    stage.mcp.exit_within(Duration::from_secs(1));
    let start = Instant::now();
    while ours.iter().any(|pid| is_running(*pid)) {
        assert!(start.elapsed() < Duration::from_secs(5), "left behind: {ours:?}");
    }
    stage.tmux.signal("CONT");
    let start = Instant::now();
    while !stage.tmux.tmux(&["list-clients"]).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(5), "a client is left");
    }
}

#[test]
fn nothing_is_left_when_the_client_is_killed() {
    // A killed client's pipes close both at once; one that is odd closes only what it reads.
    for both in [true, false] {
        let stage = Stage::new();
        let actor = stage.actor("p x", "p y");
        let home = tempfile::tempdir().unwrap();
        let launch = Launch::default().arg("-S").arg(stage.tmux.socket().to_str().unwrap());
        let mut server = launch
            .command(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = server.stdin.take().unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        let mut ask = |id: u32, method: &str, params: Value| {
            writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap();
        };
        let client = json!({ "name": "tests", "version": "0" });
        ask(1, "initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
        let mut lines = Vec::new();
        let mut answer = |output: &mut BufReader<std::process::ChildStdout>| {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            lines.push(line);
        };
        answer(&mut output);
        ask(2, "tools/call", json!({ "name": "open_pane", "arguments": { "command": ["sleep", "1000"] } }));
        ask(3, "tools/call", json!({ "name": "capture_since", "arguments": { "pane_id": actor.id } }));
        answer(&mut output);
        answer(&mut output);
        let wait = json!({ "pane_id": actor.id, "patterns": ["y"], "timeout": 25 });
        ask(4, "tools/call", json!({ "name": "wait_for_text", "arguments": wait }));
        ask(5, "ping", json!({}));
        answer(&mut output);
        let ours = children(server.id());
        assert!(ours.len() >= 2, "{ours:?}: {lines:?}");
        drop(output);
        if both {
            drop(input);
        } else {
            // The answer finds nobody.
            actor.act();
        }
        let start = Instant::now();
        while server.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(1), "both {both}: still running");
        }
        while ours.iter().any(|pid| is_running(*pid)) {
            assert!(start.elapsed() < Duration::from_secs(5), "both {both}: left behind: {ours:?}");
        }
        // The stage's own client is there, and no other.
        assert_eq!(stage.tmux.tmux(&["list-clients"]).lines().count(), 1, "both {both}");
    }
}

#[test]
fn a_closed_pane_leaves_no_zombie_and_its_status() {
    let mcp = Launch::default().arg("--toolsets").arg("all").start();
    let stubborn = "trap '' HUP TERM INT; while :; do sleep 1; done";
    for (command, status) in [(vec!["sleep", "1000"], json!(129)), (vec!["sh", "-c", stubborn], json!(137))] {
        let pane = mcp.call("open_pane", json!({ "command": command })).unwrap()["pane_id"].clone();
        let ours = children(mcp.pid());
        assert_eq!(ours.len(), 1, "{ours:?}");
        let closed = mcp.call("close_pane", json!({ "pane_id": pane })).unwrap();
        assert_eq!(closed["exit_status"], status, "{command:?}: {closed}");
        assert!(children(mcp.pid()).is_empty(), "{command:?} is left");
        let error = mcp.call("snapshot_pane", json!({ "pane_id": pane })).unwrap_err();
        assert_eq!(error.kind(), "no_such_pane", "{error}");
    }
}
