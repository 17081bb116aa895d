//! Messages from envelopes.

use serde::de::Deserialize;
use wirelab_contract::{Message, Operation};

use crate::infoset::reader;
use crate::infoset::source::Source;
use crate::infoset::{Error, ErrorKind};

use super::envelope::Envelope;
use super::fault::Fault;
use super::format::{EnvelopeFormat, Style};

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub enum Response<M> {
    /// The reply.
    Message(M),
    /// A fault instead.
    Fault(Fault),
}

impl<'de, S: Source<'de>> Envelope<'de, S> {
    /// Reads the rest as the request of `operation`.
    ///
    /// # Errors
    /// When it is another message, or of another version.
    pub fn request<M: Message>(
        self,
        format: EnvelopeFormat,
        operation: Operation,
    ) -> Result<M, Error> {
        self.message(format, operation, format.request_child(operation, M::NAME))
    }

    /// Reads the rest as the reply of `operation`, or a fault.
    ///
    /// # Errors
    /// As [`Envelope::request`].
    pub fn reply<M: Message>(
        self,
        format: EnvelopeFormat,
        operation: Operation,
    ) -> Result<Response<M>, Error> {
        self.reply_as(format, operation, M::NAME)
    }

    /// As [`Envelope::reply`], into any structure, also one that borrows from
    /// the document; `name` is the message's.
    ///
    /// # Errors
    /// As [`Envelope::request`].
    pub fn reply_as<T: Deserialize<'de>>(
        self,
        format: EnvelopeFormat,
        operation: Operation,
        name: &str,
    ) -> Result<Response<T>, Error> {
        // By its element, not by the HTTP status: raw has none, and some SOAP 1.1
        // services send faults with 200.
        if self.is_fault() {
            return self.fault(format.style()).map(Response::Fault);
        }
        let message = self.message(format, operation, format.reply_child(operation, name))?;
        Ok(Response::Message(message))
    }

    fn fault(mut self, style: Style) -> Result<Fault, Error> {
        let fault = Fault::read(&mut self.source, &self.body, self.version)?;
        self.end(style)?;
        Ok(fault)
    }

    /// Reads the rest as the message whose element, the body's child, has that
    /// name.
    pub(super) fn message<T: Deserialize<'de>>(
        mut self,
        format: EnvelopeFormat,
        operation: Operation,
        child: [&str; 2],
    ) -> Result<T, Error> {
        self.check_version(format)?;
        self.check_body(format, operation, child)?;
        // The namespace of the fields, which differs from that of the message's element
        // in the rpc styles.
        let namespace = format.field_namespace(operation);
        let message = reader::read(&mut self.source, namespace, format.shape())?;
        self.end(format.style())?;
        Ok(message)
    }

    fn check_version(&self, format: EnvelopeFormat) -> Result<(), Error> {
        if self.version == format.version() {
            return Ok(());
        }
        let what = "an envelope of the other version of SOAP";
        Err(Error::new(0, ErrorKind::Envelope(what)))
    }

    /// The body's child must be the message, or in the rpc styles the
    /// operation. In rpc/encoded ours is in no namespace; other writers put it
    /// into the contract's.
    fn check_body(
        &self,
        format: EnvelopeFormat,
        operation: Operation,
        child: [&str; 2],
    ) -> Result<(), Error> {
        let namespace = operation.contract().namespace();
        // SOAP 1.1 section 7.1 leaves the namespace of the rpc element to the writer.
        let namespaces: &[&str] = match format.style() {
            Style::Literal | Style::Rpc => &[namespace],
            Style::Encoded => &["", namespace],
        };
        let child = child.concat();
        if namespaces.iter().any(|space| self.body.is(space, &child)) {
            return Ok(());
        }
        Err(self
            .body
            .unexpected(format!("{{{}}}{child}", namespaces[0])))
    }

    /// Proves that the envelope ends behind the body's child. In rpc/encoded
    /// elements may follow that were referred to.
    fn end(mut self, style: Style) -> Result<(), Error> {
        while let Some(sibling) = self.source.child()? {
            // Independent elements of SOAP 1.1 section 5.2.1.
            let referred = style == Style::Encoded && self.source.attribute("", "id")?.is_some();
            if !referred {
                return Err(sibling.unexpected("the end of the body"));
            }
            self.source.skip()?;
        }
        match self.source.child()? {
            None => self.source.finish(),
            Some(sibling) => Err(sibling.unexpected("the end of the envelope")),
        }
    }
}
