//! Decoding UTF-8 the way tmux does (RULES 1.17, 1.18).

/// Length that a first byte announces; None if it is no first byte.
#[inline]
pub(super) fn announced(first: u8) -> Option<usize> {
    match first {
        0xC2..=0xDF => Some(2),
        0xE0..=0xEF => Some(3),
        0xF0..=0xF4 => Some(4),
        _ => None,
    }
}

/// Decodes the character at the start of `bytes`, if it is whole and valid. Also takes what lies
/// above U+10FFFF in four bytes. ASCII is not decoded here but for one byte alone.
#[inline(always)]
pub(super) fn decode(bytes: &[u8]) -> Option<(u32, usize)> {
    let tail = |b: u8| (b & 0xC0 == 0x80).then_some(u32::from(b & 0x3F));
    match *bytes {
        [a @ 0xE0..=0xEF, b, c, ..] => {
            let code = u32::from(a & 0x0F) << 12 | tail(b)? << 6 | tail(c)?;
            (code >= 0x800 && !(0xD800..=0xDFFF).contains(&code)).then_some((code, 3))
        }
        [a @ 0xC2..=0xDF, b, ..] => Some((u32::from(a & 0x1F) << 6 | tail(b)?, 2)),
        [a @ 0xF0..=0xF4, b, c, d, ..] => {
            let code = u32::from(a & 0x07) << 18 | tail(b)? << 12 | tail(c)? << 6 | tail(d)?;
            (code >= 0x1_0000).then_some((code, 4))
        }
        [a] if a < 0x80 => Some((u32::from(a), 1)),
        _ => None,
    }
}

/// Decodes a character that is known to be valid; 0 if it is not.
pub(super) fn decode_any(bytes: &[u8]) -> u32 {
    decode(bytes).map_or(0, |(code, _)| code)
}

/// True if `bytes` could be a title: valid UTF-8 or bytes 20-7E (RULES 8.4).
pub(super) fn is_printable(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && bytes.iter().all(|b| *b >= 0x20 && *b != 0x7F)
}

/// Length of the run of printable ASCII at the start of `bytes`.
#[inline]
pub(super) fn printable(bytes: &[u8]) -> usize {
    let mut done = 0;
    if let Some(word) = bytes.first_chunk() {
        match unprintable(word) {
            Some(at) => return at, // most runs are short
            None => done = word.len(),
        }
    }
    for chunk in bytes.get(done..).unwrap_or(&[]).chunks_exact(32) {
        let stop = chunk.iter().fold(false, |stop, b| stop | (b.wrapping_sub(0x20) >= 0x5F));
        if stop {
            break;
        }
        done += 32;
    }
    let (words, rest) = bytes.get(done..).unwrap_or(&[]).as_chunks::<8>();
    for word in words {
        if let Some(at) = unprintable(word) {
            return done + at;
        }
        done += 8;
    }
    done + rest.iter().position(|b| b.wrapping_sub(0x20) >= 0x5F).unwrap_or(rest.len())
}

/// Index of the first byte outside 20-7E.
#[inline]
fn unprintable(word: &[u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES * 0x80;
    let x = u64::from_le_bytes(*word);
    // The lowest marked byte is exact; a borrow can only reach bytes above it.
    let below = x.wrapping_sub(ONES * 0x20) & !x;
    let delete = (x & !HIGH) + ONES;
    let marks = (x | below | delete) & HIGH;
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_runs_end_at_every_byte_and_place() {
        for stop in (0..=255u8).filter(|b| !(0x20..0x7F).contains(b)) {
            for at in 0..70 {
                let mut bytes = vec![b'~'; 80];
                bytes[at] = stop;
                assert_eq!(printable(&bytes), at, "byte {stop:02x} at {at}");
            }
        }
        for len in 0..70 {
            assert_eq!(printable(&vec![b' '; len]), len);
        }
    }

    #[test]
    fn decodes_like_the_standard_library() {
        for c in (0x80..0x11_0000u32).filter_map(char::from_u32) {
            let mut buffer = [0; 4];
            let text = c.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(decode(text), Some((c as u32, text.len())));
            assert_eq!(announced(text[0]), Some(text.len()));
        }
        for bad in [&b"\xE0\x80\x80"[..], b"\xED\xA0\x80", b"\xC2", b"\xC2A", b"\xF0\x80\x80\x80", b"\xFF"] {
            assert_eq!(decode(bad), None);
        }
        assert_eq!(decode(b"\xF4\x90\x80\x80"), Some((0x11_0000, 4)));
    }
}
