//! The law of new output against a naive model: the stream fed byte by byte, every state of every line kept, and each
//! searched cell by cell.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use panemirror::geometry::Size;
use panemirror::mirror::{LineText, Mark, Mirror};
use panemirror::term::{Options, Profile, Terminal};
use panemirror::wait::{TextVerdict, TextWatch, TextWatcher};
use proptest::prelude::*;

fn mirror(size: Size, history_limit: usize) -> Mirror {
    let options =
        Options { profile: Profile::for_version("3.3a"), history_limit, retention: 50, answer_queries: false };
    Mirror::new(Terminal::new(size, options))
}

/// Feeds `pieces`, each a delivery, to a mirror that has seen `before`; returns the verdict and where it came.
fn wait(
    size: Size,
    before: &[u8],
    pieces: &[&[u8]],
    patterns: &[&str],
    stop: &[&str],
    regex: bool,
) -> Option<(usize, TextVerdict)> {
    let mut mirror = mirror(size, 8);
    mirror.apply(before, Duration::ZERO);
    let mark = mirror.mark();
    let list = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let watch = TextWatch::compile(Some(&list(patterns)), &list(stop), regex, true).unwrap();
    let (sender, verdict) = mpsc::channel();
    mirror.watch(Box::new(TextWatcher::new(Arc::new(watch), mark, move |verdict| sender.send(verdict).unwrap())));
    for (at, piece) in pieces.iter().enumerate() {
        mirror.apply(piece, Duration::ZERO);
        if let Ok(verdict) = verdict.try_recv() {
            return Some((at, verdict));
        }
    }
    None
}

fn text(verdict: &Option<(usize, TextVerdict)>) -> Option<String> {
    verdict.as_ref().map(|(_, verdict)| verdict.lines.join("|"))
}

fn hit(before: &str, after: &str, pattern: &str) -> bool {
    wait(Size::new(6, 20), before.as_bytes(), &[after.as_bytes()], &[pattern], &[], false).is_some()
}

fn hit_regex(before: &str, after: &str, pattern: &str) -> bool {
    wait(Size::new(6, 20), before.as_bytes(), &[after.as_bytes()], &[pattern], &[], true).is_some()
}

#[test]
fn text_that_stood_for_one_escape_sequence_is_found() {
    assert!(hit("", "FLASH\r\x1b[K", "FLASH"));
    assert!(hit("", "FLASH\x1b[2J", "FLASH"));
    assert!(hit("", "FLASH\x1b[1;1H\x1b[M", "FLASH"));
    assert!(hit("", "FLASH\x1b[?1049h\x1b[?1049l", "FLASH"));
    assert!(hit("", "FLASH\r\n\r\n\r\n\r\n\r\n\r\n\r\n\x1b[3J\x1b[2J", "FLASH"));
    assert!(hit("", "10%\r50%\r99%\r", "50%"));
    assert!(hit("", "FLASH\rflush", "FLASH"));
}

