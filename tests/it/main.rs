//! Integration tests, one module a concern.

// Tests may stop at once; the lints exempt test functions, but not what they call.
#![allow(clippy::expect_used, clippy::indexing_slicing)]

/// Recorded screens of real tmux against the emulator.
mod conformance;
