//! Envelopes of SOAP as text: [`wirelab_wire_own::soap`] over the documents of
//! [`crate::xml`].

use std::sync::OnceLock;

use serde::de::Deserialize;
use wirelab_contract::{Message, Operation};
use wirelab_wire_own::soap::writer::{begin, end, reply_element, request_element};

use crate::xml::scanner::Scanner;
use crate::xml::text_sink::TextSink;

pub use wirelab_wire_own::soap::{
    BodyName, ContentType, EnvelopeError, EnvelopeFormat, Fault, FaultCode, HeaderBlock, Response,
    Style, UnsupportedStyle, UsernameToken, Version, action_of_field,
};

/// An envelope that has been read from text up to its body's child.
pub type Envelope<'de> = wirelab_wire_own::soap::Envelope<'de, Scanner<'de>>;

/// Reads a document up to its body's child.
///
/// # Errors
/// When it is not well-formed XML, or no envelope with a body and a child.
pub fn parse(document: &[u8]) -> Result<Envelope<'_>, EnvelopeError> {
    // Only up to the body: a fault or another operation is found before a message is
    // decoded.
    Envelope::open(Scanner::new(document)?)
}

/// Reads the request of `operation` from a document.
///
/// # Errors
/// When it is not an envelope, or holds something else.
pub fn read_request<M: Message>(
    format: EnvelopeFormat,
    operation: Operation,
    document: &[u8],
) -> Result<M, EnvelopeError> {
    Ok(parse(document)?.request(format, operation)?)
}

/// Reads the reply of `operation`, or a fault, from a document.
///
/// # Errors
/// As [`read_request`].
pub fn read_reply<M: Message>(
    format: EnvelopeFormat,
    operation: Operation,
    document: &[u8],
) -> Result<Response<M>, EnvelopeError> {
    Ok(parse(document)?.reply(format, operation)?)
}

/// As [`read_reply`], into any structure, also one that borrows from the
/// document; `name` is the message's.
///
/// # Errors
/// As [`read_request`].
pub(crate) fn read_reply_as<'de, T: Deserialize<'de>>(
    format: EnvelopeFormat,
    operation: Operation,
    name: &str,
    document: &'de [u8],
) -> Result<Response<T>, EnvelopeError> {
    Ok(parse(document)?.reply_as(format, operation, name)?)
}

/// Appends the envelope of a request to `out`.
///
/// # Panics
/// When `message` is not of the profile in contracts/README.md.
pub fn write_request<M: Message>(
    format: EnvelopeFormat,
    operation: Operation,
    message: &M,
    token: Option<&UsernameToken>,
    out: &mut Vec<u8>,
) {
    let mut sink = begin_envelope(format, token, out);
    request_element(format, operation, message, &mut sink);
    end(format, &mut sink);
}

/// Appends the envelope of a reply to `out`.
///
/// # Panics
/// As [`write_request`].
pub fn write_reply<M: Message>(
    format: EnvelopeFormat,
    operation: Operation,
    message: &M,
    out: &mut Vec<u8>,
) {
    let mut sink = begin_envelope(format, None, out);
    reply_element(format, operation, message, &mut sink);
    end(format, &mut sink);
}

/// Appends the envelope of a fault to `out`.
pub fn write_fault(format: EnvelopeFormat, fault: &Fault, out: &mut Vec<u8>) {
    let mut sink = begin_envelope(format, None, out);
    fault.write(format, &mut sink);
    end(format, &mut sink);
}

/// A sink inside the body of an envelope. Envelopes without a header begin
/// alike, so their begin is written once and then copied.
fn begin_envelope<'o>(
    format: EnvelopeFormat,
    token: Option<&UsernameToken>,
    out: &'o mut Vec<u8>,
) -> TextSink<'o> {
    // The header carries the caller's name, so that only its absence makes begins alike.
    if token.is_none() {
        return TextSink::within(begin_without_header(format), out);
    }
    let mut sink = TextSink::new(out);
    begin(format, token, &mut sink);
    sink
}

/// The bytes of an envelope of `form` without a header, up to its body's content.
fn begin_without_header(format: EnvelopeFormat) -> &'static [u8] {
    static BEGINS: [OnceLock<Vec<u8>>; 3] = [const { OnceLock::new() }; 3];
    // Literal and rpc differ only within the body; encoded has further declarations.
    let number = match (format.version(), format.style()) {
        (_, Style::Encoded) => 0,
        (Version::V11, _) => 1,
        (Version::V12, _) => 2,
    };
    BEGINS[number].get_or_init(|| {
        let mut bytes = Vec::new();
        begin(format, None, &mut TextSink::new(&mut bytes));
        bytes
    })
}
