//! Splitting a stream anywhere changes neither screen nor stamps, nor whether a literal hits.
#![no_main]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use panemirror::geometry::Size;
use panemirror::mirror::Mirror;
use panemirror::term::{Options, Profile, Terminal};
use panemirror::wait::{TextWatch, TextWatcher};

fn run(before: &[u8], pieces: &[&[u8]]) -> (bool, Vec<String>) {
    let options = Options { profile: Profile::for_version("3.4"), history_limit: 10, retention: 10, answer_queries: false };
    let mut mirror = Mirror::new(Terminal::new(Size::new(5, 12), options));
    mirror.apply(before, Duration::ZERO);
    let mark = mirror.mark();
    let watch = TextWatch::compile(Some(&["ab".to_owned()]), &[], false, true).unwrap();
    let hit = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&hit);
    mirror.watch(Box::new(TextWatcher::new(Arc::new(watch), mark, move |_| seen.store(true, Ordering::Relaxed))));
    for piece in pieces {
        mirror.apply(piece, Duration::ZERO);
    }
    let lines = mirror.all_lines().into_iter().map(|line| format!("{line:?}")).collect();
    (hit.load(Ordering::Relaxed), lines)
}

fuzz_target!(|input: (Vec<u8>, Vec<u8>, u16)| {
    let (before, after, cut) = input;
    let (left, right) = after.split_at(usize::from(cut) % (after.len() + 1));
    let whole = run(&before, &[&after]);
    assert_eq!(run(&before, &[left, right]), whole);
    let bytes: Vec<&[u8]> = after.chunks(1).collect();
    assert_eq!(run(&before, &bytes), whole);
});
