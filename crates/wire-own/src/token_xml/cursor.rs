//! A document's items as a source of elements and texts.

use std::borrow::Cow;
use std::ops::Range;

use wirelab_contract::{Message, Operation};

use crate::infoset::scope::Scope;
use crate::infoset::source::{DEPTH_MAX, Element, Source, Step, Text, affects_value, joined_text};
use crate::infoset::{Error, ErrorKind};
use crate::soap::{Envelope, EnvelopeError, EnvelopeFormat, Response};

use super::atom::Atom;
use super::document::{Document, Item, Name};

/// A document that is being read.
#[derive(Debug)]
pub struct Cursor<'de> {
    document: &'de Document,
    at: usize,
    depth: usize,
    // Tokens keep prefixes as they were written, so that namespaces are resolved here,
    // like in a text.
    scope: Scope<'de>,
    /// Items that are the attributes of the element opened last, each with
    /// its value behind it.
    attributes: Range<usize>,
}

impl<'de> Cursor<'de> {
    /// A cursor before the root element of `document`.
    #[must_use]
    pub fn new(document: &'de Document) -> Self {
        Cursor {
            document,
            at: 0,
            depth: 0,
            scope: Scope::default(),
            attributes: 0..0,
        }
    }

    /// Opens the child that begins here, if there is one without a prefix and
    /// attributes, as nearly all are.
    #[inline(always)]
    fn fast_path_child(&mut self) -> Option<Element<'de>> {
        // Lookahead of one item shows whether attributes follow.
        let [Item::Open(name), next, ..] = self.document.items.get(self.at..)? else {
            return None;
        };
        if matches!(next, Item::Attribute(_)) || name.is_prefixed() || self.depth >= DEPTH_MAX {
            return None;
        }
        let offset = self.at;
        self.depth += 1;
        self.at += 1;
        self.attributes = self.at..self.at;
        Some(Element {
            namespace: self.scope.default_namespace(),
            local: self.document.name(*name),
            has_value_attribute: false,
            offset,
        })
    }

    /// The next item, of any kind; as [`Source::child`].
    #[inline(never)]
    fn slow_path_child(&mut self) -> Result<Option<Element<'de>>, Error> {
        loop {
            let offset = self.at;
            match self.document.items.get(offset) {
                Some(Item::Open(name)) => {
                    self.at += 1;
                    return self.open(*name).map(Some);
                }
                Some(Item::Close) => {
                    self.at += 1;
                    self.close();
                    return Ok(None);
                }
                _ => match self.step()? {
                    Step::Text(text) if text.is_blank() => {}
                    _ => return Err(Error::new(offset, ErrorKind::UnexpectedText)),
                },
            }
        }
    }

    /// The value behind which the open element ends, as it does mostly; the
    /// element ends then.
    #[inline(always)]
    fn fast_path_text(&mut self) -> Option<Text<'de>> {
        let (text, items) = match self.document.items.get(self.at..)? {
            [Item::Text(text), Item::Close, ..] => {
                (Text::Str(Cow::Borrowed(self.document.text(*text))), 2)
            }
            [Item::Atom(Atom::Int(value)), Item::Close, ..] => (Text::Int(*value), 2),
            [Item::Close, ..] => (Text::Str(Cow::Borrowed("")), 1),
            _ => return None,
        };
        self.at += items;
        self.close();
        Some(text)
    }

    fn open(&mut self, name: Name) -> Result<Element<'de>, Error> {
        let offset = self.at - 1;
        if self.depth >= DEPTH_MAX {
            return Err(Error::limit(offset, "elements within elements", DEPTH_MAX));
        }
        self.depth += 1;
        let has_value_attribute = self.pass_attributes()?;
        let (prefix, local) = self.document.parts(name);
        Ok(Element {
            namespace: self.scope.of_element(prefix, offset)?,
            local,
            has_value_attribute,
            offset,
        })
    }

    /// Goes behind the attributes, and takes those that declare namespaces.
    /// Returns whether one of the others affects the element's value.
    fn pass_attributes(&mut self) -> Result<bool, Error> {
        let begin = self.at;
        let mut has_value_attribute = false;
        while let Some(Item::Attribute(name)) = self.document.items.get(self.at) {
            let name = self.document.name(*name);
            match Scope::prefix_declared_by(name) {
                Some(prefix) => self.declare(prefix)?,
                None => has_value_attribute |= name.rsplit(':').next().is_some_and(affects_value),
            }
            self.at += 2;
        }
        self.attributes = begin..self.at;
        Ok(has_value_attribute)
    }

    fn declare(&mut self, prefix: &'de str) -> Result<(), Error> {
        let Some(Item::Text(namespace)) = self.document.items.get(self.at + 1) else {
            return Err(Error::syntax(self.at, "a number is not a namespace"));
        };
        let namespace = self.document.text(*namespace);
        self.scope.declare(prefix, namespace, self.depth, self.at)
    }

    #[inline]
    fn close(&mut self) {
        self.depth -= 1;
        self.scope.leave(self.depth);
    }

    fn value(&self, at: usize) -> Option<Text<'de>> {
        match *self.document.items.get(at)? {
            Item::Text(text) => Some(Text::Str(Cow::Borrowed(self.document.text(text)))),
            Item::Atom(Atom::Int(value)) => Some(Text::Int(value)),
            Item::Atom(Atom::Bool(value)) => Some(Text::Bool(value)),
            Item::Atom(other) => Some(Text::Str(Cow::Owned(other.text()))),
            Item::Open(_) | Item::Attribute(_) | Item::Close => None,
        }
    }
}

