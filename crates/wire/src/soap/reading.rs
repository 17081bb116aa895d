//! Messages from envelopes.

use serde::de::Deserialize;
use wirelab_contract::{Message, Operation};

use crate::xml::source::Source;
use crate::xml::{Error, ErrorKind};

use super::envelope::{Envelope, EnvelopeError};
use super::fault::Fault;
use super::form::{Form, Style};

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<M> {
    /// The reply.
    Message(M),
    /// A fault instead.
    Fault(Fault),
}

/// Reads the request of `operation` from a document.
///
/// # Errors
/// When it is no envelope, or holds something else.
pub fn read_request<M: Message>(
    form: Form,
    operation: Operation,
    document: &[u8],
) -> Result<M, EnvelopeError> {
    Ok(Envelope::parse(document)?.request(form, operation)?)
}

/// Reads the reply of `operation`, or a fault, from a document.
///
/// # Errors
/// As [`read_request`].
pub fn read_reply<M: Message>(
    form: Form,
    operation: Operation,
    document: &[u8],
) -> Result<Answer<M>, EnvelopeError> {
    Ok(Envelope::parse(document)?.reply(form, operation)?)
}

impl<'de> Envelope<'de> {
    /// Reads the rest as the request of `operation`.
    ///
    /// # Errors
    /// When it is another message, or of another version.
    pub fn request<M: Message>(self, form: Form, operation: Operation) -> Result<M, Error> {
        self.message(form, operation, M::NAME, operation.lower_camel())
    }

    /// Reads the rest as the reply of `operation`, or a fault.
    ///
    /// # Errors
    /// As [`Envelope::request`].
    pub fn reply<M: Message>(self, form: Form, operation: Operation) -> Result<Answer<M>, Error> {
        self.reply_as(form, operation, M::NAME)
    }

    /// As [`Envelope::reply`], into any structure, also one that borrows from
    /// the document; `name` is the message's.
    ///
    /// # Errors
    /// As [`Envelope::request`].
    pub fn reply_as<T: Deserialize<'de>>(
        self,
        form: Form,
        operation: Operation,
        name: &str,
    ) -> Result<Answer<T>, Error> {
        if self.is_fault() {
            return self.fault(form.style()).map(Answer::Fault);
        }
        let wrapper = reply_wrapper(operation);
        let message = self.message(form, operation, name, &wrapper)?;
        Ok(Answer::Message(message))
    }

    fn fault(mut self, style: Style) -> Result<Fault, Error> {
        let fault = Fault::read(&mut self.source, &self.body, self.version)?;
        self.end(style)?;
        Ok(fault)
    }

    fn message<T: Deserialize<'de>>(
        mut self,
        form: Form,
        operation: Operation,
        name: &str,
        wrapper: &str,
    ) -> Result<T, Error> {
        self.prove_version(form)?;
        self.prove_body(form, operation, name, wrapper)?;
        let message = self
            .source
            .message(form.field_namespace(operation), form.shape())?;
        self.end(form.style())?;
        Ok(message)
    }

    fn prove_version(&self, form: Form) -> Result<(), Error> {
        if self.version == form.version() {
            return Ok(());
        }
        let what = "an envelope of the other version of SOAP";
        Err(Error::new(0, ErrorKind::Envelope(what)))
    }

    /// The body's child must be the message, or in the rpc styles the
    /// operation. In rpc/encoded ours is in no namespace; other writers put it
    /// into the contract's.
    fn prove_body(
        &self,
        form: Form,
        operation: Operation,
        name: &str,
        wrapper: &str,
    ) -> Result<(), Error> {
        let namespace = operation.contract().namespace();
        let (namespaces, wanted): (&[&str], _) = match form.style() {
            Style::Literal => (&[namespace], name),
            Style::Rpc => (&[namespace], wrapper),
            Style::Encoded => (&["", namespace], wrapper),
        };
        if namespaces.iter().any(|space| self.body.is(space, wanted)) {
            return Ok(());
        }
        Err(self
            .body
            .unexpected(format!("{{{}}}{wanted}", namespaces[0])))
    }

    /// Proves that the envelope ends behind the body's child. In rpc/encoded
    /// elements may follow that were referred to.
    fn end(mut self, style: Style) -> Result<(), Error> {
        while let Some(beside) = self.source.child()? {
            let referred = style == Style::Encoded && self.source.attribute("", "id")?.is_some();
            if !referred {
                return Err(beside.unexpected("the end of the body"));
            }
            self.source.skip()?;
        }
        match self.source.child()? {
            None => self.source.finish(),
            Some(beside) => Err(beside.unexpected("the end of the envelope")),
        }
    }
}

/// The body's child of a reply in the rpc styles.
pub(super) fn reply_wrapper(operation: Operation) -> String {
    format!("{}Response", operation.lower_camel())
}
