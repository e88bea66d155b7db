//! Reading the cells and the text of a row.

use std::ops::Range;

use super::Stamp;
use super::charset::line_drawing;
use super::glyph::Glyph;
use super::row::Row;
use super::style::{Color, Style};

/// The text of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellText<'a> {
    /// One character; a blank is a space.
    Char(char),
    /// Several code points, or bytes that are no text at all.
    Bytes(&'a [u8]),
}

impl CellText<'_> {
    /// Appends the text; bytes that are not UTF-8 become U+FFFD.
    pub fn push_to(&self, out: &mut String) {
        match self {
            Self::Char(c) => out.push(*c),
            Self::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        }
    }

    /// True for a space.
    pub fn is_blank(&self) -> bool {
        *self == Self::Char(' ')
    }
}

/// One cell, seen from outside.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// Column, counted from 0.
    pub col: u16,
    /// Columns that it takes; 0 for a mark that stands alone (RULES 2.8.6).
    pub width: u8,
    /// What it shows; DEC line drawing as Unicode, a tab as a blank.
    pub text: CellText<'a>,
    /// Colours and attributes.
    pub style: Style,
    /// Colour of the underline, if it has its own.
    pub underline_color: Color,
    /// When its glyph was written.
    pub stamp: Stamp,
    /// True if a glyph was written there and not erased since.
    pub has_glyph: bool,
}

/// What a tab cell is shown as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tabs {
    Blanks,
    Tab,
}

/// Appends cells that hold ASCII only, some at a time.
fn push_ascii(cells: &[Glyph], out: &mut String) {
    let mut bytes = [0u8; 64];
    for part in cells.chunks(bytes.len()) {
        for (byte, glyph) in bytes.iter_mut().zip(part) {
            *byte = glyph.payload() as u8;
        }
        let text = bytes.get(..part.len()).and_then(|part| std::str::from_utf8(part).ok());
        out.push_str(text.unwrap_or_default());
    }
}

impl Row {
    /// Appends the text of the row: glyphs in column order up to [`Row::used`], a blank for each
    /// empty cell, nothing for padding, DEC line drawing as Unicode. Not trimmed.
    pub fn push_text(&self, out: &mut String) {
        self.push_columns(0..self.used_cells(), Tabs::Blanks, out);
    }

    /// The same for some columns only.
    pub fn push_text_within(&self, columns: Range<u16>, out: &mut String) {
        let end = usize::from(columns.end).min(self.used_cells());
        self.push_columns(usize::from(columns.start)..end, Tabs::Blanks, out);
    }

    /// The first `cols` columns as `capture-pane -p` prints them: a tab cell is a TAB (RULES 2.12).
    pub fn push_capture(&self, cols: u16, out: &mut String) {
        self.push_columns(0..self.used_cells().min(usize::from(cols)), Tabs::Tab, out);
    }

    fn push_columns(&self, columns: Range<usize>, tabs: Tabs, out: &mut String) {
        let stored = columns.start.min(self.stored())..columns.end.min(self.stored());
        let cells = self.glyphs().get(stored).unwrap_or(&[]);
        out.reserve(columns.len());
        if self.is_ascii() {
            push_ascii(cells, out);
        } else {
            for glyph in cells {
                self.push_glyph(*glyph, tabs, out);
            }
        }
        out.extend(std::iter::repeat_n(' ', columns.len().saturating_sub(cells.len())));
    }

    fn push_glyph(&self, glyph: Glyph, tabs: Tabs, out: &mut String) {
        if glyph.is_padding() {
            return;
        }
        if glyph.is_tab() {
            match tabs {
                Tabs::Tab => out.push('\t'),
                Tabs::Blanks => out.extend(std::iter::repeat_n(' ', glyph.width())),
            }
            return;
        }
        self.text_of(glyph).push_to(out);
    }

    fn text_of(&self, glyph: Glyph) -> CellText<'_> {
        if glyph.is_cluster() {
            CellText::Bytes(self.cluster(glyph))
        } else if glyph.is_tab() {
            CellText::Char(' ')
        } else if glyph.is_acs() {
            CellText::Char(line_drawing(glyph.payload() as u8))
        } else {
            CellText::Char(char::from_u32(glyph.payload()).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
    }

    /// The cells in column order, padding left out, up to the last one that is used or coloured.
    pub fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let end = self.used_cells().max(self.styles_end());
        (0..end).filter_map(|x| {
            let glyph = self.glyph(x);
            if glyph.is_padding() {
                return None;
            }
            let stamp = self.stamp(x);
            Some(Cell {
                col: x as u16,
                width: glyph.width() as u8,
                text: self.text_of(glyph),
                style: self.style(x),
                underline_color: Color::unpack(self.extra(x).underline_color),
                stamp,
                has_glyph: stamp != Stamp::NONE,
            })
        })
    }
}
