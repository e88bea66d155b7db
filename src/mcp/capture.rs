//! `capture_since`, by the published contract.

use std::sync::Arc;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::target::TargetArguments;
use super::tool::{Effect, Tool};
use super::wait::seconds;
use crate::config::Toolset;
use crate::error::{Error, Result};
use crate::panes::{Capture, CaptureRequest, Panes, Target};

pub(super) struct CaptureSince;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct CaptureArguments {
    /// Cursor of an earlier call. Left out: the visible screen, and a first cursor.
    cursor: Option<String>,
    /// Most lines to return, the newest are kept; null: no limit.
    max_lines: Option<i64>,
    /// Most UTF-8 bytes to return, the newest are kept; null: no limit.
    max_bytes: Option<i64>,
    #[serde(flatten)]
    target: TargetArguments,
}

impl Default for CaptureArguments {
    fn default() -> Self {
        Self { cursor: None, max_lines: Some(500), max_bytes: Some(128_000), target: TargetArguments::default() }
    }
}

/// What was written since a cursor.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CaptureReport {
    /// The pane that was read.
    pane_id: String,
    /// Give this to the next call.
    cursor: String,
    /// A row of the history was lost or never seen: `lines` is then the visible screen.
    lines_missed: bool,
    /// Lines or bytes were cut from the front.
    truncated: bool,
    /// How many lines were cut.
    truncated_lines: usize,
    /// How many bytes were cut.
    truncated_bytes: usize,
    /// Seconds that the call took.
    elapsed_seconds: f64,
    /// Screen rows, oldest first, without colours and trailing blanks.
    lines: Vec<String>,
}

impl From<Capture> for CaptureReport {
    fn from(capture: Capture) -> Self {
        Self {
            pane_id: capture.pane_id,
            cursor: capture.cursor,
            lines_missed: capture.lines_missed,
            truncated: capture.truncated,
            truncated_lines: capture.truncated_lines,
            truncated_bytes: capture.truncated_bytes,
            elapsed_seconds: seconds(capture.elapsed),
            lines: capture.lines,
        }
    }
}

impl Tool for CaptureSince {
    const NAME: &'static str = "capture_since";
    const TITLE: &'static str = "Read what is new";
    const DESCRIPTION: &'static str = "Use this to read what a pane printed since you last looked, or since you sent keys: returns exactly \
        the rows written or rewritten after `cursor`, also those that scrolled off the screen, and a fresh cursor.\n\
        The first call, without a cursor, returns the visible screen. A cursor may be used any number of times, and \
        send_keys returns one taken before the keys. If rows were lost, `lines_missed` is true and `lines` is the visible \
        screen. A cursor of another pane, or of a pane that ended or was respawned, is an error.";
    const TOOLSET: Toolset = Toolset::Inspect;
    const EFFECT: Effect = Effect::Looks;
    type Arguments = CaptureArguments;
    type Output = CaptureReport;

    async fn call(panes: Arc<Panes>, arguments: CaptureArguments, _call: &Call) -> Result<CaptureReport> {
        let request = CaptureRequest {
            cursor: arguments.cursor,
            max_lines: most("max_lines", arguments.max_lines)?,
            max_bytes: most("max_bytes", arguments.max_bytes)?,
        };
        let target = Target::try_from(arguments.target)?;
        panes.capture_since(&target, request).await.map(CaptureReport::from)
    }
}

fn most(argument: &str, value: Option<i64>) -> Result<Option<usize>> {
    let Some(value) = value else {
        return Ok(None);
    };
    match usize::try_from(value) {
        Ok(most) if most > 0 => Ok(Some(most)),
        _ => Err(Error::BadArgument(format!("`{argument}` is {value}; it must be at least 1, or null for no limit"))),
    }
}
