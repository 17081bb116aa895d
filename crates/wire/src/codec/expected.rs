//! The reply that the contract demands for one call.

use serde::Deserialize;
use wirelab_contract::allocations::ALLOCATIONS;
use wirelab_contract::model::Chunks;
use wirelab_contract::transfer::{HelloBytesReply, HelloReply, SubmitReply, UploadReply};
use wirelab_contract::{
    ApplicationError, Call, Message, Operation, Reply, SLOTS, Unary, UnaryVisitor, texts,
};

use super::error::require;
use super::views::{HelloView, SubmitView, UploadView};
use super::{Codec, MessageFormat, Mismatch, Unsupported, compare, protobuf, token_xml};
use crate::cdr::ByteOrder;
use crate::token_xml::{Decoder, Document};

/// The reply that the contract demands for one call; made once, then used
/// to validate every reply. For charging it is made without allocating.
#[derive(Debug, Clone)]
pub struct Expected {
    format: MessageFormat,
    operation: Operation,
    outcome: Outcome,
}

#[derive(Debug, Clone)]
enum Outcome {
    /// This reply.
    Exact(Reply),
    Download {
        data: Vec<u8>,
        chunk_bytes: usize,
    },
    /// This reply to Allocate, but any positive group.
    Allocation(Reply),
    /// Any reply that keeps the rule.
    Any(Rule),
    Error(ApplicationError),
}

