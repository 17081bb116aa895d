//! The requests of charging in formats other than XML, by the messages of the services.

use anyhow::{Result, bail, ensure};
use wirelab_contract::charging::{
    ConfirmActionRequest, CreditControlRequest, CreditRequest, DebitReservationRequest,
    DirectDebitRequest, ReleaseResRequest, ReserveRequest,
};
use wirelab_contract::{Message, json::Object};
use wirelab_wire_own::cdr::{self, ByteOrder};

use crate::content::{Checksum, Content, Fingerprint};

/// A format of messages.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Json,
    Protobuf,
    Cbor,
    Cdr,
}

impl Format {
    fn read<M: Message>(self, bytes: &[u8]) -> Result<M> {
        Ok(match self {
            Format::Json => serde_json::from_slice::<Object<M>>(bytes)?.0,
            Format::Protobuf => M::decode(bytes)?,
            Format::Cbor => {
                let mut rest = bytes;
                let read: Object<M> = ciborium::from_reader(&mut rest)?;
                ensure!(rest.is_empty(), "{} bytes follow the message", rest.len());
                read.0
            }
            Format::Cdr => cdr::from_slice(ByteOrder::Big, bytes)?,
        })
    }

    fn write<M: Message>(self, message: &M) -> Result<Vec<u8>> {
        Ok(match self {
            Format::Json => serde_json::to_vec(message)?,
            Format::Protobuf => message.encode_to_vec(),
            Format::Cbor => {
                let mut bytes = Vec::new();
                ciborium::into_writer(message, &mut bytes)?;
                bytes
            }
            Format::Cdr => cdr::to_vec(ByteOrder::Big, message)?,
        })
    }
}

/// What the fields of a decoded message are passed to.
pub(crate) trait Fields {
    /// The next field, in the order of the contract.
    fn field(&mut self, name: &str, value: i32);
}

impl Fields for Checksum {
    fn field(&mut self, _: &str, value: i32) {
        self.0 = self.0.wrapping_add(value as u64);
    }
}

impl Fields for Fingerprint {
    fn field(&mut self, name: &str, value: i32) {
        self.start("", name);
        self.text(&value.to_string());
        self.end();
    }
}

// One arm per request: the messages are types of their own, and each has its fields.
macro_rules! requests {
    ($($name:literal => $message:ident { $($field:ident),* })*) => {
        /// Decodes the message of that name and passes its fields on.
        pub(crate) fn decode<F: Fields>(format: Format, name: &str, bytes: &[u8], into: &mut F) -> Result<()> {
            match name {
                $($name => {
                    let message: $message = format.read(bytes)?;
                    $(into.field(stringify!($field), message.$field);)*
                })*
                other => bail!("no message of charging is named {other}"),
            }
            Ok(())
        }

        /// The message of that name, given as JSON, in a format.
        pub(crate) fn encode(format: Format, name: &str, json: &str) -> Result<Vec<u8>> {
            match name {
                $($name => format.write(&Format::Json.read::<$message>(json.as_bytes())?),)*
                other => bail!("no message of charging is named {other}"),
            }
        }
    };
}

requests! {
    "reserve" => ReserveRequest { id, am }
    "debitReservation" => DebitReservationRequest { id, am, res }
    "directDebit" => DirectDebitRequest { id, am }
    "creditControl" => CreditControlRequest { id }
    "credit" => CreditRequest { id, am }
    "releaseRes" => ReleaseResRequest { res }
    "confirmAction" => ConfirmActionRequest { cn }
}
