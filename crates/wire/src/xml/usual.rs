//! Messages as our own writers lay them out: no white space, no attributes but
//! the namespaces and types that have to be there, and the fields in the
//! contract's order.
//!
//! The tags of such a document need not be taken apart: each is compared with the
//! one that must come next. What is unusual in any way, and all that is wrong, is
//! left to [`super::reader`]: it reads the document from its begin, and tells the
//! error.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, Deserialize, DeserializeSeed, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::bytes::{equal, first_of, special};
use super::error::ErrorKind;
use super::pair::VALUE_BYTES_MAX;
use super::reader::Shape;
use super::source::Text;
use super::text_sink::DECLARATION;
use super::writer::{ARRAY, BASE64, BOOLEAN, DOUBLE, INT, LONG, STRING, Simple};
use super::{chars, reference, value};

/// A document that is as usual: what stands before and behind the fields of its
/// message, in pieces, and how these lie.
pub(crate) struct Layout<'a, const B: usize, const E: usize> {
    pub(crate) begin: [&'a [u8]; B],
    pub(crate) end: [&'a [u8]; E],
    /// What the prefix `ns` of types stands for (encoded only).
    pub(crate) namespace: &'a str,
    pub(crate) shape: Shape,
}

impl<const B: usize, const E: usize> Layout<'_, B, E> {
    /// The message of a document that is laid out so.
    pub(crate) fn read<'de, M: Deserialize<'de>>(&self, document: &'de [u8]) -> Option<M> {
        let fields = self.fields(document)?;
        self.read_fields(chars::checked(document).ok()?, fields)
    }

    /// The same of a document whose characters are proven to be XML's.
    pub(crate) fn read_checked<'de, M: Deserialize<'de>>(&self, document: &'de str) -> Option<M> {
        self.read_fields(document, self.fields(document.as_bytes())?)
    }

    /// Where the fields lie.
    fn fields(&self, document: &[u8]) -> Option<Range<usize>> {
        let mut rest = document;
        for piece in self.begin {
            rest = rest.strip_prefix(piece)?;
        }
        let begin = document.len() - rest.len();
        for piece in self.end.iter().rev() {
            rest = rest.strip_suffix(*piece)?;
        }
        Some(begin..begin + rest.len())
    }

    fn read_fields<'de, M: Deserialize<'de>>(
        &self,
        document: &'de str,
        fields: Range<usize>,
    ) -> Option<M> {
        let mut reader = Reader {
            document,
            at: fields.start,
            namespace: self.namespace,
            shape: self.shape,
            level: 0,
        };
        let message = M::deserialize(Message(&mut reader)).ok()?;
        (reader.at == fields.end).then_some(message)
    }
}

/// The message of that name whose element is all of a document, where it is as
/// usual.
pub(crate) fn document<'de, M: Deserialize<'de>>(
    document: &'de [u8],
    namespace: &str,
    name: &str,
) -> Option<M> {
    let layout = Layout {
        begin: [
            DECLARATION,
            b"<",
            name.as_bytes(),
            b" xmlns=\"",
            namespace.as_bytes(),
            b"\">",
        ],
        end: [b"</", name.as_bytes(), b">"],
        namespace,
        shape: Shape::Literal,
    };
    layout.read(document)
}

/// Something that the other reader is there for.
#[derive(Debug, thiserror::Error)]
#[error("an unusual document")]
pub(crate) struct Unusual;

impl de::Error for Unusual {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Unusual
    }
}

struct Reader<'de, 'n> {
    document: &'de str,
    /// Bytes that have been read.
    at: usize,
    /// What the prefix `ns` of types stands for.
    namespace: &'n str,
    shape: Shape,
    /// Messages within messages.
    level: usize,
}

