//! Hostile input and output: arguments that try to become commands, floods, lines without an end, too many of anything.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cases::Stage;
use crate::client::{Launch, McpClient, read};
use crate::support::TmuxServer;

/// Ten times what an answer at once may take.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Bytes of the long lines and strings; `FLOOD_BYTES=1000000000` for a whole gigabyte.
fn flood_bytes() -> u64 {
    std::env::var("FLOOD_BYTES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000_000)
}

/// A field of `/proc/PID/status`, in kilobytes.
fn memory(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

/// Texts that would do something if anything ran or expanded them; each would leave `mark` behind.
fn hostile_texts(mark: &Path) -> Vec<String> {
    let mark = mark.display();
    vec![
        format!("#(touch {mark})"),
        format!("##(touch {mark})"),
        format!("#{{?1,#(touch {mark}),}}"),
        format!("#[fg=red]#(touch {mark})"),
        "; kill-server".to_owned(),
        "a ; kill-server ;".to_owned(),
        "a\\;".to_owned(),
        format!("$(touch {mark})"),
        format!("`touch {mark}`"),
        format!("'; touch {mark}; '"),
        format!("\"; touch {mark}; \""),
        format!("x\nrun-shell 'touch {mark}'\nkill-server"),
        format!("x\rkill-server\r{{ run 'touch {mark}' }}"),
        "%if 1\n%endif".to_owned(),
        "$HOME ~ %1 @1 {last} -t".to_owned(),
        "-L".to_owned(),
        "\u{1b}]2;x\u{7}".to_owned(),
        "é\u{301}界\u{7f}".to_owned(),
    ]
}

#[test]
fn nothing_that_a_caller_says_becomes_a_command() {
    let tmux = TmuxServer::start();
    let directory = tempfile::Builder::new().prefix("pm").tempdir_in("/tmp").unwrap();
    let mark = directory.path().join("mark");
    let launch = Launch::default().arg("-S").arg(tmux.socket().to_str().unwrap()).arg("--toolsets").arg("all");
    let mcp = launch.start();
    for (at, text) in hostile_texts(&mark).iter().enumerate() {
        // In a directory's name a slash is not possible.
        let cwd = directory.path().join(text.replace('/', "_"));
        std::fs::create_dir(&cwd).unwrap();
        for kind in ["tmux", "pty"] {
            let out = directory.path().join(format!("out{at}{kind}"));
            let script =
                "printf '%s\\n%s\\n%s' \"$1\" \"$V\" \"$(pwd -P)\" >\"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 100";
            let open = json!({
                "kind": kind, "cwd": cwd, "env": { "V": text }, "command": ["sh", "-c", script, out, text],
            });
            let opened = mcp.call("open_pane", open).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            let wanted = format!("{text}\n{text}\n{}", cwd.canonicalize().unwrap().display());
            let start = Instant::now();
            let wrote = loop {
                if let Ok(wrote) = std::fs::read_to_string(&out) {
                    break wrote;
                }
                assert!(start.elapsed() < Duration::from_secs(20), "{kind} {text:?}: nothing written");
            };
            assert_eq!(wrote, wanted, "{kind}");
            mcp.call("close_pane", json!({ "pane_id": opened["pane_id"] })).unwrap();
        }
        // Names: of a session to make, of one to find, of ids.
        match mcp.call("open_pane", json!({ "kind": "tmux", "session_name": text, "command": ["sleep", "100"] })) {
            Ok(opened) => {
                let pane = opened["pane_id"].as_str().unwrap();
                let found =
                    mcp.call("snapshot_pane", json!({ "session_name": text })).map(|shown| shown["pane_id"].clone());
                assert_eq!(found.unwrap(), pane, "{text:?}");
                mcp.call("close_pane", json!({ "pane_id": pane })).unwrap();
            }
            Err(error) => assert_eq!(error.kind(), "bad_argument", "{text:?}: {error}"),
        }
        let error = mcp.call("snapshot_pane", json!({ "session_name": text })).unwrap_err();
        assert_eq!(error.kind(), "no_such_pane", "{text:?}: {error}");
        for argument in ["pane_id", "window_id", "session_id", "socket_name"] {
            let error = mcp.call("snapshot_pane", json!({ argument: text })).unwrap_err();
            assert_eq!(error.kind(), "bad_argument", "{text:?}: {error}");
            let shown = serde_json::to_string(text).unwrap().trim_matches('"').chars().take(4).collect::<String>();
            assert!(error.message().contains(&shown) || text.chars().any(char::is_control), "{text:?}: {error}");
        }
        assert!(!mark.exists(), "{text:?} was run");
        assert_eq!(tmux.format("main:", "#{pid}"), tmux.pid().to_string(), "{text:?}");
    }
    // Typed text goes to the program as it is, and to nobody else.
    let pane = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", "stty -echo; exec cat"]);
    for text in hostile_texts(&mark).iter().filter(|text| !text.chars().any(char::is_control)) {
        let sent = mcp.call("send_keys", json!({ "pane_id": pane, "text": text, "enter": true })).unwrap();
        let wait = json!({ "pane_id": pane, "patterns": [text], "timeout": 10 });
        let seen = mcp.call("wait_for_text", wait).unwrap();
        if seen["outcome"] == "timeout" {
            let since = mcp.call("capture_since", json!({ "cursor": sent["cursor"] })).unwrap();
            let joined = since["lines"].as_array().unwrap().iter().filter_map(Value::as_str).collect::<String>();
            assert!(joined.contains(text.as_str()), "{text:?}: {since}");
        }
        assert!(!mark.exists(), "{text:?} was run");
    }
}

#[test]
fn bad_targets_and_arguments_on_a_real_server() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "p y");
    let other = stage.tmux.tmux(&["new-session", "-d", "-P", "-F", "#{pane_id}", "-s", "other", "cat"]);
    let cursor = stage.cursor(&actor);
    let cut = &cursor[..cursor.len() - 3];
    let flipped = format!("{}{}", &cursor[..cursor.len() - 1], if cursor.ends_with('A') { "B" } else { "A" });
    let pane = &actor.id;
    let cases = [
        ("wait_for_text", json!({ "pane_id": "%99999" }), "no_such_pane", "%99999"),
        ("wait_for_text", json!({ "pane_id": "%4294967296" }), "bad_argument", "%4294967296"),
        ("wait_for_text", json!({ "pane_id": "%4294967295" }), "no_such_pane", "%4294967295"),
        ("wait_for_text", json!({ "window_id": "@999" }), "no_such_pane", "@999"),
        ("wait_for_text", json!({ "session_id": "$999" }), "no_such_pane", "$999"),
        ("wait_for_text", json!({ "session_name": "mai" }), "no_such_pane", "mai"),
        ("wait_for_text", json!({ "session_name": "=main" }), "no_such_pane", "=main"),
        ("wait_for_text", json!({ "pane_id": pane, "session_name": "other" }), "bad_argument", "other"),
        ("wait_for_text", json!({ "pane_id": other, "window_id": "@0" }), "bad_argument", "@0"),
        ("snapshot_pane", json!({ "session_id": "$0", "session_name": "other" }), "bad_argument", "other"),
        ("close_pane", json!({ "pane_id": other, "session_name": "main" }), "bad_argument", "main"),
        ("send_keys", json!({ "pane_id": "%99999", "text": "x" }), "no_such_pane", "%99999"),
        ("wait_for_text", json!({ "pane_id": pane, "patterns": ["a\nb"] }), "bad_argument", "newline"),
        ("wait_for_text", json!({ "pane_id": pane, "patterns": ["a\u{0}b"] }), "bad_argument", "NUL"),
        ("wait_for_text", json!({ "pane_id": pane, "stop": ["a\nb"] }), "bad_argument", "newline"),
        ("wait_for_text", json!({ "pane_id": pane, "interval": 0.009 }), "bad_argument", "0.009"),
        ("capture_since", json!({ "cursor": cut }), "bad_cursor", "cursor"),
        ("capture_since", json!({ "cursor": flipped }), "bad_cursor", "cursor"),
        ("capture_since", json!({ "cursor": cursor, "pane_id": other }), "bad_cursor", "%"),
        ("capture_since", json!({ "cursor": cursor, "socket_name": "a/b" }), "bad_argument", "a/b"),
        ("capture_since", json!({ "pane_id": pane, "max_lines": -1 }), "bad_argument", "-1"),
        ("capture_since", json!({ "pane_id": pane, "max_bytes": 0 }), "bad_argument", "0"),
        ("capture_since", json!({ "pane_id": pane, "max_lines": 1e300 }), "bad_argument", "1e+300"),
        ("open_pane", json!({ "kind": "tmux", "session_name": "main" }), "bad_argument", "main"),
        ("open_pane", json!({ "kind": "tmux", "place": "split", "pane_id": "%99999" }), "no_such_pane", "%99999"),
        ("open_pane", json!({ "cwd": "/nowhere/at/all" }), "spawn_failed", "/nowhere/at/all"),
    ];
    let mcp =
        Launch::default().arg("-S").arg(stage.tmux.socket().to_str().unwrap()).arg("--toolsets").arg("all").start();
    mcp.call("capture_since", json!({ "pane_id": pane })).unwrap();
    for (tool, arguments, kind, part) in cases {
        let (took, answer) = mcp.begin(tool, arguments.clone()).timed();
        let error = read(&answer).expect_err(&format!("{tool} {arguments}"));
        assert_eq!(error.kind(), kind, "{tool} {arguments}: {error}");
        assert!(error.message().contains(part), "{tool} {arguments}: {error}");
        assert!(took < AT_ONCE, "{tool} {arguments} took {took:?}");
        mcp.ping();
    }
    // Large but finite is fine.
    let wait = json!({ "pane_id": pane, "patterns": ["y"], "interval": 1e9, "timeout": 1e308 });
    let wait = stage.wait(wait);
    actor.act();
    assert_eq!(wait.result().unwrap()["outcome"], "matched");
}

