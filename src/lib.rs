//! Exact waits on a terminal.
pub mod error;
pub mod geometry;
pub mod limits;
pub mod source;

pub use error::{Error, Result};
