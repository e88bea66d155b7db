//! Every cap of the crate, with its unit and the reason for it.

use std::time::Duration;

/// Longest OSC, APC, rename or DCS string, in bytes: tmux's own limit (RULES 1.13).
pub const MAX_STRING_BYTES: usize = 1_048_575;

/// How long a string sequence may stay unfinished: tmux's own limit (RULES 1.14).
pub const STRING_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest title or path that is kept, in bytes. tmux has no limit of its own; longer ones are not titles.
pub const MAX_TITLE_BYTES: usize = 65_536;

/// Most titles on the title stack. tmux before 3.7 has no limit; a program that leaks them must not
/// fill our memory: 64 of the longest titles are 4 MiB.
pub const MAX_TITLES: usize = 64;

/// Most hyperlinks that a pane tells apart. Past it links count as links without a target.
pub const MAX_LINKS: usize = 4096;

/// Longest hyperlink target that is kept, in bytes: what browsers and terminals agree on.
pub const MAX_LINK_BYTES: usize = 2083;

/// Most bytes of answers that wait to be taken, for a program that asks and never reads.
pub const MAX_REPLY_BYTES: usize = 65_536;

/// How far a logical line is followed upwards and downwards, in rows, to see if a row of it is
/// touched. A longer line counts as touched: the answer must not cost more than the change.
pub const LINE_LOOK_ROWS: usize = 256;

/// Most retained rows that one delivery frees: keeps the longest pause under 1 ms.
pub const ROWS_FREED_AT_ONCE: usize = 1000;

/// Text of a logical line before and after what changed that a pattern can see, in bytes: a line of 1 GB costs no more
/// than any other.
pub const LINE_WINDOW_BYTES: usize = 64 * 1024;

/// Patterns of one wait, `stop` included.
pub const PATTERNS: usize = 64;

/// Length of one pattern, in bytes.
pub const PATTERN_BYTES: usize = 4096;

/// Size of one compiled pattern, in bytes: a repetition of repetitions must not eat the server.
pub const PATTERN_COMPILED_BYTES: usize = 1024 * 1024;

/// Size of all compiled patterns of one wait, in bytes.
pub const PATTERNS_COMPILED_BYTES: usize = 8 * 1024 * 1024;

/// Lines of `matched_lines` and of `tail` in a result.
pub const RESULT_LINES: usize = 20;

/// Bytes of `matched_lines` and of `tail` in a result.
pub const RESULT_BYTES: usize = 2000;

/// Size of one read from a pseudo-terminal, in bytes: one delivery.
pub const PTY_READ_BYTES: usize = 64 * 1024;

/// Bytes that may wait for a program that does not read its terminal.
pub const PTY_INPUT_BYTES: usize = 1024 * 1024;

/// How long an embedded program has to end after SIGHUP before it is killed.
pub const PTY_GRACE: std::time::Duration = std::time::Duration::from_millis(500);

/// How long the end of a killed program is waited for, so that none is left behind unreaped.
pub const PTY_REAP: std::time::Duration = std::time::Duration::from_millis(250);

/// Embedded panes that run at the same time.
pub const EMBEDDED_PANES: usize = 64;

/// Waits at work at the same time, over all panes.
pub const WAITS: usize = 1000;

/// How long the last screen of an ended embedded pane stays readable.
pub const TOMBSTONE: std::time::Duration = std::time::Duration::from_secs(600);

/// Length of a cursor, in bytes.
pub const CURSOR_BYTES: usize = 512;

/// How long tmux may take to confirm that a pane is still the one that was watched, beyond a wait's deadline.
pub const CONFIRM: std::time::Duration = std::time::Duration::from_millis(250);

/// Memory of the rows of all panes together, in bytes; beyond it panes give up rows that have left their history.
pub const ROWS_BYTES: usize = 512 * 1024 * 1024;

/// How long tmux may take over anything that is not a wait.
pub const ANSWER: std::time::Duration = std::time::Duration::from_secs(5);
