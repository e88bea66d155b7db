//! Integration tests, one binary: a module for each part.
#![allow(missing_docs)]

mod support;
/// The tmux source against a real tmux.
mod tmux_source;
