//! All matches of a regular expression in a text.
//!
//! The usual searches name one match for each place: the leftmost, and of several the preferred one. Here it matters
//! whether *any* match covers a new cell. Two automata enumerate where matches end and where they start, which decides
//! nearly always; what they leave open is decided by following all matches at once, each state of the automaton with
//! the earliest start that leads there. Both take time linear in the text, whatever the pattern.

use std::ops::Range;

use regex_automata::hybrid::dfa::{Cache, DFA, OverlappingState};
use regex_automata::nfa::thompson::{self, NFA, State, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind};

/// A regular expression, compiled for questions about all its matches.
#[derive(Debug)]
pub(super) struct AllMatches {
    nfa: NFA,
    /// Forwards and backwards; none if the pattern is too large for them.
    dfas: Option<(DFA, DFA)>,
}

impl AllMatches {
    /// Compiles a pattern; `None` if it is none, or larger than `max_bytes`.
    pub(super) fn compile(source: &str, match_case: bool, max_bytes: usize) -> Option<Self> {
        let nfa = |reverse: bool| {
            let config = thompson::Config::new()
                .reverse(reverse)
                .which_captures(WhichCaptures::None)
                .nfa_size_limit(Some(max_bytes));
            let syntax = syntax::Config::new().case_insensitive(!match_case);
            NFA::compiler().syntax(syntax).configure(config).build(source).ok()
        };
        let dfa = |nfa: NFA| {
            let config = DFA::config().match_kind(MatchKind::All).unicode_word_boundary(true);
            DFA::builder().configure(config).build_from_nfa(nfa).ok()
        };
        let forward = nfa(false)?;
        let dfas = dfa(forward.clone()).zip(nfa(true).and_then(dfa));
        Some(Self { nfa: forward, dfas })
    }

    /// Size, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.nfa.memory_usage()
    }

    /// Tells whether some match covers a byte of `news` (in order, apart from each other, not empty), or is empty.
    pub(super) fn hits(&self, text: &str, news: &[Range<usize>]) -> bool {
        self.matches_empty(text) || self.decide(text, news).unwrap_or_else(|| self.follow(text, news))
    }

    /// Tells whether there is an empty match somewhere.
    fn matches_empty(&self, text: &str) -> bool {
        if !self.nfa.has_empty() {
            return false;
        }
        let mut threads = Threads::new(&self.nfa);
        boundaries(text).any(|at| {
            threads.clear();
            threads.add(&self.nfa, self.nfa.start_anchored(), at, text, at).is_some()
        })
    }

    /// Decides by the ends and the starts of the matches; `None` if they do not tell, or if the automata give up (beside
    /// text that is not ASCII they know no word boundaries).
    fn decide(&self, text: &str, news: &[Range<usize>]) -> Option<bool> {
        let (forward, backward) = self.dfas.as_ref()?;
        let first = news.first()?.start;
        let mut beyond = false;
        // A match that ends in or right behind a new cell covers it.
        let ends = ends(forward, text, |end| {
            beyond |= end > first;
            covers(end.saturating_sub(1)..end, news)
        })?;
        if ends || !beyond {
            return Some(ends);
        }
        // Likewise one that starts in a new cell.
        let last = news.last()?.end;
        let mut before = false;
        let starts = starts(backward, text, |start| {
            before |= start < last;
            covers(start..start + 1, news)
        })?;
        // Left are those that start before a new cell and end behind it.
        if starts || !before { Some(starts) } else { None }
    }

    /// Decides by following all matches at once.
    fn follow(&self, text: &str, news: &[Range<usize>]) -> bool {
        let Some(last) = news.last().map(|new| new.end) else { return false };
        let (mut now, mut next) = (Threads::new(&self.nfa), Threads::new(&self.nfa));
        for at in 0..=text.len() {
            // Behind the threads of earlier starts: the first to reach a state is the one that covers most.
            if at < last && text.is_char_boundary(at) {
                let start = now.add(&self.nfa, self.nfa.start_anchored(), at, text, at);
                if start.is_some_and(|start| covers(start..at, news)) {
                    return true;
                }
            }
            let Some(byte) = text.as_bytes().get(at) else { return false };
            if now.list.is_empty() && at >= last {
                return false;
            }
            next.clear();
            for (state, start) in &now.list {
                let Some(to) = step(self.nfa.state(*state), *byte) else { continue };
                let start = next.add(&self.nfa, to, *start, text, at + 1);
                if start.is_some_and(|start| covers(start..at + 1, news)) {
                    return true;
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        false
    }
}

/// The states that matches are in at one place of the text, in the order of their starts.
struct Threads {
    /// States that read a byte, each with the earliest start that leads there.
    list: Vec<(StateID, usize)>,
    /// For each state the round in which it was last reached.
    reached: Vec<u32>,
    round: u32,
    stack: Vec<StateID>,
}

impl Threads {
    fn new(nfa: &NFA) -> Self {
        Self { list: Vec::new(), reached: vec![0; nfa.states().len()], round: 1, stack: Vec::new() }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.round += 1;
    }

    /// Adds a state and all that it leads to without reading; returns `start` if a match is among them.
    fn add(&mut self, nfa: &NFA, state: StateID, start: usize, text: &str, at: usize) -> Option<usize> {
        let mut matched = None;
        self.stack.push(state);
        while let Some(id) = self.stack.pop() {
            match self.reached.get_mut(id.as_usize()) {
                Some(round) if *round != self.round => *round = self.round,
                _ => continue,
            }
            match nfa.state(id) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => self.list.push((id, start)),
                State::Look { look, next } => {
                    if nfa.look_matcher().matches(*look, text.as_bytes(), at) {
                        self.stack.push(*next);
                    }
                }
                State::Union { alternates } => self.stack.extend(alternates.iter().copied()),
                State::BinaryUnion { alt1, alt2 } => self.stack.extend([*alt1, *alt2]),
                State::Capture { next, .. } => self.stack.push(*next),
                State::Fail => {}
                State::Match { .. } => matched = Some(start),
            }
        }
        matched
    }
}

/// Where a state leads by reading a byte.
fn step(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(sparse) => sparse.matches_byte(byte),
        State::Dense(dense) => dense.matches_byte(byte),
        _ => None,
    }
}

