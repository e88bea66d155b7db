//! Texts from callers: key names, cursors, patterns. Each is taken or refused, and none panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use panemirror::keys::{self, KeyModes};
use panemirror::panes::Cursor;
use panemirror::wait::TextWatch;

fuzz_target!(|text: String| {
    let _ = keys::encode(&text, KeyModes::default());
    if let Ok(cursor) = Cursor::decode(&text) {
        assert_eq!(Cursor::decode(&cursor.encode()), Ok(cursor));
    }
    let _ = TextWatch::compile(Some(std::slice::from_ref(&text)), &[], true, false);
    let _ = TextWatch::compile(Some(std::slice::from_ref(&text)), &[], false, false);
});
