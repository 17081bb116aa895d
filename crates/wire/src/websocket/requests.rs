//! Messages on their way to the server, masked as they leave (RFC 6455 section 5.3).

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::deflate;
use super::frame::{Header, Kind, Opcode, mask};
use crate::session::{CallId, Request};

/// Bytes that one pump appends at most, apart from the frame that it ends with.
const PUMP_BYTES_MAX: usize = 256 << 10;

/// Bytes in front of each message of a body: its flags, and its length.
const PREFIX_BYTES: usize = 5;

const IS_BINARY: u8 = 1;
const IS_COMPRESSED: u8 = 1 << 1;

/// A message as it lies in the body of a request.
struct Prepared<'a> {
    kind: Kind,
    is_compressed: bool,
    payload: &'a [u8],
}

/// Appends a message to the body of a request.
///
/// # Panics
/// When it has 2^32 bytes or more.
pub fn append_message(body: &mut Vec<u8>, kind: Kind, message: &[u8]) {
    let flags = u8::from(kind == Kind::Binary) * IS_BINARY;
    append_prepared(body, flags, |body| body.extend_from_slice(message));
}

/// Appends a message that is compressed where the server agrees to it. An empty one would only
/// become longer, and stays as it is.
///
/// # Panics
/// As [`append_message`].
pub fn append_compressed(body: &mut Vec<u8>, kind: Kind, message: &[u8]) {
    if message.is_empty() {
        return append_message(body, kind, message);
    }
    let flags = (u8::from(kind == Kind::Binary) * IS_BINARY) | IS_COMPRESSED;
    append_prepared(body, flags, |body| deflate::compress(message, body));
}

fn append_prepared(body: &mut Vec<u8>, flags: u8, append: impl FnOnce(&mut Vec<u8>)) {
    let begin = body.len();
    body.extend([flags, 0, 0, 0, 0]);
    append(body);
    let length = body.len() - begin - PREFIX_BYTES;
    let length = u32::try_from(length).expect("a message of less than 4 GiB");
    body[begin + 1..begin + PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
}

/// The message that `body` begins with, and what is behind it; None at its end.
fn split_message(body: &[u8]) -> Option<(Prepared<'_>, &[u8])> {
    let (prefix, rest) = body.split_first_chunk::<PREFIX_BYTES>()?;
    let [flags, length @ ..] = *prefix;
    let (payload, rest) = rest.split_at_checked(u32::from_be_bytes(length) as usize)?;
    let message = Prepared {
        kind: match flags & IS_BINARY {
            0 => Kind::Text,
            _ => Kind::Binary,
        },
        is_compressed: flags & IS_COMPRESSED != 0,
        payload,
    };
    Some((message, rest))
}

/// Whether a body is a list of messages.
pub(super) fn is_list(mut body: &[u8]) -> bool {
    while let Some((_, rest)) = split_message(body) {
        body = rest;
    }
    body.is_empty()
}

/// Keys that a peer cannot foresee from those before (RFC 6455 sections 5.3 and 10.3): numbers
/// under the keyed hash of the standard library, whose key is random.
#[derive(Debug)]
pub(super) struct Keys {
    hash: RandomState,
    number: u64,
}

impl Keys {
    fn new() -> Keys {
        Keys {
            hash: RandomState::new(),
            number: 0,
        }
    }

    pub(super) fn next_word(&mut self) -> u64 {
        self.number += 1;
        self.hash.hash_one(self.number)
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
    /// A control frame that goes out before the next frame of a message: the answer to the last
    /// ping, of which one is enough (RFC 6455 section 5.5.3), or a close.
    control: Option<(Opcode, Box<[u8]>)>,
    /// A frame will never be whole.
    is_cut: bool,
    /// Compressed messages go out as they are.
    is_deflate_agreed: bool,
    /// Of the frame under way: its payload, where the server declined a compressed one.
    decompressed: Vec<u8>,
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
            control: None,
            is_cut: false,
            is_deflate_agreed: false,
            decompressed: Vec::new(),
        }
    }

    /// The server takes compressed messages.
    pub(super) fn accept_deflate(&mut self) {
        self.is_deflate_agreed = true;
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

    /// Sends a control frame as soon as no other frame is under way.
    pub(super) fn push_control(&mut self, opcode: Opcode, payload: &[u8]) {
        self.control = Some((opcode, payload.into()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.control.is_none()
    }

    pub(super) fn contains(&self, call: CallId) -> bool {
        self.queue.iter().any(|outgoing| outgoing.call == call)
    }

    /// Whether no byte of the request of `call` is out.
    pub(super) fn is_unstarted(&self, call: CallId) -> bool {
        let mut queue = self.queue.iter();
        queue.any(|outgoing| outgoing.call == call && outgoing.at == 0 && self.frame.is_none())
    }

    /// Drops the requests, and what closes the connection replaces them. Within a frame nothing
    /// can follow it: the connection then ends without a close.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        if self.frame.is_some() {
            self.is_cut = true;
        }
    }

    fn write_control(&mut self, out: &mut Vec<u8>) {
        if let Some((opcode, payload)) = self.control.take() {
            let key = self.keys.next_key();
            let header = Header {
                is_final: true,
                is_compressed: false,
                opcode,
                key: Some(key),
                length: payload.len() as u64,
            };
            header.write(out);
            append_masked(&payload, key, 0, out);
        }
    }

    /// Appends the next bytes to `out`; true while more is ready.
    pub(super) fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        if self.is_cut {
            return false;
        }
        let full = out.len() + PUMP_BYTES_MAX;
        loop {
            if self.frame.is_none() {
                self.write_control(out);
            }
            let Some(outgoing) = self.queue.front_mut() else {
                return false;
            };
            let rest = &outgoing.request.body[outgoing.at..];
            let Some((prepared, after)) = split_message(rest) else {
                self.queue.pop_front();
                continue;
            };
            if out.len() >= full {
                return true;
            }
            let is_declined = prepared.is_compressed && !self.is_deflate_agreed;
            if is_declined && self.frame.is_none() {
                self.decompressed = deflate::decompress(prepared.payload);
            }
            let message = match is_declined {
                true => &self.decompressed,
                false => prepared.payload,
            };
            let (key, from) = self.frame.unwrap_or_else(|| {
                let key = self.keys.next_key();
                let header = Header {
                    is_final: true,
                    is_compressed: prepared.is_compressed && !is_declined,
                    opcode: Opcode::Message(prepared.kind),
                    key: Some(key),
                    length: message.len() as u64,
                };
                header.write(out);
                (key, 0)
            });
            let to = message.len().min(from + full.saturating_sub(out.len()));
            append_masked(&message[from..to], key, from, out);
            if to < message.len() {
                self.frame = Some((key, to));
                return true;
            }
            self.frame = None;
            self.decompressed = Vec::new();
            outgoing.at = outgoing.request.body.len() - after.len();
        }
    }
}

fn append_masked(payload: &[u8], key: [u8; 4], offset: usize, out: &mut Vec<u8>) {
    let from = out.len();
    out.extend_from_slice(payload);
    mask(&mut out[from..], key, offset);
}
