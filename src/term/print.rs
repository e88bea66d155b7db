//! Printing characters into cells (RULES 2).

use super::glyph::Glyph;
use super::observer::Observer;
use super::profile::LeftRepair;
use super::row::Row;
use super::screen::{Repeat, Screen};
use super::style::{Ink, Style};
use super::utf8;
use super::width::{simple_width, simple_widths, width};

/// Most columns of a tab cell (RULES 2.12).
const TAB_CELL: usize = 32;

/// What goes into a cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<'a> {
    /// A single code point, or a tab.
    Glyph(Glyph),
    /// Bytes that are not one code point.
    Bytes(&'a [u8]),
}

impl Screen {
    /// Prints a run of bytes 20-7E.
    #[inline]
    pub(super) fn print_ascii<O: Observer>(&mut self, text: &[u8], observer: &mut O) {
        let Some(last) = text.last() else { return };
        self.repeat = Repeat::Ascii(*last);
        self.print_bytes(text, self.charsets.is_graphics(), observer);
    }

    fn print_bytes<O: Observer>(&mut self, text: &[u8], graphics: bool, observer: &mut O) {
        if self.modes.wrap && !self.modes.insert && !graphics {
            self.print_run(text, observer);
        } else {
            for byte in text {
                self.print_byte(*byte, graphics, observer);
            }
        }
    }

    fn print_byte<O: Observer>(&mut self, byte: u8, graphics: bool, observer: &mut O) {
        let ink = self.ink();
        if !self.combine(&[byte], u32::from(byte), 1, observer) {
            self.place(Content::Glyph(Glyph::ascii(byte).with_acs(graphics)), 1, ink, observer);
        }
    }

    /// The run path (RULES 2.4).
    #[inline]
    fn print_run<O: Observer>(&mut self, text: &[u8], observer: &mut O) {
        let width = self.grid.width;
        let ink = self.ink();
        self.last_glyph = self.stamp;
        let mut rest = text;
        while !rest.is_empty() {
            if self.cx >= width {
                self.autowrap(observer);
            }
            let x = self.cx;
            let (now, later) = rest.split_at(rest.len().min(width - x));
            let index = self.cursor_index();
            let repair = self.profile.left_repair;
            let keep = self.profile.repair_keeps_background;
            let watched = self.watched::<O>();
            let wrapped = std::mem::take(&mut self.wrapping);
            let Some(row) = self.grid.row_mut(index) else { return };
            if watched && (row.glyph_end() > x || row.is_wrapped()) {
                self.print_run_watched(index, now, &ink, wrapped, observer);
            } else if x >= row.stored() {
                row.grow(x + now.len(), width);
                row.put_ascii(x, now, &ink);
            } else {
                repair_left(row, x, repair, keep);
                row.grow(x + now.len(), width);
                row.put_ascii(x, now, &ink);
                repair_right(row, x + now.len(), width, keep);
            }
            self.cx = x + now.len();
            rest = later;
        }
    }

    /// The run path over text that somebody watches: each glyph is announced on its own, but for the first one if it
    /// has just wrapped: the wrap was announced, and both are one operation.
    fn print_run_watched<O: Observer>(
        &mut self,
        index: usize,
        text: &[u8],
        ink: &Ink,
        wrapped: bool,
        observer: &mut O,
    ) {
        let width = self.grid.width;
        let (x, end) = (self.cx, self.cx + text.len());
        let repair = self.profile.left_repair;
        let keep = self.profile.repair_keeps_background;
        let cuts = self.grid.row(index).is_some_and(|row| x > 0 && row.glyph(x).is_padding());
        if cuts {
            self.note_row(observer, index);
            if let Some(row) = self.grid.row_mut(index) {
                repair_left(row, x, repair, keep);
            }
        }
        if let Some(row) = self.grid.row_mut(index) {
            row.grow(end, width);
        }
        let mut from = x;
        for (at, byte) in (x..end).zip(text) {
            let Some(row) = self.grid.row(index) else { return };
            let inside = row.glyph_end() > at || row.is_wrapped();
            let same = at < row.used_cells() && row.glyph(at).same(Glyph::ascii(*byte));
            if inside && !same {
                self.put_part(index, from, text.get(from - x..at - x).unwrap_or(&[]), ink);
                if at > x || !(cuts || wrapped) {
                    self.note_row(observer, index);
                }
                self.put_part(index, at, &[*byte], ink);
                if let Some(row) = self.grid.row_mut(index) {
                    repair_right(row, at + 1, width, keep);
                }
                from = at + 1;
            }
        }
        self.put_part(index, from, text.get(from - x..).unwrap_or(&[]), ink);
        if end < width && self.grid.row(index).is_some_and(|row| row.glyph(end).is_padding()) {
            self.note_row(observer, index);
            if let Some(row) = self.grid.row_mut(index) {
                repair_right(row, end, width, keep);
            }
        }
    }

