//! Filling a terminal from what tmux can tell of a pane (RULES 11).

use std::time::Duration;

use crate::geometry::{Point, Size};

use super::row::Row;
use super::screen::Screen;
use super::style::Style;
use super::tabs::Tabs;
use super::{Options, Terminal};

/// One row as `capture-pane -p -e -N` (and `-T` from 3.4 on) prints it, without the newline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeedRow {
    /// Text, SGR, SO and SI, OSC 8. The state runs on from row to row, and from the history to the
    /// screen (one capture); the hidden main screen starts anew.
    pub ansi: Vec<u8>,
    /// The text goes on in the next row (RULES 11.4).
    pub wrapped: bool,
}

/// The modes that tmux can tell (RULES 11.2). What it cannot tell keeps its state if `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedModes {
    /// `insert_flag`.
    pub insert: bool,
    /// `origin_flag`.
    pub origin: bool,
    /// `wrap_flag`.
    pub wrap: bool,
    /// `cursor_flag`.
    pub cursor_visible: bool,
    /// `keypad_flag`.
    pub keypad: bool,
    /// `keypad_cursor_flag`.
    pub keypad_cursor: bool,
    /// `mouse_standard_flag`.
    pub mouse_standard: bool,
    /// `mouse_button_flag`.
    pub mouse_button: bool,
    /// `mouse_all_flag`.
    pub mouse_all: bool,
    /// `mouse_utf8_flag`.
    pub mouse_utf8: bool,
    /// `mouse_sgr_flag`.
    pub mouse_sgr: bool,
    /// `bracket_paste_flag`, from 3.7 on.
    pub bracketed_paste: Option<bool>,
    /// Focus reports, where known.
    pub focus: Option<bool>,
}

impl Default for SeedModes {
    fn default() -> Self {
        Self {
            insert: false,
            origin: false,
            wrap: true,
            cursor_visible: true,
            keypad: false,
            keypad_cursor: false,
            mouse_standard: false,
            mouse_button: false,
            mouse_all: false,
            mouse_utf8: false,
            mouse_sgr: false,
            bracketed_paste: None,
            focus: None,
        }
    }
}

/// Everything that [`Terminal::restore`] needs.
#[derive(Clone, Debug, Default)]
pub struct Seed {
    /// Size of the pane.
    pub size: Size,
    /// The newest history rows, oldest first.
    pub history: Vec<SeedRow>,
    /// `history_size`: how many history rows there are in all.
    pub history_size: usize,
    /// The rows that are shown, top first.
    pub screen: Vec<SeedRow>,
    /// The main screen's rows while the alternate screen is shown.
    pub saved: Option<Vec<SeedRow>>,
    /// `history_limit`.
    pub history_limit: usize,
    /// `cursor_y`, `cursor_x` (a wrap may be pending).
    pub cursor: Point,
    /// `scroll_region_upper`, `scroll_region_lower`.
    pub region: (u16, u16),
    /// `pane_tabs`.
    pub tabs: Vec<u16>,
    /// The modes.
    pub modes: SeedModes,
    /// `alternate_saved_y`, `alternate_saved_x`, if set (RULES 6.6).
    pub saved_cursor: Option<Point>,
    /// `pane_title`.
    pub title: String,
    /// `pane_path`.
    pub path: String,
    /// Bytes of an unfinished sequence (`capture-pane -P`).
    pub pending: Vec<u8>,
}

impl Terminal {
    /// Replaces history, screen and modes by a seed; retained rows stay in front. All glyphs get the
    /// present stamp. Counters go on. What tmux cannot tell (RULES 11.9) is as in a new terminal.
    pub fn restore(&mut self, seed: Seed) {
        let screen = &mut self.screen;
        let stamp = screen.stamp;
        let mut printer = Printer::new(screen, &seed);
        let history = printer.rows(&seed.history);
        let mut shown = printer.rows(&seed.screen);
        printer.start();
        let saved = seed.saved.as_ref().map(|rows| printer.rows(rows));
        let height = usize::from(seed.size.rows.max(1));

        let retained = screen.grid.retained;
        screen.grid.rows.truncate(retained);
        screen.grid.hist = history.len();
        screen.grid.unseen = seed.history_size.saturating_sub(screen.grid.hist);
        // Not to be read (RULES 11.9): that nothing was cleared is the likeliest.
        screen.grid.hscrolled = screen.grid.hist;
        screen.grid.width = usize::from(seed.size.cols.max(1));
        screen.grid.height = height;
        screen.grid.history_limit = seed.history_limit;
        screen.grid.pushed += history.len() as u64;
        shown.truncate(height);
        screen.grid.rows.extend(history);
        screen.grid.rows.extend(shown);
        while screen.grid.rows.len() < screen.grid.first_visible() + height {
            screen.grid.append(Style::DEFAULT);
        }
        for index in retained..screen.grid.rows.len() {
            screen.grid.give_id(index);
        }
        screen.hidden = None;
        screen.grid.history_on = seed.history_limit > 0;
        if let Some(mut rows) = saved {
            rows.truncate(height);
            rows.resize_with(height, || Box::new(Row::new(0)));
            screen.hide(rows, seed.size);
        }
        screen.grid.recount();
        screen.apply_seed(&seed);
        if !screen.grid.rows.iter().all(|row| !row.has_glyphs()) {
            screen.last_glyph = screen.last_glyph.max(stamp);
        }
        self.parser.abandon();
        self.feed(&seed.pending, Duration::ZERO, &mut ());
    }
}

