//! Messages on their way to the server, masked as they leave (RFC 6455 section 5.3).

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::frame::{Header, Kind, Opcode, mask};
use crate::session::{CallId, Request};

/// Bytes that one pump appends at most, apart from the frame that it ends with.
const PUMP_BYTES_MAX: usize = 256 << 10;

/// Bytes in front of each message of a body: its kind, and its length.
const PREFIX_BYTES: usize = 5;

/// Appends a message to the body of a request.
///
/// # Panics
/// When it has 2^32 bytes or more.
pub fn append_message(body: &mut Vec<u8>, kind: Kind, message: &[u8]) {
    let length = u32::try_from(message.len()).expect("a message of less than 4 GiB");
    body.push(u8::from(kind == Kind::Binary));
    body.extend(length.to_be_bytes());
    body.extend_from_slice(message);
}

/// The message that `body` begins with, and what is behind it; None at its end.
pub(super) fn split_message(body: &[u8]) -> Option<(Kind, &[u8], &[u8])> {
    let (prefix, rest) = body.split_first_chunk::<PREFIX_BYTES>()?;
    let [kind, length @ ..] = *prefix;
    let kind = match kind {
        0 => Kind::Text,
        _ => Kind::Binary,
    };
    let (message, rest) = rest.split_at_checked(u32::from_be_bytes(length) as usize)?;
    Some((kind, message, rest))
}

/// Keys that a peer cannot foresee from those before (RFC 6455 sections 5.3 and 10.3): a
/// SplitMix64 whose state is as random as that of the standard library's hash tables.
#[derive(Debug)]
pub(super) struct Keys(u64);

impl Keys {
    pub(super) fn new() -> Keys {
        Keys(RandomState::new().hash_one("websocket"))
    }

    pub(super) fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn next_key(&mut self) -> [u8; 4] {
        (self.next_word() as u32).to_ne_bytes()
    }
}

/// What goes to the server, in its order.
#[derive(Debug)]
pub(super) struct Requests {
    keys: Keys,
    queue: VecDeque<Outgoing>,
    /// Of the frame under way: its key, and the bytes of its payload that are out.
    frame: Option<([u8; 4], usize)>,
}

#[derive(Debug)]
struct Outgoing {
    call: CallId,
    request: Arc<Request>,
    /// Where the next message of the body begins.
    at: usize,
}

impl Requests {
    pub(super) fn new() -> Requests {
        Requests {
            keys: Keys::new(),
            queue: VecDeque::new(),
            frame: None,
        }
    }

    /// Random bytes for the handshake.
    pub(super) fn keys(&mut self) -> &mut Keys {
        &mut self.keys
    }

    pub(super) fn push(&mut self, call: CallId, request: &Arc<Request>) {
        self.queue.push_back(Outgoing {
            call,
            request: Arc::clone(request),
            at: 0,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the last frame is whole, so that a control frame may follow.
    pub(super) fn is_between_frames(&self) -> bool {
        self.frame.is_none()
    }

    pub(super) fn contains(&self, call: CallId) -> bool {
        self.queue.iter().any(|outgoing| outgoing.call == call)
    }

    /// Whether no byte of the request of `call` is out.
    pub(super) fn is_unstarted(&self, call: CallId) -> bool {
        let mut queue = self.queue.iter();
        queue.any(|outgoing| outgoing.call == call && outgoing.at == 0 && self.frame.is_none())
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.frame = None;
    }

    /// Appends a control frame; only between frames.
    pub(super) fn write_control(&mut self, opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
        let key = self.keys.next_key();
        write_header(opcode, key, payload.len(), out);
        append_masked(payload, key, 0, out);
    }

    /// Appends the next bytes to `out`; true while more is ready.
    pub(super) fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        let full = out.len() + PUMP_BYTES_MAX;
        while let Some(outgoing) = self.queue.front_mut() {
            let rest = &outgoing.request.body[outgoing.at..];
            let Some((kind, message, after)) = split_message(rest) else {
                self.queue.pop_front();
                continue;
            };
            if out.len() >= full {
                return true;
            }
            let (key, from) = self.frame.unwrap_or_else(|| {
                let key = self.keys.next_key();
                write_header(Opcode::Message(kind), key, message.len(), out);
                (key, 0)
            });
            let to = message.len().min(from + full.saturating_sub(out.len()));
            append_masked(&message[from..to], key, from, out);
            if to < message.len() {
                self.frame = Some((key, to));
                return true;
            }
            self.frame = None;
            outgoing.at = outgoing.request.body.len() - after.len();
        }
        false
    }
}

fn write_header(opcode: Opcode, key: [u8; 4], length: usize, out: &mut Vec<u8>) {
    let header = Header {
        is_final: true,
        is_compressed: false,
        opcode,
        key: Some(key),
        length: length as u64,
    };
    header.write(out);
}

fn append_masked(payload: &[u8], key: [u8; 4], offset: usize, out: &mut Vec<u8>) {
    let from = out.len();
    out.extend_from_slice(payload);
    mask(&mut out[from..], key, offset);
}
