//! Envelopes from messages.

use wirelab_contract::{Message, Operation};

use crate::infoset::reader::{ENCODING, XSI};
use crate::infoset::writer::{Sink, fields, write_root};

use super::fault::Fault;
use super::format::{EnvelopeFormat, Style};
use super::security::{self, UsernameToken};

/// What `xsd` stands for.
const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// Writes the envelope of a request.
///
/// # Panics
/// When `message` is not of the profile in contracts/README.md.
pub fn request<M: Message, S: Sink>(
    format: EnvelopeFormat,
    operation: Operation,
    message: &M,
    sink: &mut S,
) {
    begin(format, None, sink);
    request_element(format, operation, message, sink);
    end(format, sink);
}

/// Writes the envelope of a reply.
///
/// # Panics
/// As [`request`].
pub fn reply<M: Message, S: Sink>(
    format: EnvelopeFormat,
    operation: Operation,
    message: &M,
    sink: &mut S,
) {
    begin(format, None, sink);
    reply_element(format, operation, message, sink);
    end(format, sink);
}

/// Writes the envelope of a fault.
pub fn fault<S: Sink>(format: EnvelopeFormat, fault: &Fault, sink: &mut S) {
    begin(format, None, sink);
    fault.write(format, sink);
    end(format, sink);
}

/// Writes an envelope up to the content of its body.
pub fn begin<S: Sink>(format: EnvelopeFormat, token: Option<&UsernameToken>, sink: &mut S) {
    let names = format.names();
    sink.open(names.envelope);
    if format.style() == Style::Encoded {
        sink.plain_attribute("SOAP-ENV:encodingStyle", ENCODING);
    }
    sink.plain_attribute(names.declaration, format.version().namespace());
    if format.style() == Style::Encoded {
        sink.plain_attribute("xmlns:xsd", XSD);
        sink.plain_attribute("xmlns:xsi", XSI);
        sink.plain_attribute("xmlns:SOAP-ENC", ENCODING);
    }
    if let Some(token) = token {
        security::write_header(format, token, sink);
    }
    sink.open_bare(names.body);
}

/// Writes the body's child of a request.
///
/// # Panics
/// As [`request`].
pub fn request_element<M: Message, S: Sink>(
    format: EnvelopeFormat,
    operation: Operation,
    message: &M,
    sink: &mut S,
) {
    let child = format.request_child(operation, M::NAME);
    body(format, operation, child, message, sink);
}

/// Writes the body's child of a reply.
///
/// # Panics
/// As [`request`].
pub fn reply_element<M: Message, S: Sink>(
    format: EnvelopeFormat,
    operation: Operation,
    message: &M,
    sink: &mut S,
) {
    let child = format.reply_child(operation, M::NAME);
    body(format, operation, child, message, sink);
}

/// Writes the end of an envelope, behind the content of its body.
pub fn end<S: Sink>(format: EnvelopeFormat, sink: &mut S) {
    sink.close(format.names().body);
    sink.close(format.names().envelope);
}

/// Writes the body's child, whose name is in two parts.
fn body<M: Message, S: Sink>(
    format: EnvelopeFormat,
    operation: Operation,
    [name, rest]: [&str; 2],
    message: &M,
    sink: &mut S,
) {
    let namespace = operation.contract().namespace();
    let content = |sink: &mut S| fields(message, format.shape(), namespace, sink);
    match format.style() {
        Style::Literal => write_root(sink, name, namespace, content),
        Style::Rpc => {
            // WS-I Basic Profile 1.1, R2735: part accessors of rpc/literal are in no namespace.
            let name = ["w:", name, rest].concat();
            sink.open(&name);
            sink.plain_attribute("xmlns:w", namespace);
            content(sink);
            sink.close(&name);
        }
        Style::Encoded => {
            let name = [name, rest].concat();
            sink.open_bare(&name);
            content(sink);
            sink.close(&name);
        }
    }
}