impl<'de> Reader<'de, '_> {
    #[inline(always)]
    fn rest(&self) -> &'de [u8] {
        self.document.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Whether `text` comes next, which is read then.
    #[inline(always)]
    fn takes(&mut self, text: &str) -> bool {
        let next = self.rest().starts_with(text.as_bytes());
        if next {
            self.at += text.len();
        }
        next
    }

    #[inline(always)]
    fn take(&mut self, text: &str) -> Result<(), Unusual> {
        self.takes(text).then_some(()).ok_or(Unusual)
    }

    /// Whether an element of that name begins next; its name is read then.
    #[inline(always)]
    fn begins(&mut self, name: &str) -> bool {
        let rest = self.rest();
        let next = rest.len() > name.len() + 1
            && rest[0] == b'<'
            && matches!(rest[name.len() + 1], b'>' | b' ')
            && equal(&rest[1..=name.len()], name.as_bytes());
        if next {
            self.at += 1 + name.len();
        }
        next
    }

    /// Whether an element ends next.
    #[inline(always)]
    fn ends(&self) -> bool {
        self.rest().starts_with(b"</")
    }

    /// Reads the end tag of that name.
    #[inline(always)]
    fn end(&mut self, name: &str) -> Result<(), Unusual> {
        let rest = self.rest();
        let bytes = name.len() + 3;
        let next = rest.len() >= bytes
            && rest[..2] == *b"</"
            && rest[bytes - 1] == b'>'
            && equal(&rest[2..bytes - 1], name.as_bytes());
        // Beyond the end where there is no end tag; then nothing is read any more.
        self.at += bytes;
        next.then_some(()).ok_or(Unusual)
    }

    /// Reads the rest of a start tag.
    #[inline(always)]
    fn tag_end(&mut self, kind: &Simple) -> Result<(), Unusual> {
        match self.shape {
            Shape::Encoded => self.take(kind.tag_end),
            Shape::Literal | Shape::Rpc => self.take(">"),
        }
    }

    /// The content of the element of that name and type, which ends, where it is
    /// nothing but plain characters.
    #[inline(always)]
    fn plain(&mut self, name: &str, kind: &Simple) -> Result<&'de str, Unusual> {
        self.tag_end(kind)?;
        let begin = self.at;
        self.at = special(self.document.as_bytes(), begin);
        let text = self.document.get(begin..self.at).ok_or(Unusual)?;
        self.end(name)?;
        Ok(text)
    }

    /// A value that has no references.
    #[inline(always)]
    fn parsed<T>(
        &mut self,
        name: &str,
        kind: &Simple,
        parse: impl FnOnce(&Text<'de>) -> Result<T, ErrorKind>,
    ) -> Result<T, Unusual> {
        let text = self.plain(name, kind)?;
        parse(&Text::Str(Cow::Borrowed(text))).map_err(|_| Unusual)
    }

    /// As [`Reader::plain`], with references.
    #[inline(always)]
    fn text(&mut self, name: &str) -> Result<Cow<'de, str>, Unusual> {
        self.tag_end(&STRING)?;
        let begin = self.at;
        self.at = special(self.document.as_bytes(), begin);
        let text = match self.rest().first() {
            Some(b'&') => Cow::Owned(self.referring(begin)?),
            _ => Cow::Borrowed(self.document.get(begin..self.at).ok_or(Unusual)?),
        };
        self.end(name)?;
        Ok(text)
    }

    /// The text that begins there, and has a reference where this reader is.
    #[inline(never)]
    fn referring(&mut self, begin: usize) -> Result<String, Unusual> {
        let mut whole = String::new();
        let mut begin = begin;
        loop {
            whole.push_str(self.document.get(begin..self.at).ok_or(Unusual)?);
            let rest = self.document.get(self.at..).ok_or(Unusual)?;
            if !rest.starts_with('&') {
                return Ok(whole);
            }
            let (character, bytes) = reference::leading(rest, self.at).map_err(|_| Unusual)?;
            whole.push(character);
            begin = self.at + bytes;
            self.at = special(self.document.as_bytes(), begin);
        }
    }

    /// Reads the prefix that types are written with, where it is declared.
    #[inline]
    fn declaration(&mut self) -> Result<(), Unusual> {
        if self.takes(" xmlns:ns=\"") {
            self.take(self.namespace)?;
            self.take("\"")?;
        }
        Ok(())
    }

    /// Reads the value of an attribute that tells a type, and the end of the tag.
    #[inline]
    fn type_end(&mut self) -> Result<(), Unusual> {
        let begin = self.at;
        self.at = first_of(self.document.as_bytes(), begin, *b"\"<&");
        // The other reader refuses a longer one.
        if self.at - begin > VALUE_BYTES_MAX {
            return Err(Unusual);
        }
        self.take("\">")
    }

    /// Reads the rest of the start tag of a message.
    #[inline]
    fn message_tag_end(&mut self) -> Result<(), Unusual> {
        if self.shape != Shape::Encoded {
            return self.take(">");
        }
        self.declaration()?;
        self.take(" xsi:type=\"")?;
        self.type_end()
    }

    /// Reads the rest of the start tag around the items of a list.
    fn list_tag_end(&mut self) -> Result<(), Unusual> {
        if self.shape != Shape::Encoded {
            return self.take(">");
        }
        self.take(" xsi:type=\"")?;
        self.take(ARRAY)?;
        self.take("\"")?;
        self.declaration()?;
        self.take(" SOAP-ENC:arrayType=\"")?;
        self.type_end()
    }
}

