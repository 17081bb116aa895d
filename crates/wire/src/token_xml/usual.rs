//! Messages as our own writers lay them out: an envelope without a header,
//! every element below the message's in its namespace and without attributes.
//!
//! Such a document is read here from its items, without the steps of the reader
//! that knows every other. What is unusual in any way, and all that is wrong, is
//! left to that one: it reads the document from its begin, and tells the error.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Visitor};
use serde::forward_to_deserialize_any;
use wirelab_contract::BASE64_BINARY;

use crate::xml::usual::Unusual;

use super::atom::Atom;
use super::document::{Document, Item, Name};

/// The namespace of SOAP 1.1.
const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// The message of that name, where the document is as usual.
pub(super) fn read<'de, M: Deserialize<'de>>(
    document: &'de Document,
    name: &str,
    namespace: &str,
) -> Option<M> {
    let (begin, content) = document.items.split_first_chunk()?;
    if !begins(document, begin, name, namespace) {
        return None;
    }
    let mut reader = Reader {
        document,
        rest: content,
    };
    let message = M::deserialize(Message(&mut reader)).ok()?;
    // Those of the body and of the envelope.
    matches!(reader.rest, [Item::Close, Item::Close]).then_some(message)
}

/// Whether an envelope begins with these items, up to the content of a message.
fn begins(document: &Document, begin: &[Item; 7], name: &str, namespace: &str) -> bool {
    let [
        Item::Open(envelope),
        Item::Attribute(declaration),
        Item::Text(soap),
        Item::Open(body),
        Item::Open(message),
        Item::Attribute(default),
        Item::Text(own),
    ] = *begin
    else {
        return false;
    };
    document.name(message) == name
        && document.text(own) == namespace
        && document.name(envelope) == "soapenv:Envelope"
        && document.name(declaration) == "xmlns:soapenv"
        && document.text(soap) == SOAP
        && document.name(body) == "soapenv:Body"
        && document.name(default) == "xmlns"
}

struct Reader<'de> {
    document: &'de Document,
    /// The items that are to come.
    rest: &'de [Item],
}

/// The open element as a message.
struct Message<'r, 'de>(&'r mut Reader<'de>);

impl<'de> de::Deserializer<'de> for Message<'_, 'de> {
    type Error = Unusual;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let none = Name::default();
        visitor.visit_map(Fields(self.0, none))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}

/// The children of the open element as fields, with the name of the one that
/// was opened last.
struct Fields<'r, 'de>(&'r mut Reader<'de>, Name);

impl<'de> de::MapAccess<'de> for Fields<'_, 'de> {
    type Error = Unusual;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unusual> {
        match self.0.rest {
            [Item::Open(name), rest @ ..] if !name.is_prefixed() => {
                self.0.rest = rest;
                self.1 = *name;
                let name = self.0.document.name(*name);
                seed.deserialize(BorrowedStrDeserializer::new(name))
                    .map(Some)
            }
            [Item::Close, rest @ ..] => {
                self.0.rest = rest;
                Ok(None)
            }
            _ => Err(Unusual),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unusual> {
        let Fields(reader, name) = self;
        seed.deserialize(Value(reader, *name))
    }
}

/// The open element as a value, with its name. An attribute fits nowhere here.
struct Value<'r, 'de>(&'r mut Reader<'de>, Name);

impl<'de> Value<'_, 'de> {
    /// The only item of the element, which ends.
    #[inline(always)]
    fn alone(&mut self) -> Result<Item, Unusual> {
        let [item, Item::Close, rest @ ..] = self.0.rest else {
            return Err(Unusual);
        };
        self.0.rest = rest;
        Ok(*item)
    }

    #[inline(always)]
    fn integer(&mut self) -> Result<i64, Unusual> {
        match self.alone()? {
            Item::Atom(Atom::Int(value)) => Ok(value),
            _ => Err(Unusual),
        }
    }
}

impl<'de> de::Deserializer<'de> for Value<'_, 'de> {
    type Error = Unusual;

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unusual> {
        match self.alone()? {
            Item::Atom(Atom::Bool(value)) => visitor.visit_bool(value),
            _ => Err(Unusual),
        }
    }

    #[inline]
    fn deserialize_i32<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unusual> {
        let value = i32::try_from(self.integer()?);
        visitor.visit_i32(value.map_err(|_| Unusual)?)
    }

    #[inline]
    fn deserialize_i64<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_i64(self.integer()?)
    }

