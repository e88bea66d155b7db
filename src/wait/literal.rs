//! Finding literal ASCII text in ASCII text, by bytes.
//!
//! A regular expression that ignores case builds its automaton at its first search, which is the moment when a wait should
//! be answered; most waits are for plain text, and need none.

use memchr::{memchr_iter, memchr2_iter, memmem};

/// A literal of ASCII characters.
#[derive(Debug)]
pub(super) struct Literal {
    text: Vec<u8>,
    match_case: bool,
}

impl Literal {
    /// `None` if the text is not all ASCII: case folding beyond ASCII is left to the regular expressions.
    pub(super) fn new(text: &str, match_case: bool) -> Option<Self> {
        text.is_ascii().then(|| Self { text: text.into(), match_case })
    }

    /// The places where it stands in a text, overlapping ones too.
    ///
    /// The text must be ASCII if case is ignored: some characters beyond fold to ASCII letters.
    pub(super) fn places<'a>(&'a self, text: &'a str) -> Box<dyn Iterator<Item = std::ops::Range<usize>> + 'a> {
        let Some(first) = self.text.first().copied() else { return Box::new(std::iter::empty()) };
        let bytes = text.as_bytes();
        let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
        let starts: Box<dyn Iterator<Item = usize>> = if self.match_case || lower == upper {
            Box::new(memchr_iter(first, bytes))
        } else {
            Box::new(memchr2_iter(lower, upper, bytes))
        };
        Box::new(starts.map(|start| start..start + self.text.len()).filter(move |place| {
            bytes.get(place.clone()).is_some_and(|found| {
                if self.match_case { found == self.text } else { found.eq_ignore_ascii_case(&self.text) }
            })
        }))
    }

    /// Tells whether it stands in a text; see [`Literal::places`].
    pub(super) fn is_in(&self, text: &str) -> bool {
        if self.match_case {
            memmem::find(text.as_bytes(), &self.text).is_some()
        } else {
            self.places(text).next().is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_overlap_and_case_is_ignored_if_told() {
        let places = |pattern: &str, text: &str, case| {
            let literal = Literal::new(pattern, case).unwrap();
            assert_eq!(literal.is_in(text), literal.places(text).next().is_some());
            literal.places(text).map(|place| place.start).collect::<Vec<_>>()
        };
        assert_eq!(places("aa", "aaa b AA", true), [0, 1]);
        assert_eq!(places("aa", "aaa b AA", false), [0, 1, 6]);
        assert_eq!(places("1.", "1.1.1", false), [0, 2]);
        assert!(places("ready", "read", false).is_empty());
        assert!(Literal::new("é", false).is_none());
    }
}
