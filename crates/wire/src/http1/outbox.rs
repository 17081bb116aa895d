//! Requests on their way to the socket.

use std::collections::VecDeque;
use std::sync::Arc;

use super::options::Options;
use super::request::write_head;
use crate::session::{CallId, Request};

/// Bytes that one pump appends at most, apart from the head it begins with.
const PUMP_BYTES_MAX: usize = 256 << 10;

/// Different requests whose heads are remembered.
const HEADS_MAX: usize = 16;

/// Requests whose bytes have not all come out yet.
#[derive(Debug)]
pub(super) struct Outbox {
    options: Options,
    queue: VecDeque<Outgoing>,
    heads: Vec<(u32, Arc<[u8]>)>,
}

#[derive(Debug)]
struct Outgoing {
    call: CallId,
    request: Arc<Request>,
    head: Arc<[u8]>,
    head_out: bool,
    body_out: usize,
}

impl Outbox {
    pub(super) fn new(options: Options) -> Self {
        Outbox {
            options,
            queue: VecDeque::new(),
            heads: Vec::new(),
        }
    }

    /// Requests of which bytes are left.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Requests of which no byte has come out.
    pub(super) fn untouched(&self) -> usize {
        let begun = self.queue.front().is_some_and(|outgoing| outgoing.head_out);
        self.queue.len() - usize::from(begun)
    }

    pub(super) fn has_untouched(&self, call: CallId) -> bool {
        let mut untouched = self.queue.iter().filter(|outgoing| !outgoing.head_out);
        untouched.any(|outgoing| outgoing.call == call)
    }

    pub(super) fn holds(&self, call: CallId) -> bool {
        self.queue.iter().any(|outgoing| outgoing.call == call)
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
    }

    pub(super) fn push(&mut self, call: CallId, request: &Arc<Request>) {
        let head = self.head(request);
        let request = Arc::clone(request);
        self.queue.push_back(Outgoing {
            call,
            request,
            head,
            head_out: false,
            body_out: 0,
        });
    }

    fn head(&mut self, request: &Request) -> Arc<[u8]> {
        if let Some((_, head)) = self.heads.iter().find(|(id, _)| *id == request.id) {
            return Arc::clone(head);
        }
        let head: Arc<[u8]> = write_head(request, &self.options).into();
        if self.heads.len() < HEADS_MAX {
            self.heads.push((request.id, Arc::clone(&head)));
        }
        head
    }

    /// Appends the next send to `out`; true while more is ready.
    pub(super) fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        let full = out.len() + PUMP_BYTES_MAX;
        while let Some(outgoing) = self.queue.front_mut() {
            if !outgoing.head_out {
                out.extend_from_slice(&outgoing.head);
                outgoing.head_out = true;
                if self.options.split_writes && !outgoing.request.body.is_empty() {
                    return true;
                }
            }
            outgoing.append_body(out, full.saturating_sub(out.len()));
            if outgoing.body_out < outgoing.request.body.len() {
                return true;
            }
            self.queue.pop_front();
            if self.options.split_writes || out.len() >= full {
                break;
            }
        }
        !self.queue.is_empty()
    }
}

impl Outgoing {
    fn append_body(&mut self, out: &mut Vec<u8>, bytes_max: usize) {
        let rest = &self.request.body[self.body_out..];
        let piece = &rest[..rest.len().min(bytes_max)];
        out.extend_from_slice(piece);
        self.body_out += piece.len();
    }
}
