//! Bodies of XML and SOAP, read and written as the services do: for
//! `examples/xml_decoding`, which times it.

use wirelab_contract::{Message, Operation};
use wirelab_wire_own::soap::EnvelopeFormat;

use crate::soap::text::Envelope;
use crate::soap::writer;
use crate::xml;

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
