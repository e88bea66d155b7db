//! Terminal modes that a program can set (RULES 8.2).

/// The modes of a screen. All but [`Modes::wrap`] and [`Modes::cursor_visible`] are off at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes {
    /// IRM, `CSI 4 h`: printing inserts.
    pub insert: bool,
    /// DECOM, `CSI ? 6 h`: rows are counted from the top of the region.
    pub origin: bool,
    /// DECAWM, `CSI ? 7 h`: printing past the last column wraps.
    pub wrap: bool,
    /// DECTCEM, `CSI ? 25 h`.
    pub cursor_visible: bool,
    /// `CSI 34 l`: the cursor is very visible.
    pub cursor_very_visible: bool,
    /// `CSI ? 12 h`: the cursor blinks.
    pub cursor_blinking: bool,
    /// DECSCUSR, `CSI n SP q`: 0 default, 1-2 block, 3-4 underline, 5-6 bar.
    pub cursor_style: u8,
    /// DECCKM, `CSI ? 1 h`: cursor keys send application sequences.
    pub cursor_keys: bool,
    /// DECKPAM, `ESC =`: the keypad sends application sequences.
    pub keypad: bool,
    /// `CSI ? 1000 h`: mouse buttons are reported.
    pub mouse_standard: bool,
    /// `CSI ? 1002 h`: mouse buttons and drags are reported.
    pub mouse_button: bool,
    /// `CSI ? 1003 h`: every movement of the mouse is reported.
    pub mouse_all: bool,
    /// `CSI ? 1005 h`: mouse reports in UTF-8.
    pub mouse_utf8: bool,
    /// `CSI ? 1006 h`: mouse reports in SGR form.
    pub mouse_sgr: bool,
    /// `CSI ? 1004 h`: focus changes are reported.
    pub focus: bool,
    /// `CSI ? 2004 h`: pasted text is bracketed.
    pub bracketed_paste: bool,
    /// `CSI ? 2031 h`: theme changes are reported.
    pub theme_updates: bool,
    /// `CSI ? 2026 h`: the program is in the middle of a synchronized update. Tracked for every version.
    pub synchronized: bool,
    /// `CSI > 4 ; n m`: level of extended keys.
    pub extended_keys: u8,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            insert: false,
            origin: false,
            wrap: true,
            cursor_visible: true,
            cursor_very_visible: false,
            cursor_blinking: false,
            cursor_style: 0,
            cursor_keys: false,
            keypad: false,
            mouse_standard: false,
            mouse_button: false,
            mouse_all: false,
            mouse_utf8: false,
            mouse_sgr: false,
            focus: false,
            bracketed_paste: false,
            theme_updates: false,
            synchronized: false,
            extended_keys: 0,
        }
    }
}

impl Modes {
    /// Sets a private mode that is nothing but a flag; false if it is none of these.
    pub(super) fn set_private(&mut self, mode: i32, on: bool) -> bool {
        match mode {
            1 => self.cursor_keys = on,
            7 => self.wrap = on,
            12 => self.cursor_blinking = on,
            25 => self.cursor_visible = on,
            1000..=1003 => self.set_mouse(mode, on),
            1004 => self.focus = on,
            1005 => self.mouse_utf8 = on,
            1006 => self.mouse_sgr = on,
            2004 => self.bracketed_paste = on,
            2026 => self.synchronized = on,
            2031 => self.theme_updates = on,
            _ => return false,
        }
        true
    }

    /// Setting one kind of mouse report clears the others; resetting any clears all.
    fn set_mouse(&mut self, mode: i32, on: bool) {
        if mode == 1001 && on {
            return;
        }
        self.mouse_standard = on && mode == 1000;
        self.mouse_button = on && mode == 1002;
        self.mouse_all = on && mode == 1003;
    }
}