impl Expected {
    /// What the canonical model answers to `call`. Of a reply that depends on
    /// what was called before (all of charging, Entries), that it must be
    /// decoded in full, no error, and of the right form.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn of(format: impl Into<MessageFormat>, call: &Call) -> Result<Self, Unsupported> {
        let (format, operation) = (format.into(), call.operation());
        // The same answer at all times, so it can be made now.
        if operation.pure() {
            return Expected::of_response(format, operation, call.answer());
        }
        require(format.codec, operation)?;
        // Values that depend on earlier calls are bound by rules that hold in every state.
        let outcome = match (call, call_answer(call)) {
            (_, Some(Err(error))) => Outcome::Error(error),
            (Call::Allocate(_), Some(Ok(reply))) => Outcome::Allocation(reply),
            (_, Some(Ok(reply))) => Outcome::Exact(reply),
            (_, None) => Outcome::Any(Rule::of(call)),
        };
        Ok(Expected {
            format,
            operation,
            outcome,
        })
    }

    /// A given answer to `operation`, exactly.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn of_response(
        format: impl Into<MessageFormat>,
        operation: Operation,
        answer: Result<Reply, ApplicationError>,
    ) -> Result<Self, Unsupported> {
        let format = format.into();
        require(format.codec, operation)?;
        let outcome = match answer {
            Ok(Reply::Download(chunks)) => Outcome::of_download(&chunks),
            Ok(reply) => Outcome::Exact(reply),
            Err(error) => Outcome::Error(error),
        };
        Ok(Expected {
            format,
            operation,
            outcome,
        })
    }

    /// The operation whose reply is validated.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The application error that the contract demands. In gRPC it comes as
    /// status 3 with its text as the message and no message body; elsewhere in
    /// a body that [`Expected::check_error`] validates.
    #[must_use]
    pub fn application_error(&self) -> Option<ApplicationError> {
        match self.outcome {
            Outcome::Error(error) => Some(error),
            _ => None,
        }
    }

    /// The body that a right reply has to the letter, where the codec leaves
    /// no choice (text). A body can then be validated as it arrives; that it is
    /// UTF-8 follows from its being equal.
    #[must_use]
    pub fn verbatim(&self) -> Option<&[u8]> {
        match (self.format.codec, &self.outcome) {
            (Codec::Text, Outcome::Exact(Reply::Hello(reply))) => Some(reply.text.as_bytes()),
            _ => None,
        }
    }

    /// Messages that a complete reply has.
    #[must_use]
    pub fn messages(&self) -> usize {
        match &self.outcome {
            Outcome::Download { data, chunk_bytes } => data.len().div_ceil(*chunk_bytes),
            // gRPC reports errors in trailers, without a message.
            Outcome::Error(_) if self.format.codec == Codec::Protobuf => 0,
            _ => 1,
        }
    }

    /// Decodes the only message of a reply in full and compares it.
    ///
    /// # Errors
    /// When it is not a message of this codec, or has another content.
    pub fn check(&self, body: &[u8]) -> Result<(), Mismatch> {
        self.check_message(0, body)
    }

    /// Decodes message `index` of a reply, from 0, in full and compares it.
    /// That the last message was the last is for the caller to see, by
    /// [`Expected::messages`].
    ///
    /// # Errors
    /// When it is not a message of this codec, or has another content.
    pub fn check_message(&self, index: usize, body: &[u8]) -> Result<(), Mismatch> {
        self.check_ordered(None, index, body)
    }

    /// The same of a body whose byte order is known from its head
    /// ([`Head::byte_order`](crate::Head::byte_order)).
    ///
    /// # Errors
    /// When it is not a message of this codec, or has another content.
    pub fn check_ordered(
        &self,
        order: Option<ByteOrder>,
        index: usize,
        body: &[u8],
    ) -> Result<(), Mismatch> {
        let messages = self.messages();
        // Checked first: a surplus message has no expected content.
        if index >= messages {
            return Err(Mismatch::Surplus { index, messages });
        }
        match (&self.outcome, self.format.codec) {
            (Outcome::Error(_), _) => self.check_error(order, body),
            (Outcome::Exact(reply), Codec::Protobuf) => self.check_protobuf(reply, body),
            (Outcome::Exact(reply), _) if self.format.has_view() => self.check_view(reply, body),
            (Outcome::Download { data, chunk_bytes }, _) => {
                // `index` is below the number of messages, so the slice never begins beyond
                // the data.
                let rest = &data[index * chunk_bytes..];
                let chunk = &rest[..rest.len().min(*chunk_bytes)];
                compare::bytes("data", chunk, protobuf::bytes(body)?)
            }
            (Outcome::Exact(_) | Outcome::Allocation(_) | Outcome::Any(_), _) => {
                self.read(order, body).map(drop)
            }
        }
    }

    /// Decodes the only message of a reply in full, compares it and hands it
    /// out. With CDR `order` is the one given in the reply's head; `None`
    /// means the form's own.
    ///
    /// # Errors
    /// When it is not a message of this codec, has another content, or should
    /// have been an application error or a stream.
    pub fn read(&self, order: Option<ByteOrder>, body: &[u8]) -> Result<Reply, Mismatch> {
        let reply = self.set_order(order).read_any_reply(self.operation, body);
        self.validate(reply)
    }

    /// The same of the next document of a connection (token-xml).
    ///
    /// # Errors
    /// As [`Expected::read`]; [`Decoder::out_of_sync`] is true afterwards where the caches differ.
    pub fn read_tokens(&self, decoder: &mut Decoder, tokens: &[u8]) -> Result<Reply, Mismatch> {
        let read = ReadTokens(decoder, tokens);
        self.validate(self.operation.visit_unary(read))
    }

    fn set_order(&self, order: Option<ByteOrder>) -> MessageFormat {
        self.format.in_order(order.unwrap_or(self.format.order))
    }

    fn validate(&self, reply: Option<Result<Reply, Mismatch>>) -> Result<Reply, Mismatch> {
        // None for a stream, whose messages are validated one by one.
        let mut reply = reply.unwrap_or(Err(Mismatch::Surplus {
            index: 0,
            messages: self.messages(),
        }))?;
        match &self.outcome {
            Outcome::Exact(expected) => compare::replies(expected, &reply)?,
            Outcome::Allocation(expected) => compare::allocation(expected, &mut reply)?,
            Outcome::Any(rule) => rule.check(&reply)?,
            Outcome::Error(error) => {
                let error = error.to_string();
                return Err(Mismatch::differs("error", error.as_bytes(), b"a reply"));
            }
            Outcome::Download { .. } => unreachable!("streams are not unary"),
        }
        Ok(reply)
    }

    /// Validates the body of an application error: what REST sends with status
    /// 400, SOAP with a fault, GIOP with a user exception.
    ///
    /// # Errors
    /// When it is not an application error in this codec, or is another one.
    pub fn check_error(&self, order: Option<ByteOrder>, body: &[u8]) -> Result<(), Mismatch> {
        self.validate_error(&self.set_order(order).read_error(self.operation, body)?)
    }

    /// The same of a document that a connection has decoded (token-xml).
    ///
    /// # Errors
    /// As [`Expected::check_error`].
    pub fn check_error_document(&self, document: &Document) -> Result<(), Mismatch> {
        self.validate_error(&token_xml::error(document, self.operation)?)
    }

    fn validate_error(&self, found: &str) -> Result<(), Mismatch> {
        match self.outcome {
            Outcome::Error(error) => compare::text("error", &error.to_string(), found),
            _ => Err(Mismatch::differs("error", b"none", found.as_bytes())),
        }
    }

    /// Replies that may be large are compared where they lie.
    fn check_view(&self, reply: &Reply, body: &[u8]) -> Result<(), Mismatch> {
        match reply {
            Reply::Hello(reply) => {
                let found = self.view::<HelloView>(HelloReply::NAME, body)?;
                compare::text("text", &reply.text, &found.text)
            }
            // In XML base64 may be broken by white space.
            Reply::HelloBytes(reply) if self.format.codec == Codec::Json => {
                let found = self.view::<HelloView>(HelloBytesReply::NAME, body)?;
                compare::base64("text", &reply.text, &found.text)
            }
            Reply::Submit(reply) => {
                let found = self.view::<SubmitView>(SubmitReply::NAME, body)?;
                compare::submit(reply, &found)
            }
            Reply::Upload(reply) => {
                let found = self.view::<UploadView>(UploadReply::NAME, body)?;
                compare::upload(reply, &found)
            }
            _ => self.read(None, body).map(drop),
        }
    }

    fn view<'a, V: Deserialize<'a>>(&self, name: &str, body: &'a [u8]) -> Result<V, Mismatch> {
        self.format.view(self.operation, name, body)
    }

    fn check_protobuf(&self, reply: &Reply, body: &[u8]) -> Result<(), Mismatch> {
        match reply {
            Reply::Hello(reply) => compare::text("text", &reply.text, &protobuf::hello(body)?.text),
            Reply::HelloBytes(reply) => compare::bytes("text", &reply.text, protobuf::bytes(body)?),
            Reply::Submit(reply) => compare::submit(reply, &protobuf::submit(body)?),
            Reply::Upload(reply) => compare::upload(reply, &protobuf::upload(body)?),
            _ => self.read(None, body).map(drop),
        }
    }
}

