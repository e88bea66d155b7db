//! Names of keys, as tmux spells them, and the bytes that a terminal sends for them.
//!
//! A name is any number of modifiers (`C-` or `^` for control, `M-` for meta, `S-` for shift) before a base:
//! a single character (`a`, `[`, `é`) or a named key (`Enter`, `PageUp`, `F5`, `KP0`). Modifiers and names are
//! recognised in any case; a single character keeps its case.
//!
//! The bytes are those of tmux 3.3a for a program without extended keys, as recorded in
//! `tests/data/keys-tmux-3.3a.tsv`. Departures, all where tmux sends nothing or types the name itself:
//!
//! - `S-` before a letter is the capital letter, `S-Tab` is `BTab`, `S-Space` is a space;
//! - `C-BSpace` is `^H`, and `C-3` to `C-8` are what xterm sends;
//! - `C-` is possible under `M-` wherever it is possible alone;
//! - `F13` to `F20` are the sequences of a VT220;
//! - a combination for which a terminal has no bytes (`C-Enter`, `S-Escape`) is an error, never silence.

use std::fmt;

/// The terminal modes that decide what a key sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyModes {
    /// DECCKM (`CSI ? 1 h`): the unmodified arrows send `ESC O` instead of `CSI`.
    pub application_cursor: bool,
    /// DECKPAM (`ESC =`): the keypad sends `ESC O` sequences instead of characters.
    pub application_keypad: bool,
}

/// A name that is no key, or a combination for which a terminal has no bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    name: String,
    reason: Reason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Unknown(Option<&'static str>),
    NoBytes,
    Text,
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.name.chars().take(40).collect();
        match &self.reason {
            Reason::Unknown(Some(near)) => {
                write!(f, "unknown key {shown:?}; did you mean {near:?}? Literal text goes into `text`")
            }
            Reason::Unknown(None) => write!(
                f,
                "unknown key {shown:?}; keys are single characters or names such as Enter, Tab, Escape, Space, BSpace, \
                 Up, PageDown, F1 to F20, KP0, with C-, M- or S- before them. Literal text goes into `text`"
            ),
            Reason::NoBytes => write!(f, "key {shown:?} has no bytes in a plain terminal; leave out a modifier"),
            Reason::Text => {
                write!(f, "{shown:?} is not one key; literal text goes into `text`, one key an entry into `keys`")
            }
        }
    }
}

impl std::error::Error for UnknownKey {}

