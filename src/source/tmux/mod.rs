//! Panes of a tmux server, read through control mode.

pub mod line;
pub mod protocol;
