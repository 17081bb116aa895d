//! Tokens from messages, without a document between.

use wirelab_contract::{Message, Operation};

use crate::infoset::value;
use crate::infoset::writer::Sink;
use crate::soap::{Form, writing};

use super::atom::Atom;
use super::encoder::{ATTRIBUTE, ELEMENT, Encoder, write_atom};
use super::token;

impl Encoder {
    /// Appends the tokens of a request's envelope: those of
    /// [`Document::of_request`](super::Document::of_request), without making the document.
    ///
    /// # Panics
    /// When `message` is not of the profile in contracts/README.md.
    pub fn encode_request<M: Message>(
        &mut self,
        operation: Operation,
        message: &M,
        out: &mut Vec<u8>,
    ) {
        let mut sink = TokenSink::new(self, out);
        writing::request(Form::PLAIN, operation, message, &mut sink);
    }
}

/// Appends the tokens of a document to bytes.
struct TokenSink<'e> {
    encoder: &'e mut Encoder,
    out: &'e mut Vec<u8>,
}

impl<'e> TokenSink<'e> {
    fn new(encoder: &'e mut Encoder, out: &'e mut Vec<u8>) -> Self {
        TokenSink { encoder, out }
    }

    /// Characters, in their shorter form where they have one.
    #[inline]
    fn value(&mut self, text: &str) {
        match Atom::of(text) {
            Some(atom) => write_atom(atom, self.out),
            None => self.encoder.text(text, self.out),
        }
    }
}

impl Sink for TokenSink<'_> {
    #[inline]
    fn open(&mut self, name: &str) {
        self.encoder.name(name, &ELEMENT, self.out);
    }

    #[inline]
    fn attribute(&mut self, name: &str, value: &str) {
        self.encoder.name(name, &ATTRIBUTE, self.out);
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
        write_atom(Atom::Int(value), self.out);
    }

    #[inline]
    fn boolean(&mut self, value: bool) {
        write_atom(Atom::Bool(value), self.out);
    }

    fn double(&mut self, value: f64) {
        let mut digits = Vec::with_capacity(24);
        value::write_double(value, &mut digits);
        self.text(std::str::from_utf8(&digits).expect("digits are ASCII"));
    }

    #[inline]
    fn close(&mut self, _: &str) {
        self.out.push(token::CLOSE);
    }
}
