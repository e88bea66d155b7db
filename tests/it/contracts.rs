//! The schemas of the two contract tools against the published ones in `tests/contracts`.

use serde_json::{Value, json};

use crate::client::McpClient;

fn published(name: &str) -> Value {
    let path = format!("{}/tests/contracts/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn ours(tool: &str) -> Value {
    let tools = McpClient::start().tools();
    tools.into_iter().find(|definition| definition["name"] == tool).unwrap()
}

/// Takes away the words, which are ours.
fn without_words(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(key, value)| !(*key == "description" && value.is_string()))
            .map(|(key, value)| (key.clone(), without_words(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_words).collect(),
        other => other.clone(),
    }
}

fn sorted(list: &Value) -> Vec<String> {
    let mut names: Vec<String> =
        list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn input_schemas_are_the_published_ones() {
    for tool in ["wait_for_text", "capture_since"] {
        let theirs = without_words(&published(&format!("{tool}.input")));
        let ours = without_words(&ours(tool)["inputSchema"]);
        assert_eq!(ours, theirs, "{tool}");
    }
}

#[test]
fn the_output_schema_of_a_wait_is_the_published_one() {
    let theirs = published("wait_for_text.output");
    let ours = ours("wait_for_text")["outputSchema"].clone();
    assert_eq!(without_words(&ours["properties"]), without_words(&theirs["properties"]));
    assert_eq!(sorted(&ours["required"]), sorted(&theirs["required"]));
    assert_eq!(ours["type"], theirs["type"]);
}

#[test]
fn results_fit_the_published_output_schema() {
    let validator = jsonschema::validator_for(&published("wait_for_text.output")).unwrap();
    let client = McpClient::start();
    let pane = client.call("open_pane", json!({ "command": ["cat"] })).unwrap();
    let arguments = json!({ "pane_id": pane["pane_id"], "timeout": 0.2, "patterns": ["never"] });
    let result = client.call("wait_for_text", arguments).unwrap();
    assert_eq!(result["outcome"], "timeout");
    assert!(validator.is_valid(&result), "{result}");
}

#[test]
fn arguments_that_the_published_schemas_accept_are_accepted() {
    let cases = [
        ("wait_for_text", json!({ "patterns": null, "stop": null, "pane_id": null, "timeout": 0.01 })),
        ("wait_for_text", json!({ "patterns": ["a"], "stop": [], "interval": 1e9, "timeout": 0.01 })),
        ("capture_since", json!({ "cursor": null, "max_lines": null, "max_bytes": null })),
        ("capture_since", json!({ "max_lines": 1, "max_bytes": 1.0 })),
    ];
    let client = McpClient::start();
    for (tool, arguments) in cases {
        let theirs = jsonschema::validator_for(&published(&format!("{tool}.input"))).unwrap();
        let ours = jsonschema::validator_for(&ours(tool)["inputSchema"]).unwrap();
        assert!(theirs.is_valid(&arguments) && ours.is_valid(&arguments), "{arguments}");
        if let Err(error) = client.call(tool, arguments.clone()) {
            assert_ne!(error.kind(), "bad_argument", "{tool} {arguments}: {error}");
        }
    }
}