/// The message itself, whose element is open.
struct Message<'r, 'de, 'n>(&'r mut Reader<'de, 'n>);

impl<'de> de::Deserializer<'de> for Message<'_, 'de, '_> {
    type Error = Unusual;

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        let Message(reader) = self;
        reader.level += 1;
        let message = visitor.visit_map(Fields {
            reader: &mut *reader,
            name: "",
            names: fields,
            passed: 0,
        });
        reader.level -= 1;
        message
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
        ignored_any
    }
}

/// The fields of a message.
struct Fields<'r, 'de, 'n> {
    reader: &'r mut Reader<'de, 'n>,
    /// The one that was opened last.
    name: &'static str,
    /// All of them.
    names: &'static [&'static str],
    /// Those that cannot come any more.
    passed: usize,
}

impl<'de> de::MapAccess<'de> for Fields<'_, 'de, '_> {
    type Error = Unusual;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unusual> {
        if self.reader.ends() {
            return Ok(None);
        }
        while let Some(name) = self.names.get(self.passed) {
            let number = self.passed as u64;
            self.passed += 1;
            if self.reader.begins(name) {
                self.name = name;
                // Derived readers count the fields as `names` does: no message has
                // a field of two names (`serde(alias)`), which would stand in it
                // twice.
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

/// The element of that name as a value. What has been read is its name.
struct Value<'r, 'de, 'n> {
    reader: &'r mut Reader<'de, 'n>,
    name: &'static str,
}

impl<'de> de::Deserializer<'de> for Value<'_, 'de, '_> {
    type Error = Unusual;

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_bool(self.reader.parsed(self.name, &BOOLEAN, value::boolean)?)
    }

    #[inline]
    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let integer = |text: &Text<'_>| value::integer(text, "an int");
        visitor.visit_i32(self.reader.parsed(self.name, &INT, integer)?)
    }

    #[inline]
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let integer = |text: &Text<'_>| value::integer(text, "a long");
        visitor.visit_i64(self.reader.parsed(self.name, &LONG, integer)?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_f64(self.reader.parsed(self.name, &DOUBLE, value::double)?)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        match self.reader.text(self.name)? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.deserialize_str(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let text = self.reader.plain(self.name, &BASE64)?;
        visitor.visit_byte_buf(STANDARD.decode(text).map_err(|_| Unusual)?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let Value { reader, name } = self;
        if !reader.shape.wraps_lists(reader.level) {
            let begun = true;
            return visitor.visit_seq(Siblings {
                reader,
                name,
                begun,
            });
        }
        reader.list_tag_end()?;
        let list = visitor.visit_seq(Siblings {
            reader,
            name: "item",
            begun: false,
        })?;
        reader.end(name)?;
        Ok(list)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        self.reader.message_tag_end()?;
        let message = Message(self.reader).deserialize_struct(name, fields, visitor)?;
        self.reader.end(self.name)?;
        Ok(message)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    /// Lists of messages are read as such, whose fields are known beforehand,
    /// and bytes as bytes.
    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes unit unit_struct newtype_struct tuple
        tuple_struct map enum identifier ignored_any
    }
}

/// The items of a list, elements of one name.
struct Siblings<'r, 'de, 'n> {
    reader: &'r mut Reader<'de, 'n>,
    name: &'static str,
    /// The next item has begun.
    begun: bool,
}

impl<'de> de::SeqAccess<'de> for Siblings<'_, 'de, '_> {
    type Error = Unusual;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unusual> {
        if !std::mem::take(&mut self.begun) && !self.reader.begins(self.name) {
            return Ok(None);
        }
        let item = Value {
            reader: self.reader,
            name: self.name,
        };
        seed.deserialize(item).map(Some)
    }
}
