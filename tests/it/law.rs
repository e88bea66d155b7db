//! The law of new output against a naive model: the stream fed byte by byte, every state of every line kept, and each
//! searched cell by cell.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use panemirror::geometry::Size;
use panemirror::mirror::{LineText, Mark, Mirror};
use panemirror::term::{Options, Profile, Row, Terminal};
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

/// One thing that happens to a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Output; it may come in any number of deliveries.
    Bytes(Vec<u8>),
    Resize(Size),
    ClearHistory,
}

/// A pane, and what happened to it before and after a mark.
#[derive(Clone, Debug)]
struct Story {
    version: &'static str,
    size: Size,
    history_limit: usize,
    before: Vec<Step>,
    after: Vec<Step>,
}

impl Story {
    /// The pane at its mark.
    fn start(&self) -> (Mirror, Mark) {
        let options = Options {
            profile: Profile::for_version(self.version),
            history_limit: self.history_limit,
            retention: 10_000,
            answer_queries: false,
        };
        let mut mirror = Mirror::new(Terminal::new(self.size, options));
        self.before.iter().for_each(|step| play(&mut mirror, step, &[]));
        let mark = mirror.mark();
        (mirror, mark)
    }
}

/// Lets a step happen; output is cut into deliveries at `cuts`.
fn play(mirror: &mut Mirror, step: &Step, cuts: &[usize]) {
    match step {
        Step::Bytes(bytes) => {
            for piece in cut(bytes, cuts) {
                mirror.apply(piece, Duration::ZERO);
                mirror.terminal().verify();
            }
        }
        Step::Resize(size) => mirror.resize(*size),
        Step::ClearHistory => mirror.clear_history(),
    }
    mirror.terminal().verify();
}

/// A pane after its story, and whether a wait for the literal fired.
fn told(story: &Story, literal: &str, cuts: &[usize]) -> (Mirror, Mark, bool) {
    let (mut mirror, mark) = story.start();
    let watch = TextWatch::compile(Some(&[literal.to_owned()]), &[], false, true).unwrap();
    let (sender, verdict) = mpsc::channel();
    mirror.watch(Box::new(TextWatcher::new(Arc::new(watch), mark, move |_| sender.send(()).unwrap())));
    story.after.iter().for_each(|step| play(&mut mirror, step, cuts));
    (mirror, mark, verdict.try_recv().is_ok())
}

/// The model: a state after each byte and each other step, every logical line of history and screen in each.
fn naive(story: &Story, literal: &str) -> bool {
    let (mut mirror, mark) = story.start();
    let seen = |mirror: &Mirror| {
        !mirror.screen().is_alternate() && mirror.all_lines().iter().any(|line| naive_hit(line, mark, literal))
    };
    story.after.iter().any(|step| match step {
        Step::Bytes(bytes) => bytes.iter().any(|byte| {
            mirror.apply(&[*byte], Duration::ZERO);
            seen(&mirror)
        }),
        other => {
            play(&mut mirror, other, &[]);
            seen(&mirror)
        }
    })
}

/// All that can be read off a pane: position, alternate screen, and each row's cells, stamps and wrap.
fn shown(mirror: &Mirror) -> Vec<String> {
    let screen = mirror.screen();
    let row = |row: &Row| {
        let cells: Vec<_> = row.cells().map(|cell| (cell.col, cell.width, cell.text, cell.stamp, cell.style)).collect();
        format!("{} {cells:?}", row.is_wrapped())
    };
    let state = format!("{:?} {:?} {} {:?}", screen.size(), screen.cursor(), screen.is_alternate(), screen.region());
    let rows =
        (0..screen.len()).filter_map(|index| screen.row(index)).chain(screen.hidden_main().iter().map(AsRef::as_ref));
    std::iter::once(state).chain(rows.map(row)).collect()
}

fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// Sequences without a parameter: the alternate screen, RIS, DECALN, modes, tabs, cursor, colours, character sets.
const SEQUENCES: [&str; 33] = [
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?47h",
    "\x1b[?47l",
    "\x1b[?1047h",
    "\x1b[?1047l",
    "\x1bc",
    "\x1b#8",
    "\x1bM",
    "\x1bD",
    "\x1bE",
    "\x1b7",
    "\x1b8",
    "\x1b[J",
    "\x1b[1J",
    "\x1b[2J",
    "\x1b[3J",
    "\x1b[K",
    "\x1b[1K",
    "\x1b[2K",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[?7l",
    "\x1b[?7h",
    "\x1b[?6h",
    "\x1b[?6l",
    "\x1b[r",
    "\x1b[41m",
    "\x1b[m",
    "\x1bH",
    "\x1b[3g",
    "\x1b(0",
    "\x1b(B",
];

/// A piece of output. REP is left out: its repetitions are operations that the model does not see.
fn token(letters: &'static str, marks: bool) -> impl Strategy<Value = Vec<u8>> {
    let text = prop::collection::vec(prop::sample::select(letters.as_bytes().to_vec()), 1..8);
    let wide = if marks {
        vec!["é", "漢", "漢字", "\u{301}", "e\u{301}", "😀"]
    } else {
        vec!["é", "漢", "漢字", "😀"]
    };
    let n = 1u8..7;
    let bytes = |text: &str| text.as_bytes().to_vec();
    prop_oneof![
        9 => text,
        3 => prop::sample::select(vec!["\r\n", "\r\n", "\r", "\r", "\n", "\x08", "\t"]).prop_map(bytes),
        3 => prop::sample::select(wide).prop_map(bytes),
        3 => (n.clone(), n.clone()).prop_map(|(row, col)| format!("\x1b[{row};{col}H").into_bytes()),
        4 => (n.clone(), prop::sample::select("ABCDEFGILMPSTXZd@".chars().collect::<Vec<_>>()))
            .prop_map(|(n, last)| format!("\x1b[{n}{last}").into_bytes()),
        1 => (n.clone(), n).prop_map(|(top, bottom)| format!("\x1b[{top};{bottom}r").into_bytes()),
        4 => prop::sample::select(SEQUENCES.to_vec()).prop_map(bytes),
    ]
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![Just(Size::new(4, 5)), (1u16..6, 1u16..9).prop_map(|(rows, cols)| Size::new(rows, cols))]
}

fn steps(letters: &'static str, marks: bool, longest: usize) -> impl Strategy<Value = Vec<Step>> {
    let output =
        prop::collection::vec(token(letters, marks), 0..longest).prop_map(|tokens| Step::Bytes(tokens.concat()));
    let step = prop_oneof![8 => output, 2 => size().prop_map(Step::Resize), 1 => Just(Step::ClearHistory)];
    prop_oneof![
        prop::collection::vec(token(letters, marks), 0..2 * longest)
            .prop_map(|tokens| vec![Step::Bytes(tokens.concat())]),
        prop::collection::vec(step, 1..5),
    ]
}

/// Stories whose output is made of these letters, before and after the mark.
fn stories(before: &'static str, after: &'static str, marks: bool) -> impl Strategy<Value = Story> {
    let version = prop::sample::select(vec!["3.3a", "3.6"]);
    let limit = prop::sample::select(vec![0usize, 1, 8]);
    (version, size(), limit, steps(before, marks, 16), steps(after, marks, 20))
        .prop_map(|(version, size, history_limit, before, after)| Story { version, size, history_limit, before, after })
}

/// The same without DECAWM off: there tmux stores a blank only where a cell exists, and how many cells a row gets depends
/// on how its text was cut into reads (RULES 0.3).
fn wrapping(mut story: Story) -> Story {
    for step in story.before.iter_mut().chain(&mut story.after) {
        if let Step::Bytes(bytes) = step {
            while let Some(at) = bytes.windows(5).position(|part| part == b"\x1b[?7l") {
                bytes[at + 4] = b'h';
            }
        }
    }
    story
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("PANEMIRROR_PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig { max_shrink_iters: 20_000, ..ProptestConfig::with_cases(cases.unwrap_or(1500)) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_wait_fires_exactly_if_a_naive_scan_of_all_states_would(
        story in stories("ab ", "ab ", true), cuts in prop::collection::vec(0usize..400, 0..6),
        literal in "[ab]{1,3}|a b|bé|a |b  a|漢a|▒|E",
    ) {
        prop_assert_eq!(told(&story, &literal, &cuts).2, naive(&story, &literal));
    }

    #[test]
    fn any_split_gives_the_same_screen_stamps_rows_and_hits(
        story in stories("ab ", "ab ", true).prop_map(wrapping), cuts in prop::collection::vec(0usize..400, 1..12),
        literal in "[ab]{1,3}|a b|bé|a ",
    ) {
        let (whole, mark, hit) = told(&story, &literal, &[]);
        let (split, _, split_hit) = told(&story, &literal, &cuts);
        prop_assert_eq!(shown(&whole), shown(&split));
        prop_assert_eq!(whole.rows_since(mark, usize::MAX), split.rows_since(mark, usize::MAX));
        prop_assert_eq!(hit, split_hit);
    }

    /// No combining marks: one on an old glyph writes it anew.
    #[test]
    fn old_text_never_turns_new(
        story in stories("xy ", "ab ", false), cuts in prop::collection::vec(0usize..400, 0..6), literal in "[xy]{1,2}",
    ) {
        let (mirror, mark, hit) = told(&story, &literal, &cuts);
        prop_assert!(!hit);
        prop_assert!(mirror.all_lines().iter().all(|line| !naive_hit(line, mark, &literal)));
    }
}

/// Inputs that once were judged otherwise than by the model.
#[test]
fn inputs_that_once_were_misjudged() {
    // What it shows, size, history limit, before, after, literal.
    type Input = (&'static str, (u16, u16), usize, &'static str, &'static str, &'static str);
    let table: [Input; 10] = [
        (
            "an inserted row breaks a wrap inside a region",
            (4, 5),
            8,
            "\x1b[2;4r b",
            "\x1b[1;1H\x1b[2;1Haé\naaaa\x1b[1K\x1b[1Laaaaa\x1b[1Baaaaaaa\n\x1b[1;1H",
            "a b",
        ),
        (
            "a scroll of several rows is one operation",
            (4, 5),
            8,
            "aaaaaa\x1b[3;1H\r\nab\x1b[2;4r",
            "aa\r\n\x1b[3;3Haab \x1b[1;1H\u{301}\x1b[2;1H\x1b[2Saaaaaaaa\x1b[1;1Ha",
            "a b",
        ),
        (
            "a wide character is cut in half by a run of text",
            (4, 5),
            8,
            "",
            "a\x1b[1A\x1b[1;1Haaaa b\x1b[1T\x1b[1;1ra漢é",
            "a b",
        ),
        (
            "history that is cleared takes the joined screen rows along",
            (4, 5),
            8,
            "aaaaba\x1b[1S漢",
            "\x1b[1;1H\x1b[3J\x08é\x1b[?1049h",
            "bé",
        ),
        (
            "a wrap scrolls a region without a history: its last row never joined the row below it",
            (3, 3),
            0,
            "",
            "\x1b[3;1Hb\x1b[1;2r\x1b[2;1Haaax",
            "ab",
        ),
        (
            "a wide character that does not fit erases the last cell and wraps in one operation",
            (3, 4),
            8,
            "",
            "aaabb\x1b[4h\x1b[1;4H漢",
            "a b",
        ),
        ("inserted rows push out all rows below", (4, 5), 0, "", "\r\n\r\na\x1b8\x1b[3L", "a"),
        (
            "a scroll of several rows takes the top of a region through the history",
            (4, 5),
            1,
            "\x1b[2;3r",
            "\x1b[2;1Ha \r\n\x1b[2S",
            "a ",
        ),
        (
            "a wide character over itself, its second half overwritten before",
            (1, 7),
            1,
            "",
            "漢\x08a b\x1b[1;1H漢aab",
            "a b",
        ),
        ("blanks that were printed before erased ones end the line", (4, 9), 8, "", "a xx\x08\x08\x1b[K", "a "),
    ];
    for (what, (rows, cols), history_limit, before, after, literal) in table {
        let bytes = |text: &str| vec![Step::Bytes(text.as_bytes().to_vec())];
        let size = Size::new(rows, cols);
        let story = Story { version: "3.3a", size, history_limit, before: bytes(before), after: bytes(after) };
        assert_eq!(told(&story, literal, &[]).2, naive(&story, literal), "{what}");
    }
}

/// A tab cell takes the place of a blank that was printed and ends the line.
#[test]
fn a_tab_cell_over_a_printed_blank_is_a_change() {
    let bytes = |text: &str| vec![Step::Bytes(text.as_bytes().to_vec())];
    let (before, after) = (bytes("a漢aaaa \r\n"), bytes("\x1b[1Faa\t\r\n"));
    let story = Story { version: "3.6", size: Size::new(4, 5), history_limit: 0, before, after };
    assert!(naive(&story, "a ") && told(&story, "a ", &[]).2);
}

/// Leaving a resized alternate screen can leave rows of it in the history (tmux 3.3a reflows it first).
#[test]
fn rows_that_the_alternate_screen_leaves_behind_are_seen() {
    let before = vec![Step::Bytes(b"\x1b[?47h".to_vec()), Step::Resize(Size::new(1, 6))];
    let after = vec![Step::Bytes(b"aaaaaa\x1b[?1049l".to_vec())];
    let story = Story { version: "3.3a", size: Size::new(4, 5), history_limit: 0, before, after };
    assert!(naive(&story, "a") && told(&story, "a", &[]).2);
}

/// REP writes a glyph for each repetition; each is an operation of its own.
#[test]
fn every_repetition_is_a_state() {
    assert!(hit("", "a\x1b[4b", "aaaaa"));
    assert!(hit("xxxx", "\x1b[1;1Ha\x1b[2b", "aaxx"));
    assert!(hit("xxxx", "\x1b[1;1Ha\x1b[2b", "aaax"));
    assert!(!hit("xxxx", "\x1b[1;1Ha\x1b[2b", "xxx"));
    assert!(hit("xxxx", "\x1b[1;1Hé\x1b[2b\r\x1b[K", "éxx"));
}

#[test]
fn blanks_in_all_their_kinds() {
    assert!(hit_regex("", "Word: xx\x08\x08\x1b[K", ": $"));
    assert!(hit("", "a\tb", "a       b"));
    let mut mirror = mirror(Size::new(2, 4), 0);
    mirror.apply("abc漢\x1b[1;4H\x1b[41m\x1b[X".as_bytes(), Duration::ZERO);
    assert_eq!(mirror.all_lines()[0].text, "abc漢", "a coloured cell behind the text is none of it");
}
