//! Codecs: a typed request to bytes, and the bytes of a reply to a judgement.
//!
//! Replies are decoded in full and compared with what the contract says,
//! never with one golden encoding: another implementation may order fields or
//! escape characters otherwise. Decoding borrows from the reply, so that the
//! judgement of a large text costs no copy of it.

mod compare;
mod expected;
mod json;
mod mismatch;
mod protobuf;
mod views;

use std::fmt;
use std::str::FromStr;

use prost::Message;
use serde::Serialize;
use wirelab_contract::transfer::{HelloRequest, UploadChunk};
use wirelab_contract::{Call, Operation};

pub use expected::Expected;
pub use mismatch::Mismatch;

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Codec {
    /// The text itself in UTF-8; Hello only.
    Text,
    /// JSON by the mapping of contracts/README.md (RFC 8259).
    Json,
    /// Protocol Buffers.
    Protobuf,
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
        match self.operation {
            Operation::UploadStream | Operation::Download => "use codec=protobuf",
            _ => "use codec=json or codec=protobuf",
        }
    }
}

impl Codec {
    /// Whether `operation` can be written in this codec.
    #[must_use]
    pub fn supports(self, operation: Operation) -> bool {
        match self {
            Codec::Text => operation == Operation::Hello,
            Codec::Json => operation.rest().is_some(),
            Codec::Protobuf => true,
        }
    }

    pub(crate) fn require(self, operation: Operation) -> Result<(), Unsupported> {
        if self.supports(operation) {
            Ok(())
        } else {
            Err(Unsupported {
                codec: self,
                operation,
            })
        }
    }

    /// The messages of a request in their order: one, except in UploadStream.
    /// Hello and HelloBytes have no fields: their one message is empty in text
    /// and protobuf, `{}` in JSON; REST sends no body for them.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn encode(self, call: &Call) -> Result<Vec<Vec<u8>>, Unsupported> {
        self.require(call.operation())?;
        Ok(match call {
            Call::Hello { .. } | Call::HelloBytes { .. } => vec![self.write(&HelloRequest {})],
            Call::Submit(request) => vec![self.write(request)],
            Call::Upload(request) => vec![self.write(request)],
            Call::Download(request) => vec![self.write(request)],
            Call::UploadStream { data, chunk_bytes } => data
                .chunks(*chunk_bytes as usize)
                .map(|chunk| {
                    self.write(&UploadChunk {
                        data: chunk.to_vec(),
                    })
                })
                .collect(),
        })
    }

    fn write<M: Message + Serialize>(self, message: &M) -> Vec<u8> {
        match self {
            Codec::Text => Vec::new(),
            Codec::Json => serde_json::to_vec(message).expect("messages are maps with string keys"),
            Codec::Protobuf => message.encode_to_vec(),
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Codec::Text => "text",
            Codec::Json => "json",
            Codec::Protobuf => "protobuf",
        })
    }
}

/// A name that no codec has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown codec {0:?}; use text, json or protobuf")]
pub struct UnknownCodec(pub String);

impl FromStr for Codec {
    type Err = UnknownCodec;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "text" => Ok(Codec::Text),
            "json" => Ok(Codec::Json),
            "protobuf" => Ok(Codec::Protobuf),
            other => Err(UnknownCodec(other.to_owned())),
        }
    }
}