#[test]
fn nothing_of_a_tmux_pane_gets_into_the_log() {
    let tmux = TmuxServer::start();
    let launch = Launch::default().arg("-S").arg(tmux.socket().to_str().unwrap()).env("PANEMIRROR_LOG", "trace");
    let mcp = launch.arg("--toolsets").arg("all").start();
    let command = "printf 's3cr3t-output\\033]2;s3cr3t-title\\007\\n'; exec cat";
    let pane = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", command]);
    let ask = |pattern: &str| json!({ "pane_id": pane, "patterns": [pattern], "stop": ["s3cr3t-stop"], "timeout": 5 });
    let typed = mcp.begin("wait_for_text", ask("s3cr3t-keys"));
    mcp.ping();
    mcp.call("send_keys", json!({ "pane_id": pane, "text": "s3cr3t-keys", "enter": true })).unwrap();
    assert_eq!(typed.result().unwrap()["outcome"], "matched");
    mcp.call("snapshot_pane", json!({ "pane_id": pane })).unwrap();
    mcp.call("list_panes", json!({})).unwrap();
    mcp.call("wait_for_text", json!({ "pane_id": pane, "patterns": ["s3cr3t("], "regex": true })).unwrap_err();
    mcp.call("send_keys", json!({ "pane_id": pane, "keys": ["s3cr3t-key"] })).unwrap_err();
    mcp.call("s3cr3t-tool", json!({})).unwrap_err();
    let env = json!({ "command": ["cat", "s3cr3t-argument"], "env": { "A": "s3cr3t-value" } });
    mcp.call("open_pane", env).unwrap();
    mcp.send_line(b"{\"s3cr3t-line\":");
    mcp.wait_for_others(1);
    let last = mcp.begin("wait_for_text", ask("never"));
    mcp.ping();
    tmux.tmux(&["kill-pane", "-t", &pane]);
    last.result().unwrap_err();
    tmux.signal("KILL");
    mcp.call("list_panes", json!({})).unwrap();
    mcp.close_input();
    mcp.exit_within(Duration::from_secs(5));
    assert!(!mcp.log().contains("s3cr3t"), "{}", mcp.log());
}

