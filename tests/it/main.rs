//! Integration tests, one binary: a module for each part.
#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;
/// The tmux source against a real tmux.
mod tmux_source;
