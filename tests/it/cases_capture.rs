//! The cases of `capture_since`.

use serde_json::{Value, json};

use crate::cases::{Stage, repeats, run_all};

/// One case: a cursor is taken after `prepare`; then tmux and the pane's program act; then what is captured.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    prepare: &'static str,
    tmux: &'static [&'static [&'static str]],
    act: &'static str,
    lines: fn() -> Vec<String>,
    missed: bool,
}

const fn case(name: &'static str, prepare: &'static str, act: &'static str, lines: fn() -> Vec<String>) -> Case {
    Case { name, prepare, tmux: &[], act, lines, missed: false }
}

fn words(text: &str) -> Vec<String> {
    text.split('|').map(str::to_owned).collect()
}

fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("{prefix}{n}")).collect()
}

const CASES: &[Case] = &[
    case("rows_since_exact", "p 'old\\r\\n'", "seq -f 'new %g\r' 5", || numbered("new ", 5)),
    case("nothing_new", "p 'old\\r\\n'", "", Vec::new),
    case("prompt_row_appended", "p '$ '", "p 'make'", || words("$ make")),
    case("identical_lines", "p 'same\\r\\n'", "p 'same\\r\\nsame\\r\\n'", || words("same|same")),
    case("identical_to_stale_below", "p '\\033[3;1Hsame\\033[2;1H'", "p 'same\\r\\n'", || words("same")),
    case("rewritten_row_below_anchor", "p '$ '", "p '\\rone\\rtwo\\rthree'", || words("three")),
    case("rewritten_identical", "p 'same'", "p '\\r\\033[Ksame'", || words("same")),
    case("progress_bar", "", "for n in $(seq 0 100); do p '\\r%s%%' $n; done; p '\\r\\n'", || words("100%")),
    case("scrolled_past_200", "p 'old\\r\\n'", "seq -f 'line %g\r' 200", || numbered("line ", 200)),
    case("history_at_cap_5_new", "seq -f 'old %g\r' 2600", "seq -f 'new %g\r' 5", || numbered("new ", 5)),
    Case {
        tmux: &[&["clear-history", "-t", "%"]],
        ..case("clear_history_then_line", "seq -f 'old %g\r' 100", "p 'new\\r\\n'", || words("new"))
    },
    case("clear_screen_then_lines", "p 'old\\r\\n'", "p '\\033[H\\033[2Ja\\r\\nb\\r\\n'", || words("a|b")),
    case("clear_all_then_lines", "seq -f 'old %g\r' 100", "p '\\033[H\\033[2J\\033[3Ja\\r\\nb\\r\\n'", || words("a|b")),
    Case {
        tmux: &[&["resize-window", "-t", "%", "-x", "80", "-y", "40"]],
        ..case("after_resize_tall", "seq -f 'old %g\r' 124", "p 'new\\r\\n'", || words("new"))
    },
    Case {
        tmux: &[&["resize-window", "-t", "%", "-x", "80", "-y", "10"]],
        ..case("after_resize_short", "seq -f 'old %g\r' 124", "p 'new\\r\\n'", || words("new"))
    },
    case("after_alt_screen", "p 'old\\r\\n'", "p '\\033[?1049hALT\\033[?1049lnew\\r\\n'", || words("new")),
    case("while_alt_screen", "p 'old\\r\\n'", "p 'before\\r\\n\\033[?1049h\\033[HALT\\r\\nmore'", || {
        words("before|ALT|more")
    }),
    case("wrapped_line", "", "p '%0200d\\r\\n' 7", || vec!["0".repeat(80), "0".repeat(80), "0".repeat(39) + "7"]),
    case("erased_before_read", "", "p 'gone\\r\\033[Kstays\\r\\n'", || words("stays")),
    case("coloured_plain", "", "p '\\033[31mred\\033[0m \\033[1mbold\\033[0m\\r\\n'", || words("red bold")),
    case("non_utf8", "", "p 'a\\377b\\r\\n'", || words("ab")),
    case("blank_rows_between", "", "p 'a\\r\\n\\r\\n\\r\\nb\\r\\n'", || words("a|||b")),
];

fn play(case: &Case) {
    let stage = Stage::new();
    for _ in 0..repeats() {
        let actor = stage.actor(case.prepare, case.act);
        let cursor = stage.cursor(&actor);
        for command in case.tmux {
            let command: Vec<&str> =
                command.iter().map(|word| if *word == "%" { actor.id.as_str() } else { word }).collect();
            stage.tmux.tmux(&command);
        }
        stage.play(&actor);
        let ask = json!({ "cursor": cursor, "max_lines": null, "max_bytes": null });
        let answer = stage.capture(ask.clone()).unwrap();
        assert_eq!(answer["lines"], json!((case.lines)()), "{}: {answer}", case.name);
        assert_eq!(answer["lines_missed"], case.missed, "{}: {answer}", case.name);
        assert_eq!(stage.capture(ask).unwrap()["lines"], answer["lines"], "{}: asked twice", case.name);
        stage.tmux.tmux(&["kill-pane", "-t", &actor.id]);
    }
}

#[test]
fn every_case_of_capture_since() {
    let jobs = CASES.iter().map(|case| {
        let job: Box<dyn FnOnce() + Send> = Box::new(move || play(case));
        (case.name.to_owned(), job)
    });
    run_all(8, jobs.collect());
}

