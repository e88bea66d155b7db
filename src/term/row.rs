//! One row of cells.

use std::ops::Range;

use super::Stamp;
use super::glyph::Glyph;
use super::runs::Runs;
use super::style::{Extra, Ink, Style};

/// Longest text of one cell, in bytes (RULES 2.8.6).
pub(super) const CLUSTER_BYTES: usize = 32;

/// Text of a cell that is more than one code point, or not a code point at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    len: u8,
    bytes: [u8; CLUSTER_BYTES],
}

impl Cluster {
    /// Takes at most [`CLUSTER_BYTES`] bytes.
    pub(super) fn new(text: &[u8]) -> Self {
        let mut cluster = Self { len: 0, bytes: [0; CLUSTER_BYTES] };
        for (to, from) in cluster.bytes.iter_mut().zip(text) {
            *to = *from;
            cluster.len += 1;
        }
        cluster
    }

    /// The text.
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&[])
    }
}

/// Spare room that a history row may keep, in cells: less than giving it back and asking again costs.
const SPARE_CELLS: usize = 96;

/// What hardly any row has.
#[derive(Clone, Debug)]
struct Rare {
    extras: Runs<Extra>,
    clusters: Vec<Cluster>,
}

/// One row: its cells, their styles and stamps, and whether its text goes on in the next row.
///
/// ```text
///          0            used        alloc       width
/// glyphs   [===================|.......|
/// styles   [==|=======|........|.......|          runs; default after the last
/// stamps   [==============|....|.......|          runs; NONE: the cell holds no glyph
/// ```
///
/// Invariants: `glyphs.len() <= alloc`, `used <= alloc`, no style or stamp at or past `alloc`, no
/// stamp at or past `glyphs.len()`. Cells between `glyphs.len()` and `alloc` are blanks that were
/// never stored; cells past `alloc` do not exist and read as blanks (RULES 0.2).
#[derive(Clone, Debug)]
pub struct Row {
    glyphs: Vec<Glyph>,
    styles: Runs<Style>,
    stamps: Runs<Stamp>,
    rare: Option<Box<Rare>>,
    id: u64,
    alloc: u32,
    used: u32,
    wrapped: bool,
    touched: bool,
    ascii: bool,
}

impl Row {
    /// A fresh row (RULES 0.2).
    pub(super) fn new(id: u64) -> Self {
        Self {
            glyphs: Vec::new(),
            styles: Runs::new(),
            stamps: Runs::new(),
            rare: None,
            id,
            alloc: 0,
            used: 0,
            wrapped: false,
            touched: false,
            ascii: true,
        }
    }

    /// Makes it a fresh row again, under a new identity; keeps its memory.
    pub(super) fn recycle(&mut self, id: u64) {
        self.clear();
        self.id = id;
        self.touched = false;
    }

    fn clear(&mut self) {
        self.glyphs.clear();
        self.styles.clear();
        self.stamps.clear();
        self.rare = None;
        self.alloc = 0;
        self.used = 0;
        self.wrapped = false;
        self.ascii = true;
    }

    /// Wipes the row (RULES 0.2): fresh, or `cols` cells of the background if that is not the default.
    pub(super) fn wipe(&mut self, background: Style, cols: usize) {
        self.touched |= self.stamps.end() > 0;
        self.clear();
        if background != Style::DEFAULT {
            self.alloc = cols as u32;
            self.styles.set(0, cols, background);
            if background.has_rgb_background() {
                self.glyphs.resize(cols, Glyph::BLANK.with_sticky(true));
            }
        }
    }

    /// True if the text of this row goes on in the next one.
    pub fn is_wrapped(&self) -> bool {
        self.wrapped
    }

    /// Number of cells that count as written (RULES 0.2).
    pub fn used(&self) -> u16 {
        self.used.min(u32::from(u16::MAX)) as u16
    }

    /// Identity: unique among all rows ever made, travels with the row when it moves.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// True if its text or stamps changed since [`super::Terminal::clear_touched`].
    pub fn is_touched(&self) -> bool {
        self.touched
    }

    /// The highest stamp in the row, [`Stamp::NONE`] if it holds no glyph.
    pub fn newest(&self) -> Stamp {
        self.stamps.iter().map(|(_, stamp)| stamp).max().unwrap_or(Stamp::NONE)
    }

