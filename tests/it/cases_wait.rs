//! The cases of `wait_for_text`, each on a pane of a real tmux, on a pane that is mirrored already and on a fresh one.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cases::{Actor, Stage, repeats, run_all};
use crate::client::CallError;

/// One case: what the pane shows at entry, what is asked, what tmux and the pane's program do, what comes back.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    prepare: &'static str,
    ask: fn() -> Value,
    /// Done by the test through tmux once the wait is armed; `%` stands for the pane's id.
    tmux: &'static [&'static [&'static str]],
    act: &'static str,
    outcome: &'static str,
    check: fn(&Value),
}

const ANY: fn(&Value) = |_| {};
const SEEN: fn(&Value) = |result| assert_eq!(result["saw_new_output"], true, "{result}");
const MARK: fn() -> Value = || json!({ "patterns": ["MARKER"] });

const fn case(name: &'static str, prepare: &'static str, act: &'static str, outcome: &'static str) -> Case {
    Case { name, prepare, ask: MARK, tmux: &[], act, outcome, check: ANY }
}

impl Case {
    const fn ask(self, ask: fn() -> Value) -> Self {
        Self { ask, ..self }
    }

    const fn check(self, check: fn(&Value)) -> Self {
        Self { check, ..self }
    }

    const fn tmux(self, tmux: &'static [&'static [&'static str]]) -> Self {
        Self { tmux, ..self }
    }
}

fn no_output(result: &Value) {
    assert_eq!(result["saw_new_output"], false, "{result}");
}

fn second(result: &Value) {
    assert_eq!(result["matched_index"], 1, "{result}");
}

const GROW: &[&[&str]] = &[&["resize-window", "-t", "%", "-x", "80", "-y", "40"]];
const SHRINK: &[&[&str]] = &[&["resize-window", "-t", "%", "-x", "60", "-y", "15"]];
const SQUEEZE: &[&[&str]] =
    &[&["resize-window", "-t", "%", "-x", "20", "-y", "24"], &["resize-window", "-t", "%", "-x", "80", "-y", "24"]];

const CASES: &[Case] = &[
    case("stale_above", "p 'a\\r\\nMARKER\\r\\nb\\r\\n'", "", "timeout").check(|result| {
        assert_eq!(result["matched_at_entry"], true, "{result}");
        assert_eq!(result["saw_new_output"], false, "{result}");
    }),
    case("stale_above_noise", "p 'MARKER\\r\\n'", "p 'noise\\r\\n'", "timeout").check(SEEN),
    case("stale_below", "p '\\033[10;1HMARKER\\033[2;1H'", "", "timeout").check(no_output),
    case("stale_below_noise", "p '\\033[10;1HMARKER\\033[2;1H'", "p 'noise\\r\\n'", "timeout").check(SEEN),
    case("stale_prompt_row_noise", "p '$ MARKER'", "p '\\r\\nnext\\r\\n'", "timeout").check(SEEN),
    case("same_line_again_above", "p 'MARKER\\r\\nx\\r\\n'", "p 'MARKER\\r\\n'", "matched"),
    case("same_line_again_below", "p '\\033[3;1HMARKER\\033[2;1H'", "p 'MARKER\\r\\n'", "matched"),
    case("same_as_cursor_row", "p 'MARKER'", "p '\\r\\nMARKER'", "matched"),
    case("same_after_clear", "p 'MARKER\\r\\nx\\r\\n'", "p '\\033[H\\033[2JMARKER\\r\\n'", "matched"),
    case("append_on_prompt_row", "p '$ '", "p 'MARKER'", "matched"),
    case("append_completes_prompt_row", "p '$ MAR'", "p 'KER'", "matched"),
    case("erase_5ms", "p '$ '", "p '\\rMARKER'; sleep 0.005; p '\\r\\033[K'", "matched"),
    case("clear_5ms", "p 'x\\r\\n'", "p 'MARKER\\r\\n'; sleep 0.005; p '\\033[H\\033[2J\\033[3J'", "matched"),
    case("flash", "", "p 'MARKER\\r\\033[K'", "matched"),
    case("hist_full_then_mark", "seq -f 'line %g\r' 2600", "seq -f 'more %g\r' 300; p 'MARKER\\r\\n'", "matched"),
    case("wrapped", "p '%76s' ''", "p 'MARKER\\r\\n'", "matched"),
    case("two_writes_100ms", "", "p MAR; sleep 0.1; p 'KER\\r\\n'", "matched"),
    case("two_writes_mid_utf8", "", "p '\\346\\274\\242\\345'; sleep 0.1; p '\\255\\227\\r\\n'", "matched")
        .ask(|| json!({ "patterns": ["漢字"] })),
    case("two_writes_mid_escape", "", "p 'MAR\\033[3'; sleep 0.1; p '1mKER\\r\\n'", "matched"),
    case("coloured", "", "for c in M A R K E R; do p '\\033[3%sm%s' 1 $c; done", "matched"),
    case("backspace_edit", "", "p 'MARKXX\\b\\bER\\r\\n'", "matched"),
    case("two_rows_no_join", "", "p 'MAR\\r\\nKER\\r\\n'", "timeout").check(SEEN),
    case("osc_title", "", "p '\\033]2;MARKER\\007'; p 'x'", "timeout").check(SEEN),
    case("above_cursor_redraw", "p 'a\\r\\nb\\r\\n'", "p '\\033[2AMARKER\\033[2B'", "matched"),
    case("clear_then_mark", "p 'x\\r\\n'", "p '\\033[H\\033[2JMARKER'", "matched"),
    case("alt_during", "", "p '\\033[?1049hMARKER'", "alternate_screen"),
    case("alt_before", "p '\\033[?1049h'", "p 'MARKER'", "alternate_screen"),
    case("alt_mark_then_quit", "", "p '\\033[?1049hMARKER'; sleep 0.02; p '\\033[?1049l'", "alternate_screen"),
    case("alt_quit_then_print", "", "p '\\033[?1049hx'; sleep 0.3; p '\\033[?1049lMARKER\\r\\n'", "matched")
        .check(|result| assert_eq!(result["alternate_screen"], true, "{result}")),
    case(
        "real_less_quit_print",
        "",
        "stty sane; (sleep 0.3; tmux send-keys -t \"$TMUX_PANE\" q) & seq 100 | less; p 'MARKER\\r\\n'",
        "matched",
    )
    .check(|result| assert_eq!(result["alternate_screen"], true, "{result}")),
    case("stop_wins_one_write", "", "p 'MARKER\\r\\nFAILED\\r\\n'", "stopped").ask(STOP),
    case("stop_wins_same_line", "", "p 'MARKER FAILED'", "stopped").ask(STOP),
    case("stop_after_10ms", "", "p 'MARKER\\r\\n'; sleep 0.01; p 'FAILED\\r\\n'", "matched").ask(STOP),
    case("stop_only", "", "p 'FAILED\\r\\n'", "stopped")
        .ask(|| json!({ "stop": ["FAILED"] }))
        .check(|result| assert_eq!((&result["found"], &result["matched_index"]), (&json!(false), &json!(0)))),
    case("stop_stale_at_entry", "p 'FAILED\\r\\n'", "", "timeout").ask(STOP).check(|result| {
        assert_eq!(result["matched_at_entry"], false, "{result}");
    }),
    case("cjk", "", "p '\\346\\274\\242\\345\\255\\227'", "matched").ask(|| json!({ "patterns": ["漢字"] })),
    case(
        "emoji_zwj_combining",
        "",
        "p '\\360\\237\\221\\250\\342\\200\\215\\360\\237\\221\\251 e\\314\\201\\r\\n'",
        "matched",
    )
    .ask(|| json!({ "patterns": ["👨\u{200d}👩 e\u{301}"] })),
    case("combining_only", "", "p 'MARKe\\314\\201R'", "matched").ask(|| json!({ "patterns": ["MARKe\u{301}R"] })),
    case("case_insensitive_default", "", "p 'MARKER'", "matched").ask(|| json!({ "patterns": ["marker"] })),
    case("match_case_true", "", "p 'MARKER'", "timeout")
        .ask(|| json!({ "patterns": ["marker"], "match_case": true }))
        .check(SEEN),
    case("regex_second_of_list", "", "p 'port 8080\\r\\n'", "matched")
        .ask(|| json!({ "patterns": ["^nothing", "^port [0-9]+$"], "regex": true }))
        .check(second),
    case("regex_list_unanchored", "", "p 'the port 8080 is\\r\\n'", "matched")
        .ask(|| json!({ "patterns": ["nothing", "port [0-9]+"], "regex": true }))
        .check(second),
    case("literal_metachars", "", "p '%s' 'a.*(b)[c]$'", "matched").ask(|| json!({ "patterns": ["a.*(b)[c]$"] })),
    case("tabs_rendered", "", "p 'a\\tb\\r\\n'", "matched").ask(|| json!({ "patterns": ["a       b"] })),
    case("any_output", "", "p x", "any_output").ask(|| json!({})),
    case("any_output_quiet", "p x", "", "timeout").ask(|| json!({})).check(no_output),
    case("resize_then_mark", "p 'x\\r\\n'", "p 'MARKER\\r\\n'", "matched").tmux(SHRINK),
    case("resize_grow_hist_mark", "seq -f '%g\r' 100", "p 'MARKER\\r\\n'", "matched").tmux(GROW),
    case("resize_stale_no_match", "p '0123456789012345MARKER\\r\\nx\\r\\n'", "", "timeout")
        .tmux(SQUEEZE)
        .check(no_output),
    case("clear_history_then_mark", "seq -f '%g\r' 100", "p 'MARKER\\r\\n'", "matched").tmux(&[&[
        "clear-history",
        "-t",
        "%",
    ]]),
    case("clear_history_empty_hist", "p x", "p 'MARKER\\r\\n'", "matched").tmux(&[&["clear-history", "-t", "%"]]),
    case("typed_echo", "stty sane", "", "matched").tmux(&[&["send-keys", "-t", "%", "-l", "MARKER"]]),
    case("non_utf8_around", "", "p '\\377\\376MARKER\\300\\200\\r\\n'", "matched"),
    case("copy_mode_during", "p 'x\\r\\n'", "p 'MARKER\\r\\n'", "matched").tmux(&[&["copy-mode", "-t", "%"]]),
    case("progress_50", "", "p '10%%\\r50%%\\r100%%\\r'", "matched").ask(|| json!({ "patterns": ["50%"] })),
];

const STOP: fn() -> Value = || json!({ "patterns": ["MARKER"], "stop": ["FAILED"] });

/// Runs one case on a stage and returns the answer.
fn play(stage: &Stage, case: &Case, mirrored: bool) -> Result<Value, CallError> {
    // Long enough for a fresh pane to be mirrored on a busy machine: what is erased before that is not seen.
    let act = format!("sleep 0.3\n{}", case.act);
    let actor = stage.actor(case.prepare, &act);
    if mirrored {
        stage.cursor(&actor);
    }
    let mut ask = (case.ask)();
    let negative = matches!(case.outcome, "timeout" | "alternate_screen");
    ask["pane_id"] = json!(actor.id);
    ask["timeout"] = json!(if negative { 1.5 } else { 8.0 });
    let pending = stage.wait(ask);
    for command in case.tmux {
        let command: Vec<&str> =
            command.iter().map(|word| if *word == "%" { actor.id.as_str() } else { word }).collect();
        stage.tmux.tmux(&command);
    }
    actor.act();
    let result = pending.result();
    let _ = stage.tmux.try_tmux(&["kill-pane", "-t", &actor.id]);
    result
}

fn run(case: &Case, mirrored: bool) {
    let stage = Stage::new();
    for round in 0..repeats() {
        let result = play(&stage, case, mirrored).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let what = format!("{} (round {round}, mirrored {mirrored})", case.name);
        assert_eq!(result["outcome"], case.outcome, "{what}: {result}");
        assert_eq!(result["found"], matches!(case.outcome, "matched" | "any_output"), "{what}: {result}");
        (case.check)(&result);
    }
}

#[test]
fn every_case_of_wait_for_text() {
    let jobs = CASES.iter().flat_map(|case| {
        [true, false].map(|mirrored| {
            let job: Box<dyn FnOnce() + Send> = Box::new(move || run(case, mirrored));
            (format!("{} (mirrored: {mirrored})", case.name), job)
        })
    });
    run_all(8, jobs.collect());
}

fn wait_marker(actor: &Actor, timeout: f64) -> Value {
    json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": timeout })
}

#[test]
fn respawn_then_mark() {
    let stage = Stage::new();
    for _ in 0..repeats() {
        let actor = stage.actor("p x", "");
        let pending = stage.wait(wait_marker(&actor, 8.0));
        let program = "printf 'MARKER\\n'; exec sleep 1000";
        stage.tmux.tmux(&["respawn-pane", "-k", "-t", &actor.id, program]);
        let error = pending.result().unwrap_err();
        assert_eq!(error.kind(), "pane_respawned", "{error}");
        stage.tmux.tmux(&["kill-pane", "-t", &actor.id]);
    }
}

#[test]
fn respawn_without_text_ends_the_wait() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "");
    let pending = stage.wait(wait_marker(&actor, 25.0));
    stage.tmux.tmux(&["respawn-pane", "-k", "-t", &actor.id, "exec sleep 1000"]);
    let (took, answer) = pending.timed();
    assert_eq!(crate::client::read(&answer).unwrap_err().kind(), "pane_respawned");
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn pane_killed() {
    let stage = Stage::new();
    for _ in 0..repeats() {
        let actor = stage.actor("p x", "");
        stage.cursor(&actor);
        let pending = stage.wait(wait_marker(&actor, 25.0));
        stage.tmux.tmux(&["kill-pane", "-t", &actor.id]);
        let (took, answer) = pending.timed();
        let error = crate::client::read(&answer).unwrap_err();
        assert_eq!(error.kind(), "pane_ended", "{error}");
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}

#[test]
fn dead_remain_on_exit_mark() {
    let stage = Stage::new();
    stage.tmux.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    for _ in 0..repeats() {
        // tmux throws away what it has not read by the time that it hears of the end, so the program ends a little later.
        let actor = stage.actor("p x", "p 'MARKER\\r\\n'; sleep 0.05; exit 0");
        let pending = stage.wait(wait_marker(&actor, 8.0));
        actor.act();
        let result = pending.result().unwrap();
        assert_eq!(result["outcome"], "matched", "{result}");
        stage.tmux.tmux(&["kill-pane", "-t", &actor.id]);
    }
}

#[test]
fn dead_without_a_mark() {
    let stage = Stage::new();
    stage.tmux.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    let actor = stage.actor("p x", "exit 3");
    let pending = stage.wait(wait_marker(&actor, 25.0));
    actor.act();
    let (took, answer) = pending.timed();
    assert_eq!(crate::client::read(&answer).unwrap_err().kind(), "pane_ended");
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn typed_echo_enter_then_output() {
    let stage = Stage::new();
    for _ in 0..repeats() {
        let id = stage.tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", "exec sh"]);
        let pending = stage.wait(json!({ "pane_id": id, "patterns": ["MAR-KER"] }));
        stage.tmux.tmux(&["send-keys", "-t", &id, "printf 'MAR-'; printf 'KER\\n'", "Enter"]);
        assert_eq!(pending.result().unwrap()["outcome"], "matched");
        stage.tmux.tmux(&["kill-pane", "-t", &id]);
    }
}

#[test]
fn other_session() {
    let stage = Stage::new();
    stage.tmux.tmux(&["new-session", "-d", "-s", "other", "-x", "80", "-y", "24", "cat"]);
    for _ in 0..repeats() {
        let actor = stage.actor_in("other", "p x", "sleep 0.05; p MARKER");
        let pending = stage.wait(wait_marker(&actor, 8.0));
        actor.act();
        assert_eq!(pending.result().unwrap()["outcome"], "matched");
        stage.tmux.tmux(&["kill-pane", "-t", &actor.id]);
    }
}

#[test]
fn environment_kept() {
    let stage = Stage::new();
    let actor = stage.actor("p x", "sleep 0.05; p MARKER");
    // Our own control client is there while we are.
    let state = |stage: &Stage| -> String {
        let all = stage.tmux.state();
        let strip = |line: &&str| !line.contains("client-");
        all.lines()
            .filter(strip)
            .map(|line| line.replace("1 latest", "N latest").replace("0 latest", "N latest") + "\n")
            .collect()
    };
    let before = state(&stage);
    let pending = stage.wait(wait_marker(&actor, 8.0));
    actor.act();
    assert_eq!(pending.result().unwrap()["outcome"], "matched");
    assert_eq!(state(&stage), before);
    stage.mcp.close_input();
    stage.mcp.exit_within(Duration::from_secs(2));
    assert_eq!(stage.tmux.tmux(&["list-clients"]), "");
}

#[test]
fn pane_moves_session() {
    let stage = Stage::new();
    stage.tmux.tmux(&["new-session", "-d", "-s", "other", "-x", "80", "-y", "24", "cat"]);
    for _ in 0..repeats() {
        let actor = stage.actor("p x", "sleep 0.1; p MARKER");
        let pending = stage.wait(wait_marker(&actor, 8.0));
        stage.tmux.tmux(&["move-window", "-s", &actor.id, "-t", "other:"]);
        actor.act();
        assert_eq!(pending.result().unwrap()["outcome"], "matched");
        stage.tmux.tmux(&["kill-pane", "-t", &actor.id]);
    }
}

#[test]
fn linked_window_and_its_first_session_killed() {
    for _ in 0..repeats() {
        let stage = Stage::new();
        stage.tmux.tmux(&["new-session", "-d", "-s", "first", "-x", "80", "-y", "24", "cat"]);
        let actor = stage.actor_in("first", "p x", "sleep 0.05; p MARKER");
        stage.tmux.tmux(&["link-window", "-s", &actor.id, "-t", "main:7"]);
        let pending = stage.wait(wait_marker(&actor, 8.0));
        actor.act();
        let result = pending.result().unwrap();
        assert_eq!((&result["outcome"], result["matched_lines"].as_array().unwrap().len()), (&json!("matched"), 1));

        let actor = stage.actor_in("first", "p x", "sleep 0.2; p MARKER");
        stage.tmux.tmux(&["link-window", "-s", &actor.id, "-t", "main:8"]);
        let pending = stage.wait(wait_marker(&actor, 8.0));
        stage.tmux.tmux(&["kill-session", "-t", "=first"]);
        actor.act();
        assert_eq!(pending.result().unwrap()["outcome"], "matched");
    }
}

#[test]
fn destroy_unattached() {
    let stage = Stage::new();
    // tmux ends such a session when any client leaves, be it `tmux ls`; so it is made by a client that stays.
    let mut client = stage.tmux.control("main");
    assert!(client.run("new-session -d -s fleeting cat ; set-option -t fleeting destroy-unattached on"));
    let error = stage.mcp.call("wait_for_text", json!({ "session_name": "fleeting", "timeout": 1 })).unwrap_err();
    assert_eq!(error.kind(), "refused", "{error}");
    assert!(error.message().contains("destroy-unattached"), "{error}");
    assert!(client.run("has-session -t =fleeting"));
}

#[test]
fn two_servers() {
    let stage = Stage::new();
    let other = crate::support::TmuxServer::start();
    let mcp = crate::client::Launch::default().arg("-S").arg(other.socket().to_str().unwrap()).start();
    let actor = stage.actor("p x", "sleep 0.05; p MARKER");
    let id = other.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", "exec sleep 1000"]);
    assert_eq!(id, actor.id, "the same pane id on both");
    let theirs = mcp.begin("wait_for_text", json!({ "pane_id": id, "patterns": ["MARKER"], "timeout": 1 }));
    let ours = stage.wait(wait_marker(&actor, 8.0));
    actor.act();
    assert_eq!(ours.result().unwrap()["outcome"], "matched");
    assert_eq!(theirs.result().unwrap()["outcome"], "timeout");
}
