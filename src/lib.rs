//! Exact waits on a terminal.
pub mod geometry;
pub mod limits;
pub mod replay;
pub mod term;
