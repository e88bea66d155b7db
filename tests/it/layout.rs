//! The shape of the source: a module uses only what stands before it, and each external crate has one home.

use std::path::{Path, PathBuf};

/// The modules in the order in which they may use each other.
const ORDER: [&[&str]; 11] = [
    &["geometry", "limits", "error", "keys"],
    &["term"],
    &["mirror", "replay"],
    &["wait"],
    &["pane"],
    &["source"],
    &["panes"],
    &["config"],
    &["mcp"],
    &["cli"],
    &["shell", "main", "lib"],
];

/// Where each external crate may be named.
const HOMES: [(&str, &[&str]); 12] = [
    ("portable_pty::", &["source/pty.rs"]),
    ("rustix::", &["source/pty.rs"]),
    ("regex::", &["wait/pattern.rs"]),
    ("regex_automata::", &["wait/matches.rs"]),
    ("memchr::", &["wait/literal.rs"]),
    ("base64::", &["panes/cursor.rs"]),
    ("clap::", &["main.rs", "cli.rs"]),
    ("tracing_subscriber::", &["main.rs"]),
    ("rmcp::", &["mcp/", "main.rs"]),
    ("serde_json::", &["mcp/", "shell.rs", "replay.rs"]),
    ("parking_lot::", &["pane.rs", "source/", "panes/"]),
    ("tokio::", &["pane.rs", "source/", "panes/", "mcp/", "main.rs", "shell.rs"]),
];

fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    let name = |path: &Path| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// The lines that are code, without the tests at the end of a file.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[cfg(test)]").next().unwrap().lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn rank(module: &str) -> usize {
    ORDER.iter().position(|group| group.contains(&module)).unwrap_or_else(|| panic!("where does {module} stand?"))
}

#[test]
fn a_module_uses_only_what_stands_before_it() {
    for (file, text) in sources() {
        let module = file.split(['/', '.']).next().unwrap();
        for line in code(&text) {
            for rest in line.split("crate::").skip(1) {
                let used = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap();
                let is_module = ORDER.iter().any(|group| group.contains(&used));
                if is_module && used != module {
                    assert!(rank(used) < rank(module) || (used == "error"), "{file} uses {used}: {line}");
                }
            }
        }
    }
}

#[test]
fn each_external_crate_has_one_home() {
    for (file, text) in sources() {
        for (name, homes) in HOMES {
            let named = |line: &&str| {
                line.match_indices(name)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
            };
            if let Some(line) = code(&text).find(named) {
                assert!(homes.iter().any(|home| file.starts_with(home)), "{file} names {name} {line}");
            }
        }
    }
}
