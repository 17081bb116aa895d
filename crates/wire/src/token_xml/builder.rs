//! Documents from messages, and from their text.

use crate::xml::scanner::Scanner;
use crate::xml::source::{Source, Step};
use crate::xml::writer::Sink;
use crate::xml::{self, value};

use super::atom::Atom;
use super::document::{Document, Item, prefix};

/// Takes a document piece by piece.
pub(super) struct Builder {
    document: Document,
    /// Room for the characters of a number.
    scratch: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            // As many as a message of one kilobyte has.
            document: Document::with_room(128),
            scratch: Vec::new(),
        }
    }
}

impl Builder {
    pub(super) fn finish(self) -> Document {
        self.document
    }

    fn push(&mut self, item: Item) {
        self.document.items.push(item);
    }

    /// Characters, in their shorter form where they have one.
    fn value(&mut self, text: &str) {
        let item = match Atom::of(text) {
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

/// See [`Document::parse`].
pub(super) fn parse(text: &[u8]) -> Result<Document, xml::Error> {
    let mut scanner = Scanner::new(text)?;
    let mut builder = Builder::default();
    let mut pending = String::new();
    let mut open = 0;
    loop {
        let step = scanner.step()?;
        if !matches!(step, Step::Text(_)) {
            builder.text(&pending);
            pending.clear();
        }
        match step {
            Step::Open(_) => {
                open += 1;
                builder.open(scanner.name());
                for attribute in scanner.attributes() {
                    let (name, value) = attribute?;
                    builder.attribute(name, &value);
                }
            }
            Step::Text(text) => pending.push_str(&text.into_str()),
            Step::Close => {
                open -= 1;
                builder.push(Item::Close);
            }
        }
        if open == 0 {
            scanner.finish()?;
            return Ok(builder.finish());
        }
    }
}