#[test]
fn one_wait_too_many_is_refused_and_withdrawn_ones_make_room() {
    let mcp = McpClient::start();
    let pane = mcp.call("open_pane", json!({ "command": ["cat"] })).unwrap()["pane_id"].clone();
    let ask = json!({ "pane_id": pane, "patterns": ["never"], "timeout": 30 });
    for _ in 0..2 {
        let waits: Vec<_> = (0..1_000).map(|_| mcp.begin("wait_for_text", ask.clone())).collect();
        // Each is started by a task of its own: the next one is refused as soon as all are at work.
        let start = Instant::now();
        loop {
            let probe = mcp.begin("wait_for_text", json!({ "pane_id": pane, "patterns": ["never"], "timeout": 0.01 }));
            match probe.result() {
                Err(error) => {
                    assert_eq!(error.kind(), "limit", "{error}");
                    assert!(error.message().contains("1000"), "{error}");
                    break;
                }
                Ok(_) => assert!(start.elapsed() < Duration::from_secs(20), "no wait was refused"),
            }
        }
        waits.iter().for_each(crate::client::Pending::cancel);
        mcp.ping();
        let start = Instant::now();
        let quick = json!({ "pane_id": pane, "patterns": ["never"], "timeout": 0.01 });
        while mcp.call("wait_for_text", quick.clone()).is_err() {
            assert!(start.elapsed() < AT_ONCE, "withdrawn waits are still at work");
        }
        for wait in &waits {
            assert!(!wait.is_answered_within(Duration::ZERO), "a withdrawn wait was answered");
        }
    }
}

