//! Sizes and places on a screen: rows before columns, always named.

/// The size of a screen, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// Number of rows, at least 1.
    pub rows: u16,
    /// Number of columns, at least 1.
    pub cols: u16,
}

impl Size {
    /// Makes a size; zero rows or columns become one, as tmux does.
    pub fn new(rows: u16, cols: u16) -> Self {
        Self { rows: rows.max(1), cols: cols.max(1) }
    }
}

impl Default for Size {
    /// 24 rows of 80 columns.
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

/// A place on a screen, counted from 0 at the top left.
///
/// `col` may equal the number of columns: a wrap is pending (RULES 0.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Point {
    /// Row, 0 at the top.
    pub row: u16,
    /// Column, 0 at the left.
    pub col: u16,
}

impl Point {
    /// Makes a point.
    pub fn new(row: u16, col: u16) -> Self {
        Self { row, col }
    }
}
