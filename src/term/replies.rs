//! What a terminal answers to the program (RULES 8.7). Only filled for panes of our own.

use std::fmt::Write as _;

use crate::limits::MAX_REPLY_BYTES;

use super::profile::ModeReports;
use super::screen::Screen;

/// Red, green, blue.
type Rgb = (u8, u8, u8);

/// Colours that the program set (OSC 4, 10, 11, 12).
#[derive(Debug, Default)]
pub(super) struct Colors {
    palette: Option<Box<[Option<Rgb>; 256]>>,
    named: [Option<Rgb>; 3],
}

impl Colors {
    /// Sets or resets OSC 10, 11 or 12.
    pub(super) fn set(&mut self, number: u32, color: Option<Rgb>) {
        if let Some(slot) = self.named.get_mut(number.wrapping_sub(10) as usize) {
            *slot = color;
        }
    }

    fn named(&self, number: u32) -> Option<Rgb> {
        self.named.get(number.wrapping_sub(10) as usize).copied().flatten()
    }

    fn palette(&self, index: usize) -> Option<Rgb> {
        self.palette.as_ref()?.get(index).copied().flatten()
    }

    fn set_palette(&mut self, index: usize, color: Option<Rgb>) {
        let palette = self.palette.get_or_insert_with(|| Box::new([None; 256]));
        if let Some(slot) = palette.get_mut(index) {
            *slot = color;
        }
    }

    /// Forgets the palette.
    pub(super) fn clear_palette(&mut self) {
        self.palette = None;
    }
}

/// `rgb:R/G/B` with one to four digits each, or `#RRGGBB`.
fn parse_color(text: &[u8]) -> Option<Rgb> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(hex) = text.strip_prefix('#').filter(|hex| hex.len() == 6) {
        let part = |i: usize| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok();
        return Some((part(0)?, part(2)?, part(4)?));
    }
    let mut parts = text.strip_prefix("rgb:")?.split('/').map(|part| {
        let value = u32::from_str_radix(part, 16).ok().filter(|_| (1..=4).contains(&part.len()))?;
        let most = (1u32 << (4 * part.len())) - 1;
        u8::try_from(value * 255 / most).ok()
    });
    let color = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(color)
}

impl Screen {
    /// Queues an answer; nothing once too much is waiting to be taken.
    fn answer(&mut self, text: &str) {
        if self.answers && self.replies.len() + text.len() <= MAX_REPLY_BYTES {
            self.replies.extend_from_slice(text.as_bytes());
        }
    }

    /// DA, `CSI c`.
    pub(super) fn da(&mut self, kind: i32) {
        if kind == 0 {
            self.answer("\x1b[?1;2c");
        }
    }

    /// DA2, `CSI > c`.
    pub(super) fn da2(&mut self, kind: i32) {
        if kind == 0 {
            self.answer("\x1b[>84;0;0c");
        }
    }

    /// XTVERSION, `CSI > q`.
    pub(super) fn xtversion(&mut self, kind: i32) {
        if kind == 0 {
            let reply = format!("\x1bP>|tmux {}\x1b\\", self.profile.version);
            self.answer(&reply);
        }
    }

    /// DSR, `CSI 5 n` and `CSI 6 n`.
    pub(super) fn dsr(&mut self, kind: i32) {
        match kind {
            5 => self.answer("\x1b[0n"),
            6 => {
                let reply = format!("\x1b[{};{}R", self.cy + 1, self.cx + 1);
                self.answer(&reply);
            }
            _ => {}
        }
    }

    /// Size reports, `CSI 18 t`; those in pixels are not known here and stay silent.
    pub(super) fn report_size(&mut self, op: i32) {
        let (rows, cols) = (self.grid.height, self.grid.width);
        let reply = match op {
            18 if self.profile.size_report_swapped => format!("\x1b[8;{cols};{rows}t"),
            18 => format!("\x1b[8;{rows};{cols}t"),
            19 if self.profile.pixel_reports => format!("\x1b[9;{rows};{cols}t"),
            _ => return,
        };
        self.answer(&reply);
    }

