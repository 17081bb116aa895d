//! What can go wrong with a codec: a reply that is not the expected one, and an
//! operation that the codec does not support.

use wirelab_contract::Operation;

use super::Codec;
use crate::excerpt::excerpt;
use crate::soap::{Fault, FaultCode};

/// What is wrong with a reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It is not a message of that codec.
    #[error("not a message in {codec}, byte {offset}: {why}")]
    Malformed {
        /// The codec that the reply should be in.
        codec: Codec,
        /// Where decoding failed, in bytes from the start of the message.
        offset: usize,
        /// What failed; at most 200 bytes.
        why: String,
    },
    /// A field has another content than the contract demands.
    #[error("{field}: expected {expected}, found {found} (from byte {offset} of the field on)")]
    Differs {
        /// The field, as in `refused[3].reason`.
        field: String,
        /// First differing byte of the field's content; 0 for numbers.
        offset: usize,
        /// What the contract demands, from there on; escaped, at most some 140 bytes.
        expected: String,
        /// What the reply holds; escaped, likewise bounded.
        found: String,
    },
    /// A fault of SOAP instead of a reply.
    #[error("fault {code}: {text}")]
    Fault {
        /// Its code, as in SOAP 1.1.
        code: String,
        /// Its text; of an application error the contract's.
        text: String,
        /// Whether its code is `Client`, like that of application errors.
        client: bool,
    },
    /// A stream has more messages than the contract demands.
    #[error("message {index} in a stream of {messages} (counted from 0)")]
    Surplus {
        /// Number of the message, from 0.
        index: usize,
        /// Messages that the contract demands.
        messages: usize,
    },
}

/// Bytes of another library's message that are kept.
// Mismatches are kept in memory and reports for many calls; a message must not carry
// the reply with it.
const WHY_BYTES_MAX: usize = 200;

impl Mismatch {
    pub(super) fn malformed(codec: Codec, offset: usize, why: &str) -> Self {
        // Cut at a character boundary: messages of libraries quote the input.
        let end = (0..=why.len().min(WHY_BYTES_MAX))
            .rev()
            .find(|&end| why.is_char_boundary(end));
        let why = why[..end.unwrap_or(0)].to_owned();
        Mismatch::Malformed { codec, offset, why }
    }

    pub(super) fn fault(fault: &Fault) -> Self {
        Mismatch::Fault {
            code: match &fault.code {
                // Written as received, because an unknown code is the finding itself.
                FaultCode::Other(code) => code.clone(),
                code => format!("{code:?}"),
            },
            text: fault.text.clone(),
            // Application errors have this code (contracts/README.md, SOAP), so callers can
            // count them apart.
            client: fault.code == FaultCode::Client,
        }
    }

    /// Two contents of one field that are not equal.
    pub(super) fn differs(field: impl Into<String>, expected: &[u8], found: &[u8]) -> Self {
        // The equal beginning is left out: of two long texts only the difference is of use.
        let common = expected
            .iter()
            .zip(found)
            .take_while(|(a, b)| a == b)
            .count();
        Mismatch::differs_from(field, common, &expected[common..], &found[common..])
    }

    /// The same, where the common part has been cut off already.
    pub(super) fn differs_from(
        field: impl Into<String>,
        offset: usize,
        expected: &[u8],
        found: &[u8],
    ) -> Self {
        let [expected, found] = [expected, found].map(|rest| {
            if rest.is_empty() {
                "its end".to_owned()
            } else {
                excerpt(rest)
            }
        });
        Mismatch::Differs {
            field: field.into(),
            offset,
            expected,
            found,
        }
    }

    pub(super) fn number(field: impl Into<String>, expected: i64, found: i64) -> Self {
        Mismatch::Differs {
            field: field.into(),
            offset: 0,
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

/// Whether `operation` can be written in `codec`.
#[must_use]
pub fn supports(codec: Codec, operation: Operation) -> bool {
    match codec {
        // Text has one unnamed value, which only Hello's reply is.
        Codec::Text => operation == Operation::Hello,
        Codec::Protobuf => true,
        Codec::Json => !operation.streaming() || operation.has_items(),
        _ if operation.contract().is_json_and_protobuf_only() => false,
        // Streams need a protocol that frames messages, which is gRPC or WebSocket here.
        _ => !operation.streaming(),
    }
}

pub(crate) fn require(codec: Codec, operation: Operation) -> Result<(), Unsupported> {
    if supports(codec, operation) {
        Ok(())
    } else {
        Err(Unsupported { codec, operation })
    }
}

/// A codec that has no form for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("codec {codec} has no form for {operation}; {}", self.remedy())]
pub struct Unsupported {
    /// The codec.
    pub codec: Codec,
    /// The operation.
    pub operation: Operation,
}

impl Unsupported {
    fn remedy(&self) -> &'static str {
        match self.operation.streaming() {
            true => "use codec=protobuf",
            false => "use codec=json or codec=protobuf",
        }
    }
}
