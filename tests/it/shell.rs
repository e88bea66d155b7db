//! The command line of the built program.

use std::path::Path;
use std::process::{Output, Stdio};

use crate::client::Launch;

fn run(args: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let launch = args.iter().fold(Launch::default(), |launch, arg| launch.arg(*arg));
    launch.command(home.path()).stdin(Stdio::null()).output().unwrap()
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
    assert_eq!(text(&version.stdout), format!("panemirror {}\n", env!("CARGO_PKG_VERSION")));
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
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
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
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_wait_on_a_program_says_how_it_ended_by_its_exit_status() {
    let cases: [(&[&str], &str, i32, &str); 8] = [
        (&["--text", "ready"], "echo ready; sleep 9", 0, "matched  pattern 0 in pty:"),
        (&["--text", "no", "--text", "BYE"], "echo bye", 0, "matched  pattern 1 in pty:"),
        (&["--any"], "echo x; sleep 9", 0, "any_output  output in pty:"),
        (&["--text", "x", "--stop", "^E: "], "echo E: x; sleep 9", 0, "matched"),
        (&["--regex", "--text", "ok", "--stop", "^E: "], "echo E: ok; sleep 9", 1, "stopped  stop 0"),
        (&["--text", "never", "--timeout", "2"], "echo shown; sleep 9", 124, "shown"),
        (&["--text", "x", "--timeout", "2"], "printf '\\033[?1049hx'; sleep 9", 3, "alternate_screen"),
        (&["--text", "never"], "echo first; exit 3", 2, "before anything matched"),
    ];
    for (args, script, status, said) in cases {
        let args = [&["wait"], args, &["--", "sh", "-c", script]].concat();
        let output = run(&args);
        let all = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {all}");
        assert!(all.contains(said), "{args:?}: {all}");
    }
}

#[test]
fn a_wait_as_json_is_the_result_of_the_tool() {
    let output = run(&["wait", "--json", "--text", "ready", "--", "sh", "-c", "echo all ready; sleep 9"]);
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["found"], true, "{result}");
    assert_eq!(result["matched_lines"], serde_json::json!(["all ready"]));
    assert_eq!(result["effective_timeout"], 30.0);
}
