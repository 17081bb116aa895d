//! The services in Rust: `rest@rust` and `soap@rust` on axum and hyper,
//! `grpc@rust` on tonic, `iiop@rust` and `raw@rust` on a loop of our own.
//!
//! They know nothing of the lab except the process contract (docs/reference/process.md): a configuration on
//! standard input, one line when a call can be answered, metrics on a second
//! port, an end with standard input. [`serve_from_stdin`] is all of it. A
//! user's own contract is served apart from all of this, by [`serve_contract`].
//!
//! Every binding is written once over all contracts, whose answers come from
//! `wirelab-contract` by way of the `state`. Around the handlers lie two thin
//! layers of our own: `calls` (over HTTP) and `exchange` (elsewhere) count
//! every call and commit the faults that were switched on, and `fault_io` has
//! the bytes of a connection in hand, so that "two sends" or "a reset instead
//! of a reply" are exact.

#![deny(missing_docs)]

mod binding;
mod codec;
mod connection;
mod documents;
mod dynamic;
mod faults;
mod metrics;
mod mutants;
mod process;
mod service;

use wirelab_contract::refusal;

pub use codec::times::{Batch, CodecTimes};
pub use documents::config::{
    Collector, ServiceConfig, SocketOptions, Stack, Store, StoreKind, TlsFiles, Writes,
};
pub use documents::ready::{Library, Ready, Role};
pub use dynamic::serve_contract;
pub use faults::{Every, FaultSwitches, Freeze, Wrong, WrongReplies};
pub use process::serve_from_stdin;
pub use refusal::{Refusal, Refused};
pub use service::{CallError, rows};
pub use wirelab_stack::{
    Binding, Codec, Compression, EndOfMessage, Flush, HttpCache, Reply, Security, SoapVersion,
    TokenCache, Transport,
};

/// Bodies of XML and SOAP, read and written as the services do: for the example
/// `xml_decoding`, which times it.
#[doc(hidden)]
pub mod bodies {
    use wirelab_contract::{Message, Operation};
    use wirelab_wire_own::soap::EnvelopeFormat;

    use crate::binding::soap::text::Envelope;
    use crate::binding::soap::writer;
    use crate::codec::xml;

    /// A message as an XML document.
    #[must_use]
    pub fn write_xml<M: Message>(message: &M) -> Vec<u8> {
        xml::write(message)
    }

    /// Reads a message from an XML document.
    ///
    /// # Errors
    /// Why it is not that message.
    pub fn read_xml<M: Message>(document: &[u8]) -> Result<M, String> {
        xml::read(document).map_err(|error| error.to_string())
    }

    /// A request as an envelope of SOAP 1.1, document/literal.
    #[must_use]
    pub fn write_soap<M: Message>(operation: Operation, message: M) -> Vec<u8> {
        writer::request(EnvelopeFormat::DOCUMENT_LITERAL, operation, message, None)
    }

    /// Reads a request from such an envelope.
    ///
    /// # Errors
    /// Why it is not that request.
    pub fn read_soap<M: Message>(operation: Operation, document: &[u8]) -> Result<M, String> {
        let envelope = Envelope::parse(document).map_err(|error| error.to_string())?;
        envelope
            .request(EnvelopeFormat::DOCUMENT_LITERAL, operation)
            .map_err(|error| error.to_string())
    }
}
