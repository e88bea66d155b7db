//! Cases whose clock runs in the pane: a binary of their own, so that nothing else runs beside them.

// Helpers of tests panic as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]
// The shared helpers serve the other binary too.
#![allow(dead_code)]

#[path = "../it/cases.rs"]
mod cases;
#[path = "../it/client.rs"]
mod client;
#[path = "../it/support.rs"]
mod support;

use serde_json::json;

use cases::{Stage, repeats};

#[test]
fn text_printed_soon_after_the_request_is_found() {
    let stage = Stage::new();
    let mut late = 0;
    for delay in ["0.001", "0.005", "0.02"] {
        for mirrored in [true, false] {
            for _ in 0..repeats() {
                let actor = stage.actor("p '$ '", &format!("sleep {delay}; p 'MARKER\\r\\n'"));
                if mirrored {
                    stage.cursor(&actor);
                }
                let ask = json!({ "pane_id": actor.id, "patterns": ["MARKER"], "timeout": 5 });
                let pending = stage.mcp.begin("wait_for_text", ask);
                // The program sleeps from here on.
                actor.act();
                let result = pending.result().unwrap();
                if result["matched_at_entry"] == true {
                    // The server got no processor before the program printed: the request was read later.
                    late += 1;
                } else {
                    assert_eq!(result["outcome"], "matched", "{delay} s, mirrored {mirrored}: {result}");
                }
                stage.tmux.tmux(&["kill-pane", "-t", &actor.id]);
            }
        }
    }
    println!("{late} of {} requests were read after the print", 6 * repeats());
    assert!(late <= repeats(), "{late} requests were read too late");
}
