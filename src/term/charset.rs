//! Character sets: ASCII or DEC special graphics (RULES 2.3).

/// G0, G1 and which of them is shifted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Charsets {
    graphics: [bool; 2],
    shifted: bool,
}

impl Charsets {
    /// Designates DEC graphics or ASCII to G0 or G1 (SCS).
    pub(super) fn designate(&mut self, g1: bool, graphics: bool) {
        let [first, second] = &mut self.graphics;
        *(if g1 { second } else { first }) = graphics;
    }

    /// Shifts to G1 (SO) or G0 (SI).
    pub(super) fn shift(&mut self, g1: bool) {
        self.shifted = g1;
    }

    /// True if the active set is DEC graphics.
    #[inline]
    pub(super) fn is_graphics(self) -> bool {
        let [first, second] = self.graphics;
        if self.shifted { second } else { first }
    }
}

/// The character that a letter stands for in DEC special graphics, in Unicode.
pub fn line_drawing(letter: u8) -> char {
    match letter {
        b'+' => '→',
        b',' => '←',
        b'-' => '↑',
        b'.' => '↓',
        b'0' => '▮',
        b'`' => '◆',
        b'a' => '▒',
        b'b' => '␉',
        b'c' => '␌',
        b'd' => '␍',
        b'e' => '␊',
        b'f' => '°',
        b'g' => '±',
        b'h' => '␤',
        b'i' => '␋',
        b'j' => '┘',
        b'k' => '┐',
        b'l' => '┌',
        b'm' => '└',
        b'n' => '┼',
        b'o' => '⎺',
        b'p' => '⎻',
        b'q' => '─',
        b'r' => '⎼',
        b's' => '⎽',
        b't' => '├',
        b'u' => '┤',
        b'v' => '┴',
        b'w' => '┬',
        b'x' => '│',
        b'y' => '≤',
        b'z' => '≥',
        b'{' => 'π',
        b'|' => '≠',
        b'}' => '£',
        b'~' => '·',
        other => char::from(other),
    }
}
