//! Tokens from documents, and from messages without a document between.

use std::sync::LazyLock;

use wirelab_contract::{Message, Operation};

use super::atom::Atom;
use super::cache::Index;
use super::dictionary::{NAMES, TEXTS, TokenCache};
use super::document::{Document, Item};
use super::token;
use crate::infoset::value;
use crate::infoset::writer::Sink;
use crate::soap::{EnvelopeFormat, writer};

/// The sending end of one connection in one direction.
///
/// Every document that is encoded must be sent, whole and in order, because
/// the other end's caches follow the tokens.
#[derive(Debug)]
pub struct Encoder {
    cache: TokenCache,
    names: Index,
    texts: Index,
}

impl Encoder {
    /// An end that has sent nothing yet, of a connection with that cache.
    #[must_use]
    pub fn new(cache: TokenCache) -> Self {
        static FRESH: LazyLock<(Index, Index)> =
            LazyLock::new(|| (Index::new(&NAMES), Index::new(&TEXTS)));
        Encoder {
            cache,
            names: FRESH.0.with_spare_room(),
            texts: FRESH.1.with_spare_room(),
        }
    }

    /// How many names and texts have entered the caches, the fixed ones
    /// included. A document that entered none has the same tokens again, and
    /// changes nothing, for as long as this number stays.
    #[must_use]
    pub fn insertions(&self) -> u64 {
        self.names.insertions() + self.texts.insertions()
    }

    /// Appends the tokens of a document to `out`.
    pub fn encode(&mut self, document: &Document, out: &mut Vec<u8>) {
        for item in &document.items {
            match item {
                Item::Open(name) => self.name(document.name(*name), &ELEMENT, out),
                Item::Attribute(name) => self.name(document.name(*name), &ATTRIBUTE, out),
                Item::Text(text) => self.text(document.text(*text), out),
                Item::Atom(atom) => write_atom(*atom, out),
                // One byte for every end, because elements nest and the name is known.
                Item::Close => out.push(token::CLOSE),
            }
        }
    }

    #[inline]
    pub(super) fn name(&mut self, name: &str, tokens: &NameTokens, out: &mut Vec<u8>) {
        // Elements and attributes share one cache, as one name may be both; the token
        // shows which it is here.
        match self.names.predict(name) {
            Some(number) => write_near(number, tokens.near, tokens.far, out),
            None => self.slow_path_name(name, tokens, out),
        }
    }

    #[inline(never)]
    fn slow_path_name(&mut self, name: &str, tokens: &NameTokens, out: &mut Vec<u8>) {
        match self.names.find_or_insert(name) {
            Some(number) => write_near(number, tokens.near, tokens.far, out),
            None => write_characters(tokens.new, name, out),
        }
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        let cached = self.cache == TokenCache::NamesAndTexts;
        // The decoder has the same limits: both caches must stay equal.
        if !cached || !token::CACHED_BYTES.contains(&text.len()) {
            return write_characters(token::PLAIN_TEXT, text, out);
        }
        match self.texts.predict(text) {
            Some(number) => write_near(number, token::NEAR_TEXT, token::FAR_TEXT, out),
            None => self.slow_path_text(text, out),
        }
    }

    #[inline(never)]
    fn slow_path_text(&mut self, text: &str, out: &mut Vec<u8>) {
        match self.texts.find_or_insert(text) {
            Some(number) => write_near(number, token::NEAR_TEXT, token::FAR_TEXT, out),
            None => write_characters(token::NEW_TEXT, text, out),
        }
    }
}

pub(super) struct NameTokens {
    new: u8,
    near: u8,
    far: u8,
}

pub(super) const ELEMENT: NameTokens = NameTokens {
    new: token::NEW_ELEMENT,
    near: token::NEAR_ELEMENT,
    far: token::FAR_ELEMENT,
};

pub(super) const ATTRIBUTE: NameTokens = NameTokens {
    new: token::NEW_ATTRIBUTE,
    near: token::NEAR_ATTRIBUTE,
    far: token::FAR_ATTRIBUTE,
};

#[inline]
fn write_near(number: usize, near: u8, far: u8, out: &mut Vec<u8>) {
    if number < token::NEAR {
        // No overflow: the three ranges of near tokens are 64 wide each.
        out.push(near + number as u8);
    } else {
        out.push(far);
        token::write_number((number - token::NEAR) as u64, out);
    }
}

#[inline]
fn write_characters(kind: u8, text: &str, out: &mut Vec<u8>) {
    out.push(kind);
    token::write_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

#[inline]
pub(super) fn write_atom(atom: Atom, out: &mut Vec<u8>) {
    let (kind, value) = match atom {
        Atom::Bool(false) => return out.push(token::FALSE),
        Atom::Bool(true) => return out.push(token::TRUE),
        // Most numbers of messages are small: a counter, a day, a length.
        Atom::Int(value @ 0..token::SMALL) => return out.push(token::SMALL_INTEGER + value as u8),
        Atom::Int(value) => (token::INTEGER, value),
        Atom::Date(days) => (token::DATE, i64::from(days)),
        Atom::DateTime(seconds) => (token::DATE_TIME, seconds),
    };
    out.push(kind);
    token::write_number(token::zigzag(value), out);
}

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
        writer::request(
            EnvelopeFormat::DOCUMENT_LITERAL,
            operation,
            message,
            &mut sink,
        );
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
        // An empty text is none in a document (docs/reference/token-xml.md), but a
        // value of an attribute may be empty.
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
        // The longest double in its shortest form, `-2.2250738585072014e-308`, has 24
        // characters.
        let mut digits = Vec::with_capacity(24);
        value::write_double(value, &mut digits);
        self.text(std::str::from_utf8(&digits).expect("digits are ASCII"));
    }

    #[inline]
    fn close(&mut self, _: &str) {
        self.out.push(token::CLOSE);
    }
}
