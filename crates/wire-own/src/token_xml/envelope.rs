//! Envelopes of SOAP as documents, without their text.

use wirelab_contract::{Message, Operation};

use crate::soap::{Answer, Envelope, EnvelopeError, Fault, Form, writing};

use super::builder::Builder;
use super::cursor::Cursor;
use super::document::Document;

impl Document {
    /// The envelope of a request, made without its text.
    #[must_use]
    pub fn of_request<M: Message>(operation: Operation, message: &M) -> Self {
        let mut builder = Builder::default();
        writing::request(Form::PLAIN, operation, message, &mut builder);
        builder.finish()
    }

    /// The envelope of a reply, made without its text.
    #[must_use]
    pub fn of_reply<M: Message>(operation: Operation, message: &M) -> Self {
        let mut builder = Builder::default();
        writing::reply(Form::PLAIN, operation, message, &mut builder);
        builder.finish()
    }

    /// The envelope of a fault, made without its text.
    #[must_use]
    pub fn of_fault(fault: &Fault) -> Self {
        let mut builder = Builder::default();
        writing::fault(Form::PLAIN, fault, &mut builder);
        builder.finish()
    }

    /// The document as an envelope.
    ///
    /// # Errors
    /// When it is none.
    pub fn envelope(&self) -> Result<Envelope<'_, Cursor<'_>>, EnvelopeError> {
        Envelope::open(Cursor::new(self))
    }

    /// Reads the request of `operation`, without making the text.
    ///
    /// # Errors
    /// When the document is something else.
    pub fn read_request<M: Message>(&self, operation: Operation) -> Result<M, EnvelopeError> {
        let envelope = self.envelope()?;
        Ok(envelope.request(Form::PLAIN, operation)?)
    }

    /// Reads the reply of `operation`, or a fault, without making the text.
    ///
    /// # Errors
    /// When the document is something else.
    pub fn read_reply<M: Message>(&self, operation: Operation) -> Result<Answer<M>, EnvelopeError> {
        Ok(self.envelope()?.reply(Form::PLAIN, operation)?)
    }
}
