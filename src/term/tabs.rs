//! Tab stops (RULES 3.9, 3.10).

/// The columns that have a stop, one bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tabs {
    words: Vec<u64>,
    cols: usize,
}

impl Tabs {
    /// Stops at 8, 16, 24, ... below `cols`.
    pub(super) fn new(cols: usize) -> Self {
        let mut tabs = Self { words: vec![0; cols.div_ceil(64)], cols };
        for x in (8..cols).step_by(8) {
            tabs.set(x, true);
        }
        tabs
    }

    /// True if there is a stop at column `x`.
    pub fn has(&self, x: usize) -> bool {
        x < self.cols && self.words.get(x / 64).is_some_and(|w| w >> (x % 64) & 1 == 1)
    }

    /// Sets or clears the stop at column `x`; nothing past the last column.
    pub(super) fn set(&mut self, x: usize, on: bool) {
        if x < self.cols
            && let Some(word) = self.words.get_mut(x / 64)
        {
            *word = *word & !(1 << (x % 64)) | (u64::from(on) << (x % 64));
        }
    }

    /// Clears every stop.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The next stop right of `x`, at most the last column.
    pub(super) fn next(&self, x: usize) -> usize {
        (x + 1..self.cols).find(|x| self.has(*x)).unwrap_or(self.cols - 1)
    }

    /// The next stop left of `x`, or column 0.
    pub(super) fn previous(&self, x: usize) -> usize {
        (1..x).rev().find(|x| self.has(*x)).unwrap_or(0)
    }

    /// The columns that have a stop, in order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..self.cols).filter(|x| self.has(*x)).map(|x| x as u16)
    }
}
