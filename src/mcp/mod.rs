//! The MCP server: JSON-RPC on one side, [`Panes`](crate::panes::Panes) on the other.
//!
//! ```text
//! transport (lines)  ->  rmcp  ->  server  ->  registry  ->  one Tool  ->  Panes
//!                                              arguments     failure
//! ```
//!
//! A tool is a type that implements `tool::Tool`: its name, its words for the model, its arguments and its output as structs. The
//! registry makes the rest of it: schemas, annotations, the check of the arguments, the shape of results and failures,
//! withdrawal. One file holds one family of tools.

mod arguments;
mod call;
mod capture;
mod execute;
mod failure;
mod inspect;
mod manage;
mod registry;
mod schema;
mod server;
mod stop;
mod target;
mod teardown;
mod tool;
mod transport;
mod wait;

pub use failure::failure_text;
pub use server::{Server, serve};
pub use stop::Stop;
pub use target::pane_target;
pub use wait::TextReport;
