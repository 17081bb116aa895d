//! A length in decimal digits and a line feed before each content (contracts/README.md,
//! Raw): written, and found again in a stream.

use std::io::Write as _;

use super::{CONTENT_BYTES_MAX, DIGITS_MAX};
use crate::ProtocolError;
use crate::excerpt::excerpt;

/// The next thing in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A message of that length begins.
    Start(usize),
    /// The next bytes of its content; never empty.
    Content(&'a [u8]),
    /// It is complete.
    End,
}

/// Takes a stream apart, whatever its pieces are.
#[derive(Debug, Clone, Default)]
pub struct Frames {
    digits: usize,
    length: usize,
    /// Bytes of the content that are to come; None within a length.
    // Two states in one field: `None` reads digits, `Some` reads content.
    left: Option<usize>,
}

impl Frames {
    /// No byte of a message has come that is not complete.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.digits == 0 && self.left.is_none()
    }

    /// Bytes of the content under way that are to come; None within a length.
    #[must_use]
    pub fn left(&self) -> Option<usize> {
        self.left
    }

    /// Passes over bytes of the content that a capture lacks; false when it has fewer
    /// to come, and nothing happens then.
    pub fn skip(&mut self, bytes: usize) -> bool {
        let rest = self.left.and_then(|left| left.checked_sub(bytes));
        self.left = rest.or(self.left);
        rest.is_some()
    }

    /// Takes the next piece off the front of `input`; None when it is used up.
    ///
    /// # Errors
    /// When a length is malformed or above [`CONTENT_BYTES_MAX`].
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ProtocolError> {
        // One piece per call, so that the caller sees the length before the content and
        // can refuse or reserve.
        let Some(left) = &mut self.left else {
            return self.length(input);
        };
        // An empty content ends without a byte of its own.
        if *left == 0 {
            *self = Frames::default();
            return Ok(Some(Piece::End));
        }
        let (content, rest) = input.split_at(input.len().min(*left));
        *input = rest;
        *left -= content.len();
        Ok((!content.is_empty()).then_some(Piece::Content(content)))
    }

    fn length<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ProtocolError> {
        let whole = *input;
        while let [byte, rest @ ..] = *input {
            *input = rest;
            match byte {
                b'\n' if self.digits > 0 => {
                    self.left = Some(self.length);
                    return Ok(Some(Piece::Start(self.length)));
                }
                // One form per length: leading zeros are refused.
                b'0'..=b'9' if self.digits < DIGITS_MAX && !self.leads_with_zero() => {
                    self.digits += 1;
                    self.length = self.length * 10 + usize::from(byte - b'0');
                }
                _ => {
                    return Err(ProtocolError {
                        rule: "a length has 1 to 9 digits without leading zeros and a line feed \
                               (contracts/README.md, Raw)",
                        found: excerpt(whole),
                    });
                }
            }
            // Checked at every digit, so that the number cannot overflow.
            if self.length > CONTENT_BYTES_MAX {
                return Err(ProtocolError {
                    rule: "a message stays within the largest size accepted",
                    found: format!("{} bytes, {CONTENT_BYTES_MAX} accepted", self.length),
                });
            }
        }
        Ok(None)
    }

    fn leads_with_zero(&self) -> bool {
        self.digits == 1 && self.length == 0
    }
}

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
        // Written into the struct itself: a prefix is made for every message and should
        // not allocate.
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

/// Room made for a content before its bytes are there.
// Bytes. Nine digits must not make a service reserve 128 MiB.
const RESERVED_BYTES_MAX: usize = 64 << 10;

/// Finds the messages that a server receives on one connection, in pieces of
/// any size. It holds no more than the message that is not complete.
#[derive(Debug, Default)]
pub struct Deframer {
    frames: Frames,
    content: Vec<u8>,
}

impl Deframer {
    /// For a fresh connection.
    #[must_use]
    pub fn new() -> Deframer {
        Deframer::default()
    }

    /// True between messages: a connection that ends here lost nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.frames.is_idle()
    }

    /// Takes the content of the next message off the front of `input`; `None`
    /// when `input` is used up.
    ///
    /// # Errors
    /// When a length is malformed or too large; the connection has no
    /// boundaries any more and must be closed.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Vec<u8>>, ProtocolError> {
        while let Some(piece) = self.frames.next(input)? {
            match piece {
                // The announced length is not trusted: memory follows the bytes that come.
                Piece::Start(length) => self.content.reserve(length.min(RESERVED_BYTES_MAX)),
                Piece::Content(bytes) => self.content.extend_from_slice(bytes),
                Piece::End => return Ok(Some(std::mem::take(&mut self.content))),
            }
        }
        Ok(None)
    }
}
