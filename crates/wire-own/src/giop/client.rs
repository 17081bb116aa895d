//! One GIOP 1.2 connection's client side.

use std::collections::VecDeque;
use std::sync::Arc;

use super::message::{HEADER_BYTES, Kind, MessageHeader, Version};
use super::options::{Options, OptionsError};
use super::reply_reader::ReplyReader;
use super::request_writer::{HeaderCache, cancel};
use crate::ProtocolError;
use crate::cdr::ByteOrder;
use crate::send_queue::SendQueue;
use crate::session::{CallId, Failure, Replies, Request, Session};

/// Cancelled calls whose replies may still come; beyond, the connection is closed.
const CANCELLED_MAX: usize = 1024;

/// Header and request id, which GIOP 1.2 has in the same place everywhere.
const PREFIX_BYTES: usize = HEADER_BYTES + 4;

/// One GIOP 1.2 connection's client side. [`Request::path`] is the operation's
/// name, [`Request::body`] its arguments in [`Options::byte_order`], aligned
/// from their first byte on; every request must pass [`super::check_request`].
/// Bodies of replies are CDR in [`crate::Head::byte_order`].
#[derive(Debug)]
pub struct Giop {
    // Bytes go in and out by `receive` and `pump`; no socket, clock or thread is known
    // here, so that every error can be tested byte by byte.
    options: Options,
    heads: HeaderCache,
    send_queue: SendQueue<Vec<u8>>,
    /// Calls whose replies are due, in the order of their requests.
    pending: VecDeque<Pending>,
    /// Request ids of cancelled calls whose replies may still come.
    cancelled: VecDeque<u32>,
    // Starts at 0 on every connection: request ids belong to a connection, not to a
    // client.
    next_id: u32,
    stage: Stage,
    used: bool,
    /// No further request.
    closing: bool,
    /// Further input is ignored.
    input_ignored: bool,
}

#[derive(Debug)]
struct Pending {
    call: CallId,
    id: u32,
    /// Its reply, once that has begun.
    reply: Option<ReplyReader>,
}

/// What the next byte of input belongs to.
#[derive(Debug)]
enum Stage {
    Prefix {
        bytes: [u8; PREFIX_BYTES],
        filled: usize,
    },
    /// The content of a message for request `id`, behind that number.
    Content { id: u32, last: bool, left: usize },
}

// A constant instead of `Default`: the enum's other variant has no neutral value.
const PREFIX: Stage = Stage::Prefix {
    bytes: [0; PREFIX_BYTES],
    filled: 0,
};

impl Giop {
    /// A session on a fresh connection.
    ///
    /// # Errors
    /// When the options cannot be used.
    pub fn new(options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        Ok(Giop {
            heads: HeaderCache::default(),
            send_queue: SendQueue::new(options.split_writes),
            options,
            pending: VecDeque::new(),
            cancelled: VecDeque::new(),
            next_id: 0,
            stage: PREFIX,
            used: false,
            closing: false,
            input_ignored: false,
        })
    }

    fn take(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        let mut rest = input;
        while !rest.is_empty() && !self.input_ignored {
            let used = match self.stage {
                Stage::Prefix { .. } => self.take_prefix(rest, replies)?,
                Stage::Content { id, last, left } => {
                    let used = rest.len().min(left);
                    self.take_content(id, &rest[..used], left - used, replies)?;
                    self.stage = Stage::Content {
                        id,
                        last,
                        left: left - used,
                    };
                    used
                }
            };
            rest = &rest[used..];
            // Outside of the match, because a message without content has no byte that
            // would enter it.
            if let Stage::Content { id, last, left: 0 } = self.stage {
                self.stage = PREFIX;
                self.message_end(id, last, replies)?;
            }
        }
        Ok(())
    }

