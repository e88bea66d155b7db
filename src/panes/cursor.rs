//! Cursors of `capture_since`: opaque to callers, checked when they come back.
//!
//! `pm1:` and base64url (no padding) of: kind, server pid, server start time, pane, process, nonce of our process,
//! serial of the mirror, mark; all big endian; then a checksum.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::limits::CURSOR_BYTES;
use crate::mirror::Mark;
use crate::pane::{PaneId, ServerId};
use crate::{Error, Result};

const PREFIX: &str = "pm1:";

/// A moment of a pane, as a caller holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The pane.
    pub pane: PaneId,
    /// Process id of the pane's program.
    pub process: u32,
    /// Our process.
    pub nonce: u64,
    /// The mirror that the mark belongs to.
    pub mirror: u32,
    /// The moment.
    pub mark: Mark,
}

impl Cursor {
    /// The cursor as text.
    pub fn encode(&self) -> String {
        let (kind, pid, start, number) = match self.pane {
            PaneId::Tmux { server, pane } => (0u8, server.pid, server.start_time, pane),
            PaneId::Pty { number, tag } => (1u8, u32::from(tag), 0, number),
        };
        let mut bytes = vec![kind];
        bytes.extend(pid.to_be_bytes());
        bytes.extend(start.to_be_bytes());
        bytes.extend(number.to_be_bytes());
        bytes.extend(self.process.to_be_bytes());
        bytes.extend(self.nonce.to_be_bytes());
        bytes.extend(self.mirror.to_be_bytes());
        bytes.extend(self.mark.number().to_be_bytes());
        bytes.extend(checksum(&bytes).to_be_bytes());
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Reads a cursor.
    ///
    /// # Errors
    ///
    /// [`Error::BadCursor`] for anything that [`Cursor::encode`] has not made.
    pub fn decode(text: &str) -> Result<Self> {
        Self::parse(text).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            Error::BadCursor(format!(
                "cursor {shown:?} is not one that capture_since gave; leave it out to start with a fresh one"
            ))
        })
    }

    fn parse(text: &str) -> Option<Self> {
        if text.len() > CURSOR_BYTES {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
        if checksum(body).to_be_bytes() != *sum {
            return None;
        }
        let mut reader = Reader(body);
        let kind = reader.take::<1>()?;
        let pid = u32::from_be_bytes(reader.take()?);
        let start_time = u64::from_be_bytes(reader.take()?);
        let number = u32::from_be_bytes(reader.take()?);
        let pane = match kind {
            [0] => PaneId::Tmux { server: ServerId { pid, start_time }, pane: number },
            [1] => PaneId::Pty { number, tag: u16::try_from(pid).ok()? },
            _ => return None,
        };
        let cursor = Self {
            pane,
            process: u32::from_be_bytes(reader.take()?),
            nonce: u64::from_be_bytes(reader.take()?),
            mirror: u32::from_be_bytes(reader.take()?),
            mark: Mark::from_number(u32::from_be_bytes(reader.take()?)),
        };
        reader.0.is_empty().then_some(cursor)
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
}

/// FNV-1a: guards against cut and mistyped cursors, not against forgers, who could only read what they may read anyway.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor() -> Cursor {
        let server = ServerId { pid: 4711, start_time: 1_764_547_200 };
        Cursor {
            pane: PaneId::Tmux { server, pane: 3 },
            process: 12,
            nonce: u64::MAX - 5,
            mirror: 9,
            mark: Mark::from_number(77),
        }
    }

    #[test]
    fn what_is_encoded_decodes_to_the_same() {
        let pty = Cursor { pane: PaneId::Pty { number: 8, tag: 0xa1b2 }, ..cursor() };
        for cursor in [cursor(), pty] {
            let text = cursor.encode();
            assert!(text.len() <= CURSOR_BYTES);
            assert_eq!(Cursor::decode(&text), Ok(cursor));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let text = cursor().encode();
        let cut = &text[..text.len() - 1];
        let flipped = text.replace("pm1:A", "pm1:B");
        let long = format!("{text}{}", "A".repeat(1_000_000));
        for bad in ["", "pm1:", "x", "pm1:!!!!", "pm2:AAAA", "pm1:AAAA", cut, &flipped, &long, "pm1:\u{e9}"] {
            assert_eq!(Cursor::decode(bad).map_err(|e| e.kind()), Err("bad_cursor"), "{bad:.40}");
        }
    }
}
