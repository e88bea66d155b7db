//! Tests of the terminal as a whole: the observer's law, stamps, splits, invariants.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::geometry::Point;

const VERSIONS: &[&str] = &["3.2a", "3.3a", "3.4", "3.5a", "3.6", "3.7", "next-3.8"];

fn terminal(rows: u16, cols: u16) -> Terminal {
    let options = Options { profile: Profile::for_version("3.3a"), retention: 100, ..Options::default() };
    Terminal::new(Size { rows, cols }, options)
}

fn of_version(rows: u16, cols: u16, version: &str) -> Terminal {
    let options =
        Options { profile: Profile::for_version(version), retention: 10, history_limit: 30, answer_queries: true };
    Terminal::new(Size { rows, cols }, options)
}

fn row_text(screen: &Screen, index: usize) -> String {
    let mut text = String::new();
    if let Some(row) = screen.row(index) {
        row.push_text(&mut text);
    }
    text.truncate(text.trim_end().len());
    text
}

fn visible(terminal: &Terminal) -> Vec<String> {
    let screen = terminal.screen();
    let mut rows: Vec<_> = (screen.first_visible()..screen.len()).map(|i| row_text(screen, i)).collect();
    while rows.last().is_some_and(|row| row.is_empty()) {
        rows.pop();
    }
    rows
}

/// Writes down the text of the rows of each call, one string a call, rows joined by `/`.
#[derive(Default)]
struct Recorder {
    calls: Vec<String>,
}

impl Observer for Recorder {
    const ACTIVE: bool = true;

    fn before_change(&mut self, screen: &Screen, rows: Range<usize>) {
        assert!(!screen.is_alternate(), "no calls on the alternate screen");
        assert!(rows.start < rows.end && rows.end <= screen.len(), "rows exist");
        assert!(rows.clone().any(|i| screen.row(i).is_some_and(Row::is_touched)), "a row is touched");
        let text: Vec<_> = rows.map(|i| row_text(screen, i)).collect();
        self.calls.push(text.join("/"));
    }
}

/// The calls that `bytes` cause after `before` was printed unobserved on 4 rows of 10 columns.
fn calls_on(mut terminal: Terminal, before: &str, bytes: &str) -> Vec<String> {
    let mut recorder = Recorder::default();
    terminal.feed(before.as_bytes(), Duration::ZERO, &mut ());
    terminal.feed(bytes.as_bytes(), Duration::ZERO, &mut recorder);
    terminal.verify();
    recorder.calls
}

fn calls(before: &str, bytes: &str) -> Vec<String> {
    calls_on(terminal(4, 10), before, bytes)
}

#[test]
fn appending_is_not_announced() {
    for text in
        ["abc", "abc\r\ndef", "0123456789abc", "漢字", "a\tb", "\x1b[31mred\x1b[m.", "a\nb\nc\nd\ne\nf", "x\x1b[3;4Hy"]
    {
        assert_eq!(calls("", text), Vec::<String>::new(), "{text:?}");
    }
}

#[test]
fn flash_is_seen_before_it_is_erased() {
    assert_eq!(calls("", "FLASH\r\x1b[K"), ["FLASH"]);
    assert_eq!(calls("", "FLASH\r\x1b[5X"), ["FLASH"]);
    assert_eq!(calls("", "FLASH\x1b[2K"), ["FLASH"]);
    assert_eq!(calls("", "FLASH\x1b[1K"), ["FLASH"]);
    assert_eq!(calls("", "FLASH\x1b[1J"), ["FLASH"]);
    assert_eq!(calls("", "a\r\nFLASH\x1b[1;2H\x1b[J"), ["a/FLASH///".trim_end_matches('/').to_owned() + "//"]);
}

