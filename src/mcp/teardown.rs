//! Tools that end things: `close_pane`.

use std::sync::Arc;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::target::TargetArguments;
use super::tool::{Effect, Tool};
use crate::config::Toolset;
use crate::error::{Error, Result};
use crate::panes::{Closed, Panes, Target};

pub(super) struct ClosePane;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct CloseArguments {
    #[serde(flatten)]
    target: TargetArguments,
}

/// The pane that was closed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClosedReport {
    /// The pane that is gone.
    pane_id: String,
    /// Exit status of its program, null where none is known.
    exit_status: Option<i32>,
}

impl From<Closed> for ClosedReport {
    fn from(closed: Closed) -> Self {
        Self { pane_id: closed.pane_id, exit_status: closed.exit_status }
    }
}

impl Tool for ClosePane {
    const NAME: &'static str = "close_pane";
    const TITLE: &'static str = "Close a pane";
    const DESCRIPTION: &'static str = "Use this when you are done with a pane that you opened: ends its program and closes it.\n\
        The pane must be named by its ID. The pane that this server runs in is never closed.";
    const TOOLSET: Toolset = Toolset::Teardown;
    const EFFECT: Effect = Effect::Ends;
    type Arguments = CloseArguments;
    type Output = ClosedReport;

    async fn call(panes: Arc<Panes>, arguments: CloseArguments, _call: &Call) -> Result<ClosedReport> {
        let target = Target::try_from(arguments.target)?;
        if target.pane_id.is_none() {
            return Err(Error::BadArgument(
                "`pane_id` is missing; a pane is closed only by its ID, which list_panes shows".to_owned(),
            ));
        }
        panes.close(&target).await.map(ClosedReport::from)
    }
}
