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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;
    use crate::mirror::Mirror;
    use crate::term::{Options, Terminal};
    use std::sync::mpsc;
    use std::time::Duration;

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn the_tail_is_kept() {
        // Rows, most rows, most bytes; kept, rows cut, bytes cut.
        type Rows = &'static [&'static str];
        let table: [(Rows, usize, usize, Rows, usize, usize); 10] = [
            (&[], 3, 10, &[], 0, 0),
            (&["a", "b"], 3, 10, &["a", "b"], 0, 0),
            (&["a", "bb", "c"], 2, 10, &["bb", "c"], 1, 1),
            (&["abcd", "ef"], 9, 4, &["cd", "ef"], 0, 2),
            (&["abcd", "ef"], 9, 2, &["ef"], 1, 4),
            (&["abcd"], 9, 3, &["bcd"], 0, 1),
            (&["é"], 9, 1, &[], 1, 2),
            (&["aé"], 9, 2, &["é"], 0, 1),
            (&["a", "", "b"], 9, 1, &["", "b"], 1, 1),
            (&["a"], 0, 9, &[], 1, 1),
        ];
        for (rows, max_rows, max_bytes, kept, cut_rows, cut_bytes) in table {
            let found = keep_tail(strings(rows), max_rows, max_bytes);
            assert_eq!(found, (strings(kept), cut_rows, cut_bytes), "{rows:?} {max_rows} {max_bytes}");
        }
    }

    fn verdict(deliveries: &[&str], patterns: Option<&[&str]>, stop: &[&str]) -> Option<(bool, Option<usize>, String)> {
        let mut mirror = Mirror::new(Terminal::new(Size::new(5, 10), Options::default()));
        let mark = mirror.mark();
        let patterns = patterns.map(strings);
        let watch = TextWatch::compile(patterns.as_deref(), &strings(stop), false, true).unwrap();
        let (sender, verdict) = mpsc::channel();
        mirror.watch(Box::new(TextWatcher::new(Arc::new(watch), mark, move |found| sender.send(found).unwrap())));
        for delivery in deliveries {
            mirror.apply(delivery.as_bytes(), Duration::ZERO);
        }
        let found = verdict.try_recv().ok()?;
        assert_eq!(mirror.watchers(), 0, "a wait that is over is taken off");
        assert!(verdict.try_recv().is_err(), "one answer");
        Some((found.stopped, found.index, found.lines.join("|")))
    }

    #[test]
    fn ties_and_stop() {
        let found = |stopped, index, lines: &str| Some((stopped, Some(index), lines.to_owned()));
        // Lowest entry first, whatever the order of lines; all lines of the deciding entry, oldest first.
        assert_eq!(verdict(&["b\r\na"], Some(&["a", "b"]), &[]), found(false, 0, "a"));
        assert_eq!(verdict(&["ab\r\na"], Some(&["b", "a"]), &[]), found(false, 0, "ab"));
        assert_eq!(verdict(&["a1\r\nb\r\na2"], Some(&["a"]), &[]), found(false, 0, "a1|a2"));
        // The first examination decides among patterns: `b` is erased before `a` comes.
        assert_eq!(verdict(&["b\r\x1b[Ka"], Some(&["a", "b"]), &[]), found(false, 1, "b"));
        // A stop anywhere in the delivery wins, before or after; in a later one it does not.
        assert_eq!(verdict(&["a\r\x1b[Ks"], Some(&["a"]), &["s"]), found(true, 0, "s"));
        assert_eq!(verdict(&["s\r\x1b[Ka"], Some(&["a"]), &["s"]), found(true, 0, "s"));
        assert_eq!(verdict(&["as"], Some(&["a"]), &["x", "s"]), found(true, 1, "as"));
        assert_eq!(verdict(&["a", "s"], Some(&["a"]), &["s"]), found(false, 0, "a"));
        // Any output.
        assert_eq!(verdict(&["\r\n", "x"], None, &[]), Some((false, None, "x".into())));
        assert_eq!(verdict(&["\r\n\t\x1b[2J"], None, &[]), None);
        assert_eq!(verdict(&["xs"], None, &["s"]), found(true, 0, "xs"));
    }

    #[test]
    fn lists_that_are_refused() {
        let many = vec!["a".to_owned(); PATTERNS];
        assert!(TextWatch::compile(Some(&[]), &[], false, true).is_err());
        assert!(TextWatch::compile(Some(&many), &[], false, true).is_ok());
        assert!(TextWatch::compile(Some(&many), &many, false, true).is_err());
        assert!(TextWatch::compile(None, &strings(&[""]), false, true).is_err());
    }
}
