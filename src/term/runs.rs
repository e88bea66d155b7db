//! A property of the cells of a row, run-length encoded.

use std::ops::Range;

/// One run: the value of the columns from the end of the run before it up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run<T> {
    end: u32,
    value: T,
}

/// A value for each column; columns past the last run have the default value.
///
/// ```text
/// One:   [0 ........ end)                     one run, kept inline (end 0: no run at all)
/// Many:  [0 .. e0) [e0 .. e1) [e1 .. e2)      on the heap
/// ```
///
/// Invariants: ends rise strictly, neighbours differ, the last run is not of the default value.
#[derive(Clone, Debug)]
pub(super) enum Runs<T> {
    One(Run<T>),
    Many(Vec<Run<T>>),
}

impl<T: Copy + Eq + Default> Runs<T> {
    /// No run: every column has the default value.
    pub(super) fn new() -> Self {
        Self::One(Run { end: 0, value: T::default() })
    }

    /// End of the last run: from here on everything is default.
    #[inline]
    pub(super) fn end(&self) -> usize {
        match self {
            Self::One(run) => run.end as usize,
            Self::Many(runs) => runs.last().map_or(0, |r| r.end as usize),
        }
    }

    /// The value of column `x`.
    #[inline]
    pub(super) fn at(&self, x: usize) -> T {
        match self {
            Self::One(run) if x < run.end as usize => run.value,
            Self::One(_) => T::default(),
            Self::Many(runs) => {
                let i = runs.partition_point(|r| r.end as usize <= x);
                runs.get(i).map_or_else(T::default, |r| r.value)
            }
        }
    }

    /// The runs as slices of one shape.
    fn as_slice(&self) -> &[Run<T>] {
        match self {
            Self::One(run) if run.end == 0 => &[],
            Self::One(run) => std::slice::from_ref(run),
            Self::Many(runs) => runs,
        }
    }

    /// All runs up to `end()`, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Range<usize>, T)> + '_ {
        let mut start = 0;
        self.as_slice().iter().map(move |run| {
            let range = start..run.end as usize;
            start = run.end as usize;
            (range, run.value)
        })
    }

    /// The runs that lie in `columns`, clipped to them; default runs past the end are left out.
    pub(super) fn within(&self, columns: Range<usize>) -> impl Iterator<Item = (Range<usize>, T)> + '_ {
        self.iter().filter_map(move |(range, value)| {
            let range = range.start.max(columns.start)..range.end.min(columns.end);
            (range.start < range.end).then_some((range, value))
        })
    }

    /// True if any column of `columns` has a value other than the default.
    pub(super) fn any(&self, columns: Range<usize>) -> bool {
        columns.start < self.end() && self.within(columns).any(|(_, value)| value != T::default())
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Many(runs) => runs.capacity() * size_of::<Run<T>>(),
        }
    }

    /// Forgets everything; keeps the allocation.
    #[inline]
    pub(super) fn clear(&mut self) {
        match self {
            Self::One(run) => *run = Run { end: 0, value: T::default() },
            Self::Many(runs) => runs.clear(),
        }
    }

    /// Gives back memory that is not worth keeping.
    pub(super) fn shrink(&mut self) {
        if let Self::Many(runs) = self {
            match runs.as_slice() {
                [] => *self = Self::new(),
                [run] => *self = Self::One(*run),
                _ if runs.capacity() > 2 * runs.len() + 8 => runs.shrink_to_fit(),
                _ => {}
            }
        }
    }

    /// Sets the columns `start..end`.
    #[inline]
    pub(super) fn set(&mut self, start: usize, end: usize, value: T) {
        if start >= end {
            return;
        }
        let last = self.end();
        match self {
            Self::One(run) if run.value == value && start <= last => {
                if value != T::default() {
                    run.end = run.end.max(end as u32);
                }
            }
            Self::One(run) if start == 0 && end >= last => {
                *run = Run { end: if value == T::default() { 0 } else { end as u32 }, value };
            }
            Self::Many(runs) if start == last => append(runs, end, value),
            _ => self.set_slowly(start, end, value),
        }
    }

    fn set_slowly(&mut self, start: usize, end: usize, value: T) {
        let last = self.end();
        if start >= last && value == T::default() {
            return;
        }
        if let Self::One(run) = self {
            let first = (run.end > 0).then_some(*run);
            let mut runs = Vec::with_capacity(4);
            runs.extend(first);
            *self = Self::Many(runs);
        }
        let Self::Many(runs) = self else { return };
        if start < last {
            if !replace(runs, start, end, value) {
                splice(runs, start, end, value);
            }
        } else {
            if start > last {
                runs.push(Run { end: start as u32, value: T::default() });
            }
            append(runs, end, value);
        }
    }

    /// Copies `count` columns from `from` to `to`; the source stays.
    pub(super) fn copy(&mut self, from: usize, to: usize, count: usize) {
        let last = self.end();
        if count == 0 || (from >= last && to >= last) {
            return;
        }
        if let Self::One(run) = self {
            let end = run.end as usize;
            if from + count <= end && to + count <= end {
                return;
            }
        }
        let pieces: Vec<_> = self.within(from..from + count).collect();
        self.set(to, to + count, T::default());
        for (range, value) in pieces {
            self.set(range.start - from + to, range.end - from + to, value);
        }
    }

    /// Copies the columns `columns` of another row to column `to`, over default values.
    pub(super) fn copy_from(&mut self, other: &Self, columns: Range<usize>, to: usize) {
        for (range, value) in other.within(columns.clone()) {
            if value != T::default() {
                self.set(range.start - columns.start + to, range.end - columns.start + to, value);
            }
        }
    }

    /// Drops everything from column `end` on.
    pub(super) fn truncate(&mut self, end: usize) {
        let last = self.end();
        if end < last {
            self.set(end, last, T::default());
        }
    }

    /// Checks the invariants.
    pub(super) fn verify(&self) {
        let runs = self.as_slice();
        for pair in runs.windows(2) {
            if let [a, b] = pair {
                assert!(a.end < b.end && a.value != b.value, "runs rise and differ");
            }
        }
        assert!(runs.first().is_none_or(|r| r.end > 0), "first run is not empty");
        assert!(runs.last().is_none_or(|r| r.value != T::default()), "last run is not default");
    }
}

