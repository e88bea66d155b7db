//! The input state machine (RULES 1).
//!
//! ```text
//! ground --ESC--> Escape --[--> CsiEnter -> CsiParam -> CsiMiddle -> (final) ground
//!                        --]--> Osc, --_--> Apc, --k--> Rename, --X ^--> Ignored   (ended by ESC)
//!                        --P--> DcsEnter -> DcsParam -> DcsMiddle -> DcsBody -> DcsEscape
//! ```
//!
//! A run of printable ASCII is found as a slice and handed over whole, and so is a CSI sequence that
//! lies in one piece of the input; everything else goes through the states byte by byte.

use std::time::Duration;

use crate::limits::{MAX_STRING_BYTES, STRING_TIMEOUT};

use super::observer::Observer;
use super::params::Fields;
use super::screen::{Repeat, Screen};
use super::utf8;

/// Most intermediates (RULES 1.7).
const INTERMEDIATES: usize = 3;
/// Most parameter bytes (RULES 1.8).
const PARAMETERS: usize = 63;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    EscapeMiddle,
    CsiEnter,
    CsiParam,
    CsiMiddle,
    CsiIgnore,
    DcsEnter,
    DcsParam,
    DcsMiddle,
    DcsBody,
    DcsEscape,
    DcsIgnore,
    Osc,
    Apc,
    Rename,
    Ignored,
}

impl State {
    /// States that the string timer guards (RULES 1.14).
    fn is_timed(self) -> bool {
        use State::{Apc, DcsBody, DcsEnter, DcsEscape, DcsIgnore, DcsMiddle, DcsParam, Ignored, Osc, Rename};
        matches!(self, DcsEnter | DcsParam | DcsMiddle | DcsBody | DcsEscape | DcsIgnore | Osc | Apc | Rename | Ignored)
    }
}

/// A few bytes, kept in place.
#[derive(Clone, Copy, Debug)]
struct Short<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Short<N> {
    const EMPTY: Self = Self { bytes: [0; N], len: 0 };

    /// Adds a byte; false if there is no room.
    fn push(&mut self, byte: u8) -> bool {
        match self.bytes.get_mut(self.len) {
            Some(slot) => {
                *slot = byte;
                self.len += 1;
                true
            }
            None => false,
        }
    }

    fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

/// The parser: what has been read of a sequence that is not finished.
#[derive(Debug)]
pub(super) struct Parser {
    state: State,
    middle: Short<INTERMEDIATES>,
    params: Short<PARAMETERS>,
    fields: Fields,
    discard: bool,
    string: Vec<u8>,
    /// When the string state was entered.
    since: Duration,
    /// An unfinished UTF-8 character and its announced length.
    open: Short<4>,
    announced: usize,
}

impl Parser {
    pub(super) fn new() -> Self {
        Self {
            state: State::Ground,
            middle: Short::EMPTY,
            params: Short::EMPTY,
            fields: Fields::EMPTY,
            discard: false,
            string: Vec::new(),
            since: Duration::ZERO,
            open: Short::EMPTY,
            announced: 0,
        }
    }

    /// Drops an unfinished sequence; an unfinished character stays (RULES 5.7).
    pub(super) fn abandon(&mut self) {
        self.state = State::Ground;
        self.forget_sequence();
    }

    /// Applies `bytes` to the screen.
    pub(super) fn advance<O: Observer>(&mut self, screen: &mut Screen, bytes: &[u8], now: Duration, observer: &mut O) {
        if !bytes.is_empty() && self.state.is_timed() && now.saturating_sub(self.since) >= STRING_TIMEOUT {
            self.abandon();
            screen.string_timed_out();
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = match self.state {
                State::Ground => self.ground(screen, rest, observer),
                State::Osc | State::Apc | State::Rename | State::DcsBody => self.string(screen, rest, now, observer),
                _ => {
                    let Some((byte, tail)) = rest.split_first() else { return };
                    self.step(screen, *byte, now, observer);
                    tail
                }
            };
        }
    }

