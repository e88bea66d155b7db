//! Hyperlinks that cells refer to by number (OSC 8).

use std::collections::HashMap;

use crate::limits::{MAX_LINK_BYTES, MAX_LINKS};

/// The targets seen so far. A number is given once and stays; 0 is "no link".
#[derive(Debug, Default)]
pub(super) struct Links {
    numbers: HashMap<Box<[u8]>, u32>,
    targets: Vec<Box<[u8]>>,
}

impl Links {
    /// The number of a target. Past the limit all links share one number without a target.
    pub(super) fn number(&mut self, target: &[u8]) -> u32 {
        if target.is_empty() {
            return 0;
        }
        if let Some(number) = self.numbers.get(target) {
            return *number;
        }
        if self.targets.len() >= MAX_LINKS || target.len() > MAX_LINK_BYTES {
            return u32::MAX;
        }
        self.targets.push(target.into());
        let number = self.targets.len() as u32;
        self.numbers.insert(target.into(), number);
        number
    }

    /// The target of a number.
    #[cfg(test)]
    pub(super) fn target(&self, number: u32) -> Option<&[u8]> {
        self.targets.get((number as usize).checked_sub(1)?).map(|t| &**t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stable_and_bounded() {
        let mut links = Links::default();
        assert_eq!(links.number(b""), 0);
        let first = links.number(b"a");
        assert_eq!(links.number(b"a"), first);
        assert_eq!(links.target(first), Some(&b"a"[..]));
        for i in 0..MAX_LINKS + 10 {
            links.number(i.to_string().as_bytes());
        }
        assert_eq!(links.number(b"one more"), u32::MAX);
    }
}
