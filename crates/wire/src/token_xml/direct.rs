//! Messages from tokens as our own encoders lay them out, without a document
//! between: an envelope without a header, the fields in the contract's order,
//! every element below the message's in its namespace and without attributes.
//!
//! What is unusual in any way, and all that is wrong, is left to the decoder,
//! which reads the tokens from their begin, and tells the error.

use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use wirelab_contract::Message;

use crate::xml::bytes::equal;
use crate::xml::chars;
use crate::xml::usual::Unusual;

use super::atom::Atom;
use super::cache::Cache;
use super::decoder::{EXPANDED_BYTES_MAX, ITEMS_MAX, Place};
use super::document::{Name, Span};
use super::input::Input;
use super::token;
use super::usual::digits;

/// How an envelope begins: its element, the namespace of SOAP, its body, all by
/// their fixed numbers.
const BEGIN: [u8; 4] = [
    token::NEAR_ELEMENT,
    token::NEAR_ATTRIBUTE + 1,
    token::NEAR_TEXT,
    token::NEAR_ELEMENT + 3,
];

/// `xmlns` by its fixed number.
const NAMESPACE: u8 = token::NEAR_ATTRIBUTE + 9;

/// More bytes than the begin of an envelope takes as XML.
const BEGIN_EXPANDED: usize = 1024;

/// By how much a large document may grow as XML. Those that are usual grow by less;
/// one that grows by more could be refused in the end, when its texts have been
/// copied out of the cache.
const EXPANSION_MAX: usize = 16;

/// No fewer than an atom takes, as the decoder counts them.
const ATOM_EXPANDED: usize = 20;

/// Reads the message that `tokens` hold in that namespace, where they are as
/// usual. Else the caches are as they were, but for marks of use that reading
/// the same tokens again sets again.
pub(super) fn read<M: Message>(
    names: &mut Cache<Place<Name>>,
    texts: &mut Cache<Place<Span>>,
    tokens: &[u8],
    namespace: &str,
) -> Option<M> {
    let rest = tokens.strip_prefix(&BEGIN)?;
    if tokens.len() > ITEMS_MAX {
        return None;
    }
    let before = (names.mark(), texts.mark());
    let mut reader = Reader {
        names,
        texts,
        input: Input::new(rest),
        next: None,
        expanded: BEGIN_EXPANDED,
        expanded_max: EXPANDED_BYTES_MAX.min((1 << 20) + EXPANSION_MAX * tokens.len()),
    };
    let message = reader.message(namespace).ok();
    if message.is_none() {
        names.back(before.0);
        texts.back(before.1);
    }
    message
}

struct Reader<'r> {
    names: &'r mut Cache<Place<Name>>,
    texts: &'r mut Cache<Place<Span>>,
    input: Input<'r>,
    /// What was read to see whether a list goes on.
    next: Option<Next<'r>>,
    /// Bytes that the document so far takes as XML, no fewer than the decoder
    /// would count.
    expanded: usize,
    expanded_max: usize,
}

/// What stands where an element may begin.
#[derive(Clone, Copy)]
enum Next<'r> {
    /// An element whose name has this number.
    Known(usize),
    /// An element whose name is new.
    New(&'r [u8]),
    /// The end of the open element.
    Close,
}

impl<'r> Reader<'r> {
    /// The message, and the ends of the body and of the envelope.
    fn message<M: Message>(&mut self, namespace: &str) -> Result<M, Unusual> {
        let element = self.next()?;
        if !self.is(element, M::NAME) || self.byte()? != NAMESPACE || !self.text_is(namespace)? {
            return Err(Unusual);
        }
        let whole = Value {
            reader: self,
            name: M::NAME,
        };
        let message = M::deserialize(whole)?;
        self.close()?;
        self.close()?;
        self.input.end().map_err(|_| Unusual)?;
        // Elements are counted only.
        self.spend(0)?;
        Ok(message)
    }