    /// DECRQM, `CSI n $ p` and `CSI ? n $ p`.
    pub(super) fn decrqm(&mut self, mode: i32, private: bool) {
        let value = match (self.profile.mode_reports, private) {
            (ModeReports::None, _) | (ModeReports::Five, false) => return,
            (ModeReports::Five, true) if !matches!(mode, 12 | 1004 | 1006 | 2004 | 2031) => return,
            (_, true) => self.private_mode_value(mode),
            (_, false) if mode == 4 => 2 - u8::from(self.modes.insert),
            (_, false) => 0,
        };
        let marker = if private { "?" } else { "" };
        let reply = format!("\x1b[{marker}{mode};{value}$y");
        self.answer(&reply);
    }

    fn private_mode_value(&self, mode: i32) -> u8 {
        let modes = &self.modes;
        let set = match mode {
            1 => modes.cursor_keys,
            3 => return 4,
            6 => modes.origin,
            7 => modes.wrap,
            12 => modes.cursor_blinking,
            25 => modes.cursor_visible,
            47 | 1047 | 1049 => self.is_alternate(),
            1000 => modes.mouse_standard,
            1002 => modes.mouse_button,
            1003 => modes.mouse_all,
            1004 => modes.focus,
            1005 => modes.mouse_utf8,
            1006 => modes.mouse_sgr,
            2004 => modes.bracketed_paste,
            2026 => modes.synchronized,
            2031 => return 2,
            _ => return 0,
        };
        2 - u8::from(set)
    }

    /// DECRQSS, `DCS $ q name ST`.
    pub(super) fn decrqss(&mut self, body: &[u8]) {
        let reply = match body {
            b"q q" => format!("\x1bP1$r q{} q\x1b\\", self.modes.cursor_style),
            [b'q', ..] => "\x1bP0$r\x1b\\".to_owned(),
            _ => return,
        };
        self.answer(&reply);
    }

    fn color_reply(&mut self, prefix: &str, (r, g, b): Rgb, bell: bool) {
        let mut reply = format!("\x1b]{prefix};rgb:");
        let written = if self.profile.short_color_reports {
            write!(reply, "{r:02x}/{g:02x}/{b:02x}")
        } else {
            write!(reply, "{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}")
        };
        if written.is_ok() {
            reply.push_str(if bell { "\x07" } else { "\x1b\\" });
            self.answer(&reply);
        }
    }

    /// OSC 10, 11, 12: default foreground, background and cursor colour.
    pub(super) fn osc_color(&mut self, number: u32, text: &[u8], bell: bool) {
        if text == b"?" {
            if let Some(color) = self.colors.named(number) {
                self.color_reply(&number.to_string(), color, bell);
            }
        } else if let Some(color) = parse_color(text) {
            self.colors.set(number, Some(color));
        }
    }

    /// OSC 4: `index ; colour` pairs.
    pub(super) fn osc_palette(&mut self, text: &[u8], bell: bool) {
        let mut parts = text.split(|b| *b == b';');
        while let (Some(index), Some(color)) = (parts.next(), parts.next()) {
            let index = std::str::from_utf8(index).ok().and_then(|n| n.parse::<usize>().ok()).filter(|n| *n < 256);
            let Some(index) = index else { return };
            if color != b"?" {
                if let Some(color) = parse_color(color) {
                    self.colors.set_palette(index, Some(color));
                }
            } else if let (Some(indexed), Some(color)) = (self.profile.palette_reports, self.colors.palette(index)) {
                let prefix = if indexed { format!("4;{index}") } else { "4".to_owned() };
                self.color_reply(&prefix, color, bell);
            }
        }
    }

    /// OSC 104: palette colours back to the default.
    pub(super) fn osc_reset_palette(&mut self, text: &[u8]) {
        if text.is_empty() {
            self.colors.clear_palette();
            return;
        }
        for index in text.split(|b| *b == b';') {
            if let Some(index) = std::str::from_utf8(index).ok().and_then(|n| n.parse::<usize>().ok()) {
                self.colors.set_palette(index, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_read() {
        assert_eq!(parse_color(b"#ff8000"), Some((255, 128, 0)));
        assert_eq!(parse_color(b"rgb:ffff/8080/0000"), Some((255, 128, 0)));
        assert_eq!(parse_color(b"rgb:f/8/0"), Some((255, 136, 0)));
        assert_eq!(parse_color(b"rgb:f/8"), None);
        assert_eq!(parse_color(b"red"), None);
    }
}
