//! Envelopes written as text, by quick-xml's serde support.

use quick_xml::se::to_writer_with_root;
use serde::Serialize;
use wirelab_contract::{Message, Operation};
use wirelab_wire_own::soap::{EnvelopeFormat, Fault, Style, UsernameToken, Version, WSSE};

use super::encoded;
use crate::codec::xml::{DECLARATION, write_element};

/// Bytes of an envelope around a short message.
const ENVELOPE_BYTES: usize = 512;

/// The envelope of a reply.
pub(crate) fn reply<M: Message>(form: EnvelopeFormat, operation: Operation, message: M) -> Vec<u8> {
    let name = format!("{}Response", operation.lower_camel());
    envelope(form, None, |out| element(form, &name, message, out))
}

/// The envelope of a request, for a service that calls itself.
pub(crate) fn request<M: Message>(
    form: EnvelopeFormat,
    operation: Operation,
    message: M,
    token: Option<&UsernameToken>,
) -> Vec<u8> {
    let name = operation.lower_camel();
    envelope(form, token, |out| element(form, name, message, out))
}

/// The envelope of a fault (SOAP 1.1 section 4.4; SOAP 1.2 part 1, section 5.4).
pub(crate) fn fault(form: EnvelopeFormat, fault: &Fault) -> Vec<u8> {
    let prefix = prefix(form);
    let code = format!("{prefix}:{}", fault.code.name(form.version()));
    let name = format!("{prefix}:Fault");
    envelope(form, None, |out| {
        let written = match form.version() {
            // The children of a fault are in no namespace in SOAP 1.1, in that of the envelope in 1.2.
            Version::V11 => to_writer_with_root(out, &name, &Fault11::new(&code, &fault.text)),
            Version::V12 => to_writer_with_root(out, &name, &Fault12::new(&code, &fault.text)),
        };
        written.expect("faults have a form in XML");
    })
}

/// The prefix of the envelope's own elements: in rpc/encoded that of Elfwing and
/// Paulsson (2002), appendix C.
fn prefix(form: EnvelopeFormat) -> &'static str {
    match form.style() {
        Style::Encoded => "SOAP-ENV",
        Style::Literal | Style::Rpc => "soapenv",
    }
}

/// An envelope around what `body` appends.
fn envelope(
    form: EnvelopeFormat,
    token: Option<&UsernameToken>,
    body: impl FnOnce(&mut String),
) -> Vec<u8> {
    let (prefix, namespace) = (prefix(form), form.version().namespace());
    // Small replies then fit into one allocation.
    let mut out = String::with_capacity(ENVELOPE_BYTES);
    out.push_str(DECLARATION);
    let encoding = match form.style() {
        Style::Encoded => encoded::DECLARATIONS,
        Style::Literal | Style::Rpc => "",
    };
    // Pieces and no `format!`: an envelope is written for every reply.
    for part in [
        "<",
        prefix,
        ":Envelope xmlns:",
        prefix,
        "=\"",
        namespace,
        "\"",
        encoding,
    ] {
        out.push_str(part);
    }
    out.push('>');
    if let Some(token) = token {
        header(prefix, token, &mut out);
    }
    for part in ["<", prefix, ":Body>"] {
        out.push_str(part);
    }
    body(&mut out);
    for part in ["</", prefix, ":Body></", prefix, ":Envelope>"] {
        out.push_str(part);
    }
    out.into_bytes()
}

/// A header with name and password (WSS UsernameToken Profile 1.1, section 3.1).
fn header(prefix: &str, token: &UsernameToken, out: &mut String) {
    #[derive(Serialize)]
    struct Header<'a> {
        #[serde(rename = "wsse:Security")]
        security: Security<'a>,
    }
    #[derive(Serialize)]
    struct Security<'a> {
        #[serde(rename = "@xmlns:wsse")]
        namespace: &'static str,
        #[serde(rename = "wsse:UsernameToken")]
        token: Token<'a>,
    }
    #[derive(Serialize)]
    struct Token<'a> {
        #[serde(rename = "wsse:Username")]
        username: &'a str,
        #[serde(rename = "wsse:Password")]
        password: &'a str,
    }
    let header = Header {
        security: Security {
            namespace: WSSE,
            token: Token {
                username: &token.username,
                password: &token.password,
            },
        },
    };
    to_writer_with_root(out, &format!("{prefix}:Header"), &header)
        .expect("a name and a password have a form in XML");
}

/// The body's child; `name` is the operation's, in a reply with `Response` after it.
fn element<M: Message>(form: EnvelopeFormat, name: &str, message: M, out: &mut String) {
    let namespace = M::CONTRACT.namespace();
    match form.style() {
        Style::Literal => write_element(M::NAME, namespace, &message, out),
        Style::Rpc => rpc(name, namespace, message, out),
        Style::Encoded => encoded::write(name, &message, out),
    }
}

/// Rpc/literal: the operation's element in the contract's namespace, the message's parts
/// in none.
fn rpc<M: Message>(name: &str, namespace: &str, message: M, out: &mut String) {
    #[derive(Serialize)]
    struct Operation<'a, T> {
        // A prefix and no default namespace: the parts below must be in none (WS-I Basic
        // Profile 1.1, R2735).
        #[serde(rename = "@xmlns:w")]
        namespace: &'a str,
        #[serde(flatten)]
        parts: T,
    }
    // A part of a message appears exactly once, so that a list gets an element around its items
    // (WS-I Basic Profile 1.1, 4.7).
    let parts: M::Parts = message.into();
    let operation = Operation { namespace, parts };
    to_writer_with_root(out, &format!("w:{name}"), &operation)
        .expect("messages have a form in XML");
}

#[derive(Serialize)]
struct Fault11<'a> {
    faultcode: &'a str,
    faultstring: &'a str,
}

impl<'a> Fault11<'a> {
    fn new(faultcode: &'a str, faultstring: &'a str) -> Self {
        Fault11 {
            faultcode,
            faultstring,
        }
    }
}

#[derive(Serialize)]
struct Fault12<'a> {
    #[serde(rename = "soapenv:Code")]
    code: Code<'a>,
    #[serde(rename = "soapenv:Reason")]
    reason: Reason<'a>,
}

#[derive(Serialize)]
struct Code<'a> {
    #[serde(rename = "soapenv:Value")]
    value: &'a str,
}

#[derive(Serialize)]
struct Reason<'a> {
    #[serde(rename = "soapenv:Text")]
    text: Text<'a>,
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "@xml:lang")]
    language: &'static str,
    #[serde(rename = "$text")]
    text: &'a str,
}

impl<'a> Fault12<'a> {
    fn new(value: &'a str, text: &'a str) -> Self {
        let text = Text {
            // Required by SOAP 1.2 part 1, section 5.4.2.1.
            language: "en",
            text,
        };
        Fault12 {
            code: Code { value },
            reason: Reason { text },
        }
    }
}
