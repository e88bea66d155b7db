//! What a tool is.

use rmcp::model::{JsonObject, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

use super::call::Call;
use super::schema;
use crate::config::Toolset;
use crate::error::Result;
use crate::panes::Panes;

/// What a tool does to the world; the annotations follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It only looks.
    Looks,
    /// It adds something and takes nothing away.
    Adds,
    /// It types into a program, which may do anything.
    Types,
    /// It ends something.
    Ends,
}

impl Effect {
    pub(super) fn annotations(self) -> ToolAnnotations {
        let looks = self == Self::Looks;
        ToolAnnotations::new()
            .read_only(looks)
            .destructive(matches!(self, Self::Types | Self::Ends))
            .idempotent(looks)
            // What stands in a terminal comes from anywhere, and what is typed goes anywhere.
            .open_world(true)
    }
}

/// A tool: its name, its words for the model, what it takes and gives, and what it does.
///
/// Arguments are structs with `#[serde(default)]` where an argument may be left out; the root of both schemas is an object.
pub(super) trait Tool: 'static {
    /// The name by which it is called.
    const NAME: &'static str;
    /// A short title for people.
    const TITLE: &'static str;
    /// The description; its first sentence says when to use the tool.
    const DESCRIPTION: &'static str;
    /// The family that it is offered with.
    const TOOLSET: Toolset;
    /// What it does to the world.
    const EFFECT: Effect;
    /// What it takes.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;
    /// What it gives.
    type Output: Serialize + JsonSchema + Send + 'static;

    /// The schema of what it gives.
    fn output_schema() -> Arc<JsonObject> {
        schema::output::<Self::Output>()
    }

    /// Does it. The future is dropped when the call is withdrawn.
    fn call(
        panes: Arc<Panes>,
        arguments: Self::Arguments,
        call: &Call,
    ) -> impl Future<Output = Result<Self::Output>> + Send;
}
