//! Enveloped messages of Connect (Connect protocol reference, "Streaming-Request" and
//! "Enveloped-Message"): one byte of flags, four bytes of length, the message. The envelope that
//! ends a stream holds its trailers, and is not a message.

use super::step::{End, Role, Step};

const PREFIX_BYTES: usize = 5;
/// The message is compressed.
const COMPRESSED: u8 = 1;
/// The envelope ends the stream.
const END_STREAM: u8 = 2;

/// The position in envelopes.
#[derive(Debug, Default)]
pub(super) struct Envelopes {
    prefix: [u8; PREFIX_BYTES],
    filled: usize,
    /// Bytes of the message to come.
    left: u32,
    /// Nothing shows where an envelope begins.
    is_lost: bool,
}

impl Envelopes {
    /// What the next bytes are: of a prefix, or of the message behind it.
    pub(super) fn step(&mut self, rest: &[u8]) -> Step {
        if self.is_lost {
            return Step::between(rest.len());
        }
        if self.filled == PREFIX_BYTES {
            let used = rest.len().min(self.left as usize);
            self.left -= used as u32;
            return self.of_message(used, Role::Body(None));
        }
        let used = rest.len().min(PREFIX_BYTES - self.filled);
        self.prefix[self.filled..][..used].copy_from_slice(&rest[..used]);
        self.filled += used;
        let [flags, length @ ..] = self.prefix;
        self.is_lost = flags > COMPRESSED | END_STREAM;
        if self.filled < PREFIX_BYTES || self.is_lost {
            return Step {
                used,
                role: self.role(Role::Head),
                end: self.is_lost.then_some(End::Nothing),
            };
        }
        self.left = u32::from_be_bytes(length);
        self.of_message(used, Role::Head)
    }

    /// The envelope under way, or the last one, is compressed.
    pub(super) fn is_compressed(&self) -> bool {
        self.prefix[0] & COMPRESSED != 0
    }

    fn is_trailer(&self) -> bool {
        self.prefix[0] & END_STREAM != 0
    }

    fn role(&self, role: Role) -> Role {
        if self.is_trailer() {
            Role::Between
        } else {
            role
        }
    }

    fn of_message(&mut self, used: usize, role: Role) -> Step {
        let role = self.role(role);
        let is_over = self.left == 0;
        let end = match self.is_trailer() {
            _ if !is_over => None,
            true => Some(End::Nothing),
            false => Some(End::Message),
        };
        if is_over {
            self.filled = 0;
        }
        Step { used, role, end }
    }

    /// True inside a message whose end is still known.
    pub(super) fn miss(&mut self, bytes: u64) -> bool {
        let is_inside = self.filled == PREFIX_BYTES && bytes < u64::from(self.left);
        if is_inside {
            self.left -= bytes as u32;
        } else {
            self.is_lost = true;
        }
        is_inside
    }
}
