//! OSC, APC and DCS: titles, paths, links, colours (RULES 8.4 to 8.6).

use crate::limits::{MAX_TITLE_BYTES, MAX_TITLES};

use super::params::{Field, Params};
use super::screen::Screen;
use super::utf8;
use super::width::width;

impl Screen {
    /// OSC, `ESC ] number ; text` (RULES 8.6).
    pub(super) fn osc(&mut self, text: &[u8], bell: bool) {
        let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, rest) = text.split_at(digits);
        let Some(number) = std::str::from_utf8(number).ok().and_then(|n| n.parse::<u32>().ok()) else { return };
        let rest = match rest {
            [b';', rest @ ..] => rest,
            [] => rest,
            _ if self.profile.osc_number_strict => return,
            _ => rest,
        };
        match number {
            0 | 2 => self.set_title(rest),     // OSC 0, 2: title
            4 => self.osc_palette(rest, bell), // OSC 4: palette
            7 => self.set_path(rest),          // OSC 7: path
            8 => self.osc_link(rest),          // OSC 8: hyperlink
            10..=12 => self.osc_color(number, rest, bell),
            104 => self.osc_reset_palette(rest),
            110..=112 => self.colors.set(number - 100, None),
            _ => {}
        }
    }

    /// APC, `ESC _ text`: a title too (RULES 8.4).
    pub(super) fn apc(&mut self, text: &[u8]) {
        self.set_title(text);
    }

    /// DCS; only DECRQSS is answered (RULES 8.7).
    pub(super) fn dcs(&mut self, middle: &[u8], body: &[u8]) {
        if middle == b"$" && self.profile.setting_reports {
            self.decrqss(body);
        }
    }

    fn set_title(&mut self, text: &[u8]) {
        if !utf8::is_printable(text) || text.len() > MAX_TITLE_BYTES {
            return;
        }
        let Ok(text) = std::str::from_utf8(text) else { return };
        if text.chars().any(|c| !c.is_ascii() && width(c as u32, &self.profile).is_none()) {
            return;
        }
        self.title = if self.profile.title_defused { text.replace("#(", "_(") } else { text.to_owned() };
    }

    fn set_path(&mut self, text: &[u8]) {
        if utf8::is_printable(text) && text.len() <= MAX_TITLE_BYTES {
            self.path = String::from_utf8_lossy(text).into_owned();
        }
    }

    /// OSC 8, `parameters ; target`.
    fn osc_link(&mut self, text: &[u8]) {
        if self.profile.hyperlinks
            && let Some(split) = text.iter().position(|b| *b == b';')
        {
            let target = text.get(split + 1..).unwrap_or(&[]);
            self.pen.extra.link = self.links.number(target);
        }
    }

    /// Window operations, `CSI n t` (RULES 8.4, 8.7).
    pub(super) fn window_op(&mut self, p: &Params<'_>) {
        let mut i = 0;
        while i < p.len() {
            let Field::Number(op) = p.field(i) else {
                i += 1;
                continue;
            };
            let more = match op {
                3 | 4 | 8 => 2,
                9 | 10 | 22 | 23 => 1,
                _ => 0,
            };
            let fields: [Option<i32>; 2] = [p.number(i + 1, 0, -1), p.number(i + 2, 0, -1)];
            if fields.iter().take(more).any(|f| matches!(f, None | Some(-1))) {
                return;
            }
            match (op, fields) {
                (22, [Some(0 | 2), _]) => self.push_title(),
                (23, [Some(0 | 2), _]) => self.pop_title(),
                (14..=16 | 18 | 19, _) => self.report_size(op),
                _ => {}
            }
            i += 1 + more;
        }
    }

    fn push_title(&mut self) {
        let limit = self.profile.title_stack_limit.unwrap_or(MAX_TITLES).min(MAX_TITLES);
        if self.titles.len() >= limit {
            self.titles.remove(0);
        }
        self.titles.push(self.title.clone());
    }

    fn pop_title(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.title = title;
        }
    }
}
