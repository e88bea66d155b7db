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

/// Room for the fields of a sequence, used again and again.
///
/// A field is its number, -1 if it is missing, and -2 - (start * 256 + length) if it has colons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    fields: [i32; FIELDS],
    len: usize,
    valid: bool,
}

impl Fields {
    /// No fields.
    pub(super) const EMPTY: Self = Self { fields: [MISSING; FIELDS], len: 0, valid: true };

    /// Splits the parameter bytes at the start of `bytes`. Returns how many bytes there are.
    #[inline]
    pub(super) fn scan(&mut self, bytes: &[u8]) -> usize {
        self.len = 0;
        self.valid = true;
        let mut number = MISSING;
        let mut end = bytes.len();
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    let digit = i32::from(byte - b'0');
                    match number.max(0).checked_mul(10).and_then(|n| n.checked_add(digit)) {
                        Some(n) => number = n,
                        None => self.valid = false,
                    }
                }
                b';' => {
                    self.push(number);
                    number = MISSING;
                }
                b':' => return self.scan_colons(bytes),
                _ => {
                    end = i;
                    break;
                }
            }
        }
        if end > 0 {
            self.push(number);
        }
        end
    }

    #[inline]
    fn push(&mut self, number: i32) {
        match self.fields.get_mut(self.len) {
            Some(field) => {
                *field = number;
                self.len += 1;
            }
            None => self.valid = false,
        }
    }

    /// The same if there are fields with colons, which are kept as they stand.
    #[cold]
    fn scan_colons(&mut self, bytes: &[u8]) -> usize {
        let end = bytes.iter().position(|b| !(b'0'..=b';').contains(b)).unwrap_or(bytes.len());
        *self = Self::EMPTY;
        let mut start = 0;
        for field in bytes.get(..end).unwrap_or(&[]).split(|b| *b == b';') {
            if field.contains(&b':') {
                self.push(-2 - ((start as i32) << 8 | field.len() as i32));
            } else {
                let mut one = Self::EMPTY;
                one.scan(field);
                self.valid &= one.valid;
                self.push(one.fields.first().copied().unwrap_or(MISSING));
            }
            start += field.len() + 1;
        }
        end
    }

    /// The fields, with the bytes that they were split from. None if the whole sequence is to be
    /// ignored (RULES 1.10).
    #[inline]
    pub(super) fn params<'a>(&'a self, bytes: &'a [u8]) -> Option<Params<'a>> {
        if !self.valid {
            return None;
        }
        Some(Params { bytes, fields: self.fields.get(..self.len)? })
    }
}

/// The fields of one sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params<'a> {
    bytes: &'a [u8],
    fields: &'a [i32],
}

impl<'a> Params<'a> {
    /// Number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
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
        fn of(text: &'static str) -> Option<Vec<Field<'static>>> {
            let fields = Box::leak(Box::new(Fields::EMPTY));
            assert_eq!(fields.scan(text.as_bytes()), text.len());
            fields.params(text.as_bytes()).map(|p| (0..p.len()).map(|i| p.field(i)).collect())
        }
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
        let mut fields = Fields::EMPTY;
        assert_eq!(fields.scan(b"0;5;3:1mtext"), 7);
        let p = fields.params(b"0;5;3:1mtext").expect("valid");
        assert_eq!(p.count(), Some(1));
        assert_eq!(p.number(1, 1, 1), Some(5));
        assert_eq!(p.number(2, 1, 1), None);
        assert_eq!(p.number(9, 1, 42), Some(42));
    }
}
