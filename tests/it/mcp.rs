//! The server on the wire.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{CallError, Launch, McpClient, read};

fn everything() -> McpClient {
    Launch::default().arg("--toolsets").arg("all").start()
}

fn names(client: &McpClient) -> Vec<String> {
    let mut names: Vec<String> = client.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn opened(client: &McpClient) -> String {
    let opened = client.call("open_pane", json!({ "command": ["cat"] })).unwrap();
    opened["pane_id"].as_str().unwrap().to_owned()
}

#[test]
fn the_server_introduces_itself() {
    let client = Launch::default().start_raw();
    let info = client.initialize();
    assert_eq!(info["serverInfo"]["name"], "panemirror");
    assert_eq!(info["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(info["capabilities"]["tools"].is_object(), "{info}");
    let instructions = info["instructions"].as_str().unwrap();
    assert!(instructions.len() < 2_000 && instructions.contains("wait_for_text"));
}

#[test]
fn every_tool_is_described_and_strict() {
    let client = everything();
    let tools = client.tools();
    assert!(tools.len() >= 7);
    assert!(serde_json::to_vec(&tools).unwrap().len() < 40_000);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{name}");
        let description = tool["description"].as_str().unwrap();
        assert!(description.starts_with("Use this"), "{name}: {description}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name} lacks {hint}");
        }
        let input = &tool["inputSchema"];
        assert_eq!(input["type"], "object", "{name}");
        assert_eq!(input["additionalProperties"], false, "{name}");
        for (argument, schema) in input["properties"].as_object().unwrap() {
            let words = schema["description"].as_str().unwrap_or_default();
            assert!(!words.is_empty(), "{name}.{argument} is not described");
        }
        for schema in [input, &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{name}");
            assert!(jsonschema::draft202012::meta::is_valid(schema), "{name}: {schema}");
            let text = schema.to_string();
            assert!(!text.contains("\"format\"") && !text.contains("$ref"), "{name}: {text}");
        }
    }
}

#[test]
fn annotations_tell_the_truth() {
    for tool in everything().tools() {
        let (reads, destroys) = match tool["name"].as_str().unwrap() {
            "wait_for_text" | "capture_since" | "list_panes" | "snapshot_pane" => (true, false),
            "open_pane" => (false, false),
            "send_keys" | "close_pane" => (false, true),
            // A new tool has to be entered here.
            other => panic!("{other} is not in the table"),
        };
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
        assert_eq!(tool["annotations"]["destructiveHint"], destroys, "{tool}");
    }
}

#[test]
fn every_tool_refuses_an_unknown_argument_by_name() {
    let client = everything();
    for tool in client.tools() {
        let name = tool["name"].as_str().unwrap();
        let error = client.call(name, json!({ "wait_for_previous": true })).unwrap_err();
        assert_eq!(error.kind(), "bad_argument", "{name}");
        assert!(error.message().contains("wait_for_previous"), "{name}: {error}");
        for argument in tool["inputSchema"]["properties"].as_object().unwrap().keys() {
            assert!(error.message().contains(argument), "{name}: {error} lacks {argument}");
        }
    }
}

#[test]
fn every_tool_gives_what_its_output_schema_says() {
    let client = everything();
    let pane = opened(&client);
    let calls = [
        ("list_panes", json!({})),
        ("open_pane", json!({ "command": ["true"], "rows": 5, "cols": 20 })),
        ("snapshot_pane", json!({ "pane_id": pane })),
        ("send_keys", json!({ "pane_id": pane, "text": "x", "keys": ["C-l"], "enter": true })),
        ("capture_since", json!({ "pane_id": pane })),
        ("wait_for_text", json!({ "pane_id": pane, "patterns": ["never"], "timeout": 0.05 })),
        ("close_pane", json!({ "pane_id": pane })),
    ];
    let mut called: Vec<String> = calls.iter().map(|(name, _)| (*name).to_owned()).collect();
    called.sort();
    assert_eq!(called, names(&client), "every tool is called");
    let tools = client.tools();
    for (name, arguments) in calls {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let result = client.call(name, arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
        let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&result).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{name}: {result}: {wrong:?}");
    }
}

#[test]
fn toolsets_decide_what_is_listed_and_what_is_known() {
    let inspect = ["capture_since", "list_panes", "snapshot_pane", "wait_for_text"];
    let client = Launch::default().env("LIBTMUX_TOOLSETS", "inspect").start();
    assert_eq!(names(&client), inspect);
    let unlisted = client.call("send_keys", json!({ "enter": true })).unwrap_err();
    let unknown = client.call("no_such_tool", json!({})).unwrap_err();
    for error in [unlisted, unknown] {
        assert!(matches!(error, CallError::Protocol { code: -32602, .. }), "{error:?}");
    }
    let default = McpClient::start();
    assert!(!names(&default).contains(&"close_pane".to_owned()));
    assert!(names(&default).contains(&"send_keys".to_owned()));
    let none = Launch::default().env("PANEMIRROR_TOOLSETS", "").start();
    assert!(names(&none).is_empty());
}

#[test]
fn bad_arguments_are_answered_at_once_and_name_the_value() {
    let client = everything();
    let pane = opened(&client);
    let many: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    let wait = |arguments: Value| ("wait_for_text", arguments);
    let cases = [
        (wait(json!({ "pane_id": "keep:0" })), "keep:0"),
        (wait(json!({ "pane_id": "%0; kill-server" })), "kill-server"),
        (wait(json!({ "socket_name": "a/b" })), "a/b"),
        (wait(json!({ "timeout": -1 })), "-1"),
        (wait(json!({ "timeout": 0 })), "`timeout` is 0"),
        (wait(json!({ "timeout": null })), "not null"),
        (wait(json!({ "timeout": "soon" })), "soon"),
        (wait(json!({ "interval": 0 })), "`interval` is 0"),
        (wait(json!({ "interval": -3.5 })), "-3.5"),
        (wait(json!({ "patterns": "text" })), "`patterns`"),
        (wait(json!({ "patterns": 5 })), "`patterns`"),
        (wait(json!({ "patterns": ["a", null] })), "`patterns[1]`"),
        (wait(json!({ "patterns": [] })), "pattern"),
        (wait(json!({ "patterns": [""] })), "empty"),
        (wait(json!({ "stop": [""] })), "empty"),
        (wait(json!({ "patterns": ["("], "regex": true })), "("),
        (wait(json!({ "patterns": ["(x{1000}){1000}"], "regex": true })), "x{1000}"),
        (wait(json!({ "regex": "yes" })), "yes"),
        (("capture_since", json!({ "cursor": 7 })), "`cursor`"),
        (("capture_since", json!({ "max_lines": 0 })), "`max_lines` is 0"),
        (("capture_since", json!({ "max_bytes": -5 })), "`max_bytes` is -5"),
        (("capture_since", json!({ "max_lines": 2.5 })), "2.5"),
        (("send_keys", json!({ "keys": ["Entr"] })), "Entr"),
        (("send_keys", json!({ "keys": "C-c" })), "C-c"),
        (("send_keys", json!({})), "nothing to type"),
        (("open_pane", json!({ "kind": "ssh" })), "ssh"),
        (("open_pane", json!({ "rows": 0 })), "rows"),
        (("open_pane", json!({ "cols": 70_000 })), "70000"),
        (("open_pane", json!({ "command": [] })), "command"),
        (("open_pane", json!({ "command": "ls -l" })), "command"),
        (("open_pane", json!({ "env": { "A": 1 } })), "env.A"),
        (("close_pane", json!({})), "pane_id"),
    ];
    for ((tool, mut arguments), part) in cases {
        let whole = arguments.clone();
        // Nothing about the pane may be what is refused, but where that is the case.
        if tool != "open_pane" && tool != "close_pane" && arguments.get("socket_name").is_none() {
            let object = arguments.as_object_mut().unwrap();
            object.entry("pane_id").or_insert_with(|| json!(pane));
        }
        let (took, answer) = client.begin(tool, arguments).timed();
        let error = read(&answer).expect_err(&whole.to_string());
        assert_eq!(error.kind(), "bad_argument", "{tool} {whole}: {error}");
        assert!(error.message().contains(part), "{tool} {whole}: {error}");
        assert!(error.message().len() < 1_000, "{tool} {whole}: {error}");
        assert!(took < Duration::from_secs(1), "{tool} {whole} took {took:?}");
    }
    for arguments in [json!({ "patterns": many }), json!({ "patterns": ["x".repeat(1_000_000)] })] {
        let error = client.call("wait_for_text", arguments).unwrap_err();
        assert!(["bad_argument", "limit"].contains(&error.kind()), "{error}");
        assert!(error.message().len() < 2_100);
    }
    for cursor in ["x".repeat(1_000_000), "pm1:".to_owned(), String::new()] {
        let error = client.call("capture_since", json!({ "cursor": cursor })).unwrap_err();
        assert_eq!(error.kind(), "bad_cursor", "{error}");
    }
    let error = client.call("wait_for_text", json!({ "pane_id": "pty:99-abcd" })).unwrap_err();
    assert_eq!(error.kind(), "no_such_pane");
    client.ping();
}

#[test]
fn a_timeout_above_the_ceiling_is_clamped_and_reported() {
    let client = Launch::default().env("PANEMIRROR_WAIT_MAX_SECONDS", "1").start();
    let pane = opened(&client);
    let start = Instant::now();
    let waits: Vec<_> = [json!(1e9), json!(1e308), json!(2)]
        .into_iter()
        .map(|timeout| {
            let arguments = json!({ "pane_id": pane, "patterns": ["never"], "timeout": timeout });
            client.begin("wait_for_text", arguments)
        })
        .collect();
    for wait in waits {
        assert_eq!(wait.result().unwrap()["effective_timeout"], 1.0);
    }
    // Three waits of a second each ran beside each other.
    assert!(start.elapsed() < Duration::from_millis(1_900), "{:?}", start.elapsed());
}

#[test]
fn what_cannot_be_read_gets_a_protocol_error_and_the_next_request_an_answer() {
    let client = McpClient::start();
    let head = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":"#;
    let long = format!(r#"{head}{{"name":"list_panes","arguments":{{"x":"{}"}}}}}}"#, "y".repeat(20 << 20));
    let with_id = [
        (format!(r#"{head}{{"name":"list_panes","arguments":[]}}}}"#), -32602),
        (format!(r#"{head}{{"name":"list_panes","arguments":"x"}}}}"#), -32602),
        (format!(r#"{head}{{"name":7}}}}"#), -32602),
        (format!("{head}{{\"name\":\"nope\"}}}}"), -32602),
        (format!(r#"{head}{{"name":"wait_for_text","arguments":{{"timeout":NaN}}}}}}"#), -32700),
        (r#"{"jsonrpc":"2.0","id":"x","method":"no/such"}"#.to_owned(), -32601),
        (r#"{"id":"x"}"#.to_owned(), -32600),
        (long, -32600),
    ];
    for (line, code) in with_id {
        let pending = client.expect(json!("x"));
        client.send_line(line.as_bytes());
        let answer = pending.wait();
        let shown: String = line.chars().take(120).collect();
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        client.ping();
    }
    let without_id: [(&[u8], i64); 4] =
        [(b"NaN", -32700), (b"hello there", -32700), (b"\xff\xfe", -32700), (b"[]", -32600)];
    for (index, (line, code)) in without_id.into_iter().enumerate() {
        client.send_line(line);
        client.ping();
        assert_eq!(client.wait_for_others(index + 1)[index]["error"]["code"], code);
    }
}

#[test]
fn what_comes_before_initialize_does_not_end_the_session() {
    let client = Launch::default().start_raw();
    client.send_line(b"garbage");
    client.notify("notifications/initialized", json!({}));
    client.notify("notifications/cancelled", json!({ "requestId": 1 }));
    let early = client.request("tools/list", json!({})).wait();
    assert!(early.get("error").is_some(), "{early}");
    client.ping();
    assert_eq!(client.initialize()["serverInfo"]["name"], "panemirror");
    assert!(!client.tools().is_empty());
}

#[test]
fn a_withdrawn_wait_gets_no_answer_and_disturbs_no_other() {
    let client = McpClient::start();
    let pane = opened(&client);
    let arguments = |timeout: f64| json!({ "pane_id": pane, "patterns": ["never"], "timeout": timeout });
    let withdrawn = client.begin("wait_for_text", arguments(20.0));
    let other = client.begin("wait_for_text", arguments(0.5));
    client.ping();
    withdrawn.cancel();
    assert_eq!(other.result().unwrap()["outcome"], "timeout");
    assert!(!withdrawn.is_answered_within(Duration::from_millis(200)));
    client.ping();
}

#[test]
fn progress_comes_only_to_those_who_asked() {
    let client = McpClient::start();
    let pane = opened(&client);
    let arguments = json!({ "pane_id": pane, "patterns": ["never"], "timeout": 5.3 });
    let silent = client.begin("wait_for_text", arguments.clone());
    let told = client.begin_with_progress("wait_for_text", arguments, "token-1");
    told.result().unwrap();
    silent.result().unwrap();
    let notes = client.others();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0]["method"], "notifications/progress");
    let params = &notes[0]["params"];
    assert_eq!(params["progressToken"], "token-1");
    assert!((4.9..5.3).contains(&params["progress"].as_f64().unwrap()), "{params}");
    assert_eq!(params["message"], "0 s left");
}

#[test]
fn the_end_of_the_input_ends_the_server_with_waits_under_way() {
    let client = McpClient::start();
    let pane = opened(&client);
    let arguments = json!({ "pane_id": pane, "patterns": ["never"], "timeout": 20 });
    let wait = client.begin("wait_for_text", arguments);
    client.ping();
    let start = Instant::now();
    client.close_input();
    let error = wait.result().unwrap_err();
    assert_eq!(error.kind(), "withdrawn");
    let status = client.exit_within(Duration::from_secs(2));
    eprintln!("ended after {:?}", start.elapsed());
    assert!(status.success(), "{status}");
}

#[test]
fn a_signal_ends_the_server() {
    for name in ["TERM", "INT", "HUP"] {
        let client = McpClient::start();
        client.ping();
        client.signal(name);
        let status = client.exit_within(Duration::from_secs(2));
        assert_eq!(status.code(), Some(0), "{name}: {}", client.log());
    }
}

#[test]
fn a_request_sent_in_one_breath_with_the_end_of_the_input_is_answered() {
    let client = McpClient::start();
    let list = client.request("tools/list", json!({}));
    let call = client.begin("list_panes", json!({}));
    client.close_input();
    assert!(list.wait()["result"]["tools"].is_array());
    assert!(call.result().is_ok());
}

#[test]
fn a_malformed_setting_stops_the_start_with_a_message() {
    let cases = [
        Launch::default().env("PANEMIRROR_WAIT_MAX_SECONDS", "0"),
        Launch::default().env("PANEMIRROR_SOCKET", "a/b"),
        Launch::default().env("PANEMIRROR_LOG", "loud=very=much"),
        Launch::default().arg("--toolsets").arg("destroy"),
        Launch::default().arg("--no-such-flag"),
    ];
    for launch in cases {
        let client = launch.start_raw();
        let status = client.exit_within(Duration::from_secs(5));
        assert_eq!(status.code(), Some(2), "{launch:?}");
        let deadline = Instant::now() + Duration::from_secs(5);
        while client.log().is_empty() {
            assert!(Instant::now() < deadline, "no message for {launch:?}");
            std::thread::yield_now();
        }
    }
}

#[test]
fn the_python_servers_settings_are_clamped_with_a_warning() {
    let client = Launch::default().env("LIBTMUX_MCP_WAIT_MAX_SECONDS", "0.1").start();
    let pane = opened(&client);
    let arguments = json!({ "pane_id": pane, "patterns": ["never"], "timeout": 20 });
    let result = client.call("wait_for_text", arguments).unwrap();
    assert_eq!(result["effective_timeout"], 1.0);
    assert!(client.log().contains("LIBTMUX_MCP_WAIT_MAX_SECONDS"), "{}", client.log());
}

#[test]
fn nothing_of_a_pane_or_a_pattern_gets_into_the_log() {
    let client = Launch::default().env("PANEMIRROR_LOG", "trace").start();
    let pane = opened(&client);
    client.call("send_keys", json!({ "pane_id": pane, "text": "s3cr3t-text", "enter": true })).unwrap();
    let arguments = json!({ "pane_id": pane, "patterns": ["s3cr3t-pattern"], "timeout": 0.3 });
    client.call("wait_for_text", arguments).unwrap();
    client.close_input();
    client.exit_within(Duration::from_secs(2));
    assert!(!client.log().contains("s3cr3t"), "{}", client.log());
}