#[test]
fn each_overwriting_glyph_is_announced() {
    assert_eq!(calls("", "abc\raxc"), ["abc"]);
    assert_eq!(calls("", "abc\rxyz"), ["abc", "xbc", "xyc"]);
    assert_eq!(calls("", "abc\rabc"), Vec::<String>::new());
    assert_eq!(calls("", "abc\rxyzw"), ["abc", "xbc", "xyc"]);
    assert_eq!(calls("", "漢字\rx"), ["漢字"]);
    assert_eq!(calls("", "漢字\r日本"), ["漢字", "日字"]);
    assert_eq!(calls("", "漢字\x1b[2Gx"), ["漢字"]);
    assert_eq!(calls("", "漢字\rxy"), ["漢字", "x 字"]);
    assert_eq!(calls("", "ab\r\x1b(0qq"), ["ab", "─b"]);
}

#[test]
fn a_mark_on_a_cell_is_announced() {
    assert_eq!(calls("", "e\u{301}"), ["e"]);
    assert_eq!(calls("", "e\u{301}\u{302}"), ["e", "e\u{301}"]);
}

#[test]
fn rep_overwrites_glyph_by_glyph() {
    assert_eq!(calls("", "abcd\rx\x1b[2b"), ["abcd", "xbcd", "xxcd"]);
}

#[test]
fn lines_joined_by_a_wrap_are_announced_together() {
    assert_eq!(calls("", "0123456789abc\x1b[1;1HX"), ["0123456789/abc"]);
    assert_eq!(calls("", "0123456789abc\x1b[2;1HX"), ["0123456789/abc"]);
    // The wrap runs into a row that holds text already: joining it and overwriting its first cell are one operation.
    assert_eq!(calls("", "\x1b[2;1Hold\x1b[1;1H0123456789a"), ["0123456789/old"]);
}

#[test]
fn inserting_and_deleting_is_announced() {
    assert_eq!(calls("", "abc\r\x1b[@"), ["abc"]);
    assert_eq!(calls("", "abc\r\x1b[P"), ["abc"]);
    assert_eq!(calls("", "abc\r\x1b[4hx"), ["abc"]);
    assert_eq!(calls("", "abc\x1b[@\x1b[P"), Vec::<String>::new());
    let rows = "a\r\nb\r\nc\r\nd";
    assert_eq!(calls("", &format!("{rows}\x1b[2;1H\x1b[L")), ["d"]);
    assert_eq!(calls("", &format!("{rows}\x1b[2;1H\x1b[M")), ["b"]);
    assert_eq!(calls("", &format!("{rows}\x1b[2;3r\x1b[2;1H\x1b[L")), ["c"]);
    assert_eq!(calls("", &format!("{rows}\x1b[2;3r\x1b[2;1H\x1bM")), ["c"]);
    assert_eq!(calls("", &format!("{rows}\x1b[1;1H\x1bM")), ["d"]);
    assert_eq!(calls("", &format!("{rows}\x1b[T")), ["d"]);
}

#[test]
fn scrolling_into_the_history_is_announced_only_where_wraps_break() {
    let rows = "a\r\nb\r\nc\r\nd";
    assert_eq!(calls("", &format!("{rows}\r\ne\r\nf")), Vec::<String>::new());
    assert_eq!(calls("", &format!("{rows}\x1b[2;3r\x1b[3;1H\n")), Vec::<String>::new());
    assert_eq!(calls("", "0123456789a\r\nc\r\nd\x1b[2;4r\x1b[4;1H\n"), ["0123456789/a/c"]);
}

#[test]
fn clearing_the_screen_pushes_it_and_loses_nothing() {
    assert_eq!(calls("", "FLASH\x1b[2J"), Vec::<String>::new());
    assert_eq!(calls("", "FLASH\x1b[H\x1b[J"), Vec::<String>::new());
    let mut terminal = terminal(4, 10);
    terminal.set_mode_open(true);
    assert_eq!(calls_on(terminal, "", "FLASH\x1b[2J"), ["FLASH///"]);
}

#[test]
fn the_alternate_screen_hides_the_main_one() {
    assert_eq!(calls("", "FLASH\x1b[?1049hpaint\r\x1b[Kother\rxx\x1b[?1049l"), ["FLASH///"]);
    assert_eq!(calls("", "\x1b[?1049h\x1b[?1049l"), Vec::<String>::new());
}

