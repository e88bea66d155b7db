//! The integration tests, one binary.

// Helpers of tests panic as tests do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

/// A client of the built server.
mod client;
/// The published contracts.
mod contracts;
/// The server on the wire: definitions, refusals, bad input, the end of a session.
mod mcp;
/// The command line.
mod shell;