impl Screen {
    fn apply_seed(&mut self, seed: &Seed) {
        let (cols, height) = (self.grid.width, self.grid.height);
        self.cx = usize::from(seed.cursor.col);
        if self.hidden.is_none() {
            self.cx = self.cx.min(cols);
        }
        self.cy = usize::from(seed.cursor.row).min(height - 1);
        let (top, bottom) = (usize::from(seed.region.0), usize::from(seed.region.1));
        (self.top, self.bottom) = if top <= bottom && bottom < height { (top, bottom) } else { (0, height - 1) };
        self.tabs = Tabs::new(cols);
        self.tabs.clear();
        for stop in &seed.tabs {
            self.tabs.set(usize::from(*stop), true);
        }
        let from = &seed.modes;
        let modes = &mut self.modes;
        modes.insert = from.insert;
        modes.origin = from.origin;
        modes.wrap = from.wrap;
        modes.cursor_visible = from.cursor_visible;
        modes.keypad = from.keypad;
        modes.cursor_keys = from.keypad_cursor;
        modes.mouse_standard = from.mouse_standard;
        modes.mouse_button = from.mouse_button;
        modes.mouse_all = from.mouse_all;
        modes.mouse_utf8 = from.mouse_utf8;
        modes.mouse_sgr = from.mouse_sgr;
        modes.bracketed_paste = from.bracketed_paste.unwrap_or(modes.bracketed_paste);
        modes.focus = from.focus.unwrap_or(modes.focus);
        self.pen = Default::default();
        self.charsets = Default::default();
        self.saved = Default::default();
        self.slot = seed.saved_cursor.map(|at| (usize::from(at.col), usize::from(at.row)));
        self.slot_pen = Default::default();
        self.title.clone_from(&seed.title);
        self.path.clone_from(&seed.path);
        self.joiner = false;
    }
}

/// Prints captured rows, one at a time, on a screen of one row (RULES 11.8).
struct Printer {
    terminal: Terminal,
}

impl Printer {
    fn new(screen: &Screen, seed: &Seed) -> Self {
        let options =
            Options { profile: screen.profile.clone(), history_limit: 0, retention: 0, answer_queries: false };
        let mut terminal = Terminal::new(Size { rows: 1, cols: seed.size.cols.max(1) }, options);
        terminal.set_stamp(screen.stamp);
        terminal.screen.charsets.designate(true, true);
        terminal.screen.tabs.clear();
        for stop in &seed.tabs {
            terminal.screen.tabs.set(usize::from(*stop), true);
        }
        Self { terminal }
    }

    /// A capture of its own begins: in the default state.
    fn start(&mut self) {
        self.terminal.screen.pen = Default::default();
        self.terminal.screen.charsets.shift(false);
    }

    fn rows(&mut self, rows: &[SeedRow]) -> Vec<Box<Row>> {
        rows.iter().map(|row| self.row(row)).collect()
    }

    fn row(&mut self, seed: &SeedRow) -> Box<Row> {
        self.terminal.screen.cx = 0;
        self.terminal.feed(&seed.ansi, Duration::ZERO, &mut ());
        self.terminal.parser.abandon();
        let columns = self.terminal.screen.cx;
        let mut row = self.terminal.screen.grid.rows.pop_back().unwrap_or_else(|| Box::new(Row::new(0)));
        self.terminal.screen.grid.append(Style::DEFAULT);
        row.set_used(columns);
        row.set_wrapped(seed.wrapped);
        row.settle();
        row
    }
}