    /// What stands next where an element may begin.
    #[inline(always)]
    fn next(&mut self) -> Result<Next<'r>, Unusual> {
        if let Some(next) = self.next.take() {
            return Ok(next);
        }
        match self.byte()? {
            token::CLOSE => Ok(Next::Close),
            byte @ token::NEAR_ELEMENT..token::NEAR_ATTRIBUTE => {
                self.known(u64::from(byte - token::NEAR_ELEMENT))
            }
            token::NEW_ELEMENT => {
                let name = self.input.bytes("", chars::NAME_BYTES_MAX);
                name.map(Next::New).map_err(|_| Unusual)
            }
            token::FAR_ELEMENT => {
                let number = self.far()?;
                self.known(number)
            }
            _ => Err(Unusual),
        }
    }

    #[inline(always)]
    fn known(&mut self, number: u64) -> Result<Next<'r>, Unusual> {
        let number = usize::try_from(number).map_err(|_| Unusual)?;
        self.names.used(number).ok_or(Unusual)?;
        Ok(Next::Known(number))
    }

    /// Whether that is an element of this name. One that is new enters the cache;
    /// where that is full, it passes for another, which nothing here can read.
    #[inline(always)]
    fn is(&mut self, element: Next<'_>, name: &str) -> bool {
        let found = match element {
            Next::Known(number) => self.names.is(number, name),
            Next::New(new) => {
                let place = Place::nowhere(Name::of(0, name, ""));
                equal(new, name.as_bytes()) && self.names.append(name, place).is_some()
            }
            Next::Close => false,
        };
        self.expanded += if found { 2 * name.len() + 5 } else { 0 };
        found
    }

    /// Whether the text that stands next is this one.
    fn text_is(&mut self, expected: &str) -> Result<bool, Unusual> {
        let byte = self.byte()?;
        if byte != token::NEW_TEXT {
            let number = self.cached(byte)?;
            return Ok(self.texts.is(number, expected));
        }
        let text = self.input.bytes("", *token::CACHED_BYTES.end());
        Ok(text.map_err(|_| Unusual)? == expected.as_bytes()
            && self.texts.append(expected, Place::default()).is_some())
    }

    /// The number of the cached text that a token beginning so stands for.
    #[inline(always)]
    fn cached(&mut self, byte: u8) -> Result<usize, Unusual> {
        let number = match byte {
            token::NEAR_TEXT.. => u64::from(byte - token::NEAR_TEXT),
            token::FAR_TEXT => self.far()?,
            _ => return Err(Unusual),
        };
        let number = usize::try_from(number).map_err(|_| Unusual)?;
        self.texts.used(number).ok_or(Unusual)?;
        Ok(number)
    }

    /// The text of a value, of which this is the first byte.
    #[inline(always)]
    fn text(&mut self, byte: u8) -> Result<&str, Unusual> {
        let limit = match byte {
            token::NEW_TEXT => *token::CACHED_BYTES.end(),
            token::PLAIN_TEXT => EXPANDED_BYTES_MAX,
            _ => {
                let number = self.cached(byte)?;
                self.spend(self.texts.text(number).len())?;
                return Some(self.texts.text(number))
                    .filter(|text| !text.is_empty())
                    .ok_or(Unusual);
            }
        };
        let text = self.input.characters("", limit).map_err(|_| Unusual)?;
        if text.is_empty() || chars::illegal(text).is_some() {
            return Err(Unusual);
        }
        if byte == token::NEW_TEXT {
            self.texts.append(text, Place::default()).ok_or(Unusual)?;
        }
        self.spend(text.len())?;
        Ok(text)
    }

    /// The value with a shorter form that begins so, a date not among them.
    #[inline(always)]
    fn atom(&mut self, byte: u8) -> Result<Atom, Unusual> {
        self.spend(ATOM_EXPANDED)?;
        match byte {
            token::FALSE => Ok(Atom::Bool(false)),
            token::TRUE => Ok(Atom::Bool(true)),
            token::SMALL_INTEGER..token::NEAR_ELEMENT => {
                Ok(Atom::Int(i64::from(byte - token::SMALL_INTEGER)))
            }
            token::INTEGER => {
                let number = self.input.number().map_err(|_| Unusual)?;
                Ok(Atom::Int(token::unfold(number)))
            }
            _ => Err(Unusual),
        }
    }

    /// The integer that is all of the open element.
    #[inline(always)]
    fn integer(&mut self) -> Result<i64, Unusual> {
        let byte = self.byte()?;
        let Atom::Int(value) = self.atom(byte)? else {
            return Err(Unusual);
        };
        self.close()?;
        Ok(value)
    }

    #[inline(always)]
    fn spend(&mut self, bytes: usize) -> Result<(), Unusual> {
        self.expanded += bytes;
        (self.expanded <= self.expanded_max)
            .then_some(())
            .ok_or(Unusual)
    }

    #[inline(always)]
    fn close(&mut self) -> Result<(), Unusual> {
        match self.byte()? {
            token::CLOSE => Ok(()),
            _ => Err(Unusual),
        }
    }

    #[inline(always)]
    fn far(&mut self) -> Result<u64, Unusual> {
        let number = self.input.number().map_err(|_| Unusual)?;
        Ok(number.saturating_add(token::NEAR as u64))
    }

    #[inline(always)]
    fn byte(&mut self) -> Result<u8, Unusual> {
        self.input.byte().map_err(|_| Unusual)
    }
}

