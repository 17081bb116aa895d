//! Messages of a head and a body on their way to the socket.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::session::CallId;

/// Bytes that one pump appends at most, apart from the head it begins with.
// Enough for one `send` to fill a socket's buffer, and small enough that a large body
// is never copied as a whole.
const PUMP_BYTES_MAX: usize = 256 << 10;

/// Messages whose bytes have not all come out yet, in their order.
#[derive(Debug)]
pub struct SendQueue<H> {
    /// Head and body in two sends.
    split_writes: bool,
    queue: VecDeque<Outgoing<H>>,
}

#[derive(Debug)]
struct Outgoing<H> {
    /// None once no call waits for it to be sent.
    call: Option<CallId>,
    head: H,
    // Shared with the request: sending the same one many times copies only into the
    // socket's buffer.
    body: Arc<[u8]>,
    head_out: bool,
    body_out: usize,
}

impl<H: AsRef<[u8]>> SendQueue<H> {
    /// An empty one; `split_writes`: head and body come out in two sends.
    #[must_use]
    pub fn new(split_writes: bool) -> Self {
        SendQueue {
            split_writes,
            queue: VecDeque::new(),
        }
    }

    /// Messages of which bytes are left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Messages of which no byte has come out.
    #[must_use]
    pub fn unstarted(&self) -> usize {
        // Only the first message can have been started: they leave in order.
        let begun = self.queue.front().is_some_and(|outgoing| outgoing.head_out);
        self.queue.len() - usize::from(begun)
    }

    /// Whether a message of `call` waits of which no byte has come out.
    #[must_use]
    // Protocols use it to refuse a reply that comes before a byte of its request was
    // sent.
    pub fn is_unstarted(&self, call: CallId) -> bool {
        let mut unstarted = self.queue.iter().filter(|outgoing| !outgoing.head_out);
        unstarted.any(|outgoing| outgoing.call == Some(call))
    }

    /// Whether bytes of a message of `call` are left.
    #[must_use]
    pub fn contains(&self, call: CallId) -> bool {
        let mut queue = self.queue.iter();
        queue.any(|outgoing| outgoing.call == Some(call))
    }

    /// Drops all of them.
    pub fn clear(&mut self) {
        self.queue.clear();
    }

    /// Adds a message behind the others.
    pub fn push(&mut self, call: Option<CallId>, head: H, body: Arc<[u8]>) {
        self.queue.push_back(Outgoing {
            call,
            head,
            body,
            head_out: false,
            body_out: 0,
        });
    }

    /// `call` no longer needs its message: dropped when unstarted, else
    /// sent to its end. Returns whether it was dropped.
    pub fn cancel(&mut self, call: CallId) -> bool {
        let mut queue = self.queue.iter();
        let Some(place) = queue.position(|outgoing| outgoing.call == Some(call)) else {
            return false;
        };
        let begun = self.queue[place].head_out;
        if begun {
            // A started message must be sent to its end, or the peer loses the message
            // boundaries.
            self.queue[place].call = None;
        } else {
            self.queue.remove(place);
        }
        !begun
    }

    /// Appends the next send to `out`; true while more is ready.
    pub fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        // Several short messages share a send, as pipelining is meant to.
        let full = out.len() + PUMP_BYTES_MAX;
        while let Some(outgoing) = self.queue.front_mut() {
            if !outgoing.head_out {
                out.extend_from_slice(outgoing.head.as_ref());
                outgoing.head_out = true;
                // The head goes out alone; the body is the next send.
                if self.split_writes && !outgoing.body.is_empty() {
                    return true;
                }
            }
            outgoing.append_body(out, full.saturating_sub(out.len()));
            if outgoing.body_out < outgoing.body.len() {
                return true;
            }
            self.queue.pop_front();
            if self.split_writes || out.len() >= full {
                break;
            }
        }
        !self.queue.is_empty()
    }
}

impl<H> Outgoing<H> {
    fn append_body(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        let rest = &self.body[self.body_out..];
        let piece = &rest[..rest.len().min(bytes_max)];
        out.extend_from_slice(piece);
        self.body_out += piece.len();
    }
}
