//! The tools that are offered, and how one of them is run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rmcp::model::{self, CallToolResult, ContentBlock, JsonObject};

use super::call::Call;
use super::tool::Tool;
use super::{arguments, capture, execute, failure, inspect, manage, schema, teardown, wait};
use crate::config::{Toolset, Toolsets};
use crate::error::{Error, Result};
use crate::panes::Panes;

type Running = Pin<Box<dyn Future<Output = Result<CallToolResult>> + Send>>;

struct Entry {
    toolset: Toolset,
    definition: model::Tool,
    run: fn(Arc<Panes>, Arc<JsonObject>, JsonObject, Call) -> Running,
}

/// The tools of the chosen toolsets, in the order in which they are listed.
pub(super) struct Registry(Vec<Entry>);

impl Registry {
    pub(super) fn new(toolsets: &Toolsets) -> Self {
        let mut entries = vec![
            entry::<wait::WaitForText>(),
            entry::<capture::CaptureSince>(),
            entry::<inspect::ListPanes>(),
            entry::<inspect::SnapshotPane>(),
            entry::<manage::OpenPane>(),
            entry::<execute::SendKeys>(),
            entry::<teardown::ClosePane>(),
        ];
        entries.retain(|entry| toolsets.contains(entry.toolset));
        Self(entries)
    }

    pub(super) fn definitions(&self) -> Vec<model::Tool> {
        self.0.iter().map(|entry| entry.definition.clone()).collect()
    }

    /// Starts a tool; `None` if none of that name is offered.
    pub(super) fn start(
        &self,
        name: &str,
        panes: Arc<Panes>,
        arguments: JsonObject,
        call: Call,
    ) -> Option<impl Future<Output = CallToolResult> + Send + use<>> {
        let entry = self.0.iter().find(|entry| entry.definition.name == name)?;
        let schema = Arc::clone(&entry.definition.input_schema);
        let running = (entry.run)(panes, schema, arguments, call);
        Some(async move {
            match Caught(running).await {
                Ok(result) => result,
                Err(error) => failure::result(&error),
            }
        })
    }
}

fn entry<T: Tool>() -> Entry {
    let definition = model::Tool::new(T::NAME, T::DESCRIPTION, schema::input::<T::Arguments>())
        .with_title(T::TITLE)
        .with_raw_output_schema(T::output_schema())
        .with_annotations(T::EFFECT.annotations());
    Entry {
        toolset: T::TOOLSET,
        definition,
        run: |panes, schema, arguments, call| Box::pin(run::<T>(panes, schema, arguments, call)),
    }
}

async fn run<T: Tool>(
    panes: Arc<Panes>,
    schema: Arc<JsonObject>,
    arguments: JsonObject,
    call: Call,
) -> Result<CallToolResult> {
    let arguments = arguments::read(&schema, arguments)?;
    let output = call.run(T::call(panes, arguments, &call)).await?;
    let unwritable = |error| Error::Internal(format!("the result could not be written: {error}"));
    // The text keeps the order of the fields: some clients cut it.
    let text = serde_json::to_string(&output).map_err(unwritable)?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(serde_json::to_value(&output).map_err(unwritable)?);
    Ok(result)
}

/// A running call whose panic is an answer: a client must never wait for one that died.
struct Caught(Running);

impl Future for Caught {
    type Output = Result<CallToolResult>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let running = &mut self.0;
        catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context))).unwrap_or_else(|_| {
            Poll::Ready(Err(Error::Internal("the call panicked; stderr has the place, please report it".to_owned())))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        let running: Running = Box::pin(async { panic!("on purpose") });
        let error = Caught(running).await.unwrap_err();
        assert_eq!(error.kind(), "internal");
    }

    #[test]
    fn the_list_stays_small() {
        let all = Registry::new(&Toolsets::all()).definitions();
        let bytes = serde_json::to_vec(&all).unwrap().len();
        assert!(bytes < 40_000, "{bytes}");
        assert!(all.len() <= 25);
    }
}