/// The open element, whose name is this, as a value. An attribute fits nowhere
/// here.
struct Value<'a, 'r> {
    reader: &'a mut Reader<'r>,
    name: &'static str,
}

impl<'de> de::Deserializer<'de> for Value<'_, '_> {
    type Error = Unusual;

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let byte = self.reader.byte()?;
        let Atom::Bool(value) = self.reader.atom(byte)? else {
            return Err(Unusual);
        };
        self.reader.close()?;
        visitor.visit_bool(value)
    }

    #[inline]
    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let value = i32::try_from(self.reader.integer()?);
        visitor.visit_i32(value.map_err(|_| Unusual)?)
    }

    #[inline]
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_i64(self.reader.integer()?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let byte = self.reader.byte()?;
        let value = if is_text(byte) {
            digits(self.reader.text(byte)?)?
        } else if let Atom::Int(value) = self.reader.atom(byte)? {
            // As its decimal digits would be read.
            value as f64
        } else {
            return Err(Unusual);
        };
        self.reader.close()?;
        visitor.visit_f64(value)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let byte = self.reader.byte()?;
        let value = if is_text(byte) {
            visitor.visit_str(self.reader.text(byte)?)?
        } else if byte == token::CLOSE {
            return visitor.visit_str("");
        } else {
            visitor.visit_string(self.reader.atom(byte)?.text())?
        };
        self.reader.close()?;
        Ok(value)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let Value { reader, name } = self;
        let begun = true;
        visitor.visit_seq(Siblings {
            reader,
            name,
            begun,
        })
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        visitor.visit_map(Fields {
            reader: self.reader,
            name: "",
            names,
            passed: 0,
        })
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    /// Lists of messages are read as such, whose fields are known beforehand.
    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit unit_struct newtype_struct
        tuple tuple_struct map enum identifier ignored_any
    }
}

fn is_text(byte: u8) -> bool {
    matches!(
        byte,
        token::NEAR_TEXT..|token::NEW_TEXT| token::PLAIN_TEXT | token::FAR_TEXT
    )
}

/// The fields of a message, up to its end.
struct Fields<'a, 'r> {
    reader: &'a mut Reader<'r>,
    /// The one that was opened last.
    name: &'static str,
    /// All of them.
    names: &'static [&'static str],
    /// Those that cannot come any more.
    passed: usize,
}