#[test]
fn one_embedded_pane_too_many_is_refused_however_fast_they_are_asked_for() {
    let mcp = Launch::default().arg("--toolsets").arg("all").start();
    let open = || mcp.begin("open_pane", json!({ "command": ["cat"], "rows": 2, "cols": 10 }));
    let opened: Vec<_> = (0..80).map(|_| open()).collect::<Vec<_>>().into_iter().map(|open| open.result()).collect();
    let (fine, refused): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
    assert_eq!(fine.len(), 64);
    for error in refused {
        let error = error.unwrap_err();
        assert_eq!(error.kind(), "limit", "{error}");
        assert!(error.message().contains("64") && error.message().contains("close_pane"), "{error}");
    }
    let pane = fine.into_iter().next().unwrap().unwrap()["pane_id"].clone();
    mcp.call("close_pane", json!({ "pane_id": pane })).unwrap();
    assert!(open().result().is_ok(), "a closed pane made room");
    mcp.close_input();
    mcp.exit_within(Duration::from_secs(3));
}

#[test]
fn many_waits_and_a_flood_hold_up_no_other_call() {
    let stage = Stage::new();
    let flood = stage.actor("p x", "yes 'a line of a flood that never ends'");
    let quiet = stage.actor("p x", "sleep 0.1; p MARKER");
    stage.cursor(&flood);
    stage.cursor(&quiet);
    let ask = |pane: &str, pattern: &str, timeout: f64| {
        stage.mcp.begin("wait_for_text", json!({ "pane_id": pane, "patterns": [pattern], "timeout": timeout }))
    };
    let waits: Vec<_> = (0..50).map(|at| ask(&flood.id, &format!("never{at}"), 3.0)).collect();
    let found = ask(&quiet.id, "MARKER", 20.0);
    stage.mcp.ping();
    flood.act();
    let mut slowest = Duration::ZERO;
    for _ in 0..10 {
        let (took, answer) = stage.mcp.begin("list_panes", json!({})).timed();
        read(&answer).unwrap();
        slowest = slowest.max(took);
    }
    eprintln!("slowest list_panes beside a flood: {slowest:?}");
    assert!(slowest < AT_ONCE, "{slowest:?}");
    quiet.act();
    assert_eq!(found.result().unwrap()["outcome"], "matched");
    for wait in waits {
        let (took, answer) = wait.timed();
        assert_eq!(read(&answer).unwrap()["outcome"], "timeout");
        assert!(took < Duration::from_millis(5_500), "{took:?}");
    }
    assert!(memory(stage.mcp.pid(), "VmRSS") < 300_000);
}

#[test]
fn two_million_lines_end_and_their_last_one_is_found() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "seq 1 2000000; p 'THE END\\r\\n'");
    stage.cursor(&actor);
    let wait = stage.wait(json!({ "pane_id": actor.id, "patterns": ["THE END"], "timeout": 30 }));
    let start = Instant::now();
    actor.act();
    let result = wait.result().unwrap();
    eprintln!("2,000,000 lines: {:?}, {} kB", start.elapsed(), memory(stage.mcp.pid(), "VmHWM"));
    assert_eq!(result["outcome"], "matched", "{result}");
    assert!(memory(stage.mcp.pid(), "VmHWM") < 300_000);
    let last = stage.mcp.call("snapshot_pane", json!({ "pane_id": actor.id })).unwrap();
    assert!(last.to_string().contains("2000000"), "{last}");
}

