//! Waiting for new text: which patterns, and the verdict of the lines shown to it.

use std::sync::Arc;

use crate::limits::{PATTERNS, PATTERNS_COMPILED_BYTES, RESULT_BYTES, RESULT_LINES};
use crate::mirror::{LineText, Lines, Mark, Watcher};
use crate::term::Screen;
use crate::{Error, Result};

use super::Pattern;

/// What a wait for text looks for, compiled.
#[derive(Debug)]
pub struct TextWatch {
    /// `None`: any new output.
    patterns: Option<Vec<Pattern>>,
    stop: Vec<Pattern>,
}

impl TextWatch {
    /// Compiles `patterns` (none: any output) and `stop`.
    ///
    /// # Errors
    ///
    /// [`Error::BadArgument`] for an empty list of patterns, more than [`PATTERNS`] of them in all, or a pattern that
    /// [`Pattern::compile`] refuses.
    pub fn compile(patterns: Option<&[String]>, stop: &[String], regex: bool, match_case: bool) -> Result<Self> {
        if patterns.is_some_and(<[String]>::is_empty) {
            return Err(Error::BadArgument(
                "patterns is an empty list; leave it out (or null) to wait for any output".into(),
            ));
        }
        let count = patterns.map_or(0, <[String]>::len) + stop.len();
        if count > PATTERNS {
            return Err(Error::BadArgument(format!("{count} patterns; at most {PATTERNS} are allowed in one wait")));
        }
        let all = |list: &[String]| -> Result<Vec<Pattern>> {
            list.iter().map(|one| Pattern::compile(one, regex, match_case)).collect()
        };
        let watch = Self { patterns: patterns.map(all).transpose()?, stop: all(stop)? };
        let size: usize = watch.stop.iter().chain(watch.patterns.iter().flatten()).map(Pattern::compiled_bytes).sum();
        if size > PATTERNS_COMPILED_BYTES {
            return Err(Error::BadArgument(format!(
                "the patterns compile to {size} bytes; at most {PATTERNS_COMPILED_BYTES} are allowed in one wait"
            )));
        }
        Ok(watch)
    }

    /// Tells whether an entry may hit one of these lines (texts behind newlines): `false` is certain.
    fn may_hit(&self, lines: &str) -> bool {
        let Some(patterns) = &self.patterns else { return true };
        self.stop.iter().chain(patterns).any(|pattern| pattern.may_hit(lines))
    }

    /// Tells whether a `patterns` entry matches text of the line that is old since the mark.
    pub fn shows_old(&self, line: &LineText, mark: Mark) -> bool {
        self.patterns.iter().flatten().any(|pattern| pattern.is_match(&line.text) && !pattern.hits(line, mark))
    }
}

/// What decided a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextVerdict {
    /// A `stop` entry hit.
    pub stopped: bool,
    /// The entry that hit, if there are patterns.
    pub index: Option<usize>,
    /// The lines that it hit, oldest first, limited as results are.
    pub lines: Vec<String>,
}

/// A wait at work on one mirror.
pub struct TextWatcher {
    watch: Arc<TextWatch>,
    mark: Mark,
    verdict: Option<TextVerdict>,
    answer: Option<Box<dyn FnOnce(TextVerdict) + Send>>,
}

impl TextWatcher {
    /// Makes a watcher for what is written after `mark`; `answer` is called once, at the end of the delivery that
    /// decides, and must not block.
    pub fn new(watch: Arc<TextWatch>, mark: Mark, answer: impl FnOnce(TextVerdict) + Send + 'static) -> Self {
        Self { watch, mark, verdict: None, answer: Some(Box::new(answer)) }
    }
}

impl Watcher for TextWatcher {
    fn examine(&mut self, lines: &Lines<'_>) {
        if self.verdict.as_ref().is_some_and(|verdict| verdict.stopped) {
            return;
        }
        if !self.watch.may_hit(lines.text()) {
            return;
        }
        let new: Vec<LineText> = lines.iter().filter(|line| line.is_new(self.mark)).collect();
        if new.is_empty() {
            return;
        }
        if let Some((index, hit)) = first_hit(&self.watch.stop, &new, self.mark) {
            self.verdict = Some(TextVerdict { stopped: true, index: Some(index), lines: limited(&hit) });
            return;
        }
        if self.verdict.is_some() {
            return;
        }
        match &self.watch.patterns {
            None => self.verdict = Some(TextVerdict { stopped: false, index: None, lines: limited(&new) }),
            Some(patterns) => {
                if let Some((index, hit)) = first_hit(patterns, &new, self.mark) {
                    self.verdict = Some(TextVerdict { stopped: false, index: Some(index), lines: limited(&hit) });
                }
            }
        }
    }

    fn close_delivery(&mut self, _screen: &Screen) -> bool {
        let Some(verdict) = self.verdict.take() else { return false };
        if let Some(answer) = self.answer.take() {
            answer(verdict);
        }
        true
    }
}

/// The lowest entry that hits one of the lines, and all lines that it hits.
fn first_hit(patterns: &[Pattern], lines: &[LineText], mark: Mark) -> Option<(usize, Vec<LineText>)> {
    patterns.iter().enumerate().find_map(|(index, pattern)| {
        let hit: Vec<LineText> = lines.iter().filter(|line| pattern.hits(line, mark)).cloned().collect();
        (!hit.is_empty()).then_some((index, hit))
    })
}

/// The texts of lines as a result shows them.
fn limited(lines: &[LineText]) -> Vec<String> {
    keep_tail(lines.iter().map(|line| line.trimmed().to_owned()).collect(), RESULT_LINES, RESULT_BYTES).0
}

/// Keeps the newest of `rows`: at most so many and at most so many bytes of text; the first one kept may lose its head.
/// Returns how many rows and bytes were cut.
pub fn keep_tail(mut rows: Vec<String>, max_rows: usize, max_bytes: usize) -> (Vec<String>, usize, usize) {
    let mut cut_rows = rows.len().saturating_sub(max_rows);
    let mut cut_bytes: usize = rows.drain(..cut_rows).map(|row| row.len()).sum();
    let mut room = max_bytes;
    let mut first = rows.len();
    while let Some(row) = first.checked_sub(1).and_then(|at| rows.get(at)) {
        if row.len() > room {
            break;
        }
        room -= row.len();
        first -= 1;
    }
    if let Some(row) = first.checked_sub(1).and_then(|at| rows.get_mut(at)) {
        let mut start = row.len() - room.min(row.len());
        while !row.is_char_boundary(start) {
            start += 1;
        }
        if start < row.len() {
            cut_bytes += start;
            row.drain(..start);
            first -= 1;
        }
    }
    cut_rows += first;
    cut_bytes += rows.drain(..first).map(|row| row.len()).sum::<usize>();
    (rows, cut_rows, cut_bytes)
}
