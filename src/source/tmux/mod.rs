//! Panes of a tmux server, read through control mode.

mod alive;
mod capture;
mod client;
mod confirm;
mod launch;
pub mod line;
mod list;
mod open;
pub mod protocol;
mod routes;
mod seed;
mod server;
mod spawn;
mod watch;
mod wire;

pub use confirm::{Asked, Question};
pub use launch::{Settings, Socket};
pub use list::PaneInfo;
pub use open::Glimpse;
pub use server::Server;
pub use spawn::{TmuxPlace, TmuxSpawn, start_server};
