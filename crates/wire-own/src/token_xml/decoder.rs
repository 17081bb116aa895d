//! Documents from tokens.

use std::sync::LazyLock;

use wirelab_contract::{Message, Operation};

use crate::infoset::chars;
use crate::infoset::source::DEPTH_MAX;
use crate::soap::Response;

use super::atom::{Atom, DAYS_MAX, DAYS_MIN};
use super::byte_reader::ByteReader;
use super::cache::Cache;
use super::dictionary::{NAMES, TEXTS, TokenCache};
use super::document::{Document, Item, Name, Span, prefix};
use super::error::{Error, ErrorKind, ReadError};
use super::token;

/// Items of one document: three for each of the fields of 100,000 records,
/// and the same number again.
pub const ITEMS_MAX: usize = 4_000_000;

/// Characters of one document written as XML, bytes: an upload of 64 MiB in
/// base64, and as much again for 100,000 long records.
pub const EXPANDED_BYTES_MAX: usize = 192 << 20;

/// Attributes of one element.
const ATTRIBUTES_MAX: usize = 64;

/// Where a name or a text of a cache lies in the document that held it last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CacheEntry<T> {
    /// The number of the document, from 1; 0 for none.
    document: u64,
    kept: T,
}

impl<T> CacheEntry<T> {
    /// Of what no document has held.
    pub(super) fn nowhere(kept: T) -> Self {
        CacheEntry { document: 0, kept }
    }
}

/// The receiving end of one connection in one direction.
#[derive(Debug)]
pub struct Decoder {
    cache: TokenCache,
    names: Cache<CacheEntry<Name>>,
    texts: Cache<CacheEntry<Span>>,
    /// Documents begun.
    documents: u64,
    /// A document was refused.
    out_of_sync: bool,
}

impl Decoder {
    /// An end that has received nothing yet, of a connection with that cache.
    #[must_use]
    pub fn new(cache: TokenCache) -> Self {
        type Caches = (Cache<CacheEntry<Name>>, Cache<CacheEntry<Span>>);
        // Made once per process: a new connection copies the fixed entries instead of
        // building them again.
        static FRESH: LazyLock<Caches> = LazyLock::new(|| {
            let name = |name: &str| CacheEntry::nowhere(Name::of(0, name, prefix(name)));
            (
                Cache::new(&NAMES, name),
                Cache::new(&TEXTS, |_| CacheEntry::default()),
            )
        });
        Decoder {
            cache,
            names: FRESH.0.with_spare_room(),
            texts: FRESH.1.with_spare_room(),
            documents: 0,
            out_of_sync: false,
        }
    }

    /// How many names and texts have entered the caches, the fixed ones
    /// included. Tokens of which none entered are the same document again, and
    /// change nothing, for as long as this number stays.
    #[must_use]
    pub fn insertions(&self) -> u64 {
        self.names.insertions() + self.texts.insertions()
    }

    /// Reads the request of `operation` that one whole document holds. After an
    /// error of the tokens the connection must be closed, as after one of
    /// [`Decoder::decode`].
    ///
    /// # Errors
    /// When `tokens` are not one document, or it is something else.
    pub fn read_request<M: Message>(
        &mut self,
        tokens: &[u8],
        operation: Operation,
    ) -> Result<M, ReadError> {
        Ok(self.decode(tokens)?.read_request(operation)?)
    }

    /// The same of a reply, or of a fault.
    ///
    /// # Errors
    /// As [`Decoder::read_request`].
    pub fn read_reply<M: Message>(
        &mut self,
        tokens: &[u8],
        operation: Operation,
    ) -> Result<Response<M>, ReadError> {
        Ok(self.decode(tokens)?.read_reply(operation)?)
    }

    /// Whether a document was refused, so that the other end's caches differ.
    #[must_use]
    pub fn out_of_sync(&self) -> bool {
        self.out_of_sync
    }