fn lines(answer: &Value) -> Vec<&str> {
    answer["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect()
}

#[test]
fn first_call_visible_and_two_cursors() {
    let stage = Stage::new();
    let actor = stage.actor("p 'one\\r\\ntwo\\r\\n'", "p 'three\\r\\n'");
    let first = stage.capture(json!({ "pane_id": actor.id })).unwrap();
    assert_eq!(lines(&first), ["one", "two"]);
    assert_eq!(first["lines_missed"], false);
    let held = first["cursor"].clone();
    stage.play(&actor);
    let second = stage.capture(json!({ "cursor": held })).unwrap();
    assert_eq!(lines(&second), ["three"]);
    let third = stage.capture(json!({ "cursor": second["cursor"] })).unwrap();
    assert!(lines(&third).is_empty());
    let again = stage.capture(json!({ "cursor": held, "pane_id": actor.id })).unwrap();
    assert_eq!(lines(&again), ["three"]);
    let other = stage.actor("", "");
    let error = stage.capture(json!({ "cursor": held, "pane_id": other.id })).unwrap_err();
    assert_eq!(error.kind(), "bad_cursor", "{error}");
}

#[test]
fn history_trimmed_and_floods() {
    let stage = Stage::new();
    stage.tmux.tmux(&["set-option", "-g", "history-limit", "100"]);
    let actor = stage.actor("p 'old\\r\\n'", "seq -f 'line %g\r' 1000");
    let cursor = stage.cursor(&actor);
    stage.play(&actor);
    let answer = stage.capture(json!({ "cursor": cursor, "max_lines": null })).unwrap();
    assert_eq!(lines(&answer), numbered("line ", 1000));
    assert_eq!(answer["lines_missed"], false);

    stage.tmux.tmux(&["set-option", "-g", "history-limit", "2000"]);
    let actor = stage.actor("p 'old\\r\\n'", "seq -f 'line %g\r' 100000");
    let cursor = stage.cursor(&actor);
    stage.play(&actor);
    let answer = stage.capture(json!({ "cursor": cursor, "max_lines": 50 })).unwrap();
    assert_eq!(answer["lines_missed"], true);
    assert_eq!(lines(&answer).last(), Some(&"line 100000"));

    stage.tmux.tmux(&["set-option", "-g", "history-limit", "200000"]);
    let actor = stage.actor("p 'old\\r\\n'", "seq -f 'line %g\r' 100000");
    let cursor = stage.cursor(&actor);
    stage.play(&actor);
    let ask = json!({ "cursor": cursor, "max_lines": null, "max_bytes": null });
    let answer = stage.capture(ask).unwrap();
    assert_eq!(answer["lines_missed"], false);
    assert_eq!(lines(&answer).len(), 100_000);
    let answer = stage.capture(json!({ "cursor": cursor, "max_lines": 50 })).unwrap();
    assert_eq!((lines(&answer).len(), &answer["truncated_lines"]), (50, &json!(99_950)));
}

#[test]
fn max_bytes() {
    let stage = Stage::new();
    let actor = stage.actor("", "seq -f 'line %g\r' 20");
    let cursor = stage.cursor(&actor);
    stage.play(&actor);
    let answer = stage.capture(json!({ "cursor": cursor, "max_bytes": 100 })).unwrap();
    let bytes: usize = lines(&answer).iter().map(|line| line.len()).sum();
    assert!(bytes <= 100 && bytes > 80, "{answer}");
    assert_eq!((&answer["truncated"], lines(&answer).last()), (&json!(true), Some(&"line 20")));
}

#[test]
fn panes_that_end() {
    let stage = Stage::new();
    for _ in 0..repeats() {
        let killed = stage.actor("p x", "");
        let cursor = stage.cursor(&killed);
        stage.tmux.tmux(&["kill-pane", "-t", &killed.id]);
        assert_eq!(stage.capture(json!({ "cursor": cursor })).unwrap_err().kind(), "pane_ended");

        let respawned = stage.actor("p x", "");
        let cursor = stage.cursor(&respawned);
        stage.tmux.tmux(&["respawn-pane", "-k", "-t", &respawned.id, "exec sleep 1000"]);
        assert_eq!(stage.capture(json!({ "cursor": cursor })).unwrap_err().kind(), "pane_respawned");
        stage.tmux.tmux(&["kill-pane", "-t", &respawned.id]);
    }
    stage.tmux.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    let dead = stage.actor("p x", "exit 3");
    let cursor = stage.cursor(&dead);
    dead.act();
    while stage.tmux.format(&dead.id, "#{pane_dead}") != "1" {}
    assert_eq!(stage.capture(json!({ "cursor": cursor })).unwrap_err().kind(), "pane_ended");
}

#[test]
fn server_restart() {
    let mut stage = Stage::new();
    let actor = stage.actor("p 'one\\r\\n'", "");
    let cursor = stage.cursor(&actor);
    stage.restart();
    let answer = stage.capture(json!({ "cursor": cursor })).unwrap();
    assert_eq!((lines(&answer), &answer["lines_missed"]), (vec!["one"], &json!(true)));
    assert_ne!(answer["cursor"], cursor);
}
