//! Integration tests, one module a concern.

/// Recorded screens of real tmux against the emulator.
mod conformance;
