//! One pattern, and whether it hits a logical line.
//!
//! A pattern hits if *some* match of it covers at least one new cell. The usual searches name one match for each place
//! (the leftmost, and of several the preferred one), which is not enough: `ready|ready to go` must hit `ready to go`
//! when only `to go` is new. So after a quick look with the usual engine all matches are asked about.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::literal::Literal;
use super::matches::{AllMatches, covers};
use crate::limits::{PATTERN_BYTES, PATTERN_COMPILED_BYTES};
use crate::mirror::{LineText, Mark};
use crate::{Error, Result};

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    /// The pattern as bytes, if it is literal ASCII text.
    literal: Option<Literal>,
    match_case: bool,
    quick: Regex,
    /// Looks through many lines at once; none if the pattern can tell the start of a text from that of a line.
    many: Option<Regex>,
    /// All matches; none for literal text, where one place has one match.
    all: Option<Box<AllMatches>>,
}

impl Pattern {
    /// Compiles a pattern: literal text, or a regular expression of the `regex` crate.
    ///
    /// # Errors
    ///
    /// [`Error::BadArgument`] if it is empty, longer than [`PATTERN_BYTES`], holds a newline or NUL (no line does), is no
    /// regular expression, or compiles to more than [`PATTERN_COMPILED_BYTES`].
    pub fn compile(pattern: &str, regex: bool, match_case: bool) -> Result<Self> {
        let bad = |what: String| Error::BadArgument(format!("pattern {}: {what}", shown(pattern)));
        if pattern.is_empty() {
            return Err(bad("is empty; leave `patterns` out to wait for any output".into()));
        }
        if pattern.len() > PATTERN_BYTES {
            return Err(bad(format!("has {} bytes; at most {PATTERN_BYTES} are allowed", pattern.len())));
        }
        if pattern.contains(['\n', '\0']) {
            return Err(bad("holds a newline or NUL, which no line contains; give one pattern for each line".into()));
        }
        let source = if regex { pattern.to_owned() } else { regex::escape(pattern) };
        let build = |many: bool| {
            RegexBuilder::new(&source)
                .case_insensitive(!match_case)
                .multi_line(many)
                .size_limit(PATTERN_COMPILED_BYTES)
                .build()
        };
        let quick = build(false).map_err(|error| bad(describe(&error)))?;
        let many = if regex && knows_ends(&source) { None } else { build(true).ok() };
        let all = if regex {
            let all = AllMatches::compile(&source, match_case, 2 * PATTERN_COMPILED_BYTES);
            Some(Box::new(all.ok_or_else(|| bad(describe(&regex::Error::CompiledTooBig(PATTERN_COMPILED_BYTES))))?))
        } else {
            None
        };
        let literal = if regex { None } else { Literal::new(pattern, match_case) };
        Ok(Self { literal, match_case, quick, many, all })
    }

    /// Size of the compiled form, in bytes, as far as it is known.
    pub fn compiled_bytes(&self) -> usize {
        let all = self.all.as_ref().map_or(0, |all| all.bytes());
        all.max(self.quick.as_str().len())
    }

    /// Tells whether the pattern may hit one of many lines, each behind a newline: `false` is certain.
    pub fn may_hit(&self, lines: &str) -> bool {
        match self.literal_for(lines) {
            Some(literal) => literal.is_in(lines),
            None => self.many.as_ref().is_none_or(|many| many.is_match(lines)),
        }
    }

    /// The literal, if it can be looked for in this text byte by byte.
    fn literal_for(&self, text: &str) -> Option<&Literal> {
        self.literal.as_ref().filter(|_| self.match_case || text.is_ascii())
    }

    /// Tells whether the pattern matches anywhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.quick.is_match(text) || self.quick.is_match(text.trim_end_matches(' '))
    }

    /// Tells whether some match covers a cell of the line written since the mark. An empty match counts if the line
    /// has such a cell.
    pub fn hits(&self, line: &LineText, mark: Mark) -> bool {
        let news = line.new_ranges(mark);
        if news.is_empty() {
            return false;
        }
        // Blanks that the program printed at the end of a line may be matched or be left out.
        self.hits_text(&line.text, &news) || {
            let trimmed = line.trimmed();
            trimmed.len() < line.text.len() && self.hits_text(trimmed, &news)
        }
    }

    fn hits_text(&self, text: &str, news: &[Range<usize>]) -> bool {
        if let Some(literal) = self.literal_for(text) {
            return literal.places(text).any(|place| covers(place, news));
        }
        let Some(first) = self.quick.find(text) else { return false };
        if first.is_empty() || covers(first.range(), news) {
            return true;
        }
        match &self.all {
            None => self.any_start_hits(text, news),
            Some(all) => all.hits(text, news),
        }
    }

    /// Looks at the preferred match of every start: exact where one start has one match (literal text).
    fn any_start_hits(&self, text: &str, news: &[Range<usize>]) -> bool {
        let end = news.last().map_or(0, |range| range.end);
        let mut from = 0;
        while let Some(found) = self.quick.find_at(text, from) {
            if found.is_empty() || covers(found.range(), news) {
                return true;
            }
            if found.start() >= end {
                return false;
            }
            from = next_char(text, found.start());
        }
        false
    }
}

