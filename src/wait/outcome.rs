//! What a wait for text says at its end.

use std::time::Duration;

/// How a wait for text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A `patterns` entry matched new text.
    Matched,
    /// No patterns were given and something was written.
    AnyOutput,
    /// A `stop` entry matched new text.
    Stopped,
    /// Nothing matched in time, and the alternate screen was shown during the wait.
    AlternateScreen,
    /// Nothing matched in time.
    Timeout,
}

impl Outcome {
    /// The outcome's name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::AnyOutput => "any_output",
            Self::Stopped => "stopped",
            Self::AlternateScreen => "alternate_screen",
            Self::Timeout => "timeout",
        }
    }

    /// Tells whether what was waited for came.
    pub fn is_found(self) -> bool {
        matches!(self, Self::Matched | Self::AnyOutput)
    }
}

/// What a wait for text observed.
#[derive(Clone, Debug, PartialEq)]
pub struct TextResult {
    /// How it ended.
    pub outcome: Outcome,
    /// Index into `patterns`, or into `stop` if it was stopped.
    pub matched_index: Option<usize>,
    /// The logical lines that the deciding entry hit, oldest first, blanks at their end cut; at most
    /// [`crate::limits::RESULT_LINES`] lines and [`crate::limits::RESULT_BYTES`] bytes, the newest kept.
    pub matched_lines: Vec<String>,
    /// Rows from the entry cursor row down, limited likewise.
    pub tail: Vec<String>,
    /// Some glyph was written after entry, anywhere on the pane.
    pub saw_new_output: bool,
    /// A `patterns` entry matched the visible screen at entry, and nothing new was found.
    pub matched_at_entry: bool,
    /// The alternate screen was shown at some moment of the wait.
    pub alternate_screen: bool,
    /// The pane that was watched.
    pub pane_id: String,
    /// Time from reading the request to the answer.
    pub elapsed: Duration,
    /// The time limit that was enforced.
    pub effective_timeout: Duration,
}
