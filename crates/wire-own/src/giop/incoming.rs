//! One reply while it arrives.

use super::header::{FRAGMENTS_MAX, MESSAGE_BYTES_MAX, MessageHeader};
use super::ior::Ior;
use super::replies::ReplyStatus;
use super::reply_head::ReplyHead;
use crate::ProtocolError;
use crate::cdr::{ByteOrder, Error, Reader};
use crate::session::{CallId, End, Failure, Head, Replies};

/// Bytes of an object reference that a reply may send us to.
const FORWARD_BYTES_MAX: usize = 64 << 10;

/// What has come of one reply.
#[derive(Debug)]
pub(super) struct Incoming {
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

impl Incoming {
    pub(super) fn new(header: &MessageHeader) -> Incoming {
        Incoming {
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
        self.bytes += header.size as usize;
        if !self.more {
            return refuse(
                "a Fragment follows a message that announced it (CORBA 3.3-2, 9.4.9)",
                "a Fragment of a message that is complete".to_owned(),
            );
        }
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
            Part::Head(_) => Err(ProtocolError {
                rule: "a Reply holds its header (CORBA 3.3-2, 9.4.3.1)",
                found: format!("{} bytes", self.bytes),
            }),
            Part::Body { .. } => Ok(Some(Ok(End::default()))),
            Part::Kept { status, body, .. } => {
                let failure = elsewhere(self.order, *status, body);
                failure
                    .map(|failure| Some(Err(failure)))
                    .map_err(|error| ProtocolError {
                        rule: "a Reply that sends elsewhere tells where (CORBA 3.3-2, 9.4.3.2)",
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

/// What a reply says that has no result.
fn elsewhere(order: ByteOrder, status: ReplyStatus, body: &[u8]) -> Result<Failure, Error> {
    let mut reader = Reader::new(order, body, 0);
    if status == ReplyStatus::NeedsAddressingMode {
        return reader.ushort().map(Failure::AddressingMode);
    }
    let ior = Ior::read(&mut reader)?.to_text()?;
    Ok(Failure::Forwarded {
        ior: ior.into(),
        permanent: status == ReplyStatus::LocationForwardPerm,
    })
}