/// Gives the bytes that the key `name` sends in a terminal with `modes`.
///
/// # Errors
///
/// [`UnknownKey`] if there is no such key or a terminal has no bytes for the combination.
///
/// # Examples
///
/// ```
/// use panemirror::keys::{KeyModes, encode};
/// assert_eq!(encode("C-c", KeyModes::default())?, b"\x03");
/// assert_eq!(encode("S-Up", KeyModes::default())?, b"\x1b[1;2A");
/// # Ok::<(), panemirror::keys::UnknownKey>(())
/// ```
pub fn encode(name: &str, modes: KeyModes) -> Result<Vec<u8>, UnknownKey> {
    let fail = |reason| UnknownKey { name: name.to_owned(), reason };
    let (mods, base) = split_modifiers(name);
    let key = base_key(base).ok_or_else(|| fail(why_unknown(base)))?;
    bytes(key, mods, modes).ok_or_else(|| fail(Reason::NoBytes))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Modifiers {
    shift: bool,
    meta: bool,
    control: bool,
}

impl Modifiers {
    /// The parameter of xterm's modified keys: 1 plus a bit each.
    fn parameter(self) -> u8 {
        1 + u8::from(self.shift) + 2 * u8::from(self.meta) + 4 * u8::from(self.control)
    }

    fn any(self) -> bool {
        self.parameter() != 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Char(char),
    BackTab,
    /// An arrow: `CSI final` or `ESC O final`, modified `CSI 1 ; m final`.
    Arrow(char),
    /// Home and End: `CSI number ~`, modified `CSI 1 ; m final`.
    Corner(u8, char),
    /// F1 to F4: `ESC O final`, modified `CSI 1 ; m final`.
    Pf(char),
    /// `CSI number ~`, modified `CSI number ; m ~`.
    Tilde(u8),
    /// A keypad key: its character, or `ESC O final` in application mode.
    Keypad(char, char),
}

/// Takes the modifiers off the front; the rest is never empty unless the name was.
fn split_modifiers(name: &str) -> (Modifiers, &str) {
    let mut mods = Modifiers::default();
    let mut rest = name;
    loop {
        let mut chars = rest.chars();
        let (first, second) = (chars.next(), chars.next());
        let more = chars.next().is_some();
        match (first, second) {
            (Some('^'), Some(_)) => {
                mods.control = true;
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            (Some('C' | 'c'), Some('-')) if more => mods.control = true,
            (Some('M' | 'm'), Some('-')) if more => mods.meta = true,
            (Some('S' | 's'), Some('-')) if more => mods.shift = true,
            _ => return (mods, rest),
        }
        rest = rest.get(2..).unwrap_or_default();
    }
}

/// The named keys, in the spelling that is suggested first.
#[rustfmt::skip]
const NAMED: &[(&str, Key)] = &[
    ("Enter", Key::Char('\r')), ("Return", Key::Char('\r')), ("Tab", Key::Char('\t')),
    ("BTab", Key::BackTab), ("BackTab", Key::BackTab),
    ("Escape", Key::Char('\x1b')), ("Esc", Key::Char('\x1b')), ("Space", Key::Char(' ')),
    ("BSpace", Key::Char('\x7f')), ("Backspace", Key::Char('\x7f')),
    ("Delete", Key::Tilde(3)), ("DC", Key::Tilde(3)), ("Del", Key::Tilde(3)),
    ("Insert", Key::Tilde(2)), ("IC", Key::Tilde(2)), ("Ins", Key::Tilde(2)),
    ("Home", Key::Corner(1, 'H')), ("End", Key::Corner(4, 'F')),
    ("PageUp", Key::Tilde(5)), ("PPage", Key::Tilde(5)), ("PgUp", Key::Tilde(5)),
    ("PageDown", Key::Tilde(6)), ("NPage", Key::Tilde(6)), ("PgDn", Key::Tilde(6)),
    ("Up", Key::Arrow('A')), ("Down", Key::Arrow('B')), ("Right", Key::Arrow('C')), ("Left", Key::Arrow('D')),
    ("F1", Key::Pf('P')), ("F2", Key::Pf('Q')), ("F3", Key::Pf('R')), ("F4", Key::Pf('S')),
    ("F5", Key::Tilde(15)), ("F6", Key::Tilde(17)), ("F7", Key::Tilde(18)), ("F8", Key::Tilde(19)),
    ("F9", Key::Tilde(20)), ("F10", Key::Tilde(21)), ("F11", Key::Tilde(23)), ("F12", Key::Tilde(24)),
    ("F13", Key::Tilde(25)), ("F14", Key::Tilde(26)), ("F15", Key::Tilde(28)), ("F16", Key::Tilde(29)),
    ("F17", Key::Tilde(31)), ("F18", Key::Tilde(32)), ("F19", Key::Tilde(33)), ("F20", Key::Tilde(34)),
    ("KP0", Key::Keypad('0', 'p')), ("KP1", Key::Keypad('1', 'q')), ("KP2", Key::Keypad('2', 'r')),
    ("KP3", Key::Keypad('3', 's')), ("KP4", Key::Keypad('4', 't')), ("KP5", Key::Keypad('5', 'u')),
    ("KP6", Key::Keypad('6', 'v')), ("KP7", Key::Keypad('7', 'w')), ("KP8", Key::Keypad('8', 'x')),
    ("KP9", Key::Keypad('9', 'y')), ("KP/", Key::Keypad('/', 'o')), ("KP*", Key::Keypad('*', 'j')),
    ("KP-", Key::Keypad('-', 'm')), ("KP+", Key::Keypad('+', 'k')), ("KP.", Key::Keypad('.', 'n')),
    ("KPEnter", Key::Keypad('\n', 'M')),
];

fn base_key(base: &str) -> Option<Key> {
    let mut chars = base.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return Some(Key::Char(only)).filter(|_| !only.is_control());
    }
    NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(base)).map(|(_, key)| *key)
}

fn bytes(key: Key, mods: Modifiers, modes: KeyModes) -> Option<Vec<u8>> {
    let modified = mods.any();
    let m = mods.parameter();
    let sequence = match key {
        Key::Char(c) => return character(c, mods),
        Key::BackTab if mods.control => return None,
        Key::BackTab => return Some(with_meta(mods, b"\x1b[Z".to_vec())),
        Key::Keypad(..) if mods.control || mods.shift => return None,
        Key::Keypad(_, last) if modes.application_keypad => {
            return Some(with_meta(mods, format!("\x1bO{last}").into_bytes()));
        }
        Key::Keypad(c, _) => return Some(with_meta(mods, vec![u8::try_from(c).ok()?])),
        Key::Arrow(last) | Key::Corner(_, last) | Key::Pf(last) if modified => {
            format!("\x1b[1;{m}{last}")
        }
        Key::Arrow(last) if modes.application_cursor => format!("\x1bO{last}"),
        Key::Arrow(last) => format!("\x1b[{last}"),
        Key::Corner(number, _) => format!("\x1b[{number}~"),
        Key::Pf(last) => format!("\x1bO{last}"),
        Key::Tilde(number) if modified => format!("\x1b[{number};{m}~"),
        Key::Tilde(number) => format!("\x1b[{number}~"),
    };
    Some(sequence.into_bytes())
}

/// Puts ESC in front where meta is held: characters have no other form of it.
fn with_meta(mods: Modifiers, mut bytes: Vec<u8>) -> Vec<u8> {
    if mods.meta {
        bytes.insert(0, 0x1b);
    }
    bytes
}

fn character(c: char, mods: Modifiers) -> Option<Vec<u8>> {
    let shifted = match c {
        _ if !mods.shift => c,
        '\t' if mods.control => return None,
        '\t' => return Some(with_meta(mods, b"\x1b[Z".to_vec())),
        ' ' => c,
        c if c.is_alphabetic() => {
            let mut upper = c.to_uppercase();
            match (upper.next(), upper.next()) {
                (Some(only), None) => only,
                _ => return None,
            }
        }
        _ => return None,
    };
    let bytes = if mods.control {
        vec![control(shifted)?]
    } else {
        let mut buffer = [0; 4];
        shifted.encode_utf8(&mut buffer).as_bytes().to_vec()
    };
    Some(with_meta(mods, bytes))
}

/// The control character of a key, as tmux and xterm give it.
fn control(c: char) -> Option<u8> {
    let byte = u8::try_from(c).ok()?;
    Some(match byte {
        b' ' | b'2' | b'@' => 0x00,
        b'a'..=b'z' | b'A'..=b'Z' | b'['..=b'_' => byte & 0x1f,
        b'3'..=b'7' => byte - b'3' + 0x1b,
        b'/' | b'-' => 0x1f,
        b'?' | b'8' => 0x7f,
        0x7f => 0x08,
        _ => return None,
    })
}

fn why_unknown(base: &str) -> Reason {
    if base.chars().any(|c| c.is_whitespace() || c.is_control()) || base.chars().count() > 12 {
        return Reason::Text;
    }
    let near = NAMED
        .iter()
        .map(|(name, _)| (distance(name, base), *name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 2 && *distance < name.len().min(base.len()))
        .map(|(_, name)| name);
    Reason::Unknown(near)
}

/// Levenshtein distance without regard to ASCII case; both words are short.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (cb, above) in b.iter().zip(row.iter().skip(1)) {
            let replace = diagonal + usize::from(!ca.eq_ignore_ascii_case(cb));
            left = replace.min(left + 1).min(above + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: KeyModes = KeyModes { application_cursor: false, application_keypad: false };

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn every_key_sends_what_tmux_sends() {
        let cursor = KeyModes { application_cursor: true, ..PLAIN };
        let keypad = KeyModes { application_keypad: true, ..PLAIN };
        let table = include_str!("../tests/data/keys-tmux-3.3a.tsv");
        let mut checked = 0;
        for line in table.lines().filter(|line| !line.starts_with("# ")) {
            let fields: Vec<&str> = line.split('\t').collect();
            let name = fields[0];
            for (modes, hex) in [(PLAIN, fields[1]), (cursor, fields[2]), (keypad, fields[3])] {
                let sent = encode(name, modes).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(sent, unhex(hex), "{name} in {modes:?}");
            }
            checked += 1;
        }
        assert!(checked > 250, "only {checked} rows");
    }

    #[test]
    fn names_beyond_tmux() {
        let cases: &[(&str, &[u8])] = &[
            ("Backspace", b"\x7f"),
            ("enter", b"\r"),
            ("Return", b"\r"),
            ("Esc", b"\x1b"),
            ("PageUp", b"\x1b[5~"),
            ("PgDn", b"\x1b[6~"),
            ("Delete", b"\x1b[3~"),
            ("Ins", b"\x1b[2~"),
            ("S-Tab", b"\x1b[Z"),
            ("M-S-Tab", b"\x1b\x1b[Z"),
            ("S-a", b"A"),
            ("S-é", "É".as_bytes()),
            ("^C", b"\x03"),
            ("^[", b"\x1b"),
            ("^", b"^"),
            ("c-c", b"\x03"),
            ("M-^C", b"\x1b\x03"),
            ("C-BSpace", b"\x08"),
            ("C-3", b"\x1b"),
            ("C-8", b"\x7f"),
            ("C-M-/", b"\x1b\x1f"),
            ("F13", b"\x1b[25~"),
            ("F20", b"\x1b[34~"),
            ("S-F13", b"\x1b[25;2~"),
            ("-", b"-"),
            ("C--", b"\x1f"),
            ("日", "日".as_bytes()),
        ];
        for (name, bytes) in cases {
            assert_eq!(encode(name, PLAIN).as_deref(), Ok(*bytes), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_named_with_a_suggestion() {
        let cases = [
            ("Entr", "\"Enter\""),
            ("PageDwn", "\"PageDown\""),
            ("C-Lfet", "\"Left\""),
            ("F99", "\"F9\""),
            ("", "single characters"),
            ("Hyper-x", "single characters"),
            ("ls -l", "goes into `text`"),
            ("C-Enter", "no bytes"),
            ("S-Escape", "no bytes"),
            ("C-é", "no bytes"),
            ("\n", "goes into `text`"),
            ("S-KP0", "no bytes"),
            ("C-", "single characters"),
        ];
        for (name, part) in cases {
            let message = encode(name, PLAIN).unwrap_err().to_string();
            assert!(message.contains(part), "{name:?}: {message}");
        }
    }
}
