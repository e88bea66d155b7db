//! The one shape of a call that failed.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;

use crate::error::Error;

/// The most text of a message that is sent, in bytes: a value in it may be long.
const MESSAGE_BYTES: usize = 2_000;

#[derive(Serialize)]
struct Failure<'a> {
    kind: &'a str,
    message: &'a str,
    retryable: bool,
}

/// Makes the result of a failed call: `{"kind", "message", "retryable"}` as text, `isError` set.
///
/// It has no structured content: several clients hold that against the output schema even when the call failed.
pub(super) fn result(error: &Error) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(failure_text(error))])
}

/// Writes a failure as the JSON that results carry: `{"kind", "message", "retryable"}`.
pub fn failure_text(error: &Error) -> String {
    let failure = Failure { kind: error.kind(), message: cut(error.message()), retryable: error.is_retryable() };
    serde_json::to_string(&failure).unwrap_or_else(|_| {
        r#"{"kind":"internal","message":"the failure could not be written","retryable":false}"#.to_owned()
    })
}

fn cut(message: &str) -> &str {
    let end = message.floor_char_boundary(MESSAGE_BYTES);
    message.get(..end).unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_text_and_never_structured() {
        let result = result(&Error::NoSuchPane("no pane %7".into()));
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.structured_content, None);
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["content"][0]["text"], r#"{"kind":"no_such_pane","message":"no pane %7","retryable":false}"#);
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let long = "é".repeat(5_000);
        assert_eq!(cut(&long).len(), MESSAGE_BYTES);
        assert_eq!(cut("short"), "short");
    }
}
