//! Colours and attributes of a cell.

use std::fmt;

/// A colour as the program asked for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The terminal's own.
    #[default]
    Default,
    /// One of the sixteen named ones (SGR 30-37 are 0 to 7, SGR 90-97 are 8 to 15).
    Named(u8),
    /// An index into the palette of 256 (SGR 38;5).
    Indexed(u8),
    /// Red, green, blue (SGR 38;2).
    Rgb(u8, u8, u8),
}

/// Bits of a packed colour: 0 default, 1-16 named, 256-511 indexed, bit 24 RGB.
const COLOR_BITS: u32 = 25;
const COLOR_MASK: u64 = (1 << COLOR_BITS) - 1;
const RGB: u32 = 1 << 24;

impl Color {
    pub(super) fn pack(self) -> u32 {
        match self {
            Self::Default => 0,
            Self::Named(n) => u32::from(n & 15) + 1,
            Self::Indexed(n) => 256 + u32::from(n),
            Self::Rgb(r, g, b) => RGB | (u32::from(r) << 16) | (u32::from(g) << 8) | u32::from(b),
        }
    }

    pub(super) fn unpack(bits: u32) -> Self {
        match bits {
            0 => Self::Default,
            1..=16 => Self::Named((bits - 1) as u8),
            256..=511 => Self::Indexed((bits - 256) as u8),
            _ => Self::Rgb((bits >> 16) as u8, (bits >> 8) as u8, bits as u8),
        }
    }
}

/// How a cell is underlined (SGR 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Underline {
    /// Not at all.
    #[default]
    None,
    /// One line.
    Single,
    /// Two lines.
    Double,
    /// A wave.
    Curly,
    /// Dots.
    Dotted,
    /// Dashes.
    Dashed,
}

/// Foreground, background and attributes, packed into 64 bits.
///
/// ```text
/// 63..61   60..58      57..50      49..25       24..0
/// unused | underline | flags    | background | foreground
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Style(u64);

const _: () = assert!(size_of::<Style>() == 8);

const FLAGS_SHIFT: u32 = 2 * COLOR_BITS;
const UNDERLINE_SHIFT: u32 = FLAGS_SHIFT + 8;
const UNDERLINE_MASK: u64 = 7 << UNDERLINE_SHIFT;

/// One attribute that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// SGR 1.
    Bold,
    /// SGR 2.
    Dim,
    /// SGR 3.
    Italic,
    /// SGR 5.
    Blink,
    /// SGR 7.
    Reverse,
    /// SGR 8.
    Hidden,
    /// SGR 9.
    Strikethrough,
    /// SGR 53.
    Overline,
}

impl Attribute {
    fn bit(self) -> u64 {
        1 << (FLAGS_SHIFT + self as u32)
    }
}

impl Style {
    /// The style of a cell that was never coloured.
    pub const DEFAULT: Self = Self(0);

    /// Foreground colour.
    pub fn foreground(self) -> Color {
        Color::unpack((self.0 & COLOR_MASK) as u32)
    }

    /// Background colour.
    pub fn background(self) -> Color {
        Color::unpack(((self.0 >> COLOR_BITS) & COLOR_MASK) as u32)
    }

    /// True if the attribute is on.
    pub fn has(self, attribute: Attribute) -> bool {
        self.0 & attribute.bit() != 0
    }

    /// The kind of underline.
    pub fn underline(self) -> Underline {
        match (self.0 & UNDERLINE_MASK) >> UNDERLINE_SHIFT {
            0 => Underline::None,
            1 => Underline::Single,
            2 => Underline::Double,
            3 => Underline::Curly,
            4 => Underline::Dotted,
            _ => Underline::Dashed,
        }
    }

    /// The same style with another foreground.
    #[must_use]
    pub fn with_foreground(self, color: Color) -> Self {
        Self(self.0 & !COLOR_MASK | u64::from(color.pack()))
    }

    /// The same style with another background.
    #[must_use]
    pub fn with_background(self, color: Color) -> Self {
        Self(self.0 & !(COLOR_MASK << COLOR_BITS) | (u64::from(color.pack()) << COLOR_BITS))
    }

    /// The same style with an attribute on or off.
    #[must_use]
    pub fn with(self, attribute: Attribute, on: bool) -> Self {
        if on { Self(self.0 | attribute.bit()) } else { Self(self.0 & !attribute.bit()) }
    }

    /// The same style with another underline.
    #[must_use]
    pub fn with_underline(self, underline: Underline) -> Self {
        Self(self.0 & !UNDERLINE_MASK | ((underline as u64) << UNDERLINE_SHIFT))
    }

    /// Only the background: the style of erased cells (RULES 4).
    #[inline]
    pub(super) fn erased(self) -> Self {
        Self(self.0 & (COLOR_MASK << COLOR_BITS))
    }

    /// True if the background is an RGB colour.
    #[inline]
    pub(super) fn has_rgb_background(self) -> bool {
        self.0 & (u64::from(RGB) << COLOR_BITS) != 0
    }

    /// True if the style alone makes a cell sticky (RULES 7.10).
    #[inline]
    pub(super) fn needs_sticky(self) -> bool {
        const HIGH: u64 =
            (1 << (FLAGS_SHIFT + Attribute::Strikethrough as u32)) | (1 << (FLAGS_SHIFT + Attribute::Overline as u32));
        const RGBS: u64 = RGB as u64 | ((RGB as u64) << COLOR_BITS);
        self.0 & (HIGH | RGBS) != 0 || (self.0 & UNDERLINE_MASK) >> UNDERLINE_SHIFT > 1
    }
}

impl fmt::Debug for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Style")
            .field("foreground", &self.foreground())
            .field("background", &self.background())
            .field("underline", &self.underline())
            .field("bits", &self.0)
            .finish()
    }
}

/// The rare part of a style: underline colour and hyperlink. Kept aside, since hardly any row has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Extra {
    /// Packed underline colour, 0 for none.
    pub(super) underline_color: u32,
    /// Number of the hyperlink, 0 for none.
    pub(super) link: u32,
}

/// The pen: what the next glyph looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pen {
    pub(super) style: Style,
    pub(super) extra: Extra,
}

/// A pen together with what a store needs to know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    pub(super) style: Style,
    pub(super) extra: Extra,
    pub(super) stamp: super::Stamp,
}

impl Ink {
    /// A blank of the given style: no glyph.
    pub(super) fn blank(style: Style) -> Self {
        Self { style, extra: Extra::default(), stamp: super::Stamp::NONE }
    }

    #[inline]
    pub(super) fn needs_sticky(&self) -> bool {
        self.style.needs_sticky() || self.extra != Extra::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_survive_packing() {
        for color in [
            Color::Default,
            Color::Named(0),
            Color::Named(15),
            Color::Indexed(0),
            Color::Indexed(255),
            Color::Rgb(0, 0, 0),
            Color::Rgb(255, 1, 2),
        ] {
            assert_eq!(Color::unpack(color.pack()), color);
            let style = Style::DEFAULT.with_foreground(Color::Named(3)).with_background(color);
            assert_eq!((style.foreground(), style.background()), (Color::Named(3), color));
        }
    }

    #[test]
    fn attributes_do_not_disturb_each_other() {
        let style = Style::DEFAULT.with(Attribute::Overline, true).with_underline(Underline::Dashed);
        assert!(style.has(Attribute::Overline) && !style.has(Attribute::Bold));
        assert_eq!(style.underline(), Underline::Dashed);
        assert_eq!(style.with_underline(Underline::None).with(Attribute::Overline, false), Style::DEFAULT);
    }
}