impl<'de> Source<'de> for Cursor<'de> {
    fn step(&mut self) -> Result<Step<'de>, Error> {
        let Some(item) = self.document.items.get(self.at) else {
            return Err(Error::new(self.at, ErrorKind::Truncated));
        };
        self.at += 1;
        match item {
            Item::Open(name) => self.open(*name).map(Step::Open),
            Item::Close => {
                self.close();
                Ok(Step::Close)
            }
            Item::Attribute(_) => Err(Error::syntax(self.at - 1, "an attribute in a text")),
            Item::Text(_) | Item::Atom(_) => match self.value(self.at - 1) {
                Some(text) => Ok(Step::Text(text)),
                None => unreachable!("texts and atoms have values"),
            },
        }
    }

    #[inline(always)]
    fn child(&mut self) -> Result<Option<Element<'de>>, Error> {
        match self.fast_path_child() {
            None => self.slow_path_child(),
            child => Ok(child),
        }
    }

    #[inline(always)]
    fn text(&mut self) -> Result<Text<'de>, Error> {
        match self.fast_path_text() {
            None => joined_text(self),
            Some(text) => Ok(text),
        }
    }

    fn attribute(&self, namespace: &str, local: &str) -> Result<Option<Cow<'de, str>>, Error> {
        for at in self.attributes.clone().step_by(2) {
            let Some(Item::Attribute(name)) = self.document.items.get(at) else {
                continue;
            };
            let name = self.document.name(*name);
            if Scope::prefix_declared_by(name).is_none()
                && self.scope.attribute(name, at)? == (namespace, local)
            {
                return Ok(self.value(at + 1).map(Text::into_str));
            }
        }
        Ok(None)
    }

    fn namespace(&self, prefix: &str) -> Option<&'de str> {
        self.scope.find(prefix)
    }

    fn follow(&mut self, id: &str) -> Result<Element<'de>, Error> {
        let fault = "is in tokens, which carry no references";
        let id = id.to_owned();
        Err(Error::new(self.at, ErrorKind::Reference { id, fault }))
    }

    // Never called, because `follow` always fails: rpc/encoded has no tokens (raw is
    // document/literal).
    fn back(&mut self) {}

    fn finish(&mut self) -> Result<(), Error> {
        if self.at == self.document.items.len() {
            return Ok(());
        }
        Err(Error::new(self.at, ErrorKind::Trailing))
    }

    fn offset(&self) -> usize {
        self.at
    }
}

/// Envelopes of SOAP, read without their text.
impl Document {
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
        Ok(envelope.request(EnvelopeFormat::DOCUMENT_LITERAL, operation)?)
    }

    /// Reads the reply of `operation`, or a fault, without making the text.
    ///
    /// # Errors
    /// When the document is something else.
    pub fn read_reply<M: Message>(
        &self,
        operation: Operation,
    ) -> Result<Response<M>, EnvelopeError> {
        Ok(self
            .envelope()?
            .reply(EnvelopeFormat::DOCUMENT_LITERAL, operation)?)
    }
}
