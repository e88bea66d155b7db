//! The integration tests, one binary.

// Helpers of tests panic as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

/// What the cases of the contract tools share.
mod cases;
/// The cases of `capture_since`.
mod cases_capture;
/// The cases of `wait_for_text`.
mod cases_wait;
/// A client of the built server.
mod client;
/// Recorded screens of real tmux against the emulator.
mod conformance;
/// The published contracts.
mod contracts;
/// Servers that die or stop, clients that leave, hostile output.
mod days;
/// The emulator against a real tmux.
mod differential;
/// The law of new output against a naive model.
mod law;
/// The shape of the source.
mod layout;
/// The server on the wire: definitions, refusals, bad input, the end of a session.
mod mcp;
/// The command line.
mod shell;
/// A private tmux server and small helpers.
mod support;
/// The tmux source on a real server.
mod tmux_source;
