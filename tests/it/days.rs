//! Bad days: servers that die or stop, clients that leave, many waits, and panes without tmux.

use std::time::{Duration, Instant};

use serde_json::json;

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
        assert!(["server_lost", "no_server"].contains(&error.kind()), "{error}");
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
