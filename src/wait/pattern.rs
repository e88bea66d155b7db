//! One pattern, and whether it hits a logical line.
//!
//! A pattern hits if *some* match of it covers at least one new cell. The usual searches name one match for each place
//! (the leftmost, and of several the preferred one), which is not enough: `ready|ready to go` must hit `ready to go`
//! when only `to go` is new. So after a quick look with the usual engine all match ends are enumerated.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use regex_automata::hybrid::dfa::{Cache, DFA, OverlappingState};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};

use super::literal::Literal;
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
    /// All matches, forwards and backwards; none for literal text, where one place has one match.
    all: Option<Box<AllMatches>>,
}

#[derive(Debug)]
struct AllMatches {
    forward: DFA,
    backward: DFA,
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
        let all = if regex { AllMatches::compile(&source, match_case).map(Box::new) } else { None };
        let literal = if regex { None } else { Literal::new(pattern, match_case) };
        Ok(Self { literal, match_case, quick, many, all })
    }

    /// Size of the compiled form, in bytes, as far as it is known.
    pub fn compiled_bytes(&self) -> usize {
        let all = self.all.as_ref().map_or(0, |all| all.forward.get_nfa().memory_usage());
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
            Some(all) => all.hits(text, news).unwrap_or_else(|| self.any_start_hits(text, news)),
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

impl AllMatches {
    fn compile(source: &str, match_case: bool) -> Option<Self> {
        let build = |reverse: bool| {
            DFA::builder()
                .configure(DFA::config().match_kind(MatchKind::All).unicode_word_boundary(true))
                .syntax(syntax::Config::new().case_insensitive(!match_case))
                .thompson(thompson::Config::new().reverse(reverse).nfa_size_limit(Some(PATTERN_COMPILED_BYTES * 2)))
                .build(source)
                .ok()
        };
        Some(Self { forward: build(false)?, backward: build(true)? })
    }

    /// Decides by all matches; `None` where the engine gives up (a Unicode word boundary beside non-ASCII text).
    fn hits(&self, text: &str, news: &[Range<usize>]) -> Option<bool> {
        let mut cache = self.forward.create_cache();
        let first = news.first()?.start;
        // A match that ends in or right behind a new cell covers it.
        let mut spanning = false;
        let ends = ends(&self.forward, &mut cache, text, |end| {
            spanning |= end > first;
            news.iter().any(|new| new.start < end && end <= new.end)
        })?;
        if ends {
            return Some(true);
        }
        if !spanning {
            return Some(false);
        }
        // Likewise one that starts in a new cell; left are those that start before and end behind one.
        let mut back = self.backward.create_cache();
        if starts(&self.backward, &mut back, text, |start| {
            news.iter().any(|new| new.start <= start && start < new.end)
        })? {
            return Some(true);
        }
        self.spans(&mut cache, text, news)
    }

    /// Tells whether a match starts before a run of new cells and ends behind it.
    fn spans(&self, cache: &mut Cache, text: &str, news: &[Range<usize>]) -> Option<bool> {
        let last = news.last()?.start;
        let mut from = 0;
        while from < last {
            let input = Input::new(text).range(from..).anchored(Anchored::Yes);
            let longest = self.forward.try_search_fwd(cache, &input).ok()?;
            if longest.is_some_and(|found| covers(from..found.offset(), news)) {
                return Some(true);
            }
            from = next_char(text, from);
        }
        Some(false)
    }
}

/// Enumerates the ends of all non-empty-looking matches until `stop` holds for one.
fn ends(dfa: &DFA, cache: &mut Cache, text: &str, mut stop: impl FnMut(usize) -> bool) -> Option<bool> {
    let input = Input::new(text);
    let mut state = OverlappingState::start();
    loop {
        dfa.try_search_overlapping_fwd(cache, &input, &mut state).ok()?;
        let Some(found) = state.get_match() else { return Some(false) };
        if stop(found.offset()) {
            return Some(true);
        }
    }
}

/// Enumerates the starts of all matches, from the end of the text, until `stop` holds for one.
fn starts(dfa: &DFA, cache: &mut Cache, text: &str, mut stop: impl FnMut(usize) -> bool) -> Option<bool> {
    let input = Input::new(text);
    let mut state = OverlappingState::start();
    loop {
        dfa.try_search_overlapping_rev(cache, &input, &mut state).ok()?;
        let Some(found) = state.get_match() else { return Some(false) };
        if stop(found.offset()) {
            return Some(true);
        }
    }
}

fn covers(found: Range<usize>, news: &[Range<usize>]) -> bool {
    news.iter().any(|new| found.start < new.end && new.start < found.end)
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