    fn put_part(&mut self, index: usize, x: usize, text: &[u8], ink: &Ink) {
        if !text.is_empty()
            && let Some(row) = self.grid.row_mut(index)
        {
            row.put_ascii(x, text, ink);
        }
    }

    /// Sets the soft-wrap flag and goes to the next row (RULES 3.3).
    pub(super) fn autowrap<O: Observer>(&mut self, observer: &mut O) {
        let index = self.cursor_index();
        if self.cy == self.bottom && self.grid.history_on {
            // The flag after the scroll: before it, the row would seem to go on below the region.
            self.line_down(Style::DEFAULT, observer);
            let index = self.cursor_index();
            if let Some(row) = index.checked_sub(1).and_then(|i| self.grid.row_mut(i)) {
                row.set_wrapped(true);
            }
        } else {
            // The scroll is announced before the flag: with it, the row would seem to go on below the region.
            let scrolls = self.cy == self.bottom && self.top < self.bottom;
            if scrolls {
                self.note_up(1, observer);
            } else if self.watched::<O>() && self.cy + 1 < self.grid.height {
                let joins = self.grid.row(index).is_some_and(|row| !row.is_wrapped())
                    && self.grid.row(index + 1).is_some_and(|row| row.has_glyphs() || row.is_wrapped());
                if joins {
                    self.note(observer, index..index + 2);
                    self.wrapping = true;
                }
            }
            if let Some(row) = self.grid.row_mut(index) {
                row.set_wrapped(true);
            }
            self.line_down(Style::DEFAULT, &mut ());
            if O::ACTIVE {
                observer.rows_changed(self);
            }
        }
        self.cx = 0;
    }

    /// Prints as many characters as are simple: one fixed width, never combining. Returns the bytes
    /// taken, 0 if the first one is for [`Screen::print_code`].
    pub(super) fn print_simple<O: Observer>(&mut self, bytes: &[u8], observer: &mut O) -> usize {
        if !self.modes.wrap || self.modes.insert || self.joiner || self.follows_cluster() {
            return 0;
        }
        let table = simple_widths();
        let cols = self.grid.width;
        let mut rest = bytes;
        let mut last = None;
        while let Some((code, len)) = utf8::decode(rest) {
            let columns = simple_width(table, code);
            if columns == 0 || columns > cols {
                break;
            }
            if self.cx > cols - columns {
                self.autowrap(observer);
            }
            let index = self.cursor_index();
            let Some(row) = self.grid.row(index) else { break };
            if row.stored() > self.cx || (self.watched::<O>() && row.is_wrapped()) {
                let ink = self.ink();
                self.place(Content::Glyph(Glyph::code_point(code, columns)), columns, ink, observer);
                last = rest.get(..len);
                rest = rest.get(len..).unwrap_or(&[]);
                continue;
            }
            let (left, character) = self.append_simple(index, rest, table);
            rest = left;
            last = character.or(last);
        }
        if let (Some(text), true) = (last, self.profile.rep_unicode) {
            self.set_repeat(text);
        }
        bytes.len() - rest.len()
    }

