use std::time::Duration;

use super::*;
use crate::geometry::Point;
use crate::term::{Options, SeedRow};

const SIZE: Size = Size { rows: 4, cols: 10 };

fn mirror(history_limit: usize, retention: usize) -> Mirror {
    Mirror::new(Terminal::new(SIZE, Options { history_limit, retention, ..Options::default() }))
}

fn feed(mirror: &mut Mirror, text: &str) {
    mirror.apply(text.as_bytes(), Duration::ZERO);
}

fn rows(texts: &[&str]) -> Vec<SeedRow> {
    texts.iter().map(|text| SeedRow { ansi: text.as_bytes().into(), wrapped: false }).collect()
}

fn seed(history: &[&str], screen: &[&str]) -> Seed {
    Seed {
        size: SIZE,
        history: rows(history),
        history_size: history.len(),
        screen: rows(screen),
        history_limit: 100,
        cursor: Point::new(screen.len() as u16, 0),
        region: (0, SIZE.rows - 1),
        ..Seed::default()
    }
}

fn snapshot(history: u64, rows: &[&str]) -> Snapshot {
    let rows = rows.iter().map(|row| (*row).to_owned()).collect();
    Snapshot { history, size: SIZE, rows, alternate: false, process: 0 }
}

/// The new text since a mark, of all lines.
fn new_text(mirror: &Mirror, mark: Mark) -> Vec<String> {
    let lines = mirror.all_lines();
    let new = |line: &LineText| line.new_ranges(mark).iter().map(|range| &line.text[range.clone()]).collect::<String>();
    lines.iter().map(new).filter(|text| !text.is_empty()).collect()
}

#[test]
fn marks_tell_what_came_after_them() {
    let mut mirror = mirror(10, 10);
    let first = mirror.mark();
    assert_eq!(mirror.mark(), first, "nothing came between");
    feed(&mut mirror, "ab");
    assert!(mirror.wrote_since(first));
    let second = mirror.mark();
    assert!(second > first && !mirror.wrote_since(second));
    feed(&mut mirror, "\r\n\t\x1b[2J");
    assert!(!mirror.wrote_since(second), "erasing and moving write nothing");
    feed(&mut mirror, "\x1b[Hxy");
    assert!(mirror.wrote_since(second));
    assert_eq!(new_text(&mirror, second), ["xy"]);
    feed(&mut mirror, "\x1b[?1049hz\x1b[?1049l");
    let third = mirror.mark();
    feed(&mut mirror, "\x1b[?1049h \x1b[?1049l");
    assert!(mirror.wrote_since(third), "a blank on the alternate screen is a glyph too");
}

#[test]
fn rows_written_since_a_mark() {
    // Before, after, rows.
    let table: [(&str, &str, &[&str]); 9] = [
        ("old\r\n", "", &[]),
        ("old\r\n", "new", &["new"]),
        ("old", "!", &["old!"]),
        ("old", "\r\x1b[K", &[]),
        ("", "a\r\n\r\n\r\nb", &["a", "", "", "b"]),
        ("\x1b[2;1Hold", "\x1b[Ha\x1b[3;1Hb", &["a", "b"]),
        ("", "a\r\n\r\n", &["a"]),
        ("", "1\r\n2\r\n3\r\n4\r\n5\r\n6", &["1", "2", "3", "4", "5", "6"]),
        ("m", "\x1b[?1049h\x1b[Halt", &["alt"]),
    ];
    for (before, after, wanted) in table {
        let mut mirror = mirror(10, 10);
        feed(&mut mirror, before);
        let mark = mirror.mark();
        feed(&mut mirror, after);
        let (since, skipped) = mirror.rows_since(mark, usize::MAX);
        assert_eq!(since.rows, wanted, "{before:?} {after:?}");
        assert!(!since.missed);
        assert_eq!(skipped, Skipped::default());
    }
}

#[test]
fn the_alternate_screen_comes_last_and_is_forgotten_when_left() {
    let mut mirror = mirror(10, 10);
    let mark = mirror.mark();
    feed(&mut mirror, "main\x1b[?1049h\x1b[Halt");
    assert_eq!(mirror.rows_since(mark, 9).0.rows, ["main", "alt"]);
    feed(&mut mirror, "\x1b[?1049l");
    let (since, _) = mirror.rows_since(mark, 9);
    assert_eq!((since.rows, since.missed), (vec!["main".to_owned()], false));
}

#[test]
fn the_newest_rows_are_kept() {
    let mut mirror = mirror(10, 10);
    let mark = mirror.mark();
    feed(&mut mirror, "one\r\ntwo\r\nthree");
    let (since, skipped) = mirror.rows_since(mark, 1);
    assert_eq!((since.rows, skipped), (vec!["three".to_owned()], Skipped { rows: 2, bytes: 6 }));
}

