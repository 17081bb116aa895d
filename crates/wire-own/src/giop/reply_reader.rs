//! One GIOP 1.2 reply as it arrives, in pieces of any size: its header (CORBA 3.3 part
//! 2, section 9.4.3.1) is read without keeping it, its body is handed on.

use super::ior::Ior;
use super::message::{FRAGMENTS_MAX, MESSAGE_BYTES_MAX, MessageHeader};
use super::reply_writer::ReplyStatus;
use crate::ProtocolError;
use crate::cdr::{ByteOrder, Error, Reader};
use crate::session::{CallId, End, Failure, Head, Replies};

/// Bytes of an object reference that a reply may send us to.
// Bytes. It bounds the memory that a hostile server can claim: only these bodies are
// kept here, all others are handed on chunk by chunk.
const FORWARD_BYTES_MAX: usize = 64 << 10;

/// What has come of one reply.
#[derive(Debug)]
pub(super) struct ReplyReader {
    order: ByteOrder,
    /// More fragments are to come after the message under way.
    more: bool,
    fragments: u32,
    /// Content of all its messages, announced so far.
    bytes: usize,
    part: Part,
}

#[derive(Debug)]
enum Part {
    Head(ReplyHead),
    /// The body is handed on, `padding` bytes further on.
    Body {
        padding: usize,
    },
    /// The body is for us.
    Kept {
        status: ReplyStatus,
        padding: usize,
        body: Vec<u8>,
    },
}

impl ReplyReader {
    pub(super) fn new(header: &MessageHeader) -> ReplyReader {
        ReplyReader {
            order: header.order,
            more: header.more,
            fragments: 0,
            bytes: header.size as usize,
            part: Part::Head(ReplyHead::new(header.order)),
        }
    }

    /// Another message of the same reply begins.
    pub(super) fn fragment(&mut self, header: &MessageHeader) -> Result<(), ProtocolError> {
        let refuse = |rule, found| Err(ProtocolError { rule, found });
        self.fragments += 1;
        // No overflow: every header's size is at most `MESSAGE_BYTES_MAX`, and the sum
        // is checked below before the next one is added.
        self.bytes += header.size as usize;
        if !self.more {
            return refuse(
                "a Fragment follows a message that announced it (CORBA 3.3-2, 9.4.9)",
                "a Fragment of a message that is complete".to_owned(),
            );
        }
        // A change of order within a message would leave its numbers ambiguous.
        if header.order != self.order {
            return refuse(
                "all fragments have the byte order of the first (CORBA 3.3-2, 9.4.9)",
                format!("{:?} after {:?}", header.order, self.order),
            );
        }
        if self.bytes > MESSAGE_BYTES_MAX || self.fragments > FRAGMENTS_MAX {
            return refuse(
                "a message stays within the largest size accepted",
                format!("{} bytes in {} fragments", self.bytes, self.fragments),
            );
        }
        self.more = header.more;
        Ok(())
    }

    /// Takes the next bytes; `left` more belong to the same message.
    pub(super) fn take(
        &mut self,
        call: CallId,
        mut chunk: &[u8],
        left: usize,
        replies: &mut impl Replies,
    ) -> Result<(), ProtocolError> {
        if let Part::Head(head) = &mut self.part {
            let (used, status) = head.take(chunk)?;
            chunk = &chunk[used..];
            let Some(status) = status else { return Ok(()) };
            // GIOP 1.2 aligns a body to 8 from the beginning of the message (section
            // 9.4.3.2). The body is handed on from there, so that its own first byte
            // has alignment 0.
            let padding = head.padding();
            self.begin_body(call, status, padding, chunk.len() + left, replies);
        }
        match &mut self.part {
            Part::Head(_) => {}
            Part::Body { padding } => {
                let body = skip(chunk, padding);
                if !body.is_empty() {
                    replies.body(call, body);
                }
            }
            Part::Kept { padding, body, .. } => keep(body, skip(chunk, padding))?,
        }
        Ok(())
    }