    /// Appends simple characters to the end of a row, as far as they fit. Returns what is left, and
    /// the last character taken.
    fn append_simple<'a>(&mut self, index: usize, bytes: &'a [u8], table: &[u32]) -> (&'a [u8], Option<&'a [u8]>) {
        let (cols, x) = (self.grid.width, self.cx);
        self.wrapping = false;
        let ink = self.ink();
        let pad = Glyph::PADDING.with_sticky(self.profile.padding_background && ink.style.has_rgb_background());
        self.last_glyph = self.stamp;
        let Some(row) = self.grid.row_mut(index) else { return (bytes, None) };
        let (mut taken, mut last_len) = (0, 0);
        let end = row.append_with(x, &ink, |glyphs| {
            let mut rest = bytes;
            let mut column = glyphs.len();
            while let Some((code, len)) = utf8::decode(rest) {
                let columns = simple_width(table, code);
                if columns == 0 || column + columns > cols {
                    break;
                }
                column += columns;
                glyphs.push(Glyph::code_point(code, columns).with_sticky(true));
                if columns == 2 {
                    glyphs.push(pad);
                }
                last_len = len;
                rest = rest.get(len..).unwrap_or(&[]);
            }
            taken = bytes.len() - rest.len();
        });
        row.grow_by_cells(x, end, cols);
        self.cx = end;
        (bytes.get(taken..).unwrap_or(&[]), bytes.get(taken - last_len..taken).filter(|_| taken > 0))
    }

    /// True if the cell left of the cursor holds more than one code point, so that the next one may
    /// join it.
    fn follows_cluster(&self) -> bool {
        let Some(row) = self.grid.screen_row(self.cy) else { return true };
        let Some(x) = self.cx.checked_sub(1) else { return false };
        let glyph = row.glyph(x);
        let glyph = if glyph.is_padding() { row.glyph(x.saturating_sub(1)) } else { glyph };
        glyph.is_cluster() || glyph.width() == 0
    }

    fn set_repeat(&mut self, text: &[u8]) {
        let mut bytes = [0; 4];
        for (to, from) in bytes.iter_mut().zip(text) {
            *to = *from;
        }
        self.repeat = Repeat::Unicode(bytes, text.len().min(4));
    }

    /// Prints one code point that is not ASCII, from its bytes.
    pub(super) fn print_code<O: Observer>(&mut self, code: u32, text: &[u8], observer: &mut O) {
        if self.profile.rep_unicode {
            self.set_repeat(text);
        }
        let above = code > 0x10_FFFF;
        let columns = if above { self.profile.above_unicode_cell.then_some(1) } else { width(code, &self.profile) };
        let Some(columns) = columns else { return };
        if self.combine(text, code, columns, observer) {
            return;
        }
        let ink = self.ink();
        let content = if above { Content::Bytes(text) } else { Content::Glyph(Glyph::code_point(code, columns)) };
        self.place(content, columns, ink, observer);
    }

    /// Prints U+FFFD for invalid UTF-8 (RULES 1.20).
    pub(super) fn print_replacement<O: Observer>(&mut self, observer: &mut O) {
        if self.profile.invalid_utf8_shown && !self.combine("\u{FFFD}".as_bytes(), 0xFFFD, 1, observer) {
            let ink = self.ink();
            self.place(Content::Glyph(Glyph::code_point(0xFFFD, 1)), 1, ink, observer);
        }
    }

    /// The cell path, without combining (RULES 2.5 b to h).
    pub(super) fn place<O: Observer>(&mut self, content: Content<'_>, w: usize, ink: Ink, observer: &mut O) {
        let cols = self.grid.width;
        let last = cols.wrapping_sub(w); // tmux computes without a sign: huge if the pane is too narrow
        let (wraps, inserts) = (self.modes.wrap, self.modes.insert);
        if !wraps && w > 1 && (w > cols || (self.cx != cols && self.cx > last)) {
            return;
        }
        let start = (self.cx, self.cy);
        // A wide character that does not fit erases the last cell before it wraps.
        let erases = inserts && wraps && self.cx > last && self.cx < cols;
        if erases && self.watched::<O>() {
            let index = self.cursor_index();
            self.note(observer, index..(index + 2).min(self.len()));
            if self.cy == self.bottom {
                self.note_up(1, observer);
            }
            self.insert_cells(w, Style::DEFAULT, &mut ());
            self.autowrap(&mut ());
            observer.rows_changed(self);
        } else if inserts {
            let index = self.cursor_index();
            if self.watched::<O>() && self.grid.row(index).is_some_and(|r| r.glyph_end() > self.cx || r.is_wrapped()) {
                self.note_row(observer, index);
            }
            self.insert_cells(w, Style::DEFAULT, &mut ());
        }
        if wraps && self.cx > last {
            self.autowrap(observer);
        }
        let wrapped = std::mem::take(&mut self.wrapping);
        if self.cx > last {
            return;
        }
        let index = self.cursor_index();
        let x = self.cx;
        let announced = wrapped || erases || (inserts && start == (x, self.cy));
        let changes = |row: &Row| !announced && changes_inside(row, x, content);
        if self.watched::<O>() && self.grid.row(index).is_some_and(changes) {
            self.note_row(observer, index);
        }
        self.store(index, content, w, &ink);
        let stop = cols - usize::from(!wraps);
        if x <= cols.wrapping_sub(usize::from(!wraps)).wrapping_sub(w) {
            self.set_cursor(x + w, self.cy);
        } else {
            self.set_cursor(stop, self.cy);
        }
    }

    /// Overwrites and stores (RULES 2.5 f and g, 2.9).
    fn store(&mut self, index: usize, content: Content<'_>, w: usize, ink: &Ink) {
        let (cols, x) = (self.grid.width, self.cx);
        let keep = self.profile.repair_keeps_background;
        let skips = !self.modes.wrap && !self.modes.insert;
        let padding_sticky = self.profile.padding_background && ink.style.has_rgb_background();
        let tab = matches!(content, Content::Glyph(glyph) if glyph.is_tab());
        let Some(row) = self.grid.row_mut(index) else { return };
        let repaired = x < row.stored() && overwrite(row, x, w, cols, keep);
        if !repaired
            && skips
            && x >= row.alloc()
            && matches!(content, Content::Glyph(glyph) if glyph == Glyph::BLANK)
            && ink.style == Style::DEFAULT
            && ink.extra == Default::default()
        {
            return;
        }
        for pad in x + 1..x + w {
            row.grow(pad + 1, cols);
            row.put_padding(pad, padding_sticky, ink);
        }
        row.grow(x + 1, cols);
        let glyph = match content {
            Content::Glyph(glyph) => glyph,
            Content::Bytes(text) => row.intern(text, w),
        };
        row.put(x, glyph, ink);
        if !tab {
            self.last_glyph = self.stamp;
        }
    }

    /// REP, `CSI n b` (RULES 2.10).
    pub(super) fn rep<O: Observer>(&mut self, count: usize, what: Repeat, observer: &mut O) {
        let count = count.min(self.grid.width.saturating_sub(self.cx));
        match what {
            Repeat::Nothing => {}
            Repeat::Ascii(byte) => {
                let graphics = self.charsets.is_graphics() && self.profile.rep_acs;
                let run = [byte; 64];
                let mut left = count;
                while left > 0 {
                    let part = run.get(..left.min(run.len())).unwrap_or(&run);
                    self.print_bytes(part, graphics, observer);
                    left -= part.len();
                }
            }
            Repeat::Unicode(bytes, len) => {
                let text = bytes.get(..len).unwrap_or(&[]);
                let code = utf8::decode_any(text);
                for _ in 0..count {
                    self.print_code(code, text, observer);
                }
            }
        }
        self.repeat = Repeat::Nothing;
    }

    /// HT (RULES 2.11, 2.12).
    pub(super) fn ht<O: Observer>(&mut self, observer: &mut O) {
        if self.cx + 1 >= self.grid.width {
            return;
        }
        let target = self.tabs.next(self.cx);
        let span = target - self.cx;
        if !self.profile.tab_cells || span > TAB_CELL || !self.blank_until(target) {
            self.set_column(target);
            return;
        }
        let Some(row) = self.grid.screen_row(self.cy) else { return };
        let mut ink = Ink::blank(row.style(self.cx));
        ink.extra = row.extra(self.cx);
        let spaces = [b' '; TAB_CELL];
        if !self.combine(spaces.get(..span).unwrap_or(&spaces), u32::from(b' '), span, observer) {
            self.place(Content::Glyph(Glyph::tab(span)), span, ink, observer);
        }
    }

    /// True if the cells from the cursor up to `target` are single spaces that look alike.
    fn blank_until(&self, target: usize) -> bool {
        let Some(row) = self.grid.screen_row(self.cy) else { return false };
        let first = row.glyph(self.cx);
        if !first.same(Glyph::BLANK) && !first.same(Glyph::tab(1)) {
            return false;
        }
        let look = (row.style(self.cx), row.extra(self.cx));
        (self.cx..target).all(|x| row.glyph(x).same(first) && (row.style(x), row.extra(x)) == look)
    }
}

