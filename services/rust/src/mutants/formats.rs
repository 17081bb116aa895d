//! Mutants of the formats: right answers, written wrongly.

use memchr::memmem;
use wirelab_contract::Contract;
use wirelab_wire_own::soap::FaultCode;

use super::{Act, Mutant, Scope};
use wirelab_stack::{Binding, Codec};

const XML: Scope = Scope::Codecs(&[Codec::Xml, Codec::SoapLiteral, Codec::SoapRpc]);
const JSON: Scope = Scope::Codecs(&[Codec::Json]);
const TRANSFER: &[Contract] = &[Contract::Transfer];

/// The contracts whose replies hold texts of the caller's.
const TEXTS: &[Contract] = &[Contract::Transfer, Contract::Calendar];

/// Place of the flags in a GIOP header (CORBA 3.1 part 2, section 9.4.1).
const GIOP_FLAGS: usize = 6;

/// Fields of 64 bits in the contracts.
const INT64_FIELDS: [&str; 3] = ["\"quantity_total\":", "\"id\":", "\"length\":"];

const fn mutant(
    name: &'static str,
    breaks: &'static str,
    contracts: &'static [Contract],
    scope: Scope,
    act: Act,
) -> Mutant {
    Mutant {
        name,
        breaks,
        contracts,
        scope,
        act,
    }
}

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "xml-zero-omitted",
        "a field of 0 has no element",
        &Contract::ALL,
        XML,
        Act::Bytes(remove_zeros),
    ),
    mutant(
        // XML readers turn a bare carriage return into a line feed (XML 1.0 section 2.11).
        "xml-cr-not-escaped",
        "a carriage return is written as it is",
        TEXTS,
        XML,
        Act::Bytes(|bytes| replace(bytes, b"&#13;", b"\r")),
    ),
    mutant(
        "xml-escaped-twice",
        "an ampersand is escaped twice",
        TEXTS,
        XML,
        Act::Bytes(|bytes| replace(bytes, b"&amp;", b"&amp;amp;")),
    ),
    mutant(
        "json-int64-as-string",
        "integers of 64 bits are strings",
        TRANSFER,
        JSON,
        Act::Bytes(quote_int64),
    ),
    mutant(
        "json-camel-case",
        "quantity_total is called quantityTotal",
        TRANSFER,
        JSON,
        Act::Bytes(|bytes| replace(bytes, b"quantity_total", b"quantityTotal")),
    ),
    mutant(
        "cdr-byte-order-flag",
        "replies claim the other byte order",
        &Contract::ALL,
        Scope::Bindings(&[Binding::Iiop]),
        Act::Bytes(|bytes| {
            if let Some(flags) = bytes.get_mut(GIOP_FLAGS) {
                // Bit 0 is the byte order, 1 for little-endian.
                *flags ^= 1;
            }
        }),
    ),
    mutant(
        "fault-code-server",
        "an application error is the service's fault, not the caller's",
        &Contract::ALL,
        Scope::Bindings(&[Binding::Soap, Binding::Raw]),
        Act::Fault(|fault| fault.code = FaultCode::Server),
    ),
    mutant(
        "error-status-200",
        "an application error has status 200",
        &Contract::ALL,
        Scope::Bindings(&[Binding::Rest, Binding::Soap]),
        Act::Status(200),
    ),
];

/// Replaces every `from` by `to`.
fn replace(bytes: &mut Vec<u8>, from: &[u8], to: &[u8]) {
    let mut changed = Vec::with_capacity(bytes.len());
    let mut rest = &bytes[..];
    while let Some(at) = memmem::find(rest, from) {
        changed.extend_from_slice(&rest[..at]);
        changed.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    changed.extend_from_slice(rest);
    *bytes = changed;
}

/// Removes `<name>0</name>`.
fn remove_zeros(bytes: &mut Vec<u8>) {
    const ZERO: &[u8] = b">0</";
    // In place, and from the begin again: the removed element may be followed by another at
    // the same position.
    while let Some(at) = memmem::find(bytes, ZERO) {
        let start = memchr::memrchr(b'<', &bytes[..at]);
        let end = memchr::memchr(b'>', &bytes[at + ZERO.len()..]);
        let (Some(start), Some(end)) = (start, end) else {
            return;
        };
        bytes.drain(start..=at + ZERO.len() + end);
    }
}

/// Puts the digits behind each field of 64 bits into quotation marks.
fn quote_int64(bytes: &mut Vec<u8>) {
    for field in INT64_FIELDS {
        let mut from = 0;
        while let Some(at) = memmem::find(&bytes[from..], field.as_bytes()) {
            let start = from + at + field.len();
            let digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'-';
            let digits = bytes[start..].iter().take_while(|byte| digit(byte)).count();
            // The closing mark first, or the opening one would move its place.
            bytes.insert(start + digits, b'"');
            bytes.insert(start, b'"');
            // Behind the digits: the same field would be found again and again.
            from = start + digits;
        }
    }
}
