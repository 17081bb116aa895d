//! Finds the messages in what a server receives.

use super::frames::{Frames, Piece};
use crate::ProtocolError;

/// Room made for a content before its bytes are there.
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
                Piece::Start(length) => self.content.reserve(length.min(RESERVED_BYTES_MAX)),
                Piece::Content(bytes) => self.content.extend_from_slice(bytes),
                Piece::End => return Ok(Some(std::mem::take(&mut self.content))),
            }
        }
        Ok(None)
    }
}