#[test]
fn decaln_and_history_clears_are_announced() {
    assert_eq!(calls("", "FLASH\x1b#8"), ["FLASH///"]);
    assert_eq!(calls("", "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[3J"), ["1/2"]);
    let mut terminal = terminal(2, 10);
    let mut recorder = Recorder::default();
    terminal.feed(b"1\r\n2\r\n3", Duration::ZERO, &mut recorder);
    terminal.clear_history(&mut recorder);
    assert_eq!(recorder.calls, ["1"]);
    assert_eq!((terminal.screen().history(), terminal.screen().retained()), (0, 1));
}

#[test]
fn a_trim_is_announced() {
    let options = Options { history_limit: 2, retention: 50, ..Options::default() };
    let terminal = Terminal::new(Size { rows: 2, cols: 10 }, options);
    assert_eq!(calls_on(terminal, "", "1\r\n2\r\n3\r\n4\r\n5\r\n6"), ["1", "2"]);
}

#[test]
fn a_resize_that_cuts_is_announced() {
    let mut terminal = terminal(4, 10);
    let mut recorder = Recorder::default();
    terminal.feed(b"1\r\n2\r\n3\r\n4\x1b[1;1H", Duration::ZERO, &mut recorder);
    terminal.resize(Size { rows: 2, cols: 10 }, &mut recorder);
    assert_eq!(recorder.calls, ["3/4"]);
    terminal.verify();
}

#[test]
fn untouched_rows_are_not_announced() {
    let mut terminal = terminal(4, 10);
    let mut recorder = Recorder::default();
    terminal.feed(b"FLASH", Duration::ZERO, &mut recorder);
    terminal.clear_touched(0);
    terminal.feed(b"\r\x1b[K", Duration::ZERO, &mut recorder);
    assert!(recorder.calls.is_empty());
}

#[test]
fn watched_and_unwatched_screens_are_equal() {
    let text =
        "漢字abc\r日x\x1b[2;3Hhello\x1b[1;2Hzz\u{301}q\x1b[3Cé\x1b[5bk\r\n0123456789012345\x1b[2;1Habcdefghijklm";
    for version in VERSIONS {
        let (mut a, mut b) = (of_version(4, 10, version), of_version(4, 10, version));
        a.feed(text.as_bytes(), Duration::ZERO, &mut ());
        b.feed(text.as_bytes(), Duration::ZERO, &mut Recorder::default());
        assert_eq!(picture(&a), picture(&b), "{version}");
    }
}

#[test]
fn stamps_travel_with_their_cells() {
    let mut terminal = terminal(3, 10);
    terminal.feed(b"old", Duration::ZERO, &mut ());
    terminal.set_stamp(Stamp(7));
    terminal.feed(b"new\x1b[1;1H\x1b[L\n\n\n\n", Duration::ZERO, &mut ());
    let screen = terminal.screen();
    let row = (0..screen.len()).filter_map(|i| screen.row(i)).find(|row| row.has_glyphs()).expect("the row");
    let stamps: Vec<_> = row.cells().map(|cell| cell.stamp.0).collect();
    assert_eq!(stamps, [1, 1, 1, 7, 7, 7]);
    assert_eq!(row.newest(), Stamp(7));
}

#[test]
fn erased_cells_and_tabs_hold_no_glyph() {
    for version in ["3.3a", "3.7"] {
        let mut terminal = of_version(2, 20, version);
        terminal.feed(b"\tab\x1b[1;10H\x1b[X", Duration::ZERO, &mut ());
        let row = terminal.screen().row(0).expect("row");
        let held: Vec<_> = row.cells().filter(|cell| cell.has_glyph).map(|cell| cell.col).collect();
        assert_eq!(held, [8], "{version}");
    }
}

#[test]
fn half_a_wide_character_is_no_glyph() {
    let mut terminal = terminal(2, 10);
    terminal.feed("漢".as_bytes(), Duration::ZERO, &mut ());
    terminal.feed(b"\r\x1b[X", Duration::ZERO, &mut ());
    assert_eq!(terminal.screen().row(0).map(Row::newest), Some(Stamp::NONE));
}

