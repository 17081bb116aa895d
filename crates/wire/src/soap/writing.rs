//! Envelopes from messages.

use std::sync::OnceLock;

use wirelab_contract::{Message, Operation};

use crate::xml::reader::{ENCODING, XSI};
use crate::xml::text_sink::TextSink;
use crate::xml::write_root;
use crate::xml::writer::{Sink, fields};

use super::fault::Fault;
use super::form::{Form, Style, Version};
use super::security::{self, UsernameToken};

/// What `xsd` stands for.
const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// Appends the envelope of a request to `out`.
///
/// # Panics
/// When `message` is not of the profile in contracts/README.md.
pub fn write_request<M: Message>(
    form: Form,
    operation: Operation,
    message: &M,
    token: Option<&UsernameToken>,
    out: &mut Vec<u8>,
) {
    let mut sink = text_begun(form, token, out);
    let child = form.request_child(operation, M::NAME);
    body(form, operation, child, message, &mut sink);
    end(form, &mut sink);
}

/// Appends the envelope of a reply to `out`.
///
/// # Panics
/// As [`write_request`].
pub fn write_reply<M: Message>(form: Form, operation: Operation, message: &M, out: &mut Vec<u8>) {
    let child = form.reply_child(operation, M::NAME);
    let mut sink = text_begun(form, None, out);
    body(form, operation, child, message, &mut sink);
    end(form, &mut sink);
}

/// Appends the envelope of a fault to `out`.
pub fn write_fault(form: Form, fault: &Fault, out: &mut Vec<u8>) {
    let mut sink = text_begun(form, None, out);
    fault.write(form, &mut sink);
    end(form, &mut sink);
}

/// A sink inside the body of an envelope. Envelopes without a header begin
/// alike, so their begin is written once and then copied.
fn text_begun<'o>(form: Form, token: Option<&UsernameToken>, out: &'o mut Vec<u8>) -> TextSink<'o> {
    if token.is_none() {
        return TextSink::within(begin_without_header(form), out);
    }
    let mut sink = TextSink::new(out);
    begin(form, token, &mut sink);
    sink
}

/// The bytes of an envelope of `form` without a header, up to its body's content.
fn begin_without_header(form: Form) -> &'static [u8] {
    static PLAIN: [OnceLock<Vec<u8>>; 3] = [const { OnceLock::new() }; 3];
    let number = match (form.version(), form.style()) {
        (_, Style::Encoded) => 0,
        (Version::V11, _) => 1,
        (Version::V12, _) => 2,
    };
    PLAIN[number].get_or_init(|| {
        let mut bytes = Vec::new();
        begin(form, None, &mut TextSink::new(&mut bytes));
        bytes
    })
}

pub(crate) fn request_into<M: Message, S: Sink>(
    form: Form,
    operation: Operation,
    message: &M,
    sink: &mut S,
) {
    envelope(form, sink, |sink| {
        let child = form.request_child(operation, M::NAME);
        body(form, operation, child, message, sink);
    });
}

pub(crate) fn reply_into<M: Message, S: Sink>(
    form: Form,
    operation: Operation,
    message: &M,
    sink: &mut S,
) {
    envelope(form, sink, |sink| {
        let child = form.reply_child(operation, M::NAME);
        body(form, operation, child, message, sink);
    });
}

pub(crate) fn fault_into<S: Sink>(form: Form, fault: &Fault, sink: &mut S) {
    envelope(form, sink, |sink| fault.write(form, sink));
}

fn envelope<S: Sink>(form: Form, sink: &mut S, body: impl FnOnce(&mut S)) {
    begin(form, None, sink);
    body(sink);
    end(form, sink);
}

/// Writes the end of an envelope, behind the content of its body.
pub(super) fn end<S: Sink>(form: Form, sink: &mut S) {
    sink.close(form.names().body);
    sink.close(form.names().envelope);
}

/// Writes an envelope up to the begin of its body.
pub(super) fn begin<S: Sink>(form: Form, token: Option<&UsernameToken>, sink: &mut S) {
    let names = form.names();
    sink.open(names.envelope);
    if form.style() == Style::Encoded {
        sink.plain_attribute("SOAP-ENV:encodingStyle", ENCODING);
    }
    sink.plain_attribute(names.declaration, form.version().namespace());
    if form.style() == Style::Encoded {
        sink.plain_attribute("xmlns:xsd", XSD);
        sink.plain_attribute("xmlns:xsi", XSI);
        sink.plain_attribute("xmlns:SOAP-ENC", ENCODING);
    }
    if let Some(token) = token {
        security::write_header(form, token, sink);
    }
    sink.open_bare(names.body);
}

/// Writes the body's child, whose name is in two parts.
fn body<M: Message, S: Sink>(
    form: Form,
    operation: Operation,
    [name, rest]: [&str; 2],
    message: &M,
    sink: &mut S,
) {
    let namespace = operation.contract().namespace();
    let content = |sink: &mut S| fields(message, form.shape(), namespace, sink);
    match form.style() {
        Style::Literal => write_root(sink, name, namespace, content),
        Style::Rpc => {
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