impl Outcome {
    fn of_download(chunks: &Chunks) -> Self {
        Outcome::Download {
            // Made once and kept: making it for each reply would cost more than comparing.
            data: texts::pattern(chunks.length() as usize),
            chunk_bytes: chunks.chunk_bytes() as usize,
        }
    }
}

/// The model's answer to a call of records, as far as it does not depend on earlier
/// calls: refused allocations, all of an allocation but its group, and the teams with
/// which a service starts.
fn call_answer(call: &Call) -> Option<Result<Reply, ApplicationError>> {
    match call {
        Call::Allocate(_) => Some(call.answer()),
        // `no such group` is right only as long as nobody has stored that group.
        Call::FindAllocation(_) => call.answer().ok().map(Ok),
        _ => None,
    }
}

/// Reads a reply as the next document of a connection.
struct ReadTokens<'a>(&'a mut Decoder, &'a [u8]);

impl UnaryVisitor for ReadTokens<'_> {
    type Output = Result<Reply, Mismatch>;

    fn visit<O: Unary>(self) -> Self::Output {
        token_xml::reply::<O::Reply>(self.0, self.1, O::OPERATION).map(Into::into)
    }
}

/// What the reply to a call must fulfil, whatever the service's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Numbers are positive; `0 <= reserved <= balance`; no team of the start is lost.
    Numbers,
    /// The number of the request comes back.
    Echo(i32),
    /// The slots are a day's, in their order.
    Slots,
}

impl Rule {
    /// The rule for an operation that is not pure.
    pub(super) fn of(call: &Call) -> Self {
        match call {
            Call::ConfirmAction(request) => Rule::Echo(request.cn),
            Call::Entries(_) => Rule::Slots,
            _ => Rule::Numbers,
        }
    }

    pub(super) fn check(self, reply: &Reply) -> Result<(), Mismatch> {
        match (self, reply) {
            (Rule::Echo(cn), Reply::ConfirmAction(reply)) if reply.cn != cn => {
                Err(Mismatch::number("cn", cn.into(), reply.cn.into()))
            }
            (_, Reply::Credit(reply)) => positive("cn", reply.cn),
            (_, Reply::DirectDebit(reply)) => positive("cn", reply.cn),
            (_, Reply::DebitReservation(reply)) => positive("cn", reply.cn),
            (_, Reply::ReleaseRes(reply)) => positive("cn", reply.cn),
            (_, Reply::Reserve(reply)) => {
                positive("res", reply.res)?;
                positive("cn", reply.cn)
            }
            (_, Reply::CreditControl(reply)) => {
                check_range("balance", reply.balance, 0, i32::MAX)?;
                // contracts/README.md, charging: the available amount is never negative.
                check_range("reserved", reply.reserved, 0, reply.balance)
            }
            // Teams are never deleted, so the count is at least that of the start.
            (_, Reply::CountAllocations(reply)) if reply.count < i64::from(ALLOCATIONS) => {
                let least = i64::from(ALLOCATIONS);
                Err(Mismatch::number("count", least, reply.count))
            }
            (_, Reply::Entries(reply)) => {
                // Slots ascend strictly, so that each is above the one before.
                let mut least = 0;
                for (k, entry) in reply.entries.iter().enumerate() {
                    check_range(&format!("entries[{k}].slot"), entry.slot, least, SLOTS - 1)?;
                    least = entry.slot + 1;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn positive(field: &str, found: i32) -> Result<(), Mismatch> {
    check_range(field, found, 1, i32::MAX)
}

fn check_range(field: &str, found: i32, least: i32, most: i32) -> Result<(), Mismatch> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(Mismatch::Differs {
        field: field.to_owned(),
        offset: 0,
        expected: format!("{least} to {most}"),
        found: found.to_string(),
    })
}