#[test]
fn lines_and_strings_without_an_end_cost_no_memory() {
    let bytes = flood_bytes();
    let acts = [
        format!("head -c {bytes} /dev/zero | tr '\\0' a"),
        format!("printf '\\033]2;'; head -c {bytes} /dev/zero | tr '\\0' b"),
        format!("printf '\\033P'; head -c {bytes} /dev/zero | tr '\\0' c"),
        format!("printf e; head -c {} /dev/zero | sed 's/\\x00/\\xcc\\x81/g'", bytes / 4),
        "head -c 5000000 /dev/urandom".to_owned(),
        format!("head -c {} /dev/zero | sed 's/\\x00/\\x1b[65535@\\x1b[65535L\\x1b[65535b/g'", bytes / 2_000),
    ];
    // The program ends the string that it left open and clears what the noise has switched.
    let end = "printf '\\030\\033\\\\\\033c\\r\\nMARKER\\r\\n'; exec sleep 1000";
    let mcp = Launch::default().arg("--toolsets").arg("all").start();
    for act in acts {
        let script = format!("stty raw -echo; {act}; {end}");
        let start = Instant::now();
        let opened = mcp.call("open_pane", json!({ "command": ["sh", "-c", script] })).unwrap();
        let pane = opened["pane_id"].clone();
        let wait = json!({ "pane_id": pane, "patterns": ["MARKER"], "timeout": 30 });
        let mut since = mcp.call("wait_for_text", wait.clone()).unwrap();
        if since["outcome"] == "timeout" && since["matched_at_entry"] == false {
            since = mcp.call("wait_for_text", wait).unwrap();
        }
        assert!(since["outcome"] == "matched" || since["matched_at_entry"] == true, "{act}: {since}");
        let (now, most) = (memory(mcp.pid(), "VmRSS"), memory(mcp.pid(), "VmHWM"));
        eprintln!("{act}: {:?}, {now} kB, at most {most} kB", start.elapsed());
        assert!(most < 300_000, "{act}: {most} kB");
        mcp.call("close_pane", json!({ "pane_id": pane })).unwrap();
    }
    assert!(!mcp.log().contains("panicked"), "{}", mcp.log());
}

#[test]
fn the_smallest_pane_and_a_storm_of_sizes() {
    let stage = Stage::new();
    let actor =
        stage.actor("p x", "for i in $(seq 300); do p 'line %d of many, wrapped\\r\\n' $i; sleep 0.005; done; p Z");
    stage.cursor(&actor);
    let flood = stage.wait(json!({ "pane_id": actor.id, "patterns": ["line 300 of"], "timeout": 30 }));
    actor.act();
    for at in 0..60 {
        let (x, y) = ([1, 80, 2, 200, 13, 1][at % 6].to_string(), [1, 24, 50, 2, 1, 100][at % 6].to_string());
        stage.tmux.tmux(&["resize-window", "-t", &actor.id, "-x", &x, "-y", &y]);
    }
    stage.tmux.tmux(&["resize-window", "-t", &actor.id, "-x", "80", "-y", "24"]);
    assert_eq!(flood.result().unwrap()["outcome"], "matched");
    stage.titled(&actor, "acted");
    let shown = stage.mcp.call("snapshot_pane", json!({ "pane_id": actor.id })).unwrap();
    let tmux = stage.tmux.tmux(&["capture-pane", "-p", "-t", &actor.id]);
    assert!(shown.to_string().contains("line 300") && tmux.contains("line 300"), "{shown} {tmux}");

    let tiny = stage.actor("p x", "p 'MARKER'; p '\\033[5;5HX\\033[2J\\tY\\r\\n\\r\\nQ'");
    stage.tmux.tmux(&["resize-window", "-t", &tiny.id, "-x", "1", "-y", "1"]);
    let wait = stage.wait(json!({ "pane_id": tiny.id, "patterns": ["MARKER"], "timeout": 20 }));
    tiny.act();
    assert_eq!(wait.result().unwrap()["outcome"], "matched");
    let pty =
        stage.mcp.call("open_pane", json!({ "rows": 1, "cols": 1, "command": ["sh", "-c", "printf MARKER; cat"] }));
    let cursor = pty.unwrap()["cursor"].clone();
    let start = Instant::now();
    while stage.capture(json!({ "cursor": cursor })).unwrap()["lines"].as_array().unwrap().len() < 6 {
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn respawn_old_text() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "p 'MARKER\\r\\n'");
    stage.cursor(&actor);
    let wait = stage.wait(json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 20 }));
    // While the server is stopped the text comes and the pane is respawned; it reads the text first, and answers after.
    stage.mcp.signal("STOP");
    actor.act();
    stage.titled(&actor, "acted");
    stage.tmux.tmux(&["respawn-pane", "-k", "-t", &actor.id, "exec cat"]);
    stage.mcp.signal("CONT");
    let error = wait.result().unwrap_err();
    assert_eq!(error.kind(), "pane_respawned", "{error}");
    assert!(error.message().contains(&actor.id), "{error}");
    let again = stage.mcp.call("wait_for_text", json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 0.3 }));
    assert_eq!(again.unwrap()["outcome"], "timeout");
}

