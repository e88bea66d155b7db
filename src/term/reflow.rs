//! Splitting and joining rows when the width changes (RULES 7.6 to 7.10).

use std::collections::VecDeque;

use super::grid::Grid;
use super::row::Row;
use super::style::Style;

/// The rows of a pane while they move from the old width to the new one.
struct Reflow {
    /// Rows that are still to be looked at; None once they were moved or used up.
    old: Vec<Option<Box<Row>>>,
    new: VecDeque<Box<Row>>,
    cols: usize,
    hscrolled: usize,
    sticky: bool,
    next_id: u64,
}

impl Grid {
    /// Brings history and screen to the present width; retained rows stay as they are.
    pub(super) fn reflow(&mut self, sticky: bool) {
        let old = self.rows.split_off(self.retained);
        let mut reflow = Reflow {
            new: VecDeque::with_capacity(old.len()),
            old: old.into_iter().map(Some).collect(),
            cols: self.width,
            hscrolled: self.hscrolled,
            sticky,
            next_id: self.next_id,
        };
        reflow.run();
        self.next_id = reflow.next_id;
        self.hscrolled = reflow.hscrolled;
        let count = reflow.new.len();
        self.rows.append(&mut reflow.new);
        // Rows are only recycled from the front when there are too many retained ones.
        for _ in count..self.height {
            self.append(Style::DEFAULT);
        }
        let count = count.max(self.height);
        let hist = count - self.height;
        self.pushed += hist.saturating_sub(self.hist) as u64;
        self.hist = hist;
        self.hscrolled = self.hscrolled.min(self.hist);
        self.recount();
    }
}

impl Reflow {
    fn run(&mut self) {
        for index in 0..self.old.len() {
            let Some(row) = self.take(index) else { continue };
            let (width, cut) = measure(&row, self.cols, self.sticky);
            if width == self.cols {
                self.new.push_back(row);
            } else if width > self.cols {
                self.split(index, row, cut);
            } else if row.is_wrapped() {
                self.new.push_back(row);
                self.join(index, width);
            } else {
                self.new.push_back(row);
            }
        }
    }

    fn take(&mut self, index: usize) -> Option<Box<Row>> {
        self.old.get_mut(index).and_then(Option::take)
    }

    fn old_row(&self, index: usize) -> Option<&Row> {
        self.old.get(index).and_then(|row| row.as_deref())
    }

    fn fresh(&mut self) -> Box<Row> {
        let id = self.next_id;
        self.next_id += 1;
        Box::new(Row::new(id))
    }

    /// Splits a row that is too wide (RULES 7.7).
    fn split(&mut self, index: usize, mut row: Box<Row>, cut: usize) {
        let (used, wrapped) = (row.used_cells(), row.is_wrapped());
        let mut pieces = vec![self.fresh()];
        let mut width = 0;
        let mut from = cut;
        while from < used {
            let count = match self.cols.checked_sub(width) {
                Some(room) => fitting(&row, from..used, room, self.sticky),
                None => 0,
            };
            if count == 0 {
                if let Some(piece) = pieces.last_mut() {
                    piece.set_wrapped(true);
                }
                let piece = self.fresh();
                pieces.push(piece);
                width = 0;
                // A cell wider than the screen stands alone, after the row that it did not fit.
                let first = row.glyph(from).reflow_width(self.sticky);
                if first > self.cols {
                    if let Some(piece) = pieces.last_mut() {
                        piece.copy_from(&row, from..from + 1, 0, self.cols);
                    }
                    width = first;
                    from += 1;
                }
                continue;
            }
            if let Some(piece) = pieces.last_mut() {
                let at = piece.used_cells();
                piece.copy_from(&row, from..from + count, at, self.cols);
            }
            width += columns(&row, from..from + count, self.sticky);
            from += count;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.set_wrapped(wrapped);
        }
        row.cut(cut);
        row.set_wrapped(true);
        if index <= self.hscrolled {
            self.hscrolled += pieces.len();
        }
        self.new.push_back(row);
        self.new.extend(pieces);
        if width < self.cols && wrapped {
            self.join(index, width);
        }
    }

    /// Fills the newest row from the rows after `index` (RULES 7.8).
    fn join(&mut self, index: usize, mut width: usize) {
        let to = self.new.len().saturating_sub(1);
        let mut taken = 0;
        let mut more = true;
        let mut source = None;
        let Some(mut target) = self.new.pop_back() else { return };
        while let Some(row) = self.old_row(index + 1 + taken) {
            more &= row.is_wrapped();
            let used = row.used_cells();
            if used == 0 {
                if !more {
                    break;
                }
                taken += 1;
                continue;
            }
            if width + row.glyph(0).reflow_width(self.sticky) > self.cols {
                break;
            }
            let count = fitting(row, 0..used, self.cols - width, self.sticky);
            let at = target.used_cells();
            target.copy_from(row, 0..count, at, self.cols);
            width += columns(row, 0..count, self.sticky);
            source = Some((index + 1 + taken, count, used));
            taken += 1;
            if !more || count != used || width == self.cols {
                break;
            }
        }
        self.finish_join(index, to, taken, more, source, &mut target);
        self.new.push_back(target);
    }

    /// What remains of the rows that a join took from.
    fn finish_join(
        &mut self,
        index: usize,
        to: usize,
        mut taken: usize,
        more: bool,
        source: Option<(usize, usize, usize)>,
        target: &mut Row,
    ) {
        let Some((last, count, used)) = source else { return };
        if count < used {
            if let Some(row) = self.old.get_mut(last).and_then(|row| row.as_deref_mut()) {
                row.copy_cells(count, 0, used - count);
                row.cut(used - count);
            }
            taken -= 1;
        } else if !more {
            target.set_wrapped(false);
        }
        for row in self.old.iter_mut().skip(index + 1).take(taken) {
            *row = None;
        }
        if self.hscrolled > to + taken {
            self.hscrolled -= taken;
        } else if self.hscrolled > to {
            self.hscrolled = to;
        }
    }
}

/// Columns of the used cells, and where a row of `cols` columns must be cut (RULES 7.6, 7.7).
fn measure(row: &Row, cols: usize, sticky: bool) -> (usize, usize) {
    let used = row.used_cells();
    if row.is_ascii() {
        return (used, used.min(cols));
    }
    let (mut width, mut cut) = (0, 0);
    for x in 0..used {
        let w = row.glyph(x).reflow_width(sticky);
        if cut == 0 && width + w > cols {
            cut = x;
        }
        width += w;
    }
    (width, cut)
}

fn columns(row: &Row, cells: std::ops::Range<usize>, sticky: bool) -> usize {
    if row.is_ascii() { cells.len() } else { cells.map(|x| row.glyph(x).reflow_width(sticky)).sum() }
}

/// How many of `cells` fit into `room` columns.
fn fitting(row: &Row, cells: std::ops::Range<usize>, room: usize, sticky: bool) -> usize {
    if row.is_ascii() {
        return cells.len().min(room);
    }
    let mut width = 0;
    let count = cells.len();
    cells
        .take_while(|x| {
            width += row.glyph(*x).reflow_width(sticky);
            width <= room
        })
        .count()
        .min(count)
}
