//! Documents from messages, or from any other writer of elements.

use wirelab_contract::{Message, Operation};

use crate::infoset::value;
use crate::infoset::writer::Sink;
use crate::soap::{EnvelopeFormat, Fault, writer};

use super::atom::Atom;
use super::document::{Document, Item, prefix};

/// Takes a document piece by piece.
#[derive(Debug)]
pub struct Builder {
    document: Document,
    /// Room for the characters of a number.
    scratch: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            // The items of a message of one kilobyte.
            document: Document::with_room(128),
            scratch: Vec::new(),
        }
    }
}

impl Builder {
    /// The document whose root element has been closed.
    #[must_use]
    pub fn finish(self) -> Document {
        self.document
    }

    fn push(&mut self, item: Item) {
        self.document.items.push(item);
    }

    /// Characters, in their shorter form where they have one.
    fn value(&mut self, text: &str) {
        let item = match Atom::of(text) {
            // The text decides, not the type: both ends would otherwise need the
            // schema.
            Some(atom) => Item::Atom(atom),
            None => Item::Text(self.document.keep(text)),
        };
        self.push(item);
    }
}

impl Sink for Builder {
    #[inline]
    fn open(&mut self, name: &str) {
        let name = self.document.keep_name(name, prefix(name));
        self.push(Item::Open(name));
    }

    #[inline]
    fn attribute(&mut self, name: &str, value: &str) {
        let name = self.document.keep_name(name, prefix(name));
        self.push(Item::Attribute(name));
        self.value(value);
    }

    #[inline]
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.value(text);
        }
    }

    #[inline]
    fn plain(&mut self, text: &str) {
        self.text(text);
    }

    #[inline]
    fn integer(&mut self, value: i64) {
        self.push(Item::Atom(Atom::Int(value)));
    }

    #[inline]
    fn boolean(&mut self, value: bool) {
        self.push(Item::Atom(Atom::Bool(value)));
    }

    #[inline]
    fn double(&mut self, value: f64) {
        // Taken out for the borrow of `self.text`; the allocation is kept for the next
        // double.
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        value::write_double(value, &mut scratch);
        self.text(std::str::from_utf8(&scratch).expect("digits are ASCII"));
        self.scratch = scratch;
    }

    #[inline]
    fn close(&mut self, _: &str) {
        self.push(Item::Close);
    }
}

/// Envelopes of SOAP, made without their text.
impl Document {
    /// The envelope of a request, made without its text.
    #[must_use]
    pub fn of_request<M: Message>(operation: Operation, message: &M) -> Self {
        let mut builder = Builder::default();
        writer::request(
            EnvelopeFormat::DOCUMENT_LITERAL,
            operation,
            message,
            &mut builder,
        );
        builder.finish()
    }

    /// The envelope of a reply, made without its text.
    #[must_use]
    pub fn of_reply<M: Message>(operation: Operation, message: &M) -> Self {
        let mut builder = Builder::default();
        writer::reply(
            EnvelopeFormat::DOCUMENT_LITERAL,
            operation,
            message,
            &mut builder,
        );
        builder.finish()
    }

    /// The envelope of a fault, made without its text.
    #[must_use]
    pub fn of_fault(fault: &Fault) -> Self {
        let mut builder = Builder::default();
        writer::fault(EnvelopeFormat::DOCUMENT_LITERAL, fault, &mut builder);
        builder.finish()
    }
}
