//! Control-mode lines, cut anywhere: no panic, and the same events however they are cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use panemirror::source::tmux::protocol::{Parser, unescape};

fn events(pieces: &[&[u8]]) -> Vec<String> {
    let mut parser = Parser::default();
    let mut events = Vec::new();
    for piece in pieces {
        parser.feed(piece, |event| events.push(format!("{event:?}")));
    }
    events
}

fuzz_target!(|input: (Vec<u8>, u16)| {
    let (bytes, cut) = input;
    let (left, right) = bytes.split_at(usize::from(cut) % (bytes.len() + 1));
    assert_eq!(events(&[left, right]), events(&[&bytes]));
    let mut out = Vec::new();
    unescape(&bytes, &mut out);
    assert!(out.len() <= bytes.len());
});