/// True if storing `content` at `x` changes text inside the logical line, not at its end.
fn changes_inside(row: &Row, x: usize, content: Content<'_>) -> bool {
    if row.glyph_end() <= x && !row.is_wrapped() {
        return false;
    }
    if x >= row.used_cells() {
        return true;
    }
    let old = row.glyph(x);
    match content {
        // A blank that was printed is a glyph, one of a tab is none.
        Content::Glyph(glyph) if glyph.is_tab() => {
            (!old.same(Glyph::BLANK) && !old.is_tab()) || row.has_glyph_in(x..x + glyph.width())
        }
        // The same wide character can stand there with its second half overwritten (RULES 2.4 a).
        Content::Glyph(glyph) => {
            let end = x + glyph.width().max(1);
            let halved = (x + 1..end).any(|pad| !row.glyph(pad).is_padding());
            !old.same(glyph) || halved || (glyph.width() > 1 && row.glyph(end).is_padding())
        }
        Content::Bytes(text) => !old.is_cluster() || row.cluster(old) != text,
    }
}

/// Stores a blank that repairs half a character (RULES 2.4).
fn blank(row: &mut Row, x: usize, keep_background: bool) {
    let style = if keep_background { row.style(x).erased() } else { Style::DEFAULT };
    row.put(x, Glyph::BLANK, &Ink::blank(style));
}

