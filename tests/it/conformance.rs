//! Replays the open conformance data in this process and compares every checkpoint.
//!
//! The data lie where `PANEMIRROR_CONFORMANCE` says, else in `../shared/conformance/open`. A suite
//! named `NAME-VERSION` is replayed as that tmux version, all others as 3.3a.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use panemirror::geometry::Size;
use panemirror::replay::lines;
use panemirror::term::{Options, Profile, Terminal, line_drawing};
use serde_json::Value;

/// Suites that follow tmux by definition: every checkpoint must hold.
const OWN: &[&str] = &["features", "recordings", "random"];

/// Checkpoints of all public suites together that may differ from tmux's screen as it was recorded: in one recording
/// tmux was told by its outer terminal what line-drawing `0` looks like.
const PUBLIC_MISSES: usize = 1;

fn data() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/open");
    let dir = std::env::var_os("PANEMIRROR_CONFORMANCE").map_or(default, PathBuf::from);
    if dir.is_dir() {
        return Some(dir);
    }
    eprintln!("no conformance data in {}: NOTHING IS COMPARED; set PANEMIRROR_CONFORMANCE", dir.display());
    None
}

fn cases(suite: &Path) -> Vec<PathBuf> {
    let mut cases: Vec<_> = std::fs::read_dir(suite)
        .expect("suite can be read")
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    cases.sort();
    cases
}

fn suites(data: &Path) -> Vec<(String, PathBuf)> {
    let mut suites: Vec<_> = std::fs::read_dir(data)
        .expect("data can be read")
        .filter_map(|entry| entry.ok().map(|e| (e.file_name().to_string_lossy().into_owned(), e.path())))
        .filter(|(_, path)| path.is_dir() && !cases(path).is_empty())
        .collect();
    suites.sort();
    suites
}

fn is_own(suite: &str) -> bool {
    OWN.iter().any(|own| suite == *own || suite.starts_with(&format!("{own}-")))
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

fn size(value: &Value) -> Size {
    Size::new(number(&value[0]) as u16, number(&value[1]) as u16)
}

/// One case, fed once, with all resizes and checkpoints on the way.
fn run(path: &Path, version: &str, mut check: impl FnMut(&Value, &Terminal)) {
    let case: Value = serde_json::from_slice(&std::fs::read(path).expect("case")).expect("JSON");
    let bytes = std::fs::read(path.with_extension("in")).expect("input");
    let options = Options { profile: Profile::for_version(version), ..Options::default() };
    let start = Size::new(number(&case["rows"]) as u16, number(&case["cols"]) as u16);
    let mut terminal = Terminal::new(start, options);
    let no_events = Vec::new();
    let events = case["events"].as_array().unwrap_or(&no_events);
    let (mut fed, mut applied) = (0, 0);
    for checkpoint in case["expect"].as_array().expect("checkpoints") {
        let offset = checkpoint["offset"].as_u64().map_or(bytes.len(), |n| n as usize);
        let due = |event: &Value| number(&event["offset"]) <= offset;
        let after = checkpoint["after"].as_u64().map_or(events.iter().filter(|e| due(e)).count(), |n| n as usize);
        while applied < after {
            let at = number(&events[applied]["offset"]);
            terminal.feed(&bytes[fed..at], Duration::ZERO, &mut ());
            terminal.resize(size(&events[applied]["resize"]), &mut ());
            (fed, applied) = (at, applied + 1);
        }
        terminal.feed(&bytes[fed..offset], Duration::ZERO, &mut ());
        fed = offset;
        terminal.end_of_read();
        terminal.verify();
        check(checkpoint, &terminal);
    }
}

fn strings(value: &Value) -> Vec<String> {
    let mut lines: Vec<_> = value
        .as_array()
        .expect("lines")
        .iter()
        .map(|l| l.as_str().expect("line").trim_end_matches(' ').to_owned())
        .collect();
    while lines.last().is_some_and(|l| l.is_empty()) {
        lines.pop();
    }
    lines
}

/// Equal, or line drawing stands for the letter that was captured.
fn same_row(want: &str, got: &str, letters: bool) -> bool {
    want == got
        || letters
            && want.chars().count() == got.chars().count()
            && want.chars().zip(got.chars()).all(|(w, g)| w == g || u8::try_from(w).is_ok_and(|w| line_drawing(w) == g))
}

fn differences(want: &[Value; 4], letters: bool, terminal: &Terminal) -> Vec<String> {
    let [rows, cursor, alternate, history] = want;
    let screen = terminal.screen();
    let mut got = lines(screen);
    while got.last().is_some_and(|l| l.is_empty()) {
        got.pop();
    }
    let rows = strings(rows);
    let mut found = Vec::new();
    for i in 0..rows.len().max(got.len()) {
        let (want, got) = (rows.get(i).map_or("", |l| l), got.get(i).map_or("", |l| l));
        if !same_row(want, got, letters) {
            found.push(format!("row {i}: want {want:?} got {got:?}"));
        }
    }
    let at = screen.cursor();
    let clamp = |col: usize| col.min(usize::from(screen.size().cols) - 1);
    if (number(&cursor[0]), clamp(number(&cursor[1]))) != (usize::from(at.row), clamp(usize::from(at.col))) {
        found.push(format!("cursor: want {cursor} got {at:?}"));
    }
    if alternate.as_bool() != Some(screen.is_alternate()) {
        found.push(format!("alternate: want {alternate}"));
    }
    if history.as_u64().is_some_and(|h| h as usize != screen.history()) {
        found.push(format!("history: want {history} got {}", screen.history()));
    }
    found
}

#[test]
fn our_recordings_hold_at_every_checkpoint() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    hold(&[("recordings".to_owned(), tests.join("recordings"))]);
}

