//! The sources that an envelope may come from.

use std::borrow::Cow;

use serde::de::Deserialize;

use crate::token_xml::{Cursor, Document};
use crate::xml::Error;
use crate::xml::reader::{self, Shape};
use crate::xml::scanner::Scanner;
use crate::xml::source::{Element, Source, Step};

/// The text of a document, or its tokens.
pub(crate) enum Input<'de> {
    Text(Box<Scanner<'de>>),
    Tokens(Cursor<'de>),
}

impl<'de> Input<'de> {
    pub(super) fn text(document: &'de [u8]) -> Result<Self, Error> {
        let scanner = Scanner::new(document)?;
        Ok(Input::Text(Box::new(scanner)))
    }

    /// Reads the fields of a message from the element that is open, which
    /// ends. The reader is told here which source it has, once for all steps.
    pub(super) fn message<M: Deserialize<'de>>(
        &mut self,
        namespace: &str,
        shape: Shape,
    ) -> Result<M, Error> {
        match self {
            Input::Text(text) => reader::read(&mut **text, namespace, shape),
            Input::Tokens(tokens) => reader::read(tokens, namespace, shape),
        }
    }

    pub(crate) fn tokens(document: &'de Document) -> Self {
        Input::Tokens(Cursor::new(document))
    }
}

impl<'de> Source<'de> for Input<'de> {
    fn step(&mut self) -> Result<Step<'de>, Error> {
        match self {
            Input::Text(text) => text.step(),
            Input::Tokens(tokens) => tokens.step(),
        }
    }

    fn child(&mut self) -> Result<Option<Element<'de>>, Error> {
        match self {
            Input::Text(text) => text.child(),
            Input::Tokens(tokens) => tokens.child(),
        }
    }

    fn attribute(&self, namespace: &str, local: &str) -> Result<Option<Cow<'de, str>>, Error> {
        match self {
            Input::Text(text) => text.attribute(namespace, local),
            Input::Tokens(tokens) => tokens.attribute(namespace, local),
        }
    }

    fn namespace(&self, prefix: &str) -> Option<&'de str> {
        match self {
            Input::Text(text) => text.namespace(prefix),
            Input::Tokens(tokens) => tokens.namespace(prefix),
        }
    }

    fn follow(&mut self, id: &str) -> Result<Element<'de>, Error> {
        match self {
            Input::Text(text) => text.follow(id),
            Input::Tokens(tokens) => tokens.follow(id),
        }
    }

    fn back(&mut self) {
        match self {
            Input::Text(text) => text.back(),
            Input::Tokens(tokens) => tokens.back(),
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        match self {
            Input::Text(text) => text.finish(),
            Input::Tokens(tokens) => tokens.finish(),
        }
    }

    fn offset(&self) -> usize {
        match self {
            Input::Text(text) => text.offset(),
            Input::Tokens(tokens) => tokens.offset(),
        }
    }
}
