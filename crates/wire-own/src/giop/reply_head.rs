//! The header of a GIOP 1.2 Reply behind its request id, read as it comes
//! (CORBA 3.3 part 2, section 9.4.3.1): status, then service contexts, which
//! are passed over.

use super::replies::ReplyStatus;
use crate::ProtocolError;
use crate::cdr::ByteOrder;

/// Bytes of status and number of contexts; also of a context's number and length.
const PAIR_BYTES: usize = 8;

/// Reads a reply's header, in pieces of any size, without keeping it.
#[derive(Debug)]
pub(super) struct ReplyHead {
    order: ByteOrder,
    status: Option<ReplyStatus>,
    contexts_left: u32,
    pair: [u8; PAIR_BYTES],
    filled: usize,
    /// Bytes to pass over: a context's data and what aligns the next.
    skip: u64,
    /// Bytes of the message so far, that is, the alignment.
    position: u64,
}

impl ReplyHead {
    /// To be fed from the byte behind the request id on, which is the
    /// sixteenth of the message.
    pub(super) fn new(order: ByteOrder) -> ReplyHead {
        ReplyHead {
            order,
            status: None,
            contexts_left: 0,
            pair: [0; PAIR_BYTES],
            filled: 0,
            skip: 0,
            position: 16,
        }
    }

    /// Takes the front of `chunk`; returns how much of it, and the status once
    /// the header is complete. A body begins at the next multiple of 8.
    pub(super) fn take(
        &mut self,
        chunk: &[u8],
    ) -> Result<(usize, Option<ReplyStatus>), ProtocolError> {
        let mut used = 0;
        loop {
            used += self.pass_over(&chunk[used..]);
            if self.skip == 0 && self.contexts_left == 0 && self.status.is_some() {
                return Ok((used, self.status));
            }
            if used == chunk.len() {
                return Ok((used, None));
            }
            used += self.fill(&chunk[used..])?;
        }
    }

    /// Bytes of padding between here and a body.
    pub(super) fn padding(&self) -> usize {
        (self.position.wrapping_neg() & 7) as usize
    }

    fn pass_over(&mut self, chunk: &[u8]) -> usize {
        let passed = self.skip.min(chunk.len() as u64);
        self.skip -= passed;
        self.position += passed;
        passed as usize
    }

    fn fill(&mut self, chunk: &[u8]) -> Result<usize, ProtocolError> {
        let taken = chunk.len().min(PAIR_BYTES - self.filled);
        self.pair[self.filled..][..taken].copy_from_slice(&chunk[..taken]);
        self.filled += taken;
        self.position += taken as u64;
        if self.filled == PAIR_BYTES {
            self.filled = 0;
            self.understand()?;
        }
        Ok(taken)
    }

    fn understand(&mut self) -> Result<(), ProtocolError> {
        let [first, second] = self.numbers();
        if self.status.is_some() {
            self.contexts_left -= 1;
            // The next context is aligned to 4; behind the last nothing is.
            let padding = if self.contexts_left == 0 {
                0
            } else {
                u64::from(second).wrapping_neg() & 3
            };
            self.skip = u64::from(second) + padding;
            return Ok(());
        }
        let status = ReplyStatus::of(first).ok_or_else(|| ProtocolError {
            rule: "a reply status is 0 to 5 (CORBA 3.3-2, 9.4.3.1)",
            found: first.to_string(),
        })?;
        self.status = Some(status);
        self.contexts_left = second;
        Ok(())
    }

    fn numbers(&self) -> [u32; 2] {
        let [a, b, c, d, e, f, g, h] = self.pair;
        let number = match self.order {
            ByteOrder::Big => u32::from_be_bytes,
            ByteOrder::Little => u32::from_le_bytes,
        };
        [number([a, b, c, d]), number([e, f, g, h])]
    }
}
