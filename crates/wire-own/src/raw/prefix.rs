//! The length in front of a content.

use std::io::Write as _;

use super::DIGITS_MAX;

/// A length and its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    bytes: [u8; DIGITS_MAX + 1],
    used: usize,
}

impl Prefix {
    /// Of a content of `length` bytes.
    ///
    /// # Panics
    /// When the length has more than nine digits; [`super::CONTENT_BYTES_MAX`]
    /// is well below.
    #[must_use]
    pub fn new(length: usize) -> Prefix {
        let mut bytes = [0; DIGITS_MAX + 1];
        let mut rest = &mut bytes[..];
        writeln!(rest, "{length}").expect("a length has at most nine digits");
        let used = DIGITS_MAX + 1 - rest.len();
        Prefix { bytes, used }
    }
}

impl AsRef<[u8]> for Prefix {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

/// Appends a message.
///
/// # Panics
/// When the content's length has more than nine digits.
pub fn write(content: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(Prefix::new(content.len()).as_ref());
    out.extend_from_slice(content);
}
