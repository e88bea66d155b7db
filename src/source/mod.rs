//! Where panes come from.

pub mod pty;
pub mod tmux;
