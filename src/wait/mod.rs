//! Waits: what is waited for, and how a line is judged.

mod literal;
mod matches;
mod outcome;
mod pattern;
mod text;

pub use outcome::{Outcome, TextResult};
pub use pattern::Pattern;
pub use text::{TextVerdict, TextWatch, TextWatcher, keep_tail};