    /// The stamps of the used cells as runs of columns; cells past the last run hold no glyph.
    pub(crate) fn stamp_runs(&self) -> impl Iterator<Item = (Range<usize>, Stamp)> + '_ {
        self.stamps.within(0..self.used_cells())
    }

    /// True if every cell is plain ASCII of one column.
    pub fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// True if any cell holds a glyph.
    pub fn has_glyphs(&self) -> bool {
        self.stamps.end() > 0
    }

    /// Memory of the row, in bytes.
    pub fn bytes(&self) -> usize {
        let rare = self.rare.as_ref().map_or(0, |rare| {
            size_of::<Rare>() + rare.extras.heap_bytes() + rare.clusters.capacity() * size_of::<Cluster>()
        });
        size_of::<Self>()
            + self.glyphs.capacity() * size_of::<Glyph>()
            + self.styles.heap_bytes()
            + self.stamps.heap_bytes()
            + rare
    }

    pub(super) fn set_wrapped(&mut self, wrapped: bool) {
        self.wrapped = wrapped;
    }

    pub(super) fn set_id(&mut self, id: u64) {
        self.id = id;
    }

    pub(super) fn set_touched(&mut self, touched: bool) {
        self.touched = touched;
    }

    #[inline]
    pub(super) fn used_cells(&self) -> usize {
        self.used as usize
    }

    pub(super) fn alloc(&self) -> usize {
        self.alloc as usize
    }

    /// End of the last cell that holds a glyph.
    #[inline]
    pub(crate) fn glyph_end(&self) -> usize {
        self.stamps.end()
    }

    /// True if a cell of `columns` holds a glyph.
    pub(super) fn has_glyph_in(&self, columns: Range<usize>) -> bool {
        self.stamps.any(columns)
    }

    /// Number of cells that are stored; the rest are blanks.
    #[inline]
    pub(super) fn stored(&self) -> usize {
        self.glyphs.len()
    }

    #[inline]
    pub(super) fn glyph(&self, x: usize) -> Glyph {
        self.glyphs.get(x).copied().unwrap_or(Glyph::BLANK)
    }

    pub(super) fn style(&self, x: usize) -> Style {
        self.styles.at(x)
    }

    pub(super) fn extra(&self, x: usize) -> Extra {
        self.rare.as_ref().map_or_else(Extra::default, |rare| rare.extras.at(x))
    }

    pub(super) fn stamp(&self, x: usize) -> Stamp {
        self.stamps.at(x)
    }

    pub(super) fn styles_end(&self) -> usize {
        self.styles.end()
    }

    pub(super) fn cluster(&self, glyph: Glyph) -> &[u8] {
        let table = self.rare.as_ref().map_or(&[][..], |rare| &rare.clusters);
        table.get(glyph.payload() as usize).map_or(&[], Cluster::as_bytes)
    }

    pub(super) fn glyphs(&self) -> &[Glyph] {
        &self.glyphs
    }

    /// Makes cells up to `end` exist (RULES 0.3).
    #[inline]
    pub(super) fn grow(&mut self, end: usize, cols: usize) {
        if end > self.alloc as usize {
            let alloc = if end < cols / 4 {
                cols / 4
            } else if end < cols / 2 {
                cols / 2
            } else {
                end.max(cols)
            };
            self.alloc = alloc as u32;
        }
    }

    /// Makes the cells `from..end` exist as storing them one by one would, padding first (RULES 0.3, 2.5 g).
    #[inline]
    pub(super) fn grow_by_cells(&mut self, from: usize, end: usize, cols: usize) {
        for x in from + 1..=end {
            if (self.alloc as usize) >= end {
                break;
            }
            self.grow(x, cols);
        }
    }

    #[inline]
    fn paint(&mut self, start: usize, end: usize, ink: &Ink) {
        self.styles.set(start, end, ink.style);
        self.stamps.set(start, end, ink.stamp);
        if ink.extra != Extra::default() {
            self.rare_mut().extras.set(start, end, ink.extra);
        } else if let Some(rare) = &mut self.rare {
            rare.extras.set(start, end, ink.extra);
        }
        self.used = self.used.max(end as u32);
        self.touched = true;
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_with(|| Box::new(Rare { extras: Runs::new(), clusters: Vec::new() }))
    }

    /// Stores a run of printable ASCII at `x`; the cells exist already.
    #[inline]
    pub(super) fn put_ascii(&mut self, x: usize, text: &[u8], ink: &Ink) {
        if x > self.glyphs.len() {
            self.glyphs.resize(x, Glyph::BLANK);
        }
        let sticky = ink.needs_sticky();
        let (over, new) = text.split_at(text.len().min(self.glyphs.len() - x));
        for (cell, byte) in self.glyphs.iter_mut().skip(x).zip(over) {
            *cell = Glyph::ascii(*byte).over(*cell);
            if sticky {
                *cell = cell.with_sticky(true);
            }
        }
        if sticky {
            self.glyphs.extend(new.iter().map(|byte| Glyph::ascii(*byte).with_sticky(true)));
        } else {
            self.glyphs.extend(new.iter().map(|byte| Glyph::ascii(*byte)));
        }
        self.paint(x, x + text.len(), ink);
    }

    /// Stores one cell (RULES 0.5); the cell exists already.
    #[inline]
    pub(super) fn put(&mut self, x: usize, glyph: Glyph, ink: &Ink) {
        let glyph = glyph.with_sticky(glyph.needs_sticky() || ink.needs_sticky());
        self.ascii &= glyph.with_sticky(false).payload() < 0x7F && glyph.same(Glyph::ascii(glyph.payload() as u8));
        if let Some(cell) = self.glyphs.get_mut(x) {
            *cell = glyph.over(*cell);
        } else {
            self.glyphs.resize(x, Glyph::BLANK);
            self.glyphs.push(glyph);
        }
        self.paint(x, x + 1, ink);
    }

    /// Stores padding (RULES 2.5 g); the cell exists already. Its style is never seen.
    #[inline]
    pub(super) fn put_padding(&mut self, x: usize, sticky: bool, ink: &Ink) {
        self.ascii = false;
        let glyph = Glyph::PADDING.with_sticky(sticky);
        if let Some(cell) = self.glyphs.get_mut(x) {
            *cell = glyph.over(*cell);
        } else {
            self.glyphs.resize(x, Glyph::BLANK);
            self.glyphs.push(glyph);
        }
        self.paint(x, x + 1, ink);
    }

    /// Lets `push` add glyphs at column `x`, which is at or past the last stored cell; returns
    /// where they end. The caller makes the cells exist.
    #[inline]
    pub(super) fn append_with(&mut self, x: usize, ink: &Ink, push: impl FnOnce(&mut Vec<Glyph>)) -> usize {
        self.ascii = false;
        self.glyphs.resize(x, Glyph::BLANK);
        push(&mut self.glyphs);
        let end = self.glyphs.len();
        self.paint(x, end, ink);
        end
    }

    /// Stores text that needs the table of clusters and returns its glyph.
    pub(super) fn intern(&mut self, text: &[u8], width: usize) -> Glyph {
        let limit = 2 * self.glyphs.len() + 32;
        if self.rare_mut().clusters.len() >= limit {
            self.compact();
        }
        let table = &mut self.rare_mut().clusters;
        table.push(Cluster::new(text));
        Glyph::cluster(table.len() - 1, width)
    }

    /// Drops the clusters that no cell holds any more.
    fn compact(&mut self) {
        let Some(rare) = &mut self.rare else { return };
        let mut kept = Vec::new();
        for cell in self.glyphs.iter_mut().filter(|g| g.is_cluster()) {
            if let Some(cluster) = rare.clusters.get(cell.payload() as usize) {
                let moved = Glyph::cluster(kept.len(), cell.width()).with_acs(cell.is_acs());
                *cell = moved.with_sticky(cell.is_sticky());
                kept.push(*cluster);
            }
        }
        rare.clusters = kept;
    }

    /// Erases cells that exist: blanks with a background (RULES 0.6).
    pub(super) fn erase(&mut self, columns: Range<usize>, background: Style, keep_sticky: bool) {
        let (start, end) = (columns.start, columns.end);
        if start >= end {
            return;
        }
        self.touched |= self.stamps.any(columns.clone());
        let rgb = background.has_rgb_background();
        if rgb && self.glyphs.len() < end {
            self.glyphs.resize(end, Glyph::BLANK);
        }
        if end >= self.glyphs.len() && !rgb && !keep_sticky {
            self.glyphs.truncate(start);
        }
        for cell in self.glyphs.iter_mut().take(end).skip(start) {
            *cell = Glyph::BLANK.with_sticky(rgb || (keep_sticky && cell.is_sticky()));
        }
        self.styles.set(start, end, background);
        self.stamps.set(start, end, Stamp::NONE);
        if let Some(rare) = &mut self.rare {
            rare.extras.set(start, end, Extra::default());
        }
    }

    /// Copies `count` existing cells from column `from` to column `to` (RULES 0.10, first half).
    pub(super) fn copy_cells(&mut self, from: usize, to: usize, count: usize) {
        let end = (from + count).max(to + count);
        self.touched |= self.stamps.any(from.min(to)..end);
        if self.glyphs.len() > from.min(to) {
            self.glyphs.resize(self.glyphs.len().max(end), Glyph::BLANK);
            self.glyphs.copy_within(from..from + count, to);
        }
        self.styles.copy(from, to, count);
        self.stamps.copy(from, to, count);
        if let Some(rare) = &mut self.rare {
            rare.extras.copy(from, to, count);
        }
        self.used = self.used.max((to + count) as u32);
    }

    /// Takes the stamp from padding at `x` whose character is gone.
    pub(super) fn orphan(&mut self, x: usize) {
        let cell = self.glyph(x);
        if cell.is_padding() && self.stamps.at(x) != Stamp::NONE {
            let led = x > 0 && (self.glyph(x - 1).is_padding() || self.glyph(x - 1).width() > 1);
            if !led {
                self.stamps.set(x, x + 1, Stamp::NONE);
            }
        }
    }

    /// Sets the stamp of the cells of `columns` that hold a glyph.
    pub(super) fn restamp(&mut self, columns: Range<usize>, stamp: Stamp) {
        let held: Vec<_> = self.stamps.within(columns).filter(|(_, s)| *s != Stamp::NONE).collect();
        for (range, _) in held {
            self.stamps.set(range.start, range.end, stamp);
            self.touched = true;
        }
    }

    /// Cuts the row: `cells` cells exist and count as used (RULES 7.7, 7.8).
    pub(super) fn cut(&mut self, cells: usize) {
        self.glyphs.truncate(cells);
        self.styles.truncate(cells);
        self.stamps.truncate(cells);
        if let Some(rare) = &mut self.rare {
            rare.extras.truncate(cells);
        }
        self.alloc = cells as u32;
        self.used = cells as u32;
    }

    /// Cuts what a seed printed: `used` cells count.
    pub(super) fn set_used(&mut self, used: usize) {
        self.used = (used as u32).min(self.alloc);
    }

    /// Copies cells of another row to column `to`, as a reflow stores them (RULES 7.7, 7.10).
    pub(super) fn copy_from(&mut self, other: &Self, columns: Range<usize>, to: usize, cols: usize) {
        let end = to + columns.len();
        self.grow(end, cols);
        self.touched |= other.touched;
        self.ascii &= other.ascii;
        self.glyphs.resize(to, Glyph::BLANK);
        if other.ascii && other.rare.is_none() {
            let stored = columns.start.min(other.glyphs.len())..columns.end.min(other.glyphs.len());
            if let Some(cells) = other.glyphs.get(stored) {
                self.glyphs.extend_from_slice(cells);
            }
            self.styles.copy_from(&other.styles, columns.clone(), to);
            self.fix_sticky(to);
        } else {
            self.copy_glyphs(other, columns.clone());
            self.styles.copy_from(&other.styles, columns.clone(), to);
        }
        self.stamps.copy_from(&other.stamps, columns.clone(), to);
        if let Some(rare) = &other.rare
            && rare.extras.any(columns.clone())
        {
            self.rare_mut().extras.copy_from(&rare.extras, columns, to);
        }
        self.used = self.used.max(end as u32);
    }

    fn fix_sticky(&mut self, from: usize) {
        let styles = &self.styles;
        let plain = styles.within(from..usize::MAX).all(|(_, style)| !style.needs_sticky());
        for (x, cell) in self.glyphs.iter_mut().enumerate().skip(from) {
            *cell = cell.with_sticky(!plain && styles.at(x).needs_sticky());
        }
    }

    fn copy_glyphs(&mut self, other: &Self, columns: Range<usize>) {
        for x in columns {
            let mut glyph = other.glyph(x);
            if glyph.is_cluster() {
                let acs = glyph.is_acs();
                glyph = self.intern(other.cluster(glyph), glyph.width()).with_acs(acs);
            }
            let sticky = glyph.needs_sticky()
                || (!glyph.is_padding() && (other.style(x).needs_sticky() || other.extra(x) != Extra::default()));
            self.glyphs.push(glyph.with_sticky(sticky));
        }
    }

    /// Gives back memory before the row becomes history.
    pub(super) fn settle(&mut self) {
        if self.glyphs.capacity() > self.glyphs.len() + SPARE_CELLS {
            self.glyphs.shrink_to_fit();
        }
        self.styles.shrink();
        self.stamps.shrink();
    }

    /// Checks the invariants.
    pub(super) fn verify(&self) {
        self.styles.verify();
        self.stamps.verify();
        assert!(self.glyphs.len() <= self.alloc(), "stored cells exist");
        assert!(self.used <= self.alloc, "used cells exist");
        assert!(self.styles.end() <= self.alloc(), "styles lie on cells that exist");
        assert!(self.stamps.end() <= self.glyphs.len(), "stamps lie on stored cells");
        if let Some(rare) = &self.rare {
            rare.extras.verify();
            assert!(rare.clusters.len() <= 2 * self.glyphs.len() + 64, "clusters are bounded");
        }
        for cell in &self.glyphs {
            if cell.is_cluster() {
                let known = self.rare.as_ref().is_some_and(|r| (cell.payload() as usize) < r.clusters.len());
                assert!(known, "cluster exists");
            }
            assert!(!self.ascii || cell.same(Glyph::ascii(cell.payload() as u8)), "ascii row");
        }
    }
}
