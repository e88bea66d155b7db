//! Captured screens: opening a mirror, repairing it, and aligning what is captured with what was known.

use crate::geometry::Size;
use crate::term::{Cell, Options, Row, Screen, Seed, SeedRow, Stamp, Terminal};

use super::screen_text::row_text;
use super::{Mark, Mirror, OLD};

/// What a pane showed at the moment a call was read, before its mirror existed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Rows of grid history (`#{history_size}`).
    pub history: u64,
    /// The pane's size.
    pub size: Size,
    /// Plain text of each screen row, top first, trailing blanks of no matter.
    pub rows: Vec<String>,
    /// The alternate screen was shown.
    pub alternate: bool,
    /// Process id of the pane's program, 0 if it is not known.
    pub process: u32,
}

/// The known cells of one row: column, text and stamp of each cell that holds a glyph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    text: String,
    cells: Vec<(u16, String, Stamp)>,
}

impl Known {
    fn of(row: &Row) -> Self {
        let cells = row
            .cells()
            .filter(|cell| cell.stamp != Stamp::NONE)
            .map(|cell| (cell.col, cell_text(&cell), cell.stamp))
            .collect();
        Self { text: row_text(row), cells }
    }

    fn at(&self, col: u16) -> Option<&(u16, String, Stamp)> {
        let at = self.cells.binary_search_by_key(&col, |cell| cell.0).ok()?;
        self.cells.get(at)
    }
}

fn cell_text(cell: &Cell<'_>) -> String {
    let mut text = String::new();
    cell.text.push_to(&mut text);
    text
}

/// Rows known before, numbered from the oldest row of the grid history that ever was: `first` is the number of `rows[0]`.
struct KnownRows {
    first: u64,
    rows: Vec<Known>,
    /// They were reflowed since: their numbers mean little.
    renumbered: bool,
}

impl KnownRows {
    /// The known row that row `number` of the new screen is.
    fn row(&self, number: u64, shift: i64) -> Option<&Known> {
        let number = number.checked_add_signed(shift)?;
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.rows.get(at)
    }
}

pub(super) fn open(mirror: &mut Mirror, seed: Seed, entries: &[Snapshot]) -> Vec<Mark> {
    let first_mark = mirror.mark().0;
    restore_old(mirror, seed);
    let marks: Vec<Mark> = (0..entries.len().max(1))
        .map(|at| Mark(first_mark.saturating_add(u32::try_from(at).unwrap_or(u32::MAX))))
        .collect();
    // The newest snapshot last: a cell that differs from it is new for everybody.
    for (entry, mark) in entries.iter().zip(&marks) {
        let known = snapshot_rows(entry, mirror.screen().size());
        stamp_differences(mirror, &known, entry.alternate, Stamp(mark.0));
    }
    let newest = marks.last().map_or(first_mark, |mark| mark.0);
    mirror.generation = newest;
    mirror.terminal.set_stamp(Stamp(newest));
    mirror.examined = mirror.screen().pushed();
    marks
}

pub(super) fn repair(mirror: &mut Mirror, seed: Seed) {
    let known = mirror_rows(mirror);
    let alternate = mirror.screen().is_alternate();
    restore_old(mirror, seed);
    restamp(mirror, &known, alternate, |_, known| known);
    mirror.terminal.set_stamp(Stamp(mirror.generation));
    mirror.examined = mirror.screen().pushed();
}

pub(super) fn rejoin(mirror: &mut Mirror, seed: Seed) {
    let known = mirror_rows(mirror);
    let alternate = mirror.screen().is_alternate();
    // Whatever differs was written while nobody looked: new to all who wait.
    let newest = mirror.mark();
    restore_old(mirror, seed);
    restamp(mirror, &known, alternate, |known_cell, stamp| if known_cell { stamp } else { Stamp(newest.0) });
    mirror.terminal.set_stamp(Stamp(mirror.generation));
    // What was written meanwhile may stand in the history by now.
    let screen = mirror.screen();
    mirror.examined = screen.pushed().saturating_sub((screen.first_visible() - screen.retained()) as u64);
}

pub(super) fn differs(mirror: &Mirror, seed: &Seed) -> bool {
    let screen = mirror.screen();
    let cursor = screen.cursor();
    if screen.size() != seed.size
        || screen.is_alternate() != seed.saved.is_some()
        || cursor.row != seed.cursor.row
        || cursor.col.min(seed.size.cols) != seed.cursor.col.min(seed.size.cols)
    {
        return true;
    }
    let mut other = scratch(seed.size);
    other.restore(seed.clone());
    let other = other.screen();
    let held = |screen: &Screen| screen.first_visible() - screen.retained();
    let history = held(other).min(held(screen));
    if seed.history_size != screen.history() {
        return true;
    }
    let rows = history + usize::from(seed.size.rows);
    (1..=rows).any(|back| {
        let ours = screen.len().checked_sub(back).and_then(|index| screen.row(index));
        let theirs = other.len().checked_sub(back).and_then(|index| other.row(index));
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => row_text(ours) != row_text(theirs),
            _ => true,
        }
    })
}

/// Replaces the screen; every glyph of the seed is old.
fn restore_old(mirror: &mut Mirror, seed: Seed) {
    mirror.terminal.set_stamp(OLD);
    mirror.terminal.restore(seed);
}