    fn take_prefix(
        &mut self,
        rest: &[u8],
        replies: &mut impl Replies,
    ) -> Result<usize, ProtocolError> {
        let Stage::Prefix { bytes, filled } = &mut self.stage else {
            return Ok(0);
        };
        // CloseConnection and MessageError are a header alone, so that it is parsed before the
        // id.
        let due = if *filled < HEADER_BYTES {
            HEADER_BYTES
        } else {
            PREFIX_BYTES
        };
        let used = rest.len().min(due - *filled);
        bytes[*filled..][..used].copy_from_slice(&rest[..used]);
        *filled += used;
        if *filled < due {
            return Ok(used);
        }
        let (header, number) = bytes
            .split_first_chunk()
            .expect("a prefix contains a header");
        let header = MessageHeader::parse(header)?;
        if due == HEADER_BYTES {
            self.begin(&header, replies)?;
        } else {
            let number = number.try_into().expect("four bytes behind a header");
            let id = match header.order {
                ByteOrder::Big => u32::from_be_bytes(number),
                ByteOrder::Little => u32::from_le_bytes(number),
            };
            self.begin_content(&header, id, replies)?;
        }
        Ok(used)
    }

    /// A header has come.
    fn begin(
        &mut self,
        header: &MessageHeader,
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        match header.kind {
            Kind::Reply | Kind::Fragment => check_reply(header),
            Kind::CloseConnection => {
                // Section 9.4.7: what was not answered was not processed.
                self.input_ignored = true;
                self.abandon(&Failure::Unprocessed, replies);
                Ok(())
            }
            // MessageError names no request (section 9.4.8 has no body), so that it
            // concerns all of them.
            Kind::MessageError => Err(ProtocolError {
                rule: "what we send is GIOP that the peer understands",
                found: "MessageError from the peer".to_owned(),
            }),
            // Requests from the server would need bidirectional GIOP (section 9.8),
            // which was not negotiated.
            kind => Err(ProtocolError {
                rule: "a server sends replies to requests (CORBA 3.3-2, 9.4.1)",
                found: format!("{kind:?}"),
            }),
        }
    }

    /// A header and the request id behind it have come.
    fn begin_content(
        &mut self,
        header: &MessageHeader,
        id: u32,
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        self.stage = Stage::Content {
            id,
            last: !header.more,
            // The request id, four bytes, has been read; `check_reply` proved that it is there.
            left: header.size as usize - 4,
        };
        let is_fragment = header.kind == Kind::Fragment;
        let mut pending = self.pending.iter_mut();
        match pending.find(|pending| pending.id == id) {
            // A reply may overtake others: order is by request id alone (section
            // 9.4.3). A linear search is enough, since `in_flight` is small.
            Some(pending) => match &mut pending.reply {
                Some(reply) if is_fragment => reply.fragment(header),
                None if !is_fragment && !self.send_queue.is_unstarted(pending.call) => {
                    replies.first(pending.call);
                    pending.reply = Some(ReplyReader::new(header));
                    Ok(())
                }
                _ => Err(unexpected_reply(header.kind, id)),
            },
            // The server may have replied before the CancelRequest arrived (section 9.4.4).
            None if self.cancelled.contains(&id) => Ok(()),
            None => Err(unexpected_reply(header.kind, id)),
        }
    }

    fn take_content(
        &mut self,
        id: u32,
        chunk: &[u8],
        left: usize,
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        let mut pending = self.pending.iter_mut();
        match pending.find(|pending| pending.id == id) {
            Some(Pending {
                call,
                reply: Some(reply),
                ..
            }) => reply.take(*call, chunk, left, replies),
            _ => Ok(()), // cancelled
        }
    }

    /// A message that belongs to request `id` is complete.
    fn message_end(
        &mut self,
        id: u32,
        last: bool,
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        // The id of a cancelled call becomes free only with the last fragment of its
        // reply; until then fragments must still be recognised.
        let Some(place) = self.pending.iter().position(|pending| pending.id == id) else {
            if last {
                self.cancelled.retain(|cancelled| *cancelled != id);
            }
            return Ok(());
        };
        let Some(reply) = &mut self.pending[place].reply else {
            return Ok(());
        };
        let Some(ended) = reply.message_end()? else {
            return Ok(());
        };
        let call = self.pending[place].call;
        self.pending.remove(place);
        // The server may answer before the whole request has been sent, e.g. with a
        // system exception.
        self.send_queue.cancel(call);
        match ended {
            Ok(end) => replies.end(call, end),
            Err(failure) => replies.failed(call, failure),
        }
        self.closing |= self.options.close;
        Ok(())
    }