/// The byte offset of the character after the one at `at`.
fn next_char(text: &str, at: usize) -> usize {
    (at + 1..=text.len()).find(|next| text.is_char_boundary(*next)).unwrap_or(text.len() + 1)
}

/// Tells whether a regular expression may tell the ends of a text from those of a line: `\A`, `\z`, or flags turned off.
fn knows_ends(source: &str) -> bool {
    let flags = |rest: &str| rest.split([':', ')', '<']).next().is_some_and(|flags| flags.contains('-'));
    source.contains("\\A") || source.contains("\\z") || source.split("(?").skip(1).any(flags)
}

/// A pattern as an error message shows it: short, and with nothing unprintable.
fn shown(pattern: &str) -> String {
    let mut short: String = pattern.chars().take(60).collect();
    if short.len() < pattern.len() {
        short.push('…');
    }
    format!("{short:?}")
}

fn describe(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            format!("compiles to more than {PATTERN_COMPILED_BYTES} bytes; use smaller repetitions")
        }
        regex::Error::Syntax(text) => {
            let reason = text.lines().rev().find_map(|line| line.trim().strip_prefix("error: ")).unwrap_or(text);
            format!("is not a regular expression: {reason}")
        }
        other => format!("is not a regular expression: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Stamp;

    /// A line whose cells are new where `new` has an `n`; a blank there is a cell without a glyph.
    fn line(text: &str, new: &str) -> LineText {
        let mut stamps = Vec::new();
        for ((at, c), kind) in text.char_indices().zip(new.chars()) {
            let stamp = match kind {
                'n' => Stamp(5),
                ' ' => Stamp::NONE,
                _ => Stamp(2),
            };
            stamps.push((at + c.len_utf8(), stamp));
        }
        LineText { text: text.into(), stamps }
    }

    #[test]
    fn hits_need_a_new_cell_under_some_match() {
        let mark = Mark::from_number(5);
        // Pattern, regex, match case, text, which cells are new, hit.
        let table = [
            ("ready", false, true, "ready.", "ooooon", false),
            ("ready", false, true, "ready.", "ooonno", true),
            ("READY", false, false, "ready", "ooooon", false),
            ("READY", false, false, "ready", "oooonn", true),
            ("READY", false, true, "ready", "nnnnn", false),
            ("aa", false, true, "aaa", "oon", true),
            ("a.c", false, true, "abc", "nnn", false),
            ("é", false, false, "É", "n", true),
            ("k", false, false, "\u{212A}", "n", true),
            ("a b", false, true, "a b", "n n", true),
            ("a ", false, true, "a ", "nn", true),
            ("ready|ready to go", true, true, "ready to go", "ooooonnnnnn", true),
            ("ready", true, true, "ready to go", "ooooonnnnnn", false),
            ("a.*?", true, true, "ab", "on", true),
            ("done$", true, true, "done  ", "nnnnnn", true),
            ("done $", true, true, "done  ", "nnnnnn", false),
            ("^", true, true, "ready!", "ooooon", true),
            ("^x?", true, true, "xb", "on", true),
            ("x*", true, true, "ready", "ooooo", false),
            (r"\bbc\b", true, true, "é bc", "ooon", true),
            (r"é\w+|é\w+ c\b", true, true, "éb c", "ooon", true),
            ("(?i)R", true, true, "r", "n", true),
        ];
        for (pattern, regex, match_case, text, new, hit) in table {
            let compiled = Pattern::compile(pattern, regex, match_case).unwrap();
            let line = line(text, new);
            assert_eq!(compiled.hits(&line, mark), hit, "{pattern} on {text} {new}");
            assert!(!hit || compiled.may_hit(&format!("\nx\n{text}\n{}", line.trimmed())), "{pattern} may hit {text}");
        }
    }

    #[test]
    fn what_may_hit_one_of_many_lines() {
        let table = [
            ("b", false, "\na\nb", true),
            ("c", false, "\na\nb", false),
            ("^b$", true, "\na\nb\nc", true),
            ("^ab$", true, "\na\nb", false),
            (r"\Ab\z", true, "\na\nb", true),
            ("(?-m)^b", true, "\na\nb", true),
            ("é", false, "\né", true),
        ];
        for (pattern, regex, lines, may) in table {
            assert_eq!(Pattern::compile(pattern, regex, true).unwrap().may_hit(lines), may, "{pattern}");
        }
    }

    #[test]
    fn patterns_that_are_refused() {
        let long = "a".repeat(PATTERN_BYTES + 1);
        for (pattern, regex, why) in [
            ("", false, "is empty"),
            ("a\nb", false, "newline"),
            ("a\0", true, "NUL"),
            (long.as_str(), false, "at most"),
            ("(a", true, "not a regular expression"),
            ("(x{1000}){1000}", true, "smaller repetitions"),
        ] {
            let error = Pattern::compile(pattern, regex, true).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(Pattern::compile("(a", false, true).is_ok());
    }
}
