//! From a capture to what a terminal is seeded with. Pure.

use super::capture::{Captured, CapturedRow, Glance};
use crate::mirror::Snapshot;
use crate::term::{Seed, SeedModes, SeedRow};

/// Builds a seed. What tmux does not tell (RULES 11.9: pen, charsets, DECSC slot, ...) keeps its initial value.
pub(super) fn build(captured: Captured) -> Seed {
    let facts = captured.facts;
    Seed {
        size: facts.size,
        history: rows(captured.history),
        history_size: usize::try_from(facts.history_size).unwrap_or(usize::MAX),
        screen: rows(captured.screen),
        saved: captured.saved.map(rows),
        history_limit: facts.history_limit,
        cursor: facts.cursor,
        region: facts.region,
        tabs: facts.tabs,
        modes: SeedModes {
            insert: facts.insert,
            origin: facts.origin,
            wrap: facts.wrap,
            cursor_visible: facts.cursor_visible,
            keypad: facts.keypad,
            keypad_cursor: facts.cursor_keys,
            mouse_standard: facts.mouse_standard,
            mouse_button: facts.mouse_button,
            mouse_all: facts.mouse_all,
            mouse_sgr: facts.mouse_sgr,
            mouse_utf8: facts.mouse_utf8,
            bracketed_paste: facts.bracketed_paste,
            focus: None,
        },
        saved_cursor: facts.saved_cursor,
        title: captured.title,
        path: captured.path,
        pending: captured.pending,
    }
}

fn rows(rows: Vec<CapturedRow>) -> Vec<SeedRow> {
    rows.into_iter().map(|row| SeedRow { ansi: row.ansi, wrapped: row.wrapped }).collect()
}

/// What a call saw when it was read.
pub(super) fn snapshot(glance: Glance) -> Snapshot {
    Snapshot {
        history: glance.facts.history_size,
        size: glance.facts.size,
        rows: glance.rows,
        alternate: glance.facts.alternate,
        process: glance.facts.pid,
    }
}
