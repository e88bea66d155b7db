//! Exact waits on a terminal.

#[cfg(windows)]
compile_error!(
    "panemirror needs a Unix pseudo-terminal and does not run on Windows; build it inside WSL"
);

pub mod config;
pub mod error;
pub mod geometry;
pub mod keys;
pub mod limits;
pub mod mcp;
pub mod panes;
pub mod replay;
pub mod source;
pub mod wait;

pub use error::{Error, Result};
