//! Typed messages to bytes and back, whatever the codec.

use serde::de::value::{Error as ValueError, MapDeserializer};
use wirelab_contract::transfer::UploadChunk;
use wirelab_contract::{Call, Contract, Message, MessageVisitor, Operation};

use super::views::ErrorView;
use super::{Codec, Mismatch, Unsupported, json, protobuf};
use crate::cdr::{self, ByteOrder};

/// A codec, with what its bytes depend on beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Form {
    /// The codec.
    pub codec: Codec,
    /// Byte order of CDR.
    pub order: ByteOrder,
}

impl From<Codec> for Form {
    /// The codec with the defaults: little-endian CDR.
    fn from(codec: Codec) -> Self {
        Form {
            codec,
            order: ByteOrder::default(),
        }
    }
}

impl Form {
    /// The same with another byte order.
    #[must_use]
    pub fn in_order(self, order: ByteOrder) -> Self {
        Form { order, ..self }
    }

    /// The messages of a request in their order: one, except in UploadStream.
    /// Hello and HelloBytes have no fields: their one message is empty in
    /// text, protobuf and CDR, `{}` in JSON; REST sends no body for them.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn encode(self, call: &Call) -> Result<Vec<Vec<u8>>, Unsupported> {
        self.codec.require(call.operation())?;
        if let Call::UploadStream { data, chunk_bytes } = call {
            let chunks = data.chunks(*chunk_bytes as usize).map(<[u8]>::to_vec);
            return Ok(chunks
                .map(|data| self.write(&UploadChunk { data }))
                .collect());
        }
        Ok(call.visit(Write(self)).into_iter().collect())
    }

    /// A message by itself. In text there are only requests, and they are empty.
    ///
    /// # Panics
    /// When a part of the message has 2^32 bytes or more in CDR; the contracts
    /// bound them far below.
    #[must_use]
    pub fn write<M: Message>(self, message: &M) -> Vec<u8> {
        match self.codec {
            Codec::Text => Vec::new(),
            Codec::Json => serde_json::to_vec(message).expect("messages are maps with string keys"),
            Codec::Protobuf => message.encode_to_vec(),
            Codec::Cdr => cdr::to_vec(self.order, message).expect("the contracts bound messages"),
        }
    }

    /// Reads a message that fills `bytes`.
    ///
    /// # Errors
    /// [`Mismatch::Malformed`] when the bytes are not that message.
    pub fn read<M: Message>(self, bytes: &[u8]) -> Result<M, Mismatch> {
        let malformed = |error: &dyn ToString| {
            let why = error.to_string();
            Mismatch::malformed(self.codec, 0, &why)
        };
        match self.codec {
            Codec::Text => {
                let fields = [("text", text(bytes)?)].into_iter();
                let fields = MapDeserializer::<_, ValueError>::new(fields);
                M::deserialize(fields).map_err(|error| malformed(&error))
            }
            Codec::Json => json::parse(bytes),
            Codec::Protobuf => M::decode(bytes).map_err(|error| malformed(&error)),
            Codec::Cdr => cdr::from_slice(self.order, bytes).map_err(|error| malformed(&error)),
        }
    }
}

impl Form {
    /// The text of an application error, as REST sends it with status 400 and
    /// GIOP as the user exception of the operation's contract.
    ///
    /// # Errors
    /// [`Mismatch::Malformed`] when the bytes are no application error.
    pub fn read_error(self, operation: Operation, body: &[u8]) -> Result<String, Mismatch> {
        Ok(match self.codec {
            Codec::Text => text(body)?.to_owned(),
            Codec::Json => json::parse::<ErrorView>(body)?.error.into_owned(),
            // A message with the error's text as field 1.
            Codec::Protobuf => protobuf::hello(body)?.text.into_owned(),
            Codec::Cdr => self.read_exception(operation.contract(), body)?,
        })
    }

    /// A user exception: its repository id, then its members.
    fn read_exception(self, contract: Contract, body: &[u8]) -> Result<String, Mismatch> {
        let malformed = |error: cdr::Error| Mismatch::malformed(Codec::Cdr, 0, &error.to_string());
        let mut reader = cdr::Reader::new(self.order, body, 0);
        let id = reader.string().map_err(malformed)?;
        let wanted = format!("IDL:wirelab/{contract}_v1/ApplicationError:1.0");
        if id != wanted {
            return Err(Mismatch::differs(
                "exception",
                wanted.as_bytes(),
                id.as_bytes(),
            ));
        }
        let message = reader.string().map_err(malformed)?;
        reader.finish().map_err(malformed)?;
        Ok(message.to_owned())
    }
}

/// A body that is nothing but text.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Mismatch> {
    std::str::from_utf8(bytes)
        .map_err(|error| Mismatch::malformed(Codec::Text, error.valid_up_to(), "not UTF-8"))
}

struct Write(Form);

impl MessageVisitor for Write {
    type Output = Vec<u8>;

    fn visit<M: Message>(self, message: &M) -> Vec<u8> {
        self.0.write(message)
    }
}

impl Codec {
    /// [`Form::encode`] with the defaults.
    ///
    /// # Errors
    /// When the operation has no form in this codec.
    pub fn encode(self, call: &Call) -> Result<Vec<Vec<u8>>, Unsupported> {
        Form::from(self).encode(call)
    }

    /// [`Form::write`] with the defaults.
    #[must_use]
    pub fn write<M: Message>(self, message: &M) -> Vec<u8> {
        Form::from(self).write(message)
    }

    /// [`Form::read`] with the defaults.
    ///
    /// # Errors
    /// [`Mismatch::Malformed`] when the bytes are not that message.
    pub fn read<M: Message>(self, bytes: &[u8]) -> Result<M, Mismatch> {
        Form::from(self).read(bytes)
    }
}