    /// Reads one whole document. After an error the connection must be
    /// closed: its caches are no longer those of the other end.
    ///
    /// # Errors
    /// When `tokens` are not one document.
    pub fn decode(&mut self, tokens: &[u8]) -> Result<Document, Error> {
        if self.out_of_sync {
            return Err(Error {
                offset: 0,
                kind: ErrorKind::OutOfSync,
            });
        }
        // From 1, so that 0 in a `CacheEntry` never equals a document. It replaces clearing
        // all places before each one.
        self.documents += 1;
        let mut reading = Reading {
            decoder: self,
            input: ByteReader::new(tokens),
            document: Document::with_room(tokens.len()),
            expanded: 0,
            state: State::Prolog,
            depth: 0,
            attributes: 0,
        };
        let read = reading.run();
        let document = std::mem::take(&mut reading.document);
        // A document that was read in part has entered some of its names, while the
        // sender has entered all: no later number would mean the same.
        self.out_of_sync = read.is_err();
        read.map(|()| document)
    }
}

/// What may come next. States from [`State::Tag`] on may be followed by the
/// end of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// The root element.
    Prolog,
    /// The value of an attribute.
    Value,
    /// Attributes or content of an element that has just begun.
    Tag,
    /// Content behind an end of an element.
    Content,
    /// An element's begin or end, because a text has just been read.
    AfterText,
}

/// A document that is being read.
struct Reading<'r> {
    decoder: &'r mut Decoder,
    input: ByteReader<'r>,
    document: Document,
    /// Bytes that the document so far takes as XML, about.
    expanded: usize,
    state: State,
    /// Open elements.
    depth: usize,
    /// Attributes of the element that has just begun.
    attributes: usize,
}

