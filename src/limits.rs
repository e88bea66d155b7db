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
