//! SGR, `CSI ... m` (RULES 8.1).

use super::params::{Field, Params};
use super::screen::Screen;
use super::style::{Attribute, Color, Extra, Pen, Style, Underline};

/// What a colour is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Foreground,
    Background,
    Underline,
}

impl Target {
    fn of(code: i32) -> Option<Self> {
        match code {
            38 => Some(Self::Foreground),
            48 => Some(Self::Background),
            58 => Some(Self::Underline),
            _ => None,
        }
    }
}

impl Pen {
    fn set(&mut self, target: Target, color: Color) {
        match target {
            Target::Foreground => self.style = self.style.with_foreground(color),
            Target::Background => self.style = self.style.with_background(color),
            Target::Underline => self.extra.underline_color = color.pack(),
        }
    }

    fn attribute(&mut self, attribute: Attribute, on: bool) {
        self.style = self.style.with(attribute, on);
    }

    /// One plain code; unknown ones are ignored.
    #[inline]
    fn code(&mut self, code: i32) {
        match code {
            1 => self.attribute(Attribute::Bold, true),
            2 => self.attribute(Attribute::Dim, true),
            3 => self.attribute(Attribute::Italic, true),
            4 => self.style = self.style.with_underline(Underline::Single),
            5 | 6 => self.attribute(Attribute::Blink, true),
            7 => self.attribute(Attribute::Reverse, true),
            8 => self.attribute(Attribute::Hidden, true),
            9 => self.attribute(Attribute::Strikethrough, true),
            21 => self.style = self.style.with_underline(Underline::Double),
            22 => {
                self.attribute(Attribute::Bold, false);
                self.attribute(Attribute::Dim, false);
            }
            23 => self.attribute(Attribute::Italic, false),
            24 => self.style = self.style.with_underline(Underline::None),
            25 => self.attribute(Attribute::Blink, false),
            27 => self.attribute(Attribute::Reverse, false),
            28 => self.attribute(Attribute::Hidden, false),
            29 => self.attribute(Attribute::Strikethrough, false),
            30..=37 => self.set(Target::Foreground, Color::Named((code - 30) as u8)),
            39 => self.set(Target::Foreground, Color::Default),
            40..=47 => self.set(Target::Background, Color::Named((code - 40) as u8)),
            49 => self.set(Target::Background, Color::Default),
            53 => self.attribute(Attribute::Overline, true),
            55 => self.attribute(Attribute::Overline, false),
            59 => self.set(Target::Underline, Color::Default),
            90..=97 => self.set(Target::Foreground, Color::Named((code - 90 + 8) as u8)),
            100..=107 => self.set(Target::Background, Color::Named((code - 100 + 8) as u8)),
            _ => {}
        }
    }

    /// An index; out of range resets the colour, but not the underline's.
    fn indexed(&mut self, target: Target, index: Option<i32>) {
        match index.and_then(|n| u8::try_from(n).ok()) {
            Some(index) => self.set(target, Color::Indexed(index)),
            None if target != Target::Underline => self.set(target, Color::Default),
            None => {}
        }
    }

    /// A field with colons: `4:3`, `38:5:n`, `38:2:r:g:b`.
    fn colons(&mut self, text: &[u8]) {
        let mut parts = [None; 7];
        let mut len = 0;
        for part in text.split(|b| *b == b':') {
            let Some(slot) = parts.get_mut(len) else { return };
            *slot = match part {
                b"" => None,
                digits => match std::str::from_utf8(digits).ok().and_then(|d| d.parse::<i32>().ok()) {
                    Some(number) => Some(number),
                    None => return,
                },
            };
            len += 1;
        }
        match parts {
            [Some(4), kind, ..] if len == 2 => self.underline(kind),
            [Some(code), Some(5), index, ..] => {
                if let Some(target) = Target::of(code) {
                    self.indexed(target, index);
                }
            }
            [Some(code), Some(2), a, b, c, d, _] => {
                if let Some(target) = Target::of(code) {
                    self.rgb(target, if len > 5 { [b, c, d] } else { [a, b, c] });
                }
            }
            _ => {}
        }
    }

    fn underline(&mut self, kind: Option<i32>) {
        let underline = match kind {
            Some(0) => Underline::None,
            Some(1) => Underline::Single,
            Some(2) => Underline::Double,
            Some(3) => Underline::Curly,
            Some(4) => Underline::Dotted,
            Some(5) => Underline::Dashed,
            _ => return,
        };
        self.style = self.style.with_underline(underline);
    }

    /// Three components; false and nothing is set if one is missing or out of range.
    fn rgb(&mut self, target: Target, parts: [Option<i32>; 3]) -> bool {
        let [r, g, b] = parts.map(|n| n.and_then(|n| u8::try_from(n).ok()));
        if let (Some(r), Some(g), Some(b)) = (r, g, b) {
            self.set(target, Color::Rgb(r, g, b));
            return true;
        }
        false
    }
}

impl Screen {
    /// SGR, `CSI ... m`.
    #[inline]
    pub(super) fn sgr(&mut self, p: &Params<'_>) {
        if p.len() == 0 {
            self.pen = Pen::default();
            return;
        }
        let mut i = 0;
        while i < p.len() {
            match p.field(i) {
                Field::Missing | Field::Number(0) => {
                    let link = if self.profile.sgr0_keeps_link { self.pen.extra.link } else { 0 };
                    self.pen = Pen { style: Style::DEFAULT, extra: Extra { underline_color: 0, link } };
                }
                Field::Number(code @ (38 | 48 | 58)) => i += self.sgr_color(p, i, code),
                Field::Number(code) => self.pen.code(code),
                Field::Colons(text) => self.pen.colons(text),
            }
            i += 1;
        }
    }

    /// A colour in fields of its own; returns how many fields after the first one it takes.
    fn sgr_color(&mut self, p: &Params<'_>, i: usize, code: i32) -> usize {
        let Some(target) = Target::of(code) else { return 0 };
        let number = |i: usize| match p.field(i) {
            Field::Number(n) => Some(n),
            _ => None,
        };
        match number(i + 1) {
            Some(5) => {
                self.pen.indexed(target, number(i + 2));
                2
            }
            Some(2) => {
                let taken = self.pen.rgb(target, [number(i + 2), number(i + 3), number(i + 4)]);
                if taken { 4 } else { 1 }
            }
            _ => 1,
        }
    }
}