#[test]
fn retained_rows_are_read_and_lost_ones_are_missed() {
    let numbers = |range: std::ops::Range<u32>| range.map(|n| format!("{n}\r\n")).collect::<String>();
    let mut kept = mirror(2, 100);
    let mark = kept.mark();
    feed(&mut kept, &numbers(0..30));
    let (since, _) = kept.rows_since(mark, usize::MAX);
    assert!(!since.missed && since.rows.len() == 30 && since.rows[0] == "0");
    feed(&mut kept, "\x1b[3J");
    kept.clear_history();
    assert_eq!(kept.rows_since(mark, usize::MAX).0, since, "cleared rows are retained");

    let mut lost = mirror(2, 3);
    let mark = lost.mark();
    feed(&mut lost, &numbers(0..60));
    let (since, _) = lost.rows_since(mark, usize::MAX);
    assert!(since.missed);
    assert_eq!(since.rows, ["57", "58", "59"], "the visible screen instead");
    let later = lost.mark();
    feed(&mut lost, "x");
    assert_eq!(lost.rows_since(later, 9).0.rows, ["x"]);
    lost.note_gap();
    assert!(lost.rows_since(later, 9).0.missed);
}

#[test]
fn cells_that_differ_from_the_snapshot_are_new() {
    // Rows of the snapshot, history and screen of the seed, what is new.
    type Rows = &'static [&'static str];
    let table: [(Rows, Rows, Rows, Rows); 6] = [
        (&["a", "b"], &[], &["a", "b"], &[]),
        (&["a"], &[], &["a!"], &["!"]),
        (&["$ "], &[], &["$ ls", "x"], &["ls", "x"]),
        (&["a", "b", "c", "d"], &["a", "b"], &["c", "d", "e", "f"], &["e", "f"]),
        (&["a", "b", "c", "d"], &["a"], &["b", "c", "d", "d"], &["d"]),
        (&["abc"], &[], &["axc"], &["x"]),
    ];
    for (before, history, screen, wanted) in table {
        let mut mirror = mirror(100, 10);
        let marks = mirror.open(seed(history, screen), &[snapshot(0, before)]);
        assert_eq!(new_text(&mirror, marks[0]), wanted, "{before:?} {history:?} {screen:?}");
    }
}

#[test]
fn each_snapshot_has_its_mark() {
    let mut mirror = mirror(100, 10);
    let marks = mirror.open(seed(&[], &["abc"]), &[snapshot(0, &["a"]), snapshot(0, &["ab"])]);
    assert_eq!(new_text(&mirror, marks[0]), ["bc"]);
    assert_eq!(new_text(&mirror, marks[1]), ["c"]);
    let now = mirror.mark();
    assert!(now > marks[1] && new_text(&mirror, now).is_empty());
}

#[test]
fn a_repair_is_old_and_a_rejoin_is_new() {
    let start = || {
        let mut mirror = mirror(100, 10);
        feed(&mut mirror, "old\r\n");
        let mark = mirror.mark();
        feed(&mut mirror, "new\r\n");
        (mirror, mark)
    };
    let shown = seed(&[], &["old", "new", "more"]);
    let (mut repaired, mark) = start();
    assert!(repaired.differs_from(&shown));
    repaired.repair(shown.clone(), true);
    assert_eq!(new_text(&repaired, mark), ["new"]);
    assert!(!repaired.differs_from(&shown) && repaired.drift() == 1);
    assert!(repaired.rows_since(mark, 9).0.missed);
    feed(&mut repaired, "x");
    assert_eq!(new_text(&repaired, mark), ["new", "x"]);

    let (mut rejoined, mark) = start();
    rejoined.rejoin(shown.clone());
    assert_eq!(new_text(&rejoined, mark), ["new", "more"]);
    assert!(!rejoined.differs_from(&shown) && rejoined.drift() == 0);
}

#[test]
fn words_that_a_rejoin_finds_in_the_history_are_examined() {
    let mut mirror = mirror(100, 10);
    feed(&mut mirror, "x");
    let mark = mirror.mark();
    let (sender, verdict) = std::sync::mpsc::channel();
    let watch = crate::wait::TextWatch::compile(Some(&["MARKER".to_owned()]), &[], false, true).unwrap();
    mirror.watch(Box::new(crate::wait::TextWatcher::new(std::sync::Arc::new(watch), mark, move |found| {
        sender.send(found).unwrap();
    })));
    mirror.rejoin(seed(&["xMARKER"], &["", "Pane is dead"]));
    assert_eq!(verdict.try_recv().unwrap().lines, ["xMARKER"]);
}

#[test]
fn what_differs_from_a_seed() {
    let mut mirror = mirror(100, 10);
    feed(&mut mirror, "a\r\nb\r\n");
    let same = seed(&[], &["a", "b"]);
    assert!(!mirror.differs_from(&same));
    let others = [
        Seed { cursor: Point::new(0, 0), ..same.clone() },
        Seed { size: Size::new(5, 10), ..same.clone() },
        Seed { saved: Some(rows(&["a"])), ..same.clone() },
        Seed { screen: rows(&["a", "c"]), ..same.clone() },
        Seed { history: rows(&["h"]), history_size: 1, ..same.clone() },
    ];
    for (at, other) in others.iter().enumerate() {
        assert!(mirror.differs_from(other), "{at}");
    }
}
