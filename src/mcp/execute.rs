//! Tools that type: `send_keys`.

use std::sync::Arc;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::target::TargetArguments;
use super::tool::{Effect, Tool};
use crate::config::Toolset;
use crate::error::{Error, Result};
use crate::keys::{KeyModes, encode};
use crate::panes::{Input, Panes, Sent, Target};

/// The most keys of one call.
const MAX_KEYS: usize = 1_000;
/// The most literal text of one call, in bytes.
const MAX_TEXT: usize = 1024 * 1024;

pub(super) struct SendKeys;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct SendArguments {
    /// Literal text, typed as it is.
    text: Option<String>,
    /// Key names, pressed after `text`: "C-c", "Escape", "Up", "PageDown", "F5", "M-x", "S-Tab", "q".
    keys: Option<Vec<String>>,
    /// Press Enter at the end.
    enter: bool,
    #[serde(flatten)]
    target: TargetArguments,
}

/// What was typed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SentReport {
    /// The pane that was typed into.
    pane_id: String,
    /// Taken before the keys: capture_since with it returns exactly what they caused.
    cursor: String,
    /// Bytes that were sent to the program.
    bytes: usize,
}

impl From<Sent> for SentReport {
    fn from(sent: Sent) -> Self {
        Self { pane_id: sent.pane_id, cursor: sent.cursor, bytes: sent.bytes }
    }
}

impl Tool for SendKeys {
    const NAME: &'static str = "send_keys";
    const TITLE: &'static str = "Type into a pane";
    const DESCRIPTION: &'static str = "Use this to type a command or press keys in a pane: sends `text` literally, then the named `keys`, then \
        Enter if asked to, and returns a cursor for capture_since that was taken before them.\n\
        To run a command, pass it as `text` with `enter` true. Control keys are names in `keys` (\"C-c\"), never text. To wait \
        for the result, call wait_for_text or capture_since with the cursor.";
    const TOOLSET: Toolset = Toolset::Execute;
    const EFFECT: Effect = Effect::Types;
    type Arguments = SendArguments;
    type Output = SentReport;

    async fn call(panes: Arc<Panes>, arguments: SendArguments, _call: &Call) -> Result<SentReport> {
        let target = Target::try_from(arguments.target)?;
        let input = Input {
            text: arguments.text.filter(|text| !text.is_empty()),
            keys: arguments.keys.unwrap_or_default(),
            enter: arguments.enter,
        };
        check(&input)?;
        panes.send(&target, &input).await.map(SentReport::from)
    }
}

/// Refuses what cannot be typed before anything is.
fn check(input: &Input) -> Result<()> {
    let bytes = input.text.as_ref().map_or(0, String::len);
    if bytes > MAX_TEXT {
        return Err(Error::Limit(format!("`text` has {bytes} bytes; at most {MAX_TEXT} are sent in one call")));
    }
    if input.keys.len() > MAX_KEYS {
        return Err(Error::Limit(format!(
            "`keys` has {} entries; at most {MAX_KEYS} are sent in one call",
            input.keys.len()
        )));
    }
    if bytes == 0 && input.keys.is_empty() && !input.enter {
        return Err(Error::BadArgument("nothing to type; give `text`, `keys` or `enter`".to_owned()));
    }
    for (index, name) in input.keys.iter().enumerate() {
        encode(name, KeyModes::default()).map_err(|error| Error::BadArgument(format!("`keys[{index}]`: {error}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_typed_if_one_key_is_unknown() {
        let input = Input { keys: vec!["Up".into(), "Entr".into()], ..Input::default() };
        let error = check(&input).unwrap_err();
        assert!(error.message().contains("`keys[1]`") && error.message().contains("Enter"), "{error}");
        assert_eq!(check(&Input::default()).unwrap_err().kind(), "bad_argument");
    }
}