/// Adds a run at the end, joining it to the last one if the values are equal.
#[inline]
fn append<T: Copy + Eq + Default>(runs: &mut Vec<Run<T>>, end: usize, value: T) {
    match runs.last_mut() {
        Some(run) if run.value == value => run.end = end as u32,
        None if value == T::default() => {}
        _ if value == T::default() => {}
        _ => runs.push(Run { end: end as u32, value }),
    }
}

/// The cheap cases: the columns have the value already, or are one whole run whose neighbours have
/// other values. False if it is neither.
#[inline]
fn replace<T: Copy + Eq + Default>(runs: &mut [Run<T>], start: usize, end: usize, value: T) -> bool {
    let (from, to) = (start as u32, end as u32);
    let i = find(runs, from);
    let (before, rest) = runs.split_at_mut(i.min(runs.len()));
    let [run, after @ ..] = rest else { return false };
    if run.value == value {
        return run.end >= to;
    }
    let starts = before.last().map_or(from == 0, |r| r.end == from && r.value != value);
    let stops = run.end == to && after.first().is_some_and(|r| r.value != value);
    if starts && stops {
        run.value = value;
    }
    starts && stops
}

/// Index of the run that holds column `x`.
#[inline]
fn find<T>(runs: &[Run<T>], x: u32) -> usize {
    if runs.len() <= 16 {
        runs.iter().position(|r| r.end > x).unwrap_or(runs.len())
    } else {
        runs.partition_point(|r| r.end <= x)
    }
}

/// Replaces what lies in `start..end` (start is inside the runs).
fn splice<T: Copy + Eq + Default>(runs: &mut Vec<Run<T>>, start: usize, end: usize, value: T) {
    let (from, to) = (start as u32, end as u32);
    let mut first = find(runs, from);
    let next = find(runs, to - 1);
    let before = first.checked_sub(1).and_then(|i| runs.get(i)).copied();
    let mut pieces = [None; 3];
    let [left, middle, right] = &mut pieces;
    if before.map_or(0, |r| r.end) < from {
        *left = runs.get(first).map(|r| Run { end: from, value: r.value }).filter(|r| r.value != value);
    } else if before.is_some_and(|r| r.value == value) {
        first -= 1;
    }
    let mut stop = next;
    let mut middle_end = to;
    if let Some(run) = runs.get(next) {
        stop += 1;
        if run.value == value {
            middle_end = run.end;
        } else if run.end > to {
            *right = Some(*run);
        } else if let Some(after) = runs.get(next + 1).filter(|r| r.value == value) {
            middle_end = after.end;
            stop += 1;
        }
    }
    *middle = Some(Run { end: middle_end, value });
    let mut pieces = pieces.into_iter().flatten();
    if let Some(old) = runs.get_mut(first..stop) {
        let mut filled = 0;
        for (slot, piece) in old.iter_mut().zip(pieces.by_ref()) {
            *slot = piece;
            filled += 1;
        }
        if filled < old.len() {
            runs.drain(first + filled..stop);
        }
    }
    for (at, piece) in (stop.max(first)..).zip(pieces) {
        runs.insert(at, piece);
    }
    while runs.last().is_some_and(|r| r.value == T::default()) {
        runs.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_to_a_plain_vector(ops in prop::collection::vec((0usize..40, 0usize..20, 0u32..4, 0usize..40, 0u8..4), 1..60)) {
            let mut runs = Runs::<u32>::new();
            let mut model = vec![0u32; 128];
            for (start, count, value, to, kind) in ops {
                match kind {
                    0 => {
                        runs.copy(start, to, count);
                        model.copy_within(start..start + count, to);
                    }
                    1 if count == 7 => {
                        runs.truncate(start);
                        model[start..].fill(0);
                    }
                    _ => {
                        runs.set(start, start + count, value);
                        model[start..start + count].fill(value);
                    }
                }
                runs.verify();
                for (x, want) in model.iter().enumerate() {
                    prop_assert_eq!(runs.at(x), *want, "column {}", x);
                }
            }
        }
    }
}
