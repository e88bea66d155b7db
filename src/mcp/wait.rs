//! `wait_for_text`, by the published contract.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::JsonObject;
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::schema;
use super::target::TargetArguments;
use super::tool::{Effect, Tool};
use crate::config::Toolset;
use crate::error::{Error, Result};
use crate::panes::{Panes, Target};
use crate::wait::{Outcome, TextResult, TextWatch};

/// The least polling interval that the contract allows, in seconds.
const MIN_INTERVAL: f64 = 0.01;

pub(super) struct WaitForText;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct WaitArguments {
    /// Success patterns; the first to match ends the wait. Literal text unless `regex`. null: any new output.
    patterns: Option<Vec<String>>,
    /// Failure patterns. A hit ends the wait at once with outcome "stopped"; `matched_index` says which.
    stop: Option<Vec<String>>,
    /// Take `patterns` and `stop` as regular expressions (syntax of the Rust regex crate).
    regex: bool,
    /// Match case.
    match_case: bool,
    /// Longest wait in seconds; the server caps it, see `effective_timeout`.
    timeout: f64,
    /// Accepted for compatibility (at least 0.01); nothing is polled.
    interval: f64,
    #[serde(flatten)]
    target: TargetArguments,
}

impl Default for WaitArguments {
    fn default() -> Self {
        Self {
            patterns: None,
            stop: None,
            regex: false,
            match_case: false,
            timeout: 8.0,
            interval: 0.05,
            target: TargetArguments::default(),
        }
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum WireOutcome {
    Matched,
    AnyOutput,
    Stopped,
    AlternateScreen,
    Timeout,
}

impl From<Outcome> for WireOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Matched => Self::Matched,
            Outcome::AnyOutput => Self::AnyOutput,
            Outcome::Stopped => Self::Stopped,
            Outcome::AlternateScreen => Self::AlternateScreen,
            Outcome::Timeout => Self::Timeout,
        }
    }
}

/// The result of a wait, as it stands on the wire.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TextReport {
    /// A `patterns` entry matched new output, or, with `patterns` null, any new output appeared.
    found: bool,
    /// matched: a `patterns` entry hit. any_output: `patterns` was null and something was written (perhaps only a prompt).
    /// stopped: a `stop` entry hit. alternate_screen: a full-screen program was shown and nothing hit; read it with snapshot_pane.
    /// timeout: nothing hit in time.
    outcome: WireOutcome,
    /// Zero-based index into `patterns`, or into `stop` if stopped.
    #[serde(default)]
    matched_index: Option<usize>,
    /// The new lines that matched.
    #[serde(default)]
    matched_lines: Vec<String>,
    /// The pane that was watched.
    pane_id: String,
    /// Seconds waited.
    elapsed_seconds: f64,
    /// Seconds that were allowed after the server's cap.
    effective_timeout: f64,
    /// Anything was written on the pane during the wait.
    #[serde(default)]
    saw_new_output: bool,
    /// A pattern matched text on the screen at the call, and nothing new matched.
    #[serde(default)]
    matched_at_entry: bool,
    /// The alternate screen was shown at some moment of the wait.
    #[serde(default)]
    alternate_screen: bool,
    /// The rows from the entry cursor row down at the end, old ones too: what the pane looks like.
    #[serde(default)]
    tail: Vec<String>,
}

impl From<TextResult> for TextReport {
    fn from(result: TextResult) -> Self {
        Self {
            found: result.outcome.is_found(),
            outcome: result.outcome.into(),
            matched_index: result.matched_index,
            matched_lines: result.matched_lines,
            pane_id: result.pane_id,
            elapsed_seconds: seconds(result.elapsed),
            effective_timeout: result.effective_timeout.as_secs_f64(),
            saw_new_output: result.saw_new_output,
            matched_at_entry: result.matched_at_entry,
            alternate_screen: result.alternate_screen,
            tail: result.tail,
        }
    }
}

/// Seconds to the microsecond: the rest is noise.
pub(super) fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e6
}

impl Tool for WaitForText {
    const NAME: &'static str = "wait_for_text";
    const TITLE: &'static str = "Wait for new text";
    const DESCRIPTION: &'static str = "Use this when a program is running or about to print something and you need to know \
        the moment it did, instead of polling the screen: waits until one of `patterns` appears in output written after \
        this call, a `stop` marker appears, or the time is up.\n\
        Text that stood there before never matches, wherever it moves; the same line printed again does. Text that was \
        erased or scrolled away within the wait is found too. Pass the failure markers that you know (\"error:\", \
        \"FAILED\", \"Traceback\") in `stop`, so that a failed run returns at once. Lines are matched joined across soft \
        wraps, without colours. Nothing is matched inside full-screen programs. For the output of keys that you send \
        yourself, send_keys and capture_since are exact.";
    const TOOLSET: Toolset = Toolset::Inspect;
    const EFFECT: Effect = Effect::Looks;
    type Arguments = WaitArguments;
    type Output = TextReport;

    fn output_schema() -> Arc<JsonObject> {
        schema::output_with_defaults::<TextReport>()
    }

    async fn call(panes: Arc<Panes>, arguments: WaitArguments, call: &Call) -> Result<TextReport> {
        let limit = limit(arguments.timeout, panes.wait_max())?;
        if !(arguments.interval.is_finite() && arguments.interval >= MIN_INTERVAL) {
            return Err(Error::BadArgument(format!(
                "`interval` is {}; it must be at least {MIN_INTERVAL} (nothing is polled, it may be left out)",
                arguments.interval
            )));
        }
        let target = Target::try_from(arguments.target)?;
        let watch = TextWatch::compile(
            arguments.patterns.as_deref(),
            arguments.stop.as_deref().unwrap_or_default(),
            arguments.regex,
            arguments.match_case,
        )?;
        let moment = call.moment(&panes);
        let waiting = panes.wait_for_text(&moment, &target, watch, limit);
        call.run_with_progress(limit, waiting).await.map(TextReport::from)
    }
}

/// Reads a timeout in seconds: above zero, and cut to the server's ceiling.
pub(super) fn limit(timeout: f64, ceiling: Duration) -> Result<Duration> {
    if !(timeout.is_finite() && timeout > 0.0) {
        return Err(Error::BadArgument(format!("`timeout` is {timeout}; it must be a number of seconds above 0")));
    }
    Ok(Duration::from_secs_f64(timeout.min(ceiling.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_positive_and_capped() {
        let ceiling = Duration::from_secs(30);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(limit(bad, ceiling).unwrap_err().kind(), "bad_argument", "{bad}");
        }
        for (asked, given) in [(0.5, 0.5), (30.0, 30.0), (1e9, 30.0), (1e308, 30.0), (1e-300, 0.0)] {
            assert_eq!(limit(asked, ceiling).unwrap().as_secs_f64(), given, "{asked}");
        }
    }
}