/// Enumerates the ends of all matches until `stop` holds for one.
fn ends(dfa: &DFA, text: &str, stop: impl FnMut(usize) -> bool) -> Option<bool> {
    enumerate(dfa, text, stop, |cache, input, state| dfa.try_search_overlapping_fwd(cache, input, state).ok())
}

/// Enumerates the starts of all matches, from the end of the text, until `stop` holds for one.
fn starts(dfa: &DFA, text: &str, stop: impl FnMut(usize) -> bool) -> Option<bool> {
    enumerate(dfa, text, stop, |cache, input, state| dfa.try_search_overlapping_rev(cache, input, state).ok())
}

fn enumerate(
    dfa: &DFA,
    text: &str,
    mut stop: impl FnMut(usize) -> bool,
    search: impl Fn(&mut Cache, &Input<'_>, &mut OverlappingState) -> Option<()>,
) -> Option<bool> {
    let mut cache = dfa.create_cache();
    let input = Input::new(text);
    let mut state = OverlappingState::start();
    loop {
        search(&mut cache, &input, &mut state)?;
        let Some(found) = state.get_match() else { return Some(false) };
        if stop(found.offset()) {
            return Some(true);
        }
    }
}

/// Tells whether a range of bytes meets one of `news`, which are in order.
pub(super) fn covers(found: Range<usize>, news: &[Range<usize>]) -> bool {
    let before = news.partition_point(|new| new.start < found.end);
    before.checked_sub(1).and_then(|at| news.get(at)).is_some_and(|new| !found.is_empty() && found.start < new.end)
}

fn boundaries(text: &str) -> impl Iterator<Item = usize> {
    (0..=text.len()).filter(|at| text.is_char_boundary(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(places: &[bool]) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (at, _) in places.iter().enumerate().filter(|(_, new)| **new) {
            match ranges.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => ranges.push(at..at + 1),
            }
        }
        ranges
    }

    /// Every pattern, text and choice of new cells of a small world, by each of the two ways alone.
    #[test]
    fn following_agrees_with_trying_all_places() {
        let patterns = [
            "a",
            "ab",
            "a+b",
            "a*",
            "a.*b",
            "(a|ab)(c|bc)?",
            "b|a.c",
            "[ab]{2,3}",
            "c?",
            "(a+)+b",
            "abc|b",
            "a.?c",
            "(?i)A",
        ];
        for source in patterns {
            let all = AllMatches::compile(source, true, 1 << 20).unwrap();
            let whole = regex::Regex::new(&format!(r"\A(?:{source})\z")).unwrap();
            for code in 0..3usize.pow(5) {
                let text: String = (0..5).map(|i| ['a', 'b', 'c'][code / 3usize.pow(i) % 3]).collect();
                for bits in 1u32..32 {
                    let new: Vec<bool> = (0..5).map(|i| bits >> i & 1 == 1).collect();
                    let news = news(&new);
                    let oracle = (0..=5)
                        .any(|s| (s..=5).any(|e| whole.is_match(&text[s..e]) && (s == e || new[s..e].contains(&true))));
                    assert_eq!(all.hits(&text, &news), oracle, "{source} {text} {news:?}");
                    let alone = all.matches_empty(&text) || all.follow(&text, &news);
                    assert_eq!(alone, oracle, "{source} {text} {news:?}, followed");
                    if let Some(decided) = all.decide(&text, &news) {
                        assert_eq!(all.matches_empty(&text) || decided, oracle, "{source} {text} {news:?}, decided");
                    }
                }
            }
        }
    }

    #[test]
    fn looks_around_see_the_whole_line() {
        let cases: [(&str, &str, Range<usize>, bool); 12] = [
            (r"\bb", "a b", 2..3, true),
            (r"\bb", "ab", 1..2, false),
            (r"\bbc\b", "é bc", 3..5, true),
            (r"\bbc\b", "ébc", 2..4, false),
            (r"^a", "ba", 1..2, false),
            (r"a$", "aab", 0..2, false),
            (r"^x$|y", "x-y", 1..2, false),
            (r"é.é\b", "é-é", 2..3, true),
            (r"^x?", "xb", 1..2, true),
            (r"^", "ready!", 5..6, true),
            (r"x\b", "éx-x", 3..4, false),
            (r"\B-", "é-", 2..3, false),
        ];
        for (source, text, new, hit) in cases {
            let all = AllMatches::compile(source, true, 1 << 20).unwrap();
            assert_eq!(all.hits(text, &[new]), hit, "{source} {text}");
        }
    }
}
