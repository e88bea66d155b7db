//! Characters that join the cell left of the cursor (RULES 2.6 to 2.8).

use super::glyph::Glyph;
use super::observer::Observer;
use super::profile::{Pairs, Zwj};
use super::row::{CLUSTER_BYTES, Row};
use super::screen::Screen;
use super::style::Ink;
use super::utf8;
use super::width::{is_indicator, is_tone, is_tone_base};

const JOINER: u32 = 0x200D;
const JOINER_TEXT: &[u8] = "\u{200D}".as_bytes();
const WIDENER: u32 = 0xFE0F;
const HANGUL_FILLER: u32 = 0x3164;

/// Text of a cell, put together.
#[derive(Clone, Copy)]
struct Text {
    bytes: [u8; 2 * CLUSTER_BYTES],
    len: usize,
}

impl Text {
    fn of(row: &Row, glyph: Glyph) -> Self {
        let mut text = Self { bytes: [0; 2 * CLUSTER_BYTES], len: 0 };
        if glyph.is_cluster() {
            text.push(row.cluster(glyph));
        } else if glyph.is_tab() {
            for _ in 0..glyph.width() {
                text.push(b" ");
            }
        } else if let Some(c) = char::from_u32(glyph.payload()) {
            text.push(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        text
    }

    fn push(&mut self, more: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(self.len).zip(more) {
            *to = *from;
            self.len += 1;
        }
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

/// What becomes of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Print,
    Drop,
    Join { widen: bool },
}

impl Screen {
    /// Lets a character of the cell path join a cell, or drops it. False if it is to be printed.
    pub(super) fn combine<O: Observer>(&mut self, text: &[u8], code: u32, w: usize, observer: &mut O) -> bool {
        match self.profile.zwj {
            Zwj::Mark if w == 0 => self.attach_left(text, observer),
            Zwj::Mark => return false,
            Zwj::Flag if code == JOINER => self.joiner = true,
            Zwj::Flag if self.joiner => {
                self.joiner = false;
                self.attach_left(JOINER_TEXT, observer);
                self.attach_left(text, observer);
            }
            Zwj::Flag if w == 0 => self.attach_left(text, observer),
            Zwj::Flag => return false,
            Zwj::Joins => return self.join(text, code, w, observer),
        }
        true
    }

    /// Appends to the nearest cell on the left that is not padding (RULES 2.6).
    fn attach_left<O: Observer>(&mut self, text: &[u8], observer: &mut O) {
        let index = self.cursor_index();
        let Some(row) = self.grid.row(index) else { return };
        let Some(x) = (0..self.cx).rev().find(|x| !row.glyph(*x).is_padding()) else { return };
        let glyph = row.glyph(x);
        let mut whole = Text::of(row, glyph);
        if whole.len + text.len() > self.profile.cell_bytes {
            return;
        }
        whole.push(text);
        self.note_row(observer, index);
        self.put_text(index, x, whole.as_bytes(), glyph.width());
    }

    /// Stores a text over a cell, in the cell's own style.
    fn put_text(&mut self, index: usize, x: usize, text: &[u8], w: usize) {
        let (cols, stamp) = (self.grid.width, self.stamp);
        let Some(row) = self.grid.row_mut(index) else { return };
        let ink = Ink { style: row.style(x), extra: row.extra(x), stamp };
        let acs = row.glyph(x).is_acs();
        row.grow(x + 1, cols);
        let glyph = row.intern(text, w).with_acs(acs);
        row.put(x, glyph, &ink);
        self.last_glyph = stamp;
    }

    /// The rules from 3.4 on (RULES 2.8).
    fn join<O: Observer>(&mut self, text: &[u8], code: u32, w: usize, observer: &mut O) -> bool {
        if self.profile.hangul_rules && code == HANGUL_FILLER {
            return true;
        }
        let zero = code == JOINER || code == WIDENER || w == 0;
        let refused = if zero { Fate::Drop } else { Fate::Print };
        let index = self.cursor_index();
        let Some(row) = self.grid.row(index) else { return true };
        let mut fate = refused;
        let mut base = (0, Glyph::BLANK);
        if text.len() > 1 && self.cx > 0 {
            let near = row.glyph(self.cx - 1);
            let distance = if near.is_padding() && self.cx != 1 { 2 } else { 1 };
            base = (self.cx - distance, row.glyph(self.cx - distance));
            if !base.1.is_padding() && base.1.width() == distance {
                fate = if zero {
                    Fate::Join { widen: code == WIDENER && self.profile.vs16_widens }
                } else {
                    self.pairing(Text::of(row, base.1).as_bytes(), code)
                };
            }
        }
        let Fate::Join { widen } = fate else { return fate == Fate::Drop };
        let mut whole = Text::of(row, base.1);
        let total = whole.len + text.len();
        if total > self.profile.cell_bytes {
            return zero && !self.profile.overlong_mark_cell;
        }
        whole.push(text);
        self.note_row(observer, index);
        let corrupt = self.profile.full_cell_corrupts && total == self.profile.cell_bytes;
        self.store_joined(index, base.0, if corrupt { &[] } else { whole.as_bytes() }, widen, corrupt);
        true
    }

    /// Whether a character with a width joins the cell before it (RULES 2.8.5).
    fn pairing(&self, base: &[u8], code: u32) -> Fate {
        let first = utf8::decode(base).map_or(0, |(code, _)| code);
        match self.profile.pairs {
            Pairs::AnyBase if is_indicator(code) || is_tone(code) => {
                return if base.len() == 1 { Fate::Print } else { Fate::Join { widen: true } };
            }
            Pairs::Listed | Pairs::ListedTwoIndicators => {
                if (0x1100..=0x115F).contains(&code) || (0xA960..=0xA97C).contains(&code) {
                    return Fate::Print;
                }
                let indicators = is_indicator(first)
                    && is_indicator(code)
                    && (self.profile.pairs == Pairs::Listed || base.len() == 4);
                let toned = (is_tone(code) && is_tone_base(first)) || (is_tone(first) && is_tone_base(code));
                if indicators || toned {
                    return Fate::Join { widen: true };
                }
            }
            _ => {}
        }
        if base.ends_with(JOINER_TEXT) { Fate::Join { widen: false } } else { Fate::Print }
    }

    /// Stores the joined cell and sets the cursor (RULES 2.8.7, 2.8.8).
    fn store_joined(&mut self, index: usize, x: usize, text: &[u8], widen: bool, corrupt: bool) {
        let (cols, stamp) = (self.grid.width, self.stamp);
        let misplaced = usize::from(self.profile.vs16_padding_misplaced);
        let Some(row) = self.grid.row_mut(index) else { return };
        let old = row.glyph(x);
        let widened = widen && old.width() == 1;
        let w = if widened || corrupt { 2 } else { old.width() };
        let mut cx = self.cx;
        if widened {
            cx += 1;
            let ink = Ink { style: row.style(x), extra: row.extra(x), stamp };
            let pad = cx - 1 + misplaced;
            row.grow(pad + 1, cols);
            row.put_padding(pad, false, &ink);
        }
        if !old.is_tab() {
            self.put_text(index, x, text, w);
        }
        if !self.profile.combine_needs_visible || cx <= cols {
            self.set_cursor(cx, self.cy);
        }
    }
}
