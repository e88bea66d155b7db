//! The MCP server: what it says of itself, and how requests reach the tools.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::call::Call;
use super::registry::Registry;
use super::stop::Stop;
use super::transport::LineTransport;
use crate::config::Toolsets;
use crate::panes::Panes;

/// What a model reads once a session.
const INSTRUCTIONS: &str = include_str!("instructions.md");

/// How long answers may still be written after the end was signalled.
const DRAIN: Duration = Duration::from_millis(80);

/// The MCP server over a set of panes.
#[derive(Clone)]
pub struct Server {
    panes: Arc<Panes>,
    tools: Arc<Registry>,
    stop: Stop,
}

impl Server {
    /// Makes a server that offers the tools of `toolsets` and withdraws every call when `stop` is raised.
    pub fn new(panes: Arc<Panes>, toolsets: &Toolsets, stop: Stop) -> Self {
        Self { panes, tools: Arc::new(Registry::new(toolsets)), stop }
    }
}

/// Serves `server` over lines of JSON until the input ends, the output is closed or `stop` is raised.
///
/// It returns within about 100 ms of any of them. `stop` is raised when it returns. The panes are left as they are.
pub async fn serve<R, W>(server: Server, input: R, output: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let stop = server.stop.clone();
    let transport = LineTransport::new(input, output, Arc::clone(&server.panes), stop.clone());
    let mut session = tokio::spawn(async move {
        match server.serve(transport).await {
            Ok(running) => {
                if let Err(error) = running.waiting().await {
                    tracing::error!(%error, "the session ended badly");
                }
            }
            // The client left before it said anything: nothing to report.
            Err(error) => tracing::info!(error = ?std::mem::discriminant(&error), "no session"),
        }
    });
    tokio::select! {
        _ = &mut session => {}
        () = stop.raised() => {
            // A client that does not read its answers must not hold the end up.
            let _ = timeout(DRAIN, &mut session).await;
            session.abort();
        }
    }
    stop.raise();
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let name = Implementation::new("panemirror", env!("CARGO_PKG_VERSION"))
            .with_title("panemirror")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS.trim_end())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.definitions()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = Call::new(context, self.stop.clone());
        let arguments = request.arguments.unwrap_or_default();
        let panes = Arc::clone(&self.panes);
        match self.tools.start(&request.name, panes, arguments, call) {
            Some(running) => Ok(running.await.into()),
            None => {
                let name: String = request.name.chars().take(80).collect();
                Err(ErrorData::invalid_params(format!("unknown tool: {name}; tools/list has the names"), None))
            }
        }
    }

    /// Gets what fits no known request: an unknown method, or a known one whose parameters have the wrong shape.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(80).collect();
        Err(match method.as_str() {
            "tools/call" => ErrorData::invalid_params(
                "the parameters of tools/call must be {\"name\": string, \"arguments\": object}",
                None,
            ),
            "initialize" | "tools/list" => {
                ErrorData::invalid_params(format!("the parameters of {method} have the wrong shape"), None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method: {method}"), None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_are_short() {
        assert!(INSTRUCTIONS.len() < 2_000, "{}", INSTRUCTIONS.len());
    }
}