#[test]
fn the_string_timer_resets_pen_and_slot() {
    let mut terminal = terminal(2, 20);
    terminal.feed(b"\x1b[31m\x1b7\x1b]2;title", Duration::from_secs(1), &mut ());
    terminal.feed(b" still", Duration::from_secs(5), &mut ());
    terminal.feed(b"text", Duration::from_secs(7), &mut ());
    assert_eq!(visible(&terminal), ["text"]);
    assert_eq!(terminal.screen().title(), "");
    let row = terminal.screen().row(0).expect("row");
    assert!(row.cells().all(|cell| cell.style == Style::DEFAULT));
}

#[test]
fn endless_strings_and_stacks_are_bounded() {
    let mut terminal = terminal(2, 20);
    terminal.feed(b"\x1b]2;", Duration::ZERO, &mut ());
    for _ in 0..40 {
        terminal.feed(&[b'x'; 65_536], Duration::ZERO, &mut ());
    }
    terminal.feed(b"\x07ok", Duration::ZERO, &mut ());
    assert_eq!((visible(&terminal), terminal.screen().title()), (vec!["ok".to_owned()], ""));
    for _ in 0..50_000 {
        terminal.feed("\re\u{301}".as_bytes(), Duration::ZERO, &mut ());
    }
    terminal.feed(b"\x1b[22;2t".repeat(1000).as_slice(), Duration::ZERO, &mut ());
    terminal.verify();
    assert!(terminal.screen().bytes() < 20_000, "{} bytes", terminal.screen().bytes());
}

#[test]
fn queries_are_answered() {
    let answers = |version: &str, query: &str| {
        let mut terminal = of_version(5, 20, version);
        terminal.feed(query.as_bytes(), Duration::ZERO, &mut ());
        String::from_utf8(terminal.take_replies()).expect("text")
    };
    for (version, query, want) in [
        ("3.3a", "\x1b[c\x1b[>c\x1b[5n", "\x1b[?1;2c\x1b[>84;0;0c\x1b[0n"),
        ("3.3a", "\x1b[2;3H\x1b[6n", "\x1b[2;3R"),
        ("3.3a", "01234567890123456789\x1b[6n", "\x1b[1;21R"),
        ("3.3a", "\x1b[>q", "\x1bP>|tmux 3.3a\x1b\\"),
        ("3.3a", "\x1b[18t", "\x1b[8;20;5t"),
        ("3.4", "\x1b[18t", "\x1b[8;5;20t"),
        ("3.3a", "\x1b[?7$p", ""),
        ("3.6", "\x1b[?2004$p\x1b[?7$p", "\x1b[?2004;2$y"),
        ("3.7", "\x1b[?7$p\x1b[4$p", "\x1b[?7;1$y\x1b[4;2$y"),
        ("3.7", "\x1bP$q q\x1b\\", "\x1bP1$r q0 q\x1b\\"),
        ("3.3a", "\x1b]11;#102030\x07\x1b]11;?\x07", "\x1b]11;rgb:1010/2020/3030\x07"),
        ("3.3a", "\x1b]11;?\x07", ""),
    ] {
        assert_eq!(answers(version, query), want, "{version} {query:?}");
    }
}

#[test]
fn a_seed_restores_what_was_captured() {
    let row = |text: &str, wrapped| SeedRow { ansi: text.as_bytes().to_vec(), wrapped };
    let mut terminal = terminal(4, 10);
    terminal.feed(b"before", Duration::ZERO, &mut ());
    terminal.set_stamp(Stamp(5));
    terminal.restore(Seed {
        history_size: 0,
        size: Size { rows: 3, cols: 8 },
        history: vec![row("\x1b[31mred", false)],
        screen: vec![row("still", false), row("\x1b[m\x0elq\x0f 漢e\u{301}", true), row("12345678", false)],
        saved: None,
        history_limit: 500,
        cursor: Point { row: 2, col: 8 },
        region: (0, 2),
        tabs: vec![4],
        modes: SeedModes::default(),
        saved_cursor: None,
        title: "title".to_owned(),
        path: String::new(),
        pending: b"\x1b[3".to_vec(),
    });
    terminal.verify();
    assert_eq!(visible(&terminal), ["still", "┌─ 漢e\u{301}", "12345678"]);
    let screen = terminal.screen();
    assert_eq!((screen.history(), screen.history_limit()), (1, 500));
    assert!(screen.row(2).is_some_and(Row::is_wrapped));
    for index in 0..2 {
        let cells: Vec<_> = screen.row(index).expect("row").cells().collect();
        assert!(cells.iter().all(|c| c.style.foreground() == Color::Named(1) && c.stamp == Stamp(5)));
    }
    terminal.feed(b"1mx", Duration::ZERO, &mut ());
    assert_eq!(visible(&terminal), ["┌─ 漢e\u{301}", "12345678", "x"]);
}