/// Left clean-up of the run path (RULES 2.4 a).
fn repair_left(row: &mut Row, cx: usize, repair: LeftRepair, keep: bool) {
    let mut x = cx;
    while x > 0 && row.glyph(x).is_padding() {
        blank(row, x, keep);
        x -= 1;
    }
    if x == cx {
        return;
    }
    let cell = row.glyph(x);
    let wide = !cell.is_padding() && cell.width() > 1;
    let blanks = match repair {
        LeftRepair::LastLooked => x > 0 && wide,
        LeftRepair::Itself => wide,
        LeftRepair::ItselfOrPadding => wide || cell.is_padding(),
    };
    if blanks {
        blank(row, x, keep);
    }
}

/// Right clean-up of the run path (RULES 2.4 c).
fn repair_right(row: &mut Row, from: usize, cols: usize, keep: bool) {
    for x in from..cols {
        if !row.glyph(x).is_padding() {
            break;
        }
        blank(row, x, keep);
    }
}

/// Repairs what a cell of `w` columns at `cx` cuts in half (RULES 2.5 f). True if anything changed.
fn overwrite(row: &mut Row, cx: usize, w: usize, cols: usize, keep: bool) -> bool {
    let old = row.glyph(cx);
    let (old_style, old_extra) = (row.style(cx), row.extra(cx));
    let mut done = false;
    if old.is_padding() {
        let mut x = cx;
        while x > 0 && row.glyph(x).is_padding() {
            blank(row, x, keep);
            x -= 1;
        }
        blank(row, x, keep);
        done = true;
    }
    if w != 1 || old.is_padding() || old.width() != 1 {
        for x in cx + w..cols {
            if !row.glyph(x).is_padding() {
                break;
            }
            if old.is_tab() && !keep {
                let mut ink = Ink::blank(old_style);
                ink.extra = old_extra;
                row.put(x, Glyph::BLANK, &ink);
            } else {
                blank(row, x, keep);
            }
            done = true;
        }
    }
    done
}
