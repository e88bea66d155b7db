//! Where panes come from.

pub mod tmux;
