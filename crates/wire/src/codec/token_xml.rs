//! Codec token-xml, whose bytes depend on what its connection carried before.
//!
//! A connection keeps an [`Encoder`] and a [`Decoder`] and moves [`Document`]s.
//! As a codec of single messages token-xml writes and reads the first message
//! of a connection.

use serde::de::IgnoredAny;
use wirelab_contract::{Call, Message, MessageVisitor, Operation};

use super::error::require;
use super::{Codec, Mismatch, Unsupported};
use crate::soap::{self, EnvelopeError, Response};
use crate::token_xml::{Decoder, Document, Encoder, ReadError, TokenCache};

/// The document of a request, for a connection's [`Encoder`].
///
/// # Errors
/// When the operation is one of streams.
pub fn request_document(call: &Call) -> Result<Document, Unsupported> {
    let operation = call.operation();
    require(Codec::TokenXml, operation)?;
    let document = call.visit(RequestDocument(operation));
    Ok(document.expect("an operation without a stream has one message"))
}

const REQUIRED: &str = "the codec has a form for the operation";

struct RequestDocument(Operation);

impl MessageVisitor for RequestDocument {
    type Output = Document;

    fn visit<M: Message>(self, message: &M) -> Document {
        if const { M::CONTRACT.is_json_and_protobuf_only() } {
            unreachable!("{REQUIRED}");
        }
        Document::of_request(self.0, message)
    }
}

/// Appends the tokens of a request by a connection's [`Encoder`]: those of
/// [`request_document`], without making the document.
///
/// # Errors
/// When the operation is one of streams.
pub fn append_request_tokens(
    call: &Call,
    encoder: &mut Encoder,
    out: &mut Vec<u8>,
) -> Result<(), Unsupported> {
    let operation = call.operation();
    require(Codec::TokenXml, operation)?;
    call.visit(AppendTokens {
        operation,
        encoder,
        out,
    })
    .expect("an operation without a stream has one message");
    Ok(())
}

struct AppendTokens<'a> {
    operation: Operation,
    encoder: &'a mut Encoder,
    out: &'a mut Vec<u8>,
}

impl MessageVisitor for AppendTokens<'_> {
    type Output = ();

    fn visit<M: Message>(self, message: &M) {
        if const { M::CONTRACT.is_json_and_protobuf_only() } {
            unreachable!("{REQUIRED}");
        }
        self.encoder
            .encode_request(self.operation, message, self.out);
    }
}

/// The first message of a connection.
pub(super) fn first(cache: TokenCache, document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    Encoder::new(cache).encode(document, &mut out);
    out
}

/// Reads the first message of a connection.
pub(super) fn parse(cache: TokenCache, bytes: &[u8]) -> Result<Document, Mismatch> {
    let document = Decoder::new(cache).decode(bytes);
    document.map_err(|error| unread(&error.into()))
}

/// The reply that a connection's next document holds.
pub(super) fn reply<M: Message>(
    decoder: &mut Decoder,
    tokens: &[u8],
    operation: Operation,
) -> Result<M, Mismatch> {
    if const { M::CONTRACT.is_json_and_protobuf_only() } {
        unreachable!("{REQUIRED}");
    }
    let reply = decoder.read_reply(tokens, operation);
    match reply.map_err(|error| unread(&error))? {
        Response::Message(message) => Ok(message),
        Response::Fault(fault) => Err(Mismatch::fault(&fault)),
    }
}

/// The text of an application error that a document holds.
pub(super) fn error(document: &Document, operation: Operation) -> Result<String, Mismatch> {
    let envelope = document.envelope().map_err(|error| misread(&error))?;
    // Any message stands for "no fault": its content is not of interest here.
    // Tokens always stand for document/literal envelopes of SOAP 1.1.
    match envelope.reply_as(soap::EnvelopeFormat::DOCUMENT_LITERAL, operation, "") {
        Ok(Response::Fault(fault)) => client_fault_text(Err(Mismatch::fault(&fault))),
        Ok(Response::Message(IgnoredAny)) => client_fault_text(Ok(IgnoredAny)),
        Err(error) => Err(misread(&error.into())),
    }
}

pub(super) fn unread(error: &ReadError) -> Mismatch {
    match error {
        ReadError::Tokens(error) => {
            Mismatch::malformed(Codec::TokenXml, error.offset, &error.kind.to_string())
        }
        ReadError::Envelope(error) => misread(error),
    }
}

fn misread(error: &EnvelopeError) -> Mismatch {
    Mismatch::malformed(Codec::TokenXml, 0, &error.to_string())
}

/// The text of a fault whose code is `Client`.
pub(super) fn client_fault_text(read: Result<IgnoredAny, Mismatch>) -> Result<String, Mismatch> {
    match read {
        Err(Mismatch::Fault { text, client, .. }) if client => Ok(text),
        Err(other) => Err(other),
        Ok(_) => Err(Mismatch::differs("body", b"a fault", b"a reply")),
    }
}
