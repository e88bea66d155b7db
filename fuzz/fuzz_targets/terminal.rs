//! Any bytes and any sizes: the terminal keeps its invariants and never panics.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use panemirror::geometry::Size;
use panemirror::term::{Options, Profile, Terminal};

fuzz_target!(|input: (u8, u8, u8, Vec<(Vec<u8>, Option<(u8, u8)>)>)| {
    let (rows, cols, version, steps) = input;
    let version = ["3.2a", "3.3a", "3.4", "3.5a", "3.6", "3.7"][usize::from(version % 6)];
    let options = Options { profile: Profile::for_version(version), history_limit: 20, retention: 20, answer_queries: true };
    let mut terminal = Terminal::new(Size::new(u16::from(rows % 50), u16::from(cols % 50)), options);
    for (bytes, size) in steps {
        terminal.feed(&bytes, Duration::ZERO, &mut ());
        terminal.verify();
        if let Some((rows, cols)) = size {
            terminal.resize(Size::new(u16::from(rows), u16::from(cols)), &mut ());
            terminal.verify();
        }
        terminal.take_replies();
    }
});