impl<'de> de::MapAccess<'de> for Fields<'_, '_> {
    type Error = Unusual;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unusual> {
        let next = self.reader.next()?;
        if matches!(next, Next::Close) {
            return Ok(None);
        }
        while let Some(name) = self.names.get(self.passed) {
            let number = self.passed as u64;
            self.passed += 1;
            if self.reader.is(next, name) {
                self.name = name;
                // As in the usual reader of texts.
                return seed.deserialize(number.into_deserializer()).map(Some);
            }
        }
        Err(Unusual)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unusual> {
        seed.deserialize(Value {
            reader: self.reader,
            name: self.name,
        })
    }
}

/// A list whose items are siblings of one name.
struct Siblings<'a, 'r> {
    reader: &'a mut Reader<'r>,
    name: &'static str,
    /// The next item has been opened.
    begun: bool,
}

impl<'de> de::SeqAccess<'de> for Siblings<'_, '_> {
    type Error = Unusual;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unusual> {
        if !std::mem::take(&mut self.begun) {
            let next = self.reader.next()?;
            if !self.reader.is(next, self.name) {
                self.reader.next = Some(next);
                return Ok(None);
            }
        }
        let (reader, name) = (&mut *self.reader, self.name);
        seed.deserialize(Value { reader, name }).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wirelab_contract::calendar::BookRequest;
    use wirelab_contract::transfer::{SubmitReply, SubmitRequest};
    use wirelab_contract::workload::{book, submit_request};
    use wirelab_contract::{Call, Operation, Reply};

    use super::super::{Decoder, Document, Encoder, ReadError};
    use crate::soap::Answer;

    fn submit(bytes: u64, seed: u64) -> SubmitRequest {
        submit_request(bytes, seed).expect("a size within bounds")
    }

    fn answer() -> SubmitReply {
        match Call::Submit(submit(200, 0)).answer() {
            Ok(Reply::Submit(reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    /// A document that a connection may carry.
    fn document(kind: usize, seed: u64) -> Document {
        match kind {
            0 => Document::of_request(Operation::Submit, &submit(200, seed)),
            1 => Document::of_request(Operation::Submit, &submit(4000, seed)),
            2 => Document::of_reply(Operation::Submit, &answer()),
            _ => Document::of_request(Operation::Book, &book(1, seed)),
        }
    }

    /// Two ends of one connection: one reads directly where it can, the other
    /// by way of documents.
    #[derive(Default)]
    struct Ends {
        direct: Decoder,
        other: Decoder,
    }

    impl Ends {
        /// Reads the same tokens at both ends, in a way that may fit or not.
        fn read(&mut self, way: usize, tokens: &[u8]) {
            let document = self.other.decode(tokens);
            let direct = &mut self.direct;
            match way {
                0 => {
                    let read = direct.read_request::<SubmitRequest>(tokens, Operation::Submit);
                    let other = document.map_err(ReadError::from);
                    let other = other.and_then(|d| Ok(d.read_request(Operation::Submit)?));
                    assert_eq!(read, other);
                }
                1 => {
                    let read = direct.read_reply::<SubmitReply>(tokens, Operation::Submit);
                    let other = document.map_err(ReadError::from);
                    let other = other.and_then(|d| Ok(d.read_reply(Operation::Submit)?));
                    assert_eq!(read, other);
                }
                _ => {
                    let read = direct.read_request::<BookRequest>(tokens, Operation::Book);
                    let other = document.map_err(ReadError::from);
                    let other = other.and_then(|d| Ok(d.read_request(Operation::Book)?));
                    assert_eq!(read, other);
                }
            }
            assert!(self.direct.stands_as(&self.other));
        }
    }

    #[test]
    fn what_our_own_encoders_write_is_read_directly() {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        for seed in 0..3 {
            let request = submit(200, seed);
            let mut tokens = Vec::new();
            encoder.encode_request(Operation::Submit, &request, &mut tokens);
            let read = decoder.read_directly(&tokens, Operation::Submit);
            assert_eq!(read, Some(request));
        }
        for title in ["true", "-7", "0", "x", "a longer one", "\u{e9}"] {
            for weight in [0.25, -3.0, 0.0, 9.5] {
                let mut request = book(1, 2);
                request.weight = weight;
                request.title = title.to_owned();
                let mut tokens = Vec::new();
                encoder.encode_request(Operation::Book, &request, &mut tokens);
                let read = decoder.read_directly(&tokens, Operation::Book);
                assert_eq!(read, Some(request));
            }
        }
        let mut tokens = Vec::new();
        Encoder::new().encode(
            &Document::of_reply(Operation::Submit, &answer()),
            &mut tokens,
        );
        let read = Decoder::new().read_reply(&tokens, Operation::Submit);
        assert_eq!(read, Ok(Answer::Message(answer())));
    }

    #[test]
    fn a_connection_goes_on_when_its_caches_are_full() {
        let (mut encoder, mut ends) = (Encoder::new(), Ends::default());
        let booking = |title: u32| {
            let mut request = book(1, 0);
            request.title = format!("title {title}");
            Document::of_request(Operation::Book, &request)
        };
        let places = super::super::plan::TEXTS.entries as u32;
        for title in 0..2 * places {
            let mut tokens = Vec::new();
            encoder.encode(&booking(title), &mut tokens);
            ends.read(2, &tokens);
        }
        let mut directly = 0;
        for _ in 0..40 {
            let mut tokens = Vec::new();
            encoder.encode(&document(0, 7), &mut tokens);
            let read = ends
                .direct
                .read_directly::<SubmitRequest>(&tokens, Operation::Submit);
            directly += usize::from(read.is_some());
            if read.is_none() {
                ends.direct.decode(&tokens).expect("a document");
            }
            ends.other.decode(&tokens).expect("a document");
            assert!(ends.direct.stands_as(&ends.other));
        }
        assert!(directly > 20, "{directly}: nothing enters any more");
    }

    /// A large request whose texts the cache makes of one byte each, up to the
    /// bound of what a document may grow to, and behind them empty records.
    #[test]
    fn a_document_that_grows_too_large_is_refused_either_way() {
        let mut tokens = super::BEGIN.to_vec();
        let new = |kind: u8, text: &str, tokens: &mut Vec<u8>| {
            tokens.push(kind);
            super::token::write_number(text.len() as u64, tokens);
            tokens.extend_from_slice(text.as_bytes());
        };
        new(super::token::NEW_ELEMENT, "SubmitRequest", &mut tokens);
        tokens.push(super::NAMESPACE);
        let namespace = Operation::Submit.contract().namespace();
        new(super::token::NEW_TEXT, namespace, &mut tokens);
        new(super::token::NEW_ELEMENT, "records", &mut tokens);
        new(super::token::NEW_ELEMENT, "item", &mut tokens);
        new(super::token::NEW_TEXT, &"x".repeat(512), &mut tokens);
        tokens.push(super::token::CLOSE);
        new(super::token::NEW_ELEMENT, "remark", &mut tokens);
        tokens.extend([0xD2, 0, 0]);
        for _ in 0..187_627 {
            tokens.extend([0x5F, 0x60, 0xD2, 0, 0x61, 0xD2, 0, 0]);
        }
        for _ in 0..100 {
            tokens.extend([0x5F, 0]);
        }
        tokens.extend([0, 0, 0]);
        Ends::default().read(0, &tokens);
    }

    proptest! {
        #[test]
        fn tokens_are_read_as_by_way_of_documents(
            messages in prop::collection::vec(
                (
                    0..4_usize,
                    0..4_u64,
                    0..3_usize,
                    prop::collection::vec((0..3_usize, any::<u16>(), any::<u8>()), 0..3),
                ),
                1..6,
            ),
        ) {
            let (mut encoder, mut ends) = (Encoder::new(), Ends::default());
            for (kind, seed, way, changes) in messages {
                let mut tokens = Vec::new();
                encoder.encode(&document(kind, seed), &mut tokens);
                for (change, at, byte) in changes {
                    let at = usize::from(at) % tokens.len();
                    match change {
                        0 => tokens[at] = byte,
                        1 => tokens.insert(at, byte),
                        _ => drop(tokens.remove(at)),
                    }
                }
                ends.read(way, &tokens);
            }
        }
    }
}
