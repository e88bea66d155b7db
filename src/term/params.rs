//! Parameters of a CSI sequence (RULES 1.7 to 1.12).

/// Most fields a sequence may have; one more and it is ignored.
const FIELDS: usize = 23;
const MISSING: i32 = -1;

/// One field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    /// Empty.
    Missing,
    /// A number, not negative.
    Number(i32),
    /// A field with colons, as it stands.
    Colons(&'a [u8]),
}

/// The fields of one sequence, split once.
///
/// A field is its number, -1 if it is missing, and -2 - (start * 256 + length) if it has colons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params<'a> {
    bytes: &'a [u8],
    fields: [i32; FIELDS],
    len: usize,
}

impl<'a> Params<'a> {
    /// Splits at `;`. None if the whole sequence is to be ignored (RULES 1.10).
    #[inline]
    pub(super) fn split(bytes: &'a [u8]) -> Option<Self> {
        let mut params = Self { bytes, fields: [MISSING; FIELDS], len: 0 };
        if bytes.is_empty() {
            return Some(params);
        }
        let mut number = i64::from(MISSING);
        let mut start = 0;
        let mut colons = false;
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b';' => {
                    params.push(number, colons, start, i)?;
                    (number, start, colons) = (i64::from(MISSING), i + 1, false);
                }
                b':' => colons = true,
                digit => {
                    if !colons {
                        number = (number.max(0) * 10 + i64::from(digit.wrapping_sub(b'0'))).min(1 << 40);
                    }
                }
            }
        }
        params.push(number, colons, start, bytes.len())?;
        Some(params)
    }

    #[inline]
    fn push(&mut self, number: i64, colons: bool, start: usize, end: usize) -> Option<()> {
        let value =
            if colons { -2 - ((start as i32) << 8 | (end - start) as i32) } else { i32::try_from(number).ok()? };
        *self.fields.get_mut(self.len)? = value;
        self.len += 1;
        Some(())
    }

    /// Number of fields.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Field `i`; missing if there are fewer.
    #[inline]
    pub(super) fn field(&self, i: usize) -> Field<'a> {
        match self.fields.get(i).copied().unwrap_or(MISSING) {
            MISSING => Field::Missing,
            number if number >= 0 => Field::Number(number),
            code => {
                let code = (-2 - code) as usize;
                let (start, len) = (code >> 8, code & 0xFF);
                Field::Colons(self.bytes.get(start..start + len).unwrap_or(&[]))
            }
        }
    }

    /// Field `i` as a number (RULES 1.12). None if it has colons: the command does nothing.
    #[inline]
    pub(super) fn number(&self, i: usize, minimum: i32, default: i32) -> Option<i32> {
        match self.field(i) {
            Field::Missing => Some(default),
            Field::Number(n) => Some(n.max(minimum)),
            Field::Colons(_) => None,
        }
    }

    /// Field 0 as a count: 0 and missing mean 1.
    #[inline]
    pub(super) fn count(&self) -> Option<usize> {
        self.number(0, 1, 1).map(|n| n as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let split = |text: &'static str| Params::split(text.as_bytes());
        let of = |text| split(text).map(|p| (0..p.len()).map(|i| p.field(i)).collect::<Vec<_>>());
        assert_eq!(of(""), Some(vec![]));
        assert_eq!(of(";"), Some(vec![Field::Missing, Field::Missing]));
        assert_eq!(of("3;;7"), Some(vec![Field::Number(3), Field::Missing, Field::Number(7)]));
        assert_eq!(of("4:3;1"), Some(vec![Field::Colons(b"4:3"), Field::Number(1)]));
        assert_eq!(of("2147483647"), Some(vec![Field::Number(2147483647)]));
        assert_eq!(of("2147483648"), None);
        assert_eq!(of(&";".repeat(22).leak()[..]).map(|f| f.len()), Some(23));
        assert_eq!(of(&";".repeat(23).leak()[..]), None);
    }

    #[test]
    fn reading() {
        let p = Params::split(b"0;5;3:1").unwrap();
        assert_eq!(p.count(), Some(1));
        assert_eq!(p.number(1, 1, 1), Some(5));
        assert_eq!(p.number(2, 1, 1), None);
        assert_eq!(p.number(9, 1, 42), Some(42));
    }
}
