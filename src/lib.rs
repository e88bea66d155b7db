//! Exact waits on a terminal.
pub mod geometry;