impl Reading<'_> {
    fn run(&mut self) -> Result<(), Error> {
        loop {
            self.input.begin_token();
            let byte = self.input.byte()?;
            self.token(byte)?;
            if self.document.items.len() > ITEMS_MAX {
                return Err(self.limit("items", ITEMS_MAX));
            }
            // A token of one byte can stand for 512 bytes of text, so that few tokens
            // could become a huge document, as with entities of XML.
            if self.expanded > EXPANDED_BYTES_MAX {
                return Err(self.limit("bytes as XML", EXPANDED_BYTES_MAX));
            }
            if self.depth == 0 {
                return self.input.end();
            }
        }
    }

    #[inline]
    fn token(&mut self, byte: u8) -> Result<(), Error> {
        match byte {
            token::CLOSE => self.close(),
            token::NEW_ELEMENT => self.new_name().and_then(|name| self.element(name)),
            token::FAR_ELEMENT => self.far_name().and_then(|name| self.element(name)),
            token::NEW_ATTRIBUTE => self.new_name().and_then(|name| self.attribute(name)),
            token::FAR_ATTRIBUTE => self.far_name().and_then(|name| self.attribute(name)),
            // With `token_cache=names` these tokens do not exist; the arm must precede
            // those that would read them.
            token::NEW_TEXT | token::FAR_TEXT | token::NEAR_TEXT.. if !self.caches_texts() => {
                Err(self.input.error(ErrorKind::UnknownToken(byte)))
            }
            token::NEW_TEXT => self.new_text().and_then(|text| self.value(text)),
            token::PLAIN_TEXT => self.plain_text().and_then(|text| self.value(text)),
            token::FAR_TEXT => self.far_text().and_then(|text| self.value(text)),
            token::FALSE => self.value(Item::Atom(Atom::Bool(false))),
            token::TRUE => self.value(Item::Atom(Atom::Bool(true))),
            token::INTEGER | token::DATE | token::DATE_TIME => self
                .number_atom(byte)
                .and_then(|atom| self.value(Item::Atom(atom))),
            token::SMALL_INTEGER..token::NEAR_ELEMENT => {
                let value = i64::from(byte - token::SMALL_INTEGER);
                self.value(Item::Atom(Atom::Int(value)))
            }
            token::NEAR_ELEMENT..token::NEAR_ATTRIBUTE => {
                let name = self.name(u64::from(byte - token::NEAR_ELEMENT))?;
                self.element(name)
            }
            token::NEAR_ATTRIBUTE..token::NEAR_TEXT => {
                let name = self.name(u64::from(byte - token::NEAR_ATTRIBUTE))?;
                self.attribute(name)
            }
            token::NEAR_TEXT.. => {
                let text = self.text(u64::from(byte - token::NEAR_TEXT))?;
                self.value(text)
            }
            other => Err(self.input.error(ErrorKind::UnknownToken(other))),
        }
    }

    #[inline]
    fn element(&mut self, name: Name) -> Result<(), Error> {
        if self.state == State::Value {
            return Err(self.misplaced("an attribute without a value"));
        }
        if self.depth >= DEPTH_MAX {
            return Err(self.limit("elements within elements", DEPTH_MAX));
        }
        self.depth += 1;
        // `<name></name>`: five characters of markup.
        self.expanded += 2 * name.bytes() + 5;
        self.attributes = 0;
        self.state = State::Tag;
        self.document.items.push(Item::Open(name));
        Ok(())
    }

    #[inline]
    fn attribute(&mut self, name: Name) -> Result<(), Error> {
        if self.state != State::Tag {
            return Err(self.misplaced("an attribute behind the begin of its element"));
        }
        if self.attributes == ATTRIBUTES_MAX {
            return Err(self.limit("attributes", ATTRIBUTES_MAX));
        }
        if self.is_duplicate(name) {
            return Err(self.misplaced("an attribute appears twice"));
        }
        self.attributes += 1;
        // ` name=""`: four characters of markup.
        self.expanded += name.bytes() + 4;
        self.state = State::Value;
        self.document.items.push(Item::Attribute(name));
        Ok(())
    }

    fn is_duplicate(&self, name: Name) -> bool {
        let text = self.document.name(name);
        let items = &self.document.items;
        // Quadratic in the attributes of one element, of which there are 64 at most. By
        // text, not by number: a name may have had two numbers.
        let own = &items[items.len() - 2 * self.attributes..];
        let duplicate =
            |item: &Item| matches!(item, Item::Attribute(n) if self.document.name(*n) == text);
        own.iter().any(duplicate)
    }

    #[inline]
    fn value(&mut self, item: Item) -> Result<(), Error> {
        self.state = match self.state {
            State::Tag | State::Content => State::AfterText,
            State::Value => State::Tag,
            State::Prolog | State::AfterText => return Err(self.misplaced_text()),
        };
        self.expanded += match item {
            Item::Text(text) => text.bytes(),
            // Digits and sign of the longest i64; dates and times have as many
            // characters at most.
            _ => 20,
        };
        if self.state == State::AfterText && matches!(item, Item::Text(text) if text.bytes() == 0) {
            return Err(self.misplaced("an empty text"));
        }
        self.document.items.push(item);
        Ok(())
    }

    #[cold]
    fn misplaced_text(&self) -> Error {
        self.misplaced(match self.state {
            State::Prolog => "a text before the root element",
            _ => "a text behind a text",
        })
    }

    #[inline]
    fn close(&mut self) -> Result<(), Error> {
        if self.state < State::Tag {
            return Err(self.misplaced_end());
        }
        self.depth -= 1;
        self.state = State::Content;
        self.document.items.push(Item::Close);
        Ok(())
    }

    #[cold]
    fn misplaced_end(&self) -> Error {
        self.misplaced(match self.state {
            State::Prolog => "an end before the root element",
            _ => "an attribute without a value",
        })
    }

    fn new_name(&mut self) -> Result<Name, Error> {
        let name = self.input.characters("a name", chars::NAME_BYTES_MAX)?;
        let Some((prefix, _)) = chars::split_name(name) else {
            return Err(self.input.error(ErrorKind::Characters("a name")));
        };
        let kept = self.document.keep_name(name, prefix);
        let entry = self.entry(kept);
        // Both ends insert at the same token, which keeps their numbers equal.
        self.decoder.names.insert(name, entry);
        Ok(kept)
    }

    fn far_name(&mut self) -> Result<Name, Error> {
        let number = self.input.number()?;
        self.name(number.saturating_add(token::NEAR as u64))
    }

    #[inline]
    fn name(&mut self, number: u64) -> Result<Name, Error> {
        let names = &mut self.decoder.names;
        let keep = Document::keep_known_name;
        place(
            names,
            number,
            self.decoder.documents,
            &mut self.document,
            keep,
        )
        .ok_or_else(|| {
            let what = "name";
            self.input.error(ErrorKind::Unknown { what, number })
        })
    }

    fn new_text(&mut self) -> Result<Item, Error> {
        let text = self
            .input
            .characters("a cached text", *token::CACHED_BYTES.end())?;
        self.check_text(text)?;
        let span = self.document.keep(text);
        let entry = self.entry(span);
        self.decoder.texts.insert(text, entry);
        Ok(Item::Text(span))
    }

    /// Whether tokens stand for texts on this connection.
    #[inline]
    fn caches_texts(&self) -> bool {
        self.decoder.cache == TokenCache::NamesAndTexts
    }

    fn entry<T>(&self, kept: T) -> CacheEntry<T> {
        let document = self.decoder.documents;
        CacheEntry { document, kept }
    }

    fn plain_text(&mut self) -> Result<Item, Error> {
        let text = self.input.characters("a text", EXPANDED_BYTES_MAX)?;
        self.check_text(text)?;
        Ok(Item::Text(self.document.keep(text)))
    }

    fn check_text(&self, text: &str) -> Result<(), Error> {
        match chars::find_illegal(text) {
            None => Ok(()),
            // Checked here, because the receiver may write the document as XML, where
            // such a character cannot even be escaped (XML 1.0 section 4.1).
            Some(_) => Err(self.input.error(ErrorKind::Characters("a text"))),
        }
    }

    fn far_text(&mut self) -> Result<Item, Error> {
        let number = self.input.number()?;
        self.text(number.saturating_add(token::NEAR as u64))
    }

    #[inline]
    fn text(&mut self, number: u64) -> Result<Item, Error> {
        let texts = &mut self.decoder.texts;
        let keep = |document: &mut Document, text: &str, _| document.keep(text);
        let span = place(
            texts,
            number,
            self.decoder.documents,
            &mut self.document,
            keep,
        );
        span.map(Item::Text).ok_or_else(|| {
            let what = "text";
            self.input.error(ErrorKind::Unknown { what, number })
        })
    }

    fn number_atom(&mut self, kind: u8) -> Result<Atom, Error> {
        let value = token::unzigzag(self.input.number()?);
        let days = match kind {
            token::INTEGER => return Ok(Atom::Int(value)),
            token::DATE => value,
            // Seconds to days, rounded down, also before 1970.
            _ => value.div_euclid(86_400),
        };
        if !(DAYS_MIN..=DAYS_MAX).contains(&days) {
            return Err(self.input.error(ErrorKind::Date));
        }
        Ok(match kind {
            token::DATE => Atom::Date(value as i32),
            _ => Atom::DateTime(value),
        })
    }

    #[cold]
    fn misplaced(&self, what: &'static str) -> Error {
        self.input.error(ErrorKind::Order(what))
    }

    #[cold]
    fn limit(&self, what: &'static str, limit: usize) -> Error {
        self.input.error(ErrorKind::Limit { what, limit })
    }
}

/// Where the name or text of a number lies in the document. It is copied there
/// once, however often it occurs, so that a document of few bytes stays small.
#[inline(always)]
fn place<T: Copy>(
    cache: &mut Cache<CacheEntry<T>>,
    number: u64,
    current: u64,
    document: &mut Document,
    keep: impl FnOnce(&mut Document, &str, T) -> T,
) -> Option<T> {
    let number = usize::try_from(number).ok()?;
    // Marks the entry as used, as the encoder did when it wrote the token: the clock of
    // both ends must take the same steps.
    let entry = cache.use_number(number)?;
    if entry.document == current {
        return Some(entry.kept);
    }
    Some(copy(cache, number, entry.kept, current, document, keep))
}

/// Copies the name or text of a number into the document.
#[inline(never)]
fn copy<T: Copy>(
    cache: &mut Cache<CacheEntry<T>>,
    number: usize,
    before: T,
    current: u64,
    document: &mut Document,
    keep: impl FnOnce(&mut Document, &str, T) -> T,
) -> T {
    let kept = keep(document, cache.text(number), before);
    let document = current;
    cache.note(number, CacheEntry { document, kept });
    kept
}