#[test]
fn own_suites_hold_at_every_checkpoint() {
    let Some(data) = data() else { return };
    let own: Vec<_> = suites(&data).into_iter().filter(|(suite, _)| is_own(suite)).collect();
    hold(&own);
}

/// Every checkpoint of these suites shows what tmux showed.
fn hold(suites: &[(String, PathBuf)]) {
    let mut missed = Vec::new();
    for (suite, path) in suites {
        assert!(!cases(path).is_empty(), "no case in {}", path.display());
        let version = suite.split_once('-').map_or("3.3a", |(_, version)| version);
        let (mut held, mut all) = (0, 0);
        for case in cases(path) {
            let name = case.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let mut failed = false;
            run(&case, version, |cp, terminal| {
                all += 1;
                let want = ["lines", "cursor", "alternate", "history"].map(|key| cp[key].clone());
                let found = differences(&want, cp["acs_raw"].as_bool().unwrap_or(false), terminal);
                held += usize::from(found.is_empty());
                if !found.is_empty() && !failed {
                    failed = true;
                    missed.push(format!(
                        "{suite}/{name} @{}/{}: {}",
                        cp["offset"],
                        cp["after"],
                        found[..found.len().min(3)].join(" | ")
                    ));
                }
            });
        }
        eprintln!("{suite:20} {held:5}/{all:<5} checkpoints");
    }
    assert!(missed.is_empty(), "{} cases differ:\n{}", missed.len(), missed[..missed.len().min(25)].join("\n"));
}

#[test]
fn public_suites_hold_against_tmux() {
    let Some(data) = data() else { return };
    let mut counts = BTreeMap::<String, (usize, usize)>::new();
    for (suite, path) in suites(&data).iter().filter(|(suite, _)| !is_own(suite)) {
        let count = counts.entry(suite.clone()).or_default();
        for case in cases(path) {
            run(&case, "3.3a", |cp, terminal| {
                let holds = ["tmux_lines", "tmux_lines_acs"].iter().filter(|key| cp[**key].is_array()).any(|key| {
                    let want = [&cp[*key], &cp["tmux_cursor"], &cp["tmux_alternate"], &Value::Null].map(Value::clone);
                    differences(&want, false, terminal).is_empty()
                });
                count.0 += usize::from(holds);
                count.1 += 1;
                if !holds && std::env::var_os("PANEMIRROR_VERBOSE").is_some() {
                    let want =
                        [&cp["tmux_lines"], &cp["tmux_cursor"], &cp["tmux_alternate"], &Value::Null].map(Value::clone);
                    eprintln!("{} @{}: {:?}", case.display(), cp["offset"], differences(&want, false, terminal));
                }
            });
        }
    }
    for (suite, (held, all)) in &counts {
        eprintln!("{suite:20} {held:5}/{all:<5} checkpoints");
    }
    let missed: usize = counts.values().map(|(held, all)| all - held).sum();
    assert!(missed <= PUBLIC_MISSES, "{missed} checkpoints differ, {PUBLIC_MISSES} did before");
}
