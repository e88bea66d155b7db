//! Panes of a tmux server, read through control mode.

mod client;
mod launch;
pub mod line;
pub mod protocol;
mod routes;
mod wire;

pub use launch::{Settings, Socket};
