//! Exact waits on a terminal.
pub mod config;
pub mod error;
pub mod geometry;
pub mod keys;
pub mod limits;

pub use error::{Error, Result};