    /// Ground: text, controls, and whole CSI sequences.
    #[inline]
    fn ground<'a, O: Observer>(&mut self, screen: &mut Screen, bytes: &'a [u8], observer: &mut O) -> &'a [u8] {
        match bytes {
            [0x20..=0x7E, ..] => {
                let (text, rest) = bytes.split_at(utf8::printable(bytes));
                self.abort_character(screen, observer);
                screen.print_ascii(text, observer);
                rest
            }
            [0x1B, b'[', sequence @ ..] => match self.whole_csi(screen, sequence, observer) {
                Some(rest) => rest,
                None => {
                    self.enter(State::CsiEnter);
                    sequence
                }
            },
            [0x1B, rest @ ..] => {
                self.enter(State::Escape);
                rest
            }
            [byte @ 0..=0x1F, rest @ ..] => {
                self.control(screen, *byte, observer);
                rest
            }
            [0x7F, rest @ ..] => rest,
            _ => self.high(screen, bytes, observer),
        }
    }

    /// A CSI sequence that is all there: parameters, nothing but parameters, and a final byte.
    #[inline]
    fn whole_csi<'a, O: Observer>(
        &mut self,
        screen: &mut Screen,
        bytes: &'a [u8],
        observer: &mut O,
    ) -> Option<&'a [u8]> {
        let (marker, digits) = match bytes {
            [b'?', digits @ ..] => (&b"?"[..], digits),
            digits => (&b""[..], digits),
        };
        let len = self.fields.scan(digits);
        let [last @ 0x40..=0x7E, rest @ ..] = digits.get(len..)? else { return None };
        if len > PARAMETERS {
            return None;
        }
        if let Some(params) = self.fields.params(digits) {
            screen.csi(marker, &params, *last, observer);
        }
        Some(rest)
    }

    /// Bytes 80-FF in ground (RULES 1.17 to 1.21).
    fn high<'a, O: Observer>(&mut self, screen: &mut Screen, bytes: &'a [u8], observer: &mut O) -> &'a [u8] {
        screen.repeat = Repeat::Nothing;
        if self.open.len == 0 {
            let taken = screen.print_simple(bytes, observer);
            if taken > 0 {
                return bytes.get(taken..).unwrap_or(&[]);
            }
        }
        let Some((byte, rest)) = bytes.split_first() else { return bytes };
        if self.open.len == 0 {
            match utf8::announced(*byte) {
                Some(len) => self.announced = len,
                None => {
                    screen.print_replacement(observer);
                    return rest;
                }
            }
        }
        self.open.push(*byte);
        if self.open.len >= self.announced {
            let character = std::mem::replace(&mut self.open, Short::EMPTY);
            match utf8::decode(character.as_slice()) {
                Some((code, _)) => screen.print_code(code, character.as_slice(), observer),
                None => screen.print_replacement(observer),
            }
        }
        rest
    }

    /// A printed ASCII byte or a control aborts an unfinished character (RULES 1.19, 1.20).
    #[inline]
    fn abort_character<O: Observer>(&mut self, screen: &mut Screen, observer: &mut O) {
        if self.open.len > 0 {
            self.open = Short::EMPTY;
            screen.print_replacement(observer);
        }
    }

    /// A C0 control (RULES 1.16).
    fn control<O: Observer>(&mut self, screen: &mut Screen, byte: u8, observer: &mut O) {
        self.abort_character(screen, observer);
        screen.c0(byte, observer);
    }

    /// Begins a sequence (RULES 1.5).
    fn enter(&mut self, state: State) {
        self.state = state;
        self.forget_sequence();
    }

    fn enter_timed(&mut self, screen: &mut Screen, state: State, now: Duration) {
        self.enter(state);
        self.since = now;
        screen.repeat = Repeat::Nothing;
    }

    fn forget_sequence(&mut self) {
        self.middle.len = 0;
        self.params.len = 0;
        self.discard = false;
        self.string.clear();
        self.string.shrink_to(4096);
    }

    /// Collects an intermediate.
    fn collect(&mut self, byte: u8, state: State) {
        self.discard |= !self.middle.push(byte);
        self.state = state;
    }

    /// Collects a parameter byte.
    fn param(&mut self, byte: u8, state: State) {
        self.discard |= !self.params.push(byte);
        self.state = state;
    }

    /// Stores string bytes (RULES 1.13).
    fn store(&mut self, bytes: &[u8]) {
        if self.string.len() + bytes.len() > MAX_STRING_BYTES {
            self.discard = true;
        }
        if !self.discard {
            self.string.extend_from_slice(bytes);
        }
    }

    /// One byte in any state but ground and the string bodies.
    fn step<O: Observer>(&mut self, screen: &mut Screen, byte: u8, now: Duration, observer: &mut O) {
        use State::{CsiEnter, CsiIgnore, CsiMiddle, CsiParam, DcsEnter, DcsEscape, DcsIgnore, DcsMiddle, DcsParam};
        if self.state == DcsEscape {
            self.dcs_escape(screen, byte);
            return;
        }
        match byte {
            0x1B => return self.enter(State::Escape),
            0x18 | 0x1A => {
                self.control(screen, byte, observer);
                return self.abandon();
            }
            0..=0x1F if self.state.is_timed() => return,
            0..=0x1F => return self.control(screen, byte, observer),
            0x7F.. => return,
            _ => {}
        }
        match (self.state, byte) {
            (State::Escape, 0x20..=0x2F) => self.collect(byte, State::EscapeMiddle),
            (State::Escape, _) => self.escape(screen, byte, now, observer),
            (State::EscapeMiddle, 0x20..=0x2F) => self.collect(byte, State::EscapeMiddle),
            (State::EscapeMiddle, _) => self.finish_escape(screen, byte, observer),
            (CsiEnter | CsiParam | CsiMiddle, 0x20..=0x2F) => self.collect(byte, CsiMiddle),
            (CsiEnter | CsiParam, 0x30..=0x3B) => self.param(byte, CsiParam),
            (CsiEnter, 0x3C..=0x3F) => self.collect(byte, CsiParam),
            (CsiParam, 0x3C..=0x3F) | (CsiMiddle, 0x30..=0x3F) => self.state = CsiIgnore,
            (CsiEnter | CsiParam | CsiMiddle, _) => self.finish_csi(screen, byte, observer),
            (CsiIgnore, 0x40..=0x7E) => self.abandon(),
            (DcsEnter | DcsParam | DcsMiddle, 0x20..=0x2F) => self.collect(byte, DcsMiddle),
            (DcsEnter | DcsParam, 0x30..=0x39 | 0x3B) => self.param(byte, DcsParam),
            (DcsEnter, 0x3C..=0x3F) => self.collect(byte, DcsParam),
            (DcsEnter | DcsParam | DcsMiddle, 0x30..=0x3F) => self.state = DcsIgnore,
            (DcsEnter | DcsParam | DcsMiddle, _) => {
                self.state = State::DcsBody;
                self.store(&[byte]);
            }
            _ => {}
        }
    }

    /// A byte 30-7E right after ESC (RULES 1.2).
    fn escape<O: Observer>(&mut self, screen: &mut Screen, byte: u8, now: Duration, observer: &mut O) {
        match byte {
            b'[' => self.enter(State::CsiEnter),
            b']' => self.enter_timed(screen, State::Osc, now),
            b'P' => self.enter_timed(screen, State::DcsEnter, now),
            b'_' => self.enter_timed(screen, State::Apc, now),
            b'k' => self.enter_timed(screen, State::Rename, now),
            b'X' | b'^' => self.enter_timed(screen, State::Ignored, now),
            _ => self.finish_escape(screen, byte, observer),
        }
    }

    fn finish_escape<O: Observer>(&mut self, screen: &mut Screen, byte: u8, observer: &mut O) {
        self.state = State::Ground;
        if !self.discard {
            screen.esc(self.middle.as_slice(), byte, observer);
        }
    }

    fn finish_csi<O: Observer>(&mut self, screen: &mut Screen, byte: u8, observer: &mut O) {
        self.state = State::Ground;
        if !self.discard {
            let (middle, params) = (self.middle, self.params);
            self.fields.scan(params.as_slice());
            if let Some(params) = self.fields.params(params.as_slice()) {
                screen.csi(middle.as_slice(), &params, byte, observer);
            }
        }
    }

    /// The bodies of OSC, APC, rename and DCS, in slices (RULES 1.3, 1.4).
    fn string<'a, O: Observer>(
        &mut self,
        screen: &mut Screen,
        bytes: &'a [u8],
        now: Duration,
        observer: &mut O,
    ) -> &'a [u8] {
        let dcs = self.state == State::DcsBody;
        let len = bytes.iter().position(|b| if dcs { *b == 0x1B } else { *b < 0x20 }).unwrap_or(bytes.len());
        let (text, rest) = bytes.split_at(len);
        self.store(text);
        let Some((byte, rest)) = rest.split_first() else { return rest };
        match byte {
            0x1B if dcs => self.state = State::DcsEscape,
            0x1B | 0x18 | 0x1A => {
                self.end_string(screen, false);
                self.step(screen, *byte, now, observer);
            }
            0x07 if self.state == State::Osc => {
                self.end_string(screen, true);
                self.abandon();
            }
            _ => {}
        }
        rest
    }

    /// Runs the action of a string, which happens when its state is left (RULES 1.3).
    fn end_string(&mut self, screen: &mut Screen, bell: bool) {
        if self.discard {
            return;
        }
        match self.state {
            State::Osc => screen.osc(&self.string, bell),
            State::Apc => screen.apc(&self.string),
            _ => {}
        }
    }

    fn dcs_escape(&mut self, screen: &mut Screen, byte: u8) {
        if byte == b'\\' {
            if !self.discard {
                screen.dcs(self.middle.as_slice(), &self.string);
            }
            self.abandon();
        } else {
            self.state = State::DcsBody;
            self.store(&[byte]);
        }
    }
}