    fn deserialize_f64<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unusual> {
        match self.alone()? {
            Item::Text(text) => visitor.visit_f64(digits(self.0.document.text(text))?),
            // As its decimal digits would be read.
            Item::Atom(Atom::Int(value)) => visitor.visit_f64(value as f64),
            _ => Err(Unusual),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unusual> {
        if let [Item::Close, rest @ ..] = self.0.rest {
            self.0.rest = rest;
            return visitor.visit_borrowed_str("");
        }
        match self.alone()? {
            Item::Text(text) => visitor.visit_borrowed_str(self.0.document.text(text)),
            Item::Atom(atom) => visitor.visit_string(atom.text()),
            _ => Err(Unusual),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        match name {
            BASE64_BINARY => Err(Unusual),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let Value(reader, name) = self;
        let begun = true;
        visitor.visit_seq(Siblings {
            reader,
            name,
            begun,
        })
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        de::Deserializer::deserialize_any(Message(self.0), visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        self.deserialize_map(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit unit_struct tuple
        tuple_struct enum identifier ignored_any
    }
}

/// The number that nothing but digits write, with a sign and a point or without.
pub(super) fn digits(text: &str) -> Result<f64, Unusual> {
    let plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    match text.bytes().all(plain) {
        true => text.parse().map_err(|_| Unusual),
        false => Err(Unusual),
    }
}

/// A list whose items are siblings of one name.
struct Siblings<'r, 'de> {
    reader: &'r mut Reader<'de>,
    name: Name,
    /// The next item has been opened.
    begun: bool,
}

impl<'de> de::SeqAccess<'de> for Siblings<'_, 'de> {
    type Error = Unusual;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unusual> {
        if !std::mem::take(&mut self.begun) {
            let document = self.reader.document;
            match self.reader.rest {
                [Item::Open(next), rest @ ..]
                    if document.name(*next) == document.name(self.name) =>
                {
                    self.reader.rest = rest;
                }
                _ => return Ok(None),
            }
        }
        seed.deserialize(Value(self.reader, self.name)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wirelab_contract::calendar::BookRequest;
    use wirelab_contract::transfer::{SubmitReply, SubmitRequest};
    use wirelab_contract::workload::{book, submit_request};
    use wirelab_contract::{Call, Message, Operation, Reply};

    use super::super::document::prefix;
    use super::*;
    use crate::soap::Form;

    fn usual<M: Message>(document: &Document, operation: Operation) -> Option<M> {
        read(document, M::NAME, operation.contract().namespace())
    }

    fn submit() -> SubmitRequest {
        submit_request(200, 0).expect("a size within bounds")
    }

    fn answer() -> SubmitReply {
        match Call::Submit(submit()).answer() {
            Ok(Reply::Submit(reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_our_own_writers_write_is_usual() {
        let document = Document::of_request(Operation::Submit, &submit());
        assert_eq!(usual(&document, Operation::Submit), Some(submit()));
        let document = Document::of_reply(Operation::Submit, &answer());
        assert_eq!(usual(&document, Operation::Submit), Some(answer()));
        let mut request = book(1, 2);
        for (weight, title) in [
            (0.25, "x"),
            (-3.0, "true"),
            (0.0, "2001-01-01"),
            (9.5, "-7"),
        ] {
            request.weight = weight;
            request.title = title.to_owned();
            let document = Document::of_request(Operation::Book, &request);
            assert_eq!(usual(&document, Operation::Book), Some(request.clone()));
        }
    }

    /// What an item may be changed to, beside another item of the document.
    fn others(document: &mut Document) -> Vec<Item> {
        let names = ["xmlns", "xsi:nil", "id", "w:records", "records", "title"];
        let names = names.map(|name| document.keep_name(name, prefix(name)));
        let texts = ["", " ", "1.5", "-", "urn:x", "1e3", "007"].map(|text| document.keep(text));
        let atoms = [
            Atom::Int(1 << 40),
            Atom::Int(-1),
            Atom::Bool(true),
            Atom::Date(1),
        ];
        let mut all = vec![Item::Close, Item::Close];
        all.extend(
            names
                .map(Item::Open)
                .into_iter()
                .chain(names.map(Item::Attribute)),
        );
        all.extend(
            texts
                .map(Item::Text)
                .into_iter()
                .chain(atoms.map(Item::Atom)),
        );
        all
    }

    /// What is read here is what the other reader reads.
    fn prove<M: Message>(document: &Document, operation: Operation) {
        let Some(message) = usual::<M>(document, operation) else {
            return;
        };
        let envelope = document.envelope().expect("what is usual is an envelope");
        let other = envelope.request_of_any_layout(Form::PLAIN, operation);
        assert_eq!(other, Ok(message));
    }

    proptest! {
        #[test]
        fn nothing_is_read_that_the_other_reader_reads_otherwise(
            case in 0..3,
            changes in prop::collection::vec((0..4, 0..80_usize, 0..100_usize), 0..4),
        ) {
            let mut document = match case {
                0 => Document::of_request(Operation::Submit, &submit()),
                1 => Document::of_reply(Operation::Submit, &answer()),
                _ => Document::of_request(Operation::Book, &book(1, 2)),
            };
            let others = others(&mut document);
            for (kind, at, from) in changes {
                let items = &mut document.items;
                let at = at % items.len();
                let from = from % (items.len() + others.len());
                let item = items.get(from).copied();
                let item = item.unwrap_or_else(|| others[from - items.len()]);
                match kind {
                    0 => drop(items.remove(at)),
                    1 => items.insert(at, item),
                    2 => items[at] = item,
                    _ => items.swap(at, from.min(at)),
                }
            }
            prove::<SubmitRequest>(&document, Operation::Submit);
            prove::<SubmitReply>(&document, Operation::Submit);
            prove::<BookRequest>(&document, Operation::Book);
        }
    }
}