#[test]
fn a_seed_of_the_alternate_screen_keeps_the_main_one() {
    let row = |text: &str| SeedRow { ansi: text.as_bytes().to_vec(), wrapped: false };
    let mut terminal = terminal(2, 10);
    terminal.restore(Seed {
        history_size: 0,
        size: Size { rows: 2, cols: 10 },
        history: vec![],
        screen: vec![row("paint"), row("")],
        saved: Some(vec![row("main"), row("text")]),
        history_limit: 500,
        cursor: Point { row: 0, col: 5 },
        region: (0, 1),
        tabs: vec![8],
        modes: SeedModes::default(),
        saved_cursor: Some(Point { row: 1, col: 4 }),
        title: String::new(),
        path: String::new(),
        pending: vec![],
    });
    terminal.verify();
    assert!(terminal.screen().is_alternate());
    terminal.feed(b"\x1b[?1049l!", Duration::ZERO, &mut ());
    assert_eq!(visible(&terminal), ["main", "text!"]);
    terminal.verify();
}

#[test]
fn history_and_retention_are_counted() {
    let options = Options { history_limit: 10, retention: 5, ..Options::default() };
    let mut terminal = Terminal::new(Size { rows: 2, cols: 10 }, options);
    for i in 0..200 {
        terminal.set_stamp(Stamp(i + 1));
        terminal.feed(format!("{i}\r\n").as_bytes(), Duration::ZERO, &mut ());
        terminal.verify();
    }
    let screen = terminal.screen();
    assert_eq!(screen.pushed(), 199);
    assert_eq!(screen.dropped() + screen.retained() as u64 + screen.history() as u64, 199);
    assert!(screen.retained() <= 9 && screen.history() == 10);
    assert_eq!(u64::from(screen.newest_lost().0), screen.dropped());
    let ids: std::collections::HashSet<_> = (0..screen.len()).filter_map(|i| screen.row(i)).map(Row::id).collect();
    assert_eq!(ids.len(), screen.len(), "identities differ");
}

#[test]
fn ten_thousand_rows_of_history_are_small() {
    let options = Options { history_limit: 10_000, ..Options::default() };
    let mut terminal = Terminal::new(Size { rows: 24, cols: 200 }, options);
    for i in 0..10_024u32 {
        terminal.set_stamp(Stamp(i / 100 + 1));
        let line = format!("{i:06} \x1b[1;32mcoloured\x1b[m and then some plain text up to sixty....\r\n");
        terminal.feed(line.as_bytes(), Duration::ZERO, &mut ());
    }
    assert!(terminal.screen().history() > 9000);
    let bytes = terminal.screen().bytes() * 10_000 / terminal.screen().history();
    assert!(bytes <= 8 << 20, "{bytes} bytes");
}

/// Everything that is seen of a terminal.
fn picture(terminal: &Terminal) -> (Vec<String>, Point, String) {
    let screen = terminal.screen();
    let rows = (0..screen.len()).filter_map(|i| screen.row(i)).map(|row| {
        let mut text = String::new();
        row.push_text(&mut text);
        let mut stamps = BTreeMap::<u16, u32>::new();
        for cell in row.cells().filter(|cell| cell.has_glyph) {
            stamps.insert(cell.col, cell.stamp.0);
        }
        format!("{} {} {stamps:?}", text.trim_end(), row.is_wrapped())
    });
    let rest = format!(
        "{:?} {:?} {} {} {:?}",
        screen.region(),
        screen.modes(),
        screen.is_alternate(),
        screen.history(),
        screen.title()
    );
    (rows.collect(), screen.cursor(), rest)
}

