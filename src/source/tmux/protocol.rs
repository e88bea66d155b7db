//! tmux's control-mode protocol: bytes to events, and command lines to bytes.
//!
//! Pure: no I/O, no clock. Written after `control.c` of tmux 3.2a to 3.7 and the CONTROL MODE section of tmux(1),
//! with these departures:
//!
//! - Inside a `%begin`…`%end` block everything is data but the `%end` or `%error` that carries the very numbers of its
//!   `%begin`. Up to 3.7 tmux puts `%pause` and `%continue` inside the block of the command that causes them, where a
//!   captured screen row may read just the same; so whoever knows the command asks [`Reply::notices`].
//! - An `%end` outside a block means that a row of a reply looked like the end of its block: [`Event::Broken`].
//! - Lines are bytes: `%output` escapes only bytes below 0x20 and the backslash.

/// Longest line kept, in bytes. tmux's own `%output` lines stay below 64 KiB; a joined line of 2,000 captured rows may
/// be far longer.
const MAX_LINE: usize = 16 << 20;

/// Most bytes of one reply.
const MAX_REPLY: usize = 64 << 20;

/// What tmux said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A pane's program wrote these bytes, already unescaped: one `%output` line.
    Output {
        /// The pane's number.
        pane: u32,
        /// The bytes.
        data: &'a [u8],
    },
    /// A command ended.
    Reply(Reply),
    /// The output of a pane is held back from here on.
    Pause(u32),
    /// The output of a pane is sent again, from here on.
    Continue(u32),
    /// This client looks at a session (`$N`).
    SessionChanged(u32),
    /// A window got another layout.
    LayoutChange {
        /// The window's number.
        window: u32,
        /// The layout that is seen (the zoomed one of a zoomed window).
        layout: &'a [u8],
    },
    /// A window was linked or unlinked, opened or closed, or sessions came or went.
    TopologyChanged,
    /// A mode (copy mode, ...) was opened or closed in a pane.
    PaneModeChanged(u32),
    /// A subscription has a new value.
    Subscription {
        /// The subscription's name.
        name: &'a [u8],
        /// What its format gives now.
        value: &'a [u8],
    },
    /// This client is to go.
    Exit(&'a [u8]),
    /// The stream makes no sense any more; the client must be replaced.
    Broken(&'static str),
}

/// The output of one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// tmux's number of the command.
    pub number: u64,
    /// 1 in the lowest bit for commands of this client, 0 for hooks and the attach itself.
    pub flags: u32,
    /// The command succeeded (`%end`), or failed and the body says why (`%error`).
    pub ok: bool,
    /// The lines between, each with its newline.
    pub body: Vec<u8>,
    /// Part of the body was dropped since it was too long.
    pub cut: bool,
}

impl Reply {
    /// The lines of the body without their newlines.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let body = self.body.strip_suffix(b"\n").unwrap_or(&self.body);
        let none = self.body.is_empty();
        body.split(|byte| *byte == b'\n').skip(usize::from(none))
    }

    /// The first line as text, for messages and formats.
    pub fn text(&self) -> String {
        self.lines().next().map(|line| String::from_utf8_lossy(line).into_owned()).unwrap_or_default()
    }

    /// `%pause` and `%continue` lines in the body. To be asked only of commands that print nothing else.
    pub fn notices(&self) -> impl Iterator<Item = Event<'_>> {
        self.lines().map(event).filter(|event| matches!(event, Some(Event::Pause(_) | Event::Continue(_)))).flatten()
    }
}

/// Splits a control client's output into events. Reads may be cut anywhere.
#[derive(Debug, Default)]
pub struct Parser {
    partial: Vec<u8>,
    overlong: bool,
    block: Option<Block>,
    plain: Vec<u8>,
}

#[derive(Debug)]
struct Block {
    guard: Vec<u8>,
    reply: Reply,
}