#[test]
fn costly_patterns_against_a_long_line_move_nobody() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "head -c 300000 /dev/zero | tr '\\0' a; p '\\r\\nMARKER\\r\\n'");
    let aside = stage.actor("p x", "sleep 0.1; p ASIDE");
    stage.cursor(&actor);
    stage.cursor(&aside);
    let ask = |pane: &str, pattern: &str, regex| {
        let arguments = json!({ "pane_id": pane, "patterns": [pattern], "regex": regex, "timeout": 25 });
        stage.mcp.begin("wait_for_text", arguments)
    };
    let costly = ask(&actor.id, "(a+)+$b", true);
    let also = ask(&actor.id, "(a|aa)+$\\bMARK", true);
    let hit = ask(&actor.id, "^(a+)+$", true);
    let plain: Vec<_> = (0..48).map(|_| ask(&actor.id, "MARKER", false)).collect();
    let beside = ask(&aside.id, "ASIDE", false);
    stage.mcp.ping();
    let start = Instant::now();
    actor.act();
    aside.act();
    assert_eq!(beside.result().unwrap()["outcome"], "matched");
    let apart = start.elapsed();
    assert_eq!(hit.result().unwrap()["outcome"], "matched");
    for wait in plain {
        assert_eq!(wait.result().unwrap()["outcome"], "matched");
    }
    eprintln!("beside costly patterns: another pane {apart:?}, the same pane {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    costly.cancel();
    also.cancel();
}

#[test]
fn progress_comes_every_five_seconds() {
    let mcp = McpClient::start();
    let pane = mcp.call("open_pane", json!({ "command": ["cat"] })).unwrap()["pane_id"].clone();
    let ask = json!({ "pane_id": pane, "patterns": ["never"], "timeout": 10.4 });
    let told = mcp.begin_with_progress("wait_for_text", ask.clone(), "t");
    let silent = mcp.begin("wait_for_text", ask);
    told.result().unwrap();
    silent.result().unwrap();
    let notes = mcp.others();
    assert_eq!(notes.len(), 2, "{notes:?}");
    for (note, at) in notes.iter().zip([5.0, 10.0]) {
        let params = &note["params"];
        assert_eq!(params["progressToken"], "t");
        let progress = params["progress"].as_f64().unwrap();
        assert!((at..at + 1.0).contains(&progress), "{params}");
        assert!((params["total"].as_f64().unwrap() - 10.4).abs() < 1e-6, "{params}");
        assert!(params["message"].as_str().unwrap().ends_with("s left"), "{params}");
    }
}

#[test]
fn a_pane_with_a_long_history_is_opened_without_holding_tmux() {
    let stage = Stage::new();
    stage.tmux.tmux(&["set-option", "-g", "history-limit", "200000"]);
    let actor = stage.actor("seq 1 200100; p x", "sleep 0.1; p MARKER");
    assert!(stage.tmux.format(&actor.id, "#{history_size}").parse::<u32>().unwrap() >= 190_000);
    let mut beside = stage.tmux.control("main");
    let ask = |beside: &mut crate::support::ControlClient| {
        let start = Instant::now();
        assert!(beside.run("display-message -p x"));
        start.elapsed()
    };
    let before = (0..50).map(|_| ask(&mut beside)).max().unwrap();
    let wait = stage.mcp.begin("wait_for_text", json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 20 }));
    let end = Instant::now() + Duration::from_millis(300);
    let mut longest = Duration::ZERO;
    while Instant::now() < end {
        longest = longest.max(ask(&mut beside));
    }
    eprintln!("tmux held for at most {longest:?} (before: {before:?})");
    assert!(longest < Duration::from_millis(50).max(before * 3), "{longest:?} (before: {before:?})");
    actor.act();
    let result = wait.result().unwrap();
    assert_eq!(result["outcome"], "matched", "{result}");
    assert!(memory(stage.mcp.pid(), "VmRSS") < 300_000);
}
