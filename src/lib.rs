//! Exact waits on a terminal.
//!
//! A pane's escape stream goes into a [`mirror::Mirror`]: a terminal emulator that equals tmux's screen
//! ([`term`]) and knows for every cell when it was written. Waits ([`wait`]) are judged where the bytes are applied, so
//! nothing that was erased between two looks is missed and nothing that was there before is matched.
//!
//! ```text
//! geometry, limits, error, keys  <-  term  <-  mirror  <-  wait  <-  pane  <-  source  <-  panes  <-  mcp
//! ```
//!
//! A module uses only what stands to its left. Up to `wait` there is no I/O, no task and no clock.
//!
//! ```
//! use std::sync::{Arc, mpsc};
//! use std::time::Duration;
//! use panemirror::geometry::Size;
//! use panemirror::mirror::Mirror;
//! use panemirror::term::{Options, Terminal};
//! use panemirror::wait::{TextWatch, TextWatcher};
//!
//! let mut mirror = Mirror::new(Terminal::new(Size::new(24, 80), Options::default()));
//! mirror.apply(b"ready\r\n", Duration::ZERO);
//!
//! let mark = mirror.mark();
//! let watch = TextWatch::compile(Some(&["ready".to_owned()]), &[], false, false)?;
//! let (answer, verdict) = mpsc::channel();
//! mirror.watch(Box::new(TextWatcher::new(Arc::new(watch), mark, move |found| {
//!     let _ = answer.send(found);
//! })));
//! assert!(verdict.try_recv().is_err(), "what was there before is old");
//!
//! mirror.apply(b"all READY now\r\x1b[K", Duration::ZERO);
//! let found = verdict.try_recv().expect("seen although it is erased again");
//! assert_eq!(found.lines, ["all READY now"]);
//! # Ok::<(), panemirror::Error>(())
//! ```

#[cfg(windows)]
compile_error!("panemirror needs Unix pseudo-terminals and signals; Windows is not supported (WSL works)");

pub mod config;
pub mod error;
pub mod geometry;
pub mod keys;
pub mod limits;
pub mod mcp;
pub mod mirror;
pub mod pane;
pub mod panes;
pub mod replay;
pub mod source;
pub mod term;
pub mod wait;

pub use error::{Error, Result};