/// A terminal to read captured rows with.
fn scratch(size: Size) -> Terminal {
    Terminal::new(size, Options { history_limit: usize::MAX, retention: 0, ..Options::default() })
}

/// The rows of a snapshot, read as a terminal of that size would, and brought to the present size as tmux does it.
fn snapshot_rows(entry: &Snapshot, size: Size) -> KnownRows {
    let rows = entry.rows.iter().map(|text| SeedRow { ansi: text.clone().into_bytes(), wrapped: false }).collect();
    let mut terminal = scratch(entry.size);
    terminal.restore(Seed { size: entry.size, screen: rows, history_limit: usize::MAX, ..Seed::default() });
    let resized = entry.size != size;
    if resized {
        terminal.resize(size, &mut ());
    }
    let screen = terminal.screen();
    let rows = (0..screen.len()).filter_map(|index| screen.row(index)).map(Known::of).collect();
    KnownRows { first: entry.history, rows, renumbered: resized }
}

/// The grid history and screen of a mirror, with stamps; the hidden main screen in the place of the alternate one.
fn mirror_rows(mirror: &Mirror) -> KnownRows {
    let screen = mirror.screen();
    let history = screen.retained()..screen.first_visible();
    let visible = screen.first_visible()..screen.len();
    let mut rows: Vec<Known> = history.filter_map(|index| screen.row(index)).map(Known::of).collect();
    rows.extend(visible.filter_map(|index| screen.row(index)).map(Known::of));
    KnownRows { first: screen.unseen() as u64, rows, renumbered: false }
}

/// How far row numbers moved between `known` and the screen as it stands: 0 unless history was trimmed meanwhile, then
/// by the longest run of equal rows.
fn shift(screen: &Screen, known: &KnownRows) -> i64 {
    let base = screen.retained();
    let now: Vec<String> = (base..screen.len()).filter_map(|index| screen.row(index)).map(row_text).collect();
    let offset = i64::try_from(screen.unseen()).unwrap_or(0);
    let before: Vec<&str> = known.rows.iter().map(|row| row.text.as_str()).collect();
    let run = |shift: i64| {
        let (mut best, mut run) = (0usize, 0usize);
        for (at, text) in now.iter().enumerate() {
            let number = offset + at as i64 + shift - known.first as i64;
            let same =
                usize::try_from(number).ok().and_then(|at| before.get(at)).is_some_and(|old| *old == text.as_str());
            run = if same { run + usize::from(!text.is_empty()) } else { 0 };
            best = best.max(run);
        }
        best
    };
    let plain = run(0);
    let known_history = known.first + before.len() as u64;
    let shrunk = (offset as u64 + now.len() as u64) < known_history;
    if plain > 0 && !shrunk && !known.renumbered {
        return 0;
    }
    let reach = i64::try_from(now.len() + before.len()).unwrap_or(i64::MAX);
    let mut best = (plain, 0);
    for distance in (1..reach).flat_map(|distance| [distance, -distance]) {
        if distance < 0 && !known.renumbered {
            continue;
        }
        let length = run(distance);
        if length > best.0 {
            best = (length, distance);
        }
    }
    best.1
}

/// Gives every cell that differs from the known rows `stamp`; a row below the last known one differs wholly.
fn stamp_differences(mirror: &mut Mirror, known: &KnownRows, alternate: bool, stamp: Stamp) {
    if alternate != mirror.screen().is_alternate() {
        // The other screen's rows say nothing about these.
        return;
    }
    restamp_with(mirror, known, |known_cell, old| if known_cell { old } else { stamp }, true);
}

/// Gives each cell the stamp that `choose` makes of whether the cell was known, and its known stamp.
fn restamp(mirror: &mut Mirror, known: &KnownRows, alternate: bool, choose: impl Fn(bool, Stamp) -> Stamp) {
    if alternate == mirror.screen().is_alternate() {
        restamp_with(mirror, known, choose, false);
    }
}

fn restamp_with(mirror: &mut Mirror, known: &KnownRows, choose: impl Fn(bool, Stamp) -> Stamp, keep: bool) {
    let screen = mirror.screen();
    let shift = shift(screen, known);
    let base = screen.retained();
    let offset = screen.unseen() as u64;
    let mut changes: Vec<(usize, u16, u16, Stamp)> = Vec::new();
    for index in base..screen.len() {
        let Some(row) = screen.row(index) else { continue };
        let number = offset + (index - base) as u64;
        if number.checked_add_signed(shift).is_none_or(|number| number < known.first) {
            continue;
        }
        let old = known.row(number, shift);
        for cell in row.cells().filter(|cell| cell.stamp != Stamp::NONE) {
            let same = old.and_then(|row| row.at(cell.col)).filter(|(_, text, _)| *text == cell_text(&cell));
            let known_stamp = if keep { cell.stamp } else { same.map_or(OLD, |cell| cell.2) };
            let stamp = choose(same.is_some(), known_stamp);
            if stamp != cell.stamp {
                changes.push((index, cell.col, cell.col + u16::from(cell.width.max(1)), stamp));
            }
        }
    }
    for (index, from, to, stamp) in changes {
        mirror.terminal.restamp(index, from..to, stamp);
    }
}
