//! Panes of a tmux server, read through control mode.

mod capture;
mod client;
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

pub use launch::{Settings, Socket};
pub use list::PaneInfo;
pub use open::{Asked, Glimpse, Question};
pub use server::Server;
pub use spawn::{TmuxPlace, TmuxSpawn, start_server};
