//! From sequences to functions: the tables.

use super::observer::Observer;
use super::params::{Field, Params};
use super::screen::{Repeat, Screen};
use super::style::Style;

impl Screen {
    /// A C0 control (RULES 1.16).
    #[inline]
    pub(super) fn c0<O: Observer>(&mut self, byte: u8, observer: &mut O) {
        self.repeat = Repeat::Nothing;
        match byte {
            0x07 => self.bells += 1,                // BEL
            0x08 => self.backspace(),               // BS
            0x09 => self.ht(observer),              // HT
            0x0A..=0x0C => self.linefeed(observer), // LF, VT, FF
            0x0D => self.carriage_return(),         // CR
            0x0E => self.charsets.shift(true),      // SO
            0x0F => self.charsets.shift(false),     // SI
            _ => {}
        }
    }

    /// An escape sequence: intermediates and a final byte.
    pub(super) fn esc<O: Observer>(&mut self, middle: &[u8], last: u8, observer: &mut O) {
        match (middle, last) {
            (b"", b'7') => self.decsc(),                           // ESC 7
            (b"", b'8') => self.decrc(),                           // ESC 8
            (b"", b'=') => self.modes.keypad = true,               // ESC =  DECKPAM
            (b"", b'>') => self.modes.keypad = false,              // ESC >  DECKPNM
            (b"", b'D') => self.linefeed(observer),                // ESC D  IND
            (b"", b'E') => self.nel(observer),                     // ESC E  NEL
            (b"", b'H') => self.hts(),                             // ESC H  HTS
            (b"", b'M') => self.ri(observer),                      // ESC M  RI
            (b"", b'\\') => {}                                     // ESC \  ST
            (b"", b'c') => self.ris(observer),                     // ESC c  RIS
            (b"#", b'8') => self.decaln(observer),                 // ESC # 8  DECALN
            (b"(", b'0') => self.charsets.designate(false, true),  // ESC ( 0  SCS
            (b"(", b'B') => self.charsets.designate(false, false), // ESC ( B
            (b")", b'0') => self.charsets.designate(true, true),   // ESC ) 0
            (b")", b'B') => self.charsets.designate(true, false),  // ESC ) B
            _ => return,
        }
        self.repeat = Repeat::Nothing;
    }

    /// A CSI sequence: intermediates (a private marker counts as one), parameters, a final byte.
    #[inline]
    pub(super) fn csi<O: Observer>(&mut self, middle: &[u8], params: &Params<'_>, last: u8, observer: &mut O) {
        let repeat = self.repeat;
        let known = match middle {
            b"" => self.csi_plain(params, last, repeat, observer).unwrap_or(true),
            _ => self.csi_marked(middle, params, last, observer).unwrap_or(true),
        };
        if known {
            self.repeat = Repeat::Nothing;
        }
    }

    /// Sequences without a marker. Some(false) if unknown; None if a field cannot be read.
    #[inline]
    fn csi_plain<O: Observer>(&mut self, p: &Params<'_>, last: u8, repeat: Repeat, observer: &mut O) -> Option<bool> {
        match last {
            b'm' => self.sgr(p),                            // CSI m
            b'H' | b'f' => self.csi_cup(p)?,                // CSI r ; c H, f  CUP, HVP
            b'A' => self.cuu(p.count()?),                   // CSI n A
            b'B' => self.cud(p.count()?),                   // CSI n B
            b'C' => self.cuf(p.count()?),                   // CSI n C
            b'D' => self.cub(p.count()?),                   // CSI n D
            b'E' => self.cnl(p.count()?),                   // CSI n E
            b'F' => self.cpl(p.count()?),                   // CSI n F
            b'G' | b'`' => self.hpa(p.count()? - 1),        // CSI n G, `  HPA
            b'J' => self.csi_ed(p, observer)?,              // CSI n J
            b'K' => self.csi_el(p, observer)?,              // CSI n K
            b'L' => self.il(p.count()?, observer),          // CSI n L
            b'M' => self.dl(p.count()?, observer),          // CSI n M
            b'@' => self.ich(p.count()?, observer),         // CSI n @
            b'P' => self.dch(p.count()?, observer),         // CSI n P
            b'S' => self.su(p.count()?, observer),          // CSI n S
            b'T' => self.sd(p.count()?, observer),          // CSI n T
            b'X' => self.ech(p.count()?, observer),         // CSI n X
            b'Z' => self.cbt(p.count()?),                   // CSI n Z
            b'b' => self.rep(p.count()?, repeat, observer), // CSI n b
            b'c' => self.da(p.number(0, 0, 0)?),            // CSI c  DA
            b'd' => self.vpa(p.count()? - 1),               // CSI n d
            b'g' => self.tbc(p.number(0, 0, 0)?),           // CSI n g
            b'h' => self.sm(p, true),                       // CSI n h  SM
            b'l' => self.sm(p, false),                      // CSI n l  RM
            b'n' => self.dsr(p.number(0, 0, 0)?),           // CSI n n
            b'r' => self.csi_decstbm(p)?,                   // CSI t ; b r
            b's' => self.decsc(),                           // CSI s  SCP
            b't' => self.window_op(p),                      // CSI n t
            b'u' => self.decrc(),                           // CSI u  RCP
            _ => return Some(false),
        }
        Some(true)
    }