/// A piece of input: text, controls, sequences, rubbish.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![Just(String::new()), (0..12u32).prop_map(|n| n.to_string()), Just("65535".to_owned())];
    let finals = prop::sample::select(b"ABCDEFGHJKLMPSTXZ@`bdfgrsuhlmn".to_vec());
    let modes =
        prop::sample::select(vec!["4h", "4l", "?6h", "?6l", "?7h", "?7l", "?47h", "?47l", "?1049h", "?1049l", "?3h"]);
    let text = prop::sample::select(vec![
        "a",
        "hello world",
        "0123456789012345678901234567890123456789",
        "漢",
        "字漢字漢字",
        "é",
        "e\u{301}",
        "\u{200d}",
        "👍🏽",
        "🇩🇪",
        "❤\u{fe0f}",
        "\u{1100}\u{1161}",
        "\u{3164}",
        "\u{ad}",
        "  ",
    ]);
    let escapes = prop::sample::select(vec![
        "\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1bM", "\x1bH", "\x1bc", "\x1b#8", "\x1b(0", "\x1b(B",
    ]);
    prop_oneof![
        4 => text.prop_map(|t| t.as_bytes().to_vec()),
        3 => prop::sample::select(vec!["\r\n", "\n", "\r", "\t", "\x08", "\x0e", "\x0f"]).prop_map(|t| t.as_bytes().to_vec()),
        4 => (number.clone(), number, finals).prop_map(|(a, b, f)| {
            let mut bytes = format!("\x1b[{a};{b}").into_bytes();
            bytes.push(f);
            bytes
        }),
        1 => modes.prop_map(|m| format!("\x1b[{m}").into_bytes()),
        1 => escapes.prop_map(|t| t.as_bytes().to_vec()),
        1 => prop::sample::select(vec!["\x1b]2;t\x07", "\x1b]8;;x\x1b\\", "\x1bPq\x1b\\", "\x1b_z\x1b\\", "\x1b[48;2;1;2;3m", "\x1b[41m"])
            .prop_map(|t| t.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..6),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_screen(
        pieces in prop::collection::vec(piece(), 1..60),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        version in prop::sample::select(VERSIONS.to_vec()),
        (rows, cols) in (1u16..8, 1u16..24),
    ) {
        let bytes = pieces.concat();
        let mut whole = of_version(rows, cols, version);
        whole.set_stamp(Stamp(3));
        whole.feed(&bytes, Duration::ZERO, &mut ());
        whole.verify();
        let mut split = of_version(rows, cols, version);
        split.set_stamp(Stamp(3));
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        for pair in places.windows(2) {
            split.feed(&bytes[pair[0]..pair[1]], Duration::ZERO, &mut Recorder::default());
        }
        split.verify();
        prop_assert_eq!(picture(&whole), picture(&split));
    }

    #[test]
    fn invariants_hold_through_resizes(
        steps in prop::collection::vec((prop::collection::vec(piece(), 0..20), 1u16..9, 1u16..25), 1..12),
        version in prop::sample::select(VERSIONS.to_vec()),
    ) {
        let mut terminal = of_version(5, 20, version);
        let mut recorder = Recorder::default();
        for (i, (pieces, rows, cols)) in steps.into_iter().enumerate() {
            terminal.set_stamp(Stamp(i as u32 + 1));
            terminal.feed(&pieces.concat(), Duration::ZERO, &mut recorder);
            terminal.verify();
            terminal.resize(Size { rows, cols }, &mut recorder);
            terminal.verify();
        }
    }

    #[test]
    fn a_printed_screen_reads_the_same(rows in prop::collection::vec("[ -~é漢字█]{0,12}", 1..6)) {
        let mut first = terminal(6, 30);
        first.feed(rows.join("\r\n").as_bytes(), Duration::ZERO, &mut ());
        let mut second = terminal(6, 30);
        second.feed(visible(&first).join("\r\n").as_bytes(), Duration::ZERO, &mut ());
        prop_assert_eq!(visible(&first), visible(&second));
    }
}