impl Parser {
    /// Takes the next bytes and hands on each event that is complete.
    pub fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(Event<'_>)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if self.overlong {
                self.overlong = false;
                self.partial.clear();
                sink(Event::Broken("a line longer than 16 MiB"));
            } else if self.partial.is_empty() {
                self.line(line, &mut sink);
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.line(&whole, &mut sink);
                whole.clear();
                self.partial = whole;
            }
        }
        if self.partial.len() + rest.len() > MAX_LINE {
            self.overlong = true;
            self.partial.clear();
        } else if !self.overlong {
            self.partial.extend_from_slice(rest);
        }
    }

    fn line(&mut self, line: &[u8], sink: &mut impl FnMut(Event<'_>)) {
        if let Some(block) = &mut self.block {
            let ok = line.starts_with(b"%end ");
            let over = (ok || line.starts_with(b"%error ")) && guard(line) == Some(&block.guard);
            if !over {
                block.push(line);
            } else if let Some(Block { mut reply, .. }) = self.block.take() {
                reply.ok = ok;
                sink(Event::Reply(reply));
            }
        } else if let Some(rest) = line.strip_prefix(b"%output ") {
            self.output(rest, b" ", sink);
        } else if let Some(rest) = line.strip_prefix(b"%extended-output ") {
            self.output(rest, b" : ", sink);
        } else if line.starts_with(b"%begin ") {
            self.block = Block::new(line);
            if self.block.is_none() {
                sink(Event::Broken("a %begin without numbers"));
            }
        } else if line.starts_with(b"%end ") || line.starts_with(b"%error ") {
            sink(Event::Broken("an %end without its %begin"));
        } else if let Some(event) = event(line) {
            sink(event);
        }
    }

    fn output(&mut self, rest: &[u8], before: &[u8], sink: &mut impl FnMut(Event<'_>)) {
        let Some((pane, data)) = cut(rest, b" ").and_then(|(id, data)| Some((number(id, b'%')?, data))) else {
            return;
        };
        // `%extended-output %P AGE ... : data`: the fields before the colon are ours to skip.
        let data = if before == b" " {
            data
        } else if let Some((_, data)) = cut(data, before) {
            data
        } else {
            return;
        };
        if data.contains(&b'\\') {
            self.plain.clear();
            unescape(data, &mut self.plain);
            sink(Event::Output { pane, data: &self.plain });
        } else {
            sink(Event::Output { pane, data });
        }
    }
}

impl Block {
    fn new(line: &[u8]) -> Option<Self> {
        let guard = guard(line)?;
        let mut fields = guard.split(|byte| *byte == b' ').skip(1);
        let number = decimal(fields.next()?)?;
        let flags = u32::try_from(decimal(fields.next()?)?).ok()?;
        Some(Self { guard: guard.to_vec(), reply: Reply { number, flags, ..Reply::default() } })
    }

    fn push(&mut self, line: &[u8]) {
        let body = &mut self.reply.body;
        if body.len() + line.len() >= MAX_REPLY {
            self.reply.cut = true;
        } else {
            body.extend_from_slice(line);
            body.push(b'\n');
        }
    }
}

/// The `TIME NUMBER FLAGS` of a block's first or last line.
fn guard(line: &[u8]) -> Option<&[u8]> {
    cut(line, b" ").map(|(_, guard)| guard)
}

/// Reads a notification line outside blocks.
fn event(line: &[u8]) -> Option<Event<'_>> {
    let (name, rest) = cut(line, b" ").unwrap_or((line, b""));
    let first = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
    match name {
        b"%pause" => number(rest, b'%').map(Event::Pause),
        b"%continue" => number(rest, b'%').map(Event::Continue),
        b"%session-changed" => number(first, b'$').map(Event::SessionChanged),
        b"%layout-change" => layout_change(rest),
        b"%pane-mode-changed" => number(rest, b'%').map(Event::PaneModeChanged),
        b"%subscription-changed" => subscription(rest),
        b"%exit" => Some(Event::Exit(rest)),
        b"%sessions-changed"
        | b"%window-add"
        | b"%window-close"
        | b"%unlinked-window-add"
        | b"%unlinked-window-close" => Some(Event::TopologyChanged),
        _ => None,
    }
}

/// `@W LAYOUT [VISIBLE-LAYOUT FLAGS]`
fn layout_change(rest: &[u8]) -> Option<Event<'_>> {
    let mut fields = rest.split(|byte| *byte == b' ');
    let window = number(fields.next()?, b'@')?;
    let whole = fields.next()?;
    let layout = fields.next().filter(|seen| !seen.is_empty()).unwrap_or(whole);
    Some(Event::LayoutChange { window, layout })
}

/// `NAME $S @W INDEX %P : VALUE`, with `-` for what does not apply.
fn subscription(rest: &[u8]) -> Option<Event<'_>> {
    let (name, rest) = cut(rest, b" ")?;
    let (_, value) = cut(rest, b" : ")?;
    Some(Event::Subscription { name, value })
}

/// The size of each pane of a layout string, `CHECKSUM,80x24,0,0{40x24,0,0,1,39x24,41,0,2}`: a cell with a fourth
/// number is a pane.
pub fn layout_panes(layout: &[u8]) -> Vec<(u32, crate::geometry::Size)> {
    let cells = cut(layout, b",").map_or(&b""[..], |(_, cells)| cells);
    let mut fields: Vec<&[u8]> = Vec::new();
    let mut panes = Vec::new();
    for part in cells.split(|byte| matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b'<' | b'>')) {
        if part.contains(&b'x') {
            fields.clear();
        }
        fields.push(part);
        if let [size, _, _, pane] = fields.as_slice()
            && let Some((cols, rows)) = cut(size, b"x")
            && let (Some(cols), Some(rows), Some(pane)) = (short(cols), short(rows), decimal(pane))
            && let Ok(pane) = u32::try_from(pane)
        {
            panes.push((pane, crate::geometry::Size::new(rows, cols)));
        }
    }
    panes
}

/// Turns the `\ooo` of an `%output` line, or of `capture-pane -C`, back into bytes.
pub fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        rest = match escape {
            [_, a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push(((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'));
                rest
            }
            [_, b'\\', rest @ ..] => {
                out.push(b'\\');
                rest
            }
            [_, rest @ ..] => {
                out.push(b'\\');
                rest
            }
            [] => escape,
        };
    }
    out.extend_from_slice(rest);
}

/// Cuts at the first `mark`.
fn cut<'a>(text: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(mark.len()).position(|window| window == mark)?;
    Some((text.get(..at)?, text.get(at + mark.len()..)?))
}

/// Reads `%5`, `@2`, `$0`.
fn number(text: &[u8], sign: u8) -> Option<u32> {
    let digits = text.strip_prefix(&[sign])?;
    u32::try_from(decimal(digits)?).ok()
}

/// Reads a number made of digits alone.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0')))
}

fn short(text: &[u8]) -> Option<u16> {
    u16::try_from(decimal(text)?).ok()
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