    fn begin_body(
        &mut self,
        call: CallId,
        status: ReplyStatus,
        padding: usize,
        rest: usize,
        replies: &mut impl Replies,
    ) {
        let code = match status {
            // The codes of HTTP that mean the same, so that reports of all protocols
            // share their columns: 500 an application error, 503 the server itself.
            ReplyStatus::NoException => 200,
            ReplyStatus::UserException => 500,
            ReplyStatus::SystemException => 503,
            ReplyStatus::LocationForward
            | ReplyStatus::LocationForwardPerm
            | ReplyStatus::NeedsAddressingMode => {
                let body = Vec::new();
                self.part = Part::Kept {
                    status,
                    padding,
                    body,
                };
                return;
            }
        };
        self.part = Part::Body { padding };
        let head = Head {
            status: code,
            // With fragments to come the length is unknown, like in HTTP's chunked
            // coding. `padding` exceeds `rest` only in a reply without a body, which
            // need not be padded.
            content_length: (!self.more).then_some(rest.saturating_sub(padding) as u64),
            byte_order: Some(self.order),
            ..Head::default()
        };
        replies.head(call, &head);
    }

    /// A message of the reply is complete. Returns how the reply ended, if it did.
    pub(super) fn message_end(&mut self) -> Result<Option<Result<End, Failure>>, ProtocolError> {
        if self.more {
            return Ok(None);
        }
        match &self.part {
            // A reply without a result still carries status and context count; shorter
            // ones are broken.
            Part::Head(_) => Err(ProtocolError {
                rule: "a Reply contains its header (CORBA 3.3-2, 9.4.3.1)",
                found: format!("{} bytes", self.bytes),
            }),
            Part::Body { .. } => Ok(Some(Ok(End::default()))),
            Part::Kept { status, body, .. } => {
                let failure = failure_of(self.order, *status, body);
                failure
                    .map(|failure| Some(Err(failure)))
                    .map_err(|error| ProtocolError {
                        rule: "a Reply that forwards the caller names the object (CORBA 3.3-2, 9.4.3.2)",
                        found: error.to_string(),
                    })
            }
        }
    }
}

/// `chunk` behind what is left of the padding.
fn skip<'a>(chunk: &'a [u8], padding: &mut usize) -> &'a [u8] {
    let skipped = chunk.len().min(*padding);
    *padding -= skipped;
    &chunk[skipped..]
}

fn keep(body: &mut Vec<u8>, chunk: &[u8]) -> Result<(), ProtocolError> {
    if body.len() + chunk.len() > FORWARD_BYTES_MAX {
        return Err(ProtocolError {
            rule: "an object reference stays within the largest size accepted",
            found: format!("more than {FORWARD_BYTES_MAX} bytes"),
        });
    }
    body.extend_from_slice(chunk);
    Ok(())
}

/// The outcome of a reply without a result.
fn failure_of(order: ByteOrder, status: ReplyStatus, body: &[u8]) -> Result<Failure, Error> {
    // Alignment 0: the padding before the body has been passed over.
    let mut reader = Reader::new(order, body, 0);
    if status == ReplyStatus::NeedsAddressingMode {
        return reader.ushort().map(Failure::AddressingMode);
    }
    // As text, because the owner of the connection compares and logs it, and may
    // resolve another host; a session opens no connection itself.
    let ior = Ior::read(&mut reader)?.to_text()?;
    Ok(Failure::Forwarded {
        ior: ior.into(),
        permanent: status == ReplyStatus::LocationForwardPerm,
    })
}

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
    // 64 bits: a context's length, up to 2^32 - 1, and its padding together.
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
            // The header is complete; padding and the body follow.
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
            self.parse_pair()?;
        }
        Ok(taken)
    }

    fn parse_pair(&mut self) -> Result<(), ProtocolError> {
        // The status is followed by the number of contexts; each context begins with
        // its number and length. Both are pairs of `unsigned long`, so that one buffer
        // serves for both.
        let [first, second] = self.numbers();
        if self.status.is_some() {
            self.contexts_left -= 1;
            // The next context is aligned to 4; behind the last nothing is.
            // A context's data is an octet sequence of any length.
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