#[test]
fn old_text_never_matches() {
    assert!(!hit("ready\r\n", "", "ready"));
    assert!(!hit("ready", ".", "ready"));
    assert!(!hit("ready", "\x1b[1;1H\x1b[L", "ready"));
    assert!(!hit("ready\r\n", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n", "ready"));
    assert!(hit("rea", "dy", "ready"));
    assert!(hit("ready\r\n", "ready", "ready"));
    assert!(hit("ready", "\rready", "ready"));
}

#[test]
fn rewritten_and_inserted_states_are_seen() {
    assert!(hit("", "xbc\ra", "xbc"));
    assert!(hit("", "xbc\ra", "abc"));
    assert!(hit("", "ac\x1b[D\x1b[@b", "abc"));
    assert!(hit("", "abc\x1b[2D\x1b[P", "ac"));
    assert!(hit("", "cafe\u{301}", "cafe"));
    assert!(hit("", "cafe\u{301}", "cafe\u{301}"));
}

#[test]
fn soft_wraps_join_and_newlines_do_not() {
    assert!(hit("", "0123456789012345678READY", "READY"));
    assert!(!hit("", "RE\r\nADY", "READY"));
    assert!(hit("012345678901234567RE", "ADY", "READY"));
}

#[test]
fn nothing_matches_on_the_alternate_screen() {
    assert!(!hit("", "\x1b[?1049hREADY", "READY"));
    assert!(!hit("\x1b[?1049h", "READY\x1b[?1049l", "READY"));
    assert!(hit("", "\x1b[?1049hx\x1b[?1049lREADY", "READY"));
    assert!(hit("\x1b[?1049h", "x\x1b[?1049lREADY", "READY"));
}

#[test]
fn some_match_must_cover_a_new_cell() {
    assert!(hit_regex("ready", " to go", "ready|ready to go"));
    assert!(hit_regex("a", "b", "a.*?"));
    assert!(!hit_regex("ready", " to go", "ready"));
    assert!(hit_regex("ready", "!", "ready.*"));
    assert!(hit_regex("ready", "!", "^"));
    assert!(!hit_regex("aab", "c", "a+b"));
    assert!(hit_regex("aa", "a", "aa"));
    assert!(hit("aa", "a", "aa"));
    assert!(!hit_regex("x y", "\x1b[1;2H-", "^x$|y"));
    assert!(hit_regex("x y", "\x1b[1;2H-", "x.y"));
    assert!(hit_regex("é b", "c", r"\bbc\b"));
}

#[test]
fn blanks_at_the_end_may_be_matched_or_left_out() {
    assert!(hit("", "Password: ", "Password: "));
    assert!(hit_regex("", "done   ", "done$"));
}

#[test]
fn stop_beats_patterns_in_the_same_delivery() {
    let size = Size::new(6, 20);
    let both = b"good\r\nbad\r\n".as_slice();
    let (_, verdict) = wait(size, b"", &[both], &["good"], &["bad"], false).unwrap();
    assert!(verdict.stopped);
    let (_, verdict) = wait(size, b"", &[b"good\r\n", b"bad\r\n"], &["good"], &["bad"], false).unwrap();
    assert!(!verdict.stopped);
    let (_, verdict) = wait(size, b"", &[b"x\r\n", b"b a"], &["a", "b"], &[], false).unwrap();
    assert_eq!(verdict.index, Some(0));
    let several = wait(size, b"", &[b"a1\r\nb\r\na2\r\n"], &["a"], &[], false);
    assert_eq!(text(&several).as_deref(), Some("a1|a2"));
}

/// Tells whether a literal stands in the line with at least one new cell.
fn naive_hit(line: &LineText, mark: Mark, literal: &str) -> bool {
    let news = line.new_ranges(mark);
    (0..line.text.len()).any(|start| {
        line.text.get(start..).is_some_and(|rest| rest.starts_with(literal))
            && news.iter().any(|new| start < new.end && new.start < start + literal.len())
    })
}

/// The model: a state after each byte, every logical line of history and screen in each.
fn naive(size: Size, before: &[u8], after: &[u8], literal: &str) -> bool {
    let mut mirror = mirror(size, 8);
    mirror.apply(before, Duration::ZERO);
    let mark = mirror.mark();
    after.iter().any(|byte| {
        mirror.apply(&[*byte], Duration::ZERO);
        !mirror.screen().is_alternate() && mirror.all_lines().iter().any(|line| naive_hit(line, mark, literal))
    })
}

fn token() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::collection::vec(prop::sample::select(b"ab ".to_vec()), 1..6);
    let n = 1u8..5;
    prop_oneof![
        8 => text,
        2 => Just(b"\r\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        1 => Just(b"\n".to_vec()),
        1 => Just(b"\x08".to_vec()),
        1 => Just("é".as_bytes().to_vec()),
        1 => Just("漢".as_bytes().to_vec()),
        1 => Just("\u{301}".as_bytes().to_vec()),
        3 => (n.clone(), n.clone()).prop_map(|(row, col)| format!("\x1b[{row};{col}H").into_bytes()),
        4 => (n.clone(), prop::sample::select("ABCDJKLMPSTX@".chars().collect::<Vec<_>>()))
            .prop_map(|(n, last)| format!("\x1b[{n}{last}").into_bytes()),
        1 => (n.clone(), n).prop_map(|(top, bottom)| format!("\x1b[{top};{bottom}r").into_bytes()),
        1 => prop::sample::select(vec!["\x1b[?1049h", "\x1b[?1049l", "\x1bM", "\x1b7", "\x1b8", "\x1b[2J", "\x1b[3J", "\x1b[4h", "\x1b[4l"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(token(), 0..40).prop_map(|tokens| tokens.concat())
}

fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("PANEMIRROR_PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1500)
    ))]

    #[test]
    fn a_wait_fires_exactly_if_a_naive_scan_of_all_states_would(
        before in stream(), after in stream(), cuts in prop::collection::vec(0usize..400, 0..6),
        literal in "[ab]{1,3}|a b|bé",
    ) {
        let size = Size::new(4, 5);
        let pieces = cut(&after, &cuts);
        let found = wait(size, &before, &pieces, &[&literal], &[], false).is_some();
        prop_assert_eq!(found, naive(size, &before, &after, &literal));
    }
}