    /// Sequences with a marker or intermediates.
    fn csi_marked<O: Observer>(&mut self, middle: &[u8], p: &Params<'_>, last: u8, observer: &mut O) -> Option<bool> {
        match (middle, last) {
            (b"?", b'h') => self.sm_private(p, true, observer), // CSI ? n h  DECSET
            (b"?", b'l') => self.sm_private(p, false, observer), // CSI ? n l  DECRST
            (b"?", b'n') => {}                                  // CSI ? n n
            (b"?", b'S') => {}                                  // CSI ? S  graphics query
            (b">", b'c') => self.da2(p.number(0, 0, 0)?),       // CSI > c  DA2
            (b">", b'm') => self.set_extended_keys(p, true),    // CSI > 4 ; n m
            (b">", b'n') => self.set_extended_keys(p, false),   // CSI > 4 n
            (b">", b'q') => self.xtversion(p.number(0, 0, 0)?), // CSI > q  XTVERSION
            (b" ", b'q') => self.decscusr(p.number(0, 0, 0)?),  // CSI n SP q  DECSCUSR
            (b"$", b'p') => self.decrqm(p.number(0, 0, 0)?, false), // CSI n $ p  DECRQM
            (b"?$", b'p') => self.decrqm(p.number(0, 0, 0)?, true), // CSI ? n $ p  DECRQM
            _ => return Some(false),
        }
        Some(true)
    }

    /// CUP, HVP.
    #[inline]
    fn csi_cup(&mut self, p: &Params<'_>) -> Option<()> {
        let (row, col) = (p.number(0, 1, 1)?, p.number(1, 1, 1)?);
        self.cup(row as usize - 1, col as usize - 1);
        Some(())
    }

    /// DECSTBM.
    fn csi_decstbm(&mut self, p: &Params<'_>) -> Option<()> {
        let height = self.grid.height as i32;
        let (top, bottom) = (p.number(0, 1, 1)?, p.number(1, 1, height)?);
        self.decstbm(top as usize, bottom as usize);
        Some(())
    }

    /// ED.
    fn csi_ed<O: Observer>(&mut self, p: &Params<'_>, observer: &mut O) -> Option<()> {
        match p.number(0, 0, 0)? {
            0 => self.ed_below(observer),
            1 => self.ed_above(observer),
            2 => self.ed_all(self.pen.style.erased(), observer),
            3 if p.number(1, 0, 0)? == 0 => self.ed_history(observer),
            _ => {}
        }
        Some(())
    }

    /// EL.
    #[inline]
    fn csi_el<O: Observer>(&mut self, p: &Params<'_>, observer: &mut O) -> Option<()> {
        match p.number(0, 0, 0)? {
            0 => self.el_right(observer),
            1 => self.el_left(observer),
            2 => self.el_all(observer),
            _ => {}
        }
        Some(())
    }

    /// NEL.
    fn nel<O: Observer>(&mut self, observer: &mut O) {
        self.carriage_return();
        self.linefeed(observer);
    }

    /// SM and RM: ANSI modes.
    fn sm(&mut self, p: &Params<'_>, on: bool) {
        for i in 0..p.len() {
            match p.field(i) {
                Field::Number(4) => self.modes.insert = on,
                Field::Number(34) => self.modes.cursor_very_visible = !on,
                _ => {}
            }
        }
    }

    /// DECSET and DECRST: private modes, in order (RULES 8.2).
    fn sm_private<O: Observer>(&mut self, p: &Params<'_>, on: bool, observer: &mut O) {
        for i in 0..p.len() {
            let Field::Number(mode) = p.field(i) else { continue };
            match mode {
                3 => {
                    self.home();
                    self.ed_all(self.pen.style.erased(), observer);
                }
                6 => self.decom(on),
                47 | 1047 if on => self.enter_alternate(false, observer),
                47 | 1047 => self.leave_alternate(false, observer),
                1049 if on => self.enter_alternate(true, observer),
                1049 => self.leave_alternate(true, observer),
                _ => {
                    self.modes.set_private(mode, on);
                }
            }
        }
    }

    /// Extended keys.
    fn set_extended_keys(&mut self, p: &Params<'_>, on: bool) {
        if p.field(0) == Field::Number(4) {
            let level = p.number(1, 0, 0).unwrap_or(0);
            self.modes.extended_keys = if on { level.min(2) as u8 } else { 0 };
        }
    }

    /// DECSCUSR (RULES 8.3).
    fn decscusr(&mut self, style: i32) {
        if let Ok(style @ 0..=6) = u8::try_from(style) {
            self.modes.cursor_style = style;
            if style > 0 {
                self.modes.cursor_blinking = style % 2 == 1;
            }
        }
    }

    /// RIS, `ESC c`, and `send-keys -R` (RULES 5.6).
    pub(super) fn ris<O: Observer>(&mut self, observer: &mut O) {
        self.reset_pen();
        self.colors.clear_palette();
        self.tabs = super::tabs::Tabs::new(self.grid.width);
        (self.top, self.bottom) = (0, self.grid.height - 1);
        self.modes = super::modes::Modes { cursor_style: self.modes.cursor_style, ..Default::default() };
        self.ed_all(Style::DEFAULT, observer);
        self.set_cursor(0, 0);
    }

    /// Pen, character sets and what DECSC saved (RULES 1.14, 5.6).
    fn reset_pen(&mut self) {
        self.pen = Default::default();
        self.charsets = Default::default();
        self.forget_saved();
        self.repeat = Repeat::Nothing;
    }

    /// The string timer fired (RULES 1.14).
    pub(super) fn string_timed_out(&mut self) {
        self.reset_pen();
    }
}
