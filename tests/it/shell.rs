//! The command line of the built program.

use std::path::Path;
use std::process::{Output, Stdio};

use crate::client::Launch;

fn run(args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let launch = args
        .iter()
        .fold(Launch::default(), |launch, arg| launch.arg(*arg));
    launch
        .command(home.path())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn help_and_version_are_answers() {
    let help = run(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    for word in ["serve", "wait", "replay", "Examples:", "MCP client"] {
        assert!(text(&help.stdout).contains(word), "{word}");
    }
    let version = run(&["--version"]);
    assert_eq!(
        text(&version.stdout),
        format!("panemirror {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert!(text(&run(&["wait", "--help"]).stdout).contains("124 timeout"));
}

#[test]
fn bad_usage_is_exit_status_2_and_says_what_is_wrong() {
    let cases: [&[&str]; 5] = [
        &["bogus"],
        &["wait", "--text", "x"],
        &["wait", "--text", "x", "--timeout", "soon", "--pane", "%1"],
        &["wait", "--text", "x", "--pane", "keep:0"],
        &["wait", "--regex", "--text", "(", "--", "true"],
    ];
    for args in cases {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{args:?}"
        );
    }
}

#[test]
fn a_failure_as_json_is_on_stdout() {
    let output = run(&["wait", "--json", "--text", "x", "--pane", "nope"]);
    assert_eq!(output.status.code(), Some(2));
    let failure: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(failure["kind"], "bad_argument");
}

#[test]
fn a_reader_that_closed_early_is_no_panic() {
    if !Path::new("/bin/sh").exists() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_panemirror");
    for args in ["--help", "wait --json --text x --timeout 0.1 --pane nope"] {
        let script = format!("({program} {args}; echo status $? >&2) | exec true");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        assert!(
            !text(&output.stderr).contains("panicked"),
            "{}",
            text(&output.stderr)
        );
    }
}