    /// Ends every call with `failure`.
    fn abandon(&mut self, failure: &Failure, replies: &mut impl Replies) {
        self.send_queue.clear();
        self.closing = true;
        // In the order of the requests, so that reports of failures are reproducible.
        for pending in self.pending.drain(..) {
            let failure = match (failure, pending.reply) {
                // A reply that has begun proves that the request was processed.
                (Failure::Closed | Failure::Unprocessed, Some(_)) => Failure::Truncated,
                _ => failure.clone(),
            };
            replies.failed(pending.call, failure);
        }
    }
}

/// A message that carries a reply or a part of one, and its request id.
fn check_reply(header: &MessageHeader) -> Result<(), ProtocolError> {
    if header.version != Version::V12 {
        return Err(ProtocolError {
            rule: "a reply has its request's version, 1.2 (CORBA 3.3-2, 9.4.1)",
            found: format!("{:?} in {:?}", header.kind, header.version),
        });
    }
    if header.size < 4 {
        return Err(ProtocolError {
            rule: "a Reply or Fragment contains a request id (CORBA 3.3-2, 9.4.3.1)",
            found: format!("{:?} of {} bytes", header.kind, header.size),
        });
    }
    Ok(())
}

fn unexpected_reply(kind: Kind, id: u32) -> ProtocolError {
    ProtocolError {
        rule: "one reply to each request, fragments after it (CORBA 3.3-2, 9.4.3)",
        found: format!("{kind:?} for request {id}"),
    }
}

impl Session for Giop {
    fn capacity(&self) -> usize {
        if self.finished() {
            return 0;
        }
        (self.options.in_flight as usize).saturating_sub(self.pending.len())
    }

    fn finished(&self) -> bool {
        self.closing || self.input_ignored || (self.options.close && self.used)
    }

    fn send(&mut self, call: CallId, request: &Arc<Request>) {
        debug_assert!(self.capacity() > 0, "send beyond capacity");
        self.used = true;
        let id = self.next_id;
        // Ids must differ only among the requests in flight (CORBA 3.3-2, 9.4.2.1).
        self.next_id = self.next_id.wrapping_add(1);
        // The body is shared, not copied: one prepared request is sent many times.
        let head = self.heads.of(request, &self.options, id);
        let body = Arc::clone(&request.body);
        self.send_queue.push(Some(call), head, body);
        self.pending.push_back(Pending {
            call,
            id,
            reply: None,
        });
    }

    fn pump(&mut self, out: &mut Vec<u8>) -> bool {
        self.send_queue.pump(out)
    }

    fn started(&self, call: CallId) -> bool {
        !self.send_queue.is_unstarted(call)
    }

    fn flushed(&self, call: CallId) -> bool {
        !self.send_queue.contains(call)
    }

    fn receive(&mut self, input: &[u8], replies: &mut impl Replies) -> Result<(), ProtocolError> {
        if self.input_ignored {
            return Ok(());
        }
        let taken = self.take(input, replies);
        if let Err(error) = &taken {
            self.input_ignored = true;
            self.abandon(&Failure::Protocol(error.clone()), replies);
        }
        taken
    }

    fn closed(&mut self, replies: &mut impl Replies) {
        self.input_ignored = true;
        self.abandon(&Failure::Closed, replies);
    }

    /// Sends a CancelRequest; a reply that comes nevertheless is
    /// passed over.
    fn cancel(&mut self, call: CallId) -> bool {
        let mut pending = self.pending.iter();
        let Some(place) = pending.position(|pending| pending.call == call) else {
            return true;
        };
        let Some(Pending { id, .. }) = self.pending.remove(place) else {
            return true;
        };
        if self.send_queue.cancel(call) {
            // The first request carried the code sets and was never sent.
            if id == 0 {
                self.heads.resend_code_sets();
            }
            return true;
        }
        // A started request is sent to its end first, and the CancelRequest follows it;
        // a request cut off would leave the server inside of its content.
        self.send_queue
            .push(None, cancel(self.options.byte_order, id), Arc::from([]));
        self.cancelled.push_back(id);
        // A server may ignore CancelRequest (section 9.4.4). The bound keeps one that
        // never answers from growing this list without limit.
        !self.options.close && self.cancelled.len() <= CANCELLED_MAX
    }
}
