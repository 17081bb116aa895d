//! Messages from elements: a serde deserializer over any [`Source`].

use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Visitor};
use serde::forward_to_deserialize_any;

use super::error::{Error, ErrorKind};
use super::scope::same;
use super::source::{Element, Source};
use super::value;

/// The namespace of `xsi:nil` and `xsi:type`.
// XML Schema of 2001; toolkits before it wrote 1999 or 2000/10, which no service here
// does.
pub const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The namespace of arrays' attributes, and the value of `encodingStyle`.
pub const ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";

/// How a message lies in its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// XML and SOAP document/literal: a repeated field is one element per item.
    Literal,
    /// SOAP rpc/literal: a repeated field of the message itself is one
    /// element, whose children `item` are the items.
    Rpc,
    /// SOAP 1.1 section 5: every repeated field is one element, whose children
    /// are the items; `href` stands for an element elsewhere.
    Encoded,
}

impl Shape {
    /// Whether one element is around all items of a list that is a field of a
    /// message within `level` messages, itself included.
    #[inline]
    pub fn wraps_lists(self, level: usize) -> bool {
        match self {
            Shape::Literal => false,
            // `level` counts the message itself, so that 1 means a field of the
            // message.
            Shape::Rpc => level == 1,
            Shape::Encoded => true,
        }
    }
}

/// Reads the fields of a message from the element that is open, which ends.
///
/// # Errors
/// When they are not those of the message.
pub fn read<'de, M, S>(source: &mut S, namespace: &str, shape: Shape) -> Result<M, Error>
where
    M: de::Deserialize<'de>,
    S: Source<'de>,
{
    let mut reader = Reader {
        source,
        namespace,
        matched: None,
        shape,
        level: 0,
        lookahead: Lookahead::Nothing,
        de: PhantomData,
    };
    let message = M::deserialize(Message(&mut reader));
    // The current position of the reader: the best place known for an error of serde's own,
    // such as a missing field.
    let offset = reader.source.offset();
    message.map_err(|error: Box<Error>| error.at_offset(offset))
}

struct Reader<'s, 'de, S> {
    source: &'s mut S,
    /// That of every field.
    namespace: &'s str,
    /// The same as it is written in the document, once it has been met.
    matched: Option<&'de str>,
    shape: Shape,
    /// Messages within messages.
    level: usize,
    lookahead: Lookahead<'de>,
    de: PhantomData<&'de ()>,
}

/// What has been read already, because only it shows that a list has ended.
enum Lookahead<'de> {
    Nothing,
    /// A child has been opened.
    Child(Element<'de>),
    /// The open element has ended.
    End,
}

impl<'de, S: Source<'de>> Reader<'_, 'de, S> {
    #[inline(always)]
    fn child(&mut self) -> Result<Option<Element<'de>>, Box<Error>> {
        match self.lookahead {
            // Mostly nothing has been read ahead; the other two cases are in a function
            // of their own so that this one can be inlined.
            Lookahead::Nothing => Ok(self.source.child()?),
            _ => Ok(self.read_ahead()),
        }
    }

    #[inline(never)]
    fn read_ahead(&mut self) -> Option<Element<'de>> {
        match std::mem::replace(&mut self.lookahead, Lookahead::Nothing) {
            Lookahead::Child(element) => Some(element),
            Lookahead::Nothing | Lookahead::End => None,
        }
    }

    /// The namespace of a field must be that of all fields.
    #[inline]
    fn check_namespace(&mut self, element: &Element<'de>) -> Result<(), Box<Error>> {
        match self.matched {
            // The same declaration gives the same slice, so that comparing addresses is enough.
            Some(met) if std::ptr::eq(met, element.namespace) => Ok(()),
            _ => self.check_written_namespace(element),
        }
    }

    #[inline(never)]
    fn check_written_namespace(&mut self, element: &Element<'de>) -> Result<(), Box<Error>> {
        if same(element.namespace, self.namespace) {
            self.matched = Some(element.namespace);
            return Ok(());
        }
        // Clark notation, `{namespace}name`, as in every message about elements.
        let expected = format!("{{{}}}{}", self.namespace, element.local);
        Err(element.unexpected(expected).into())
    }

    /// Whether the open element has `xsi:nil`.
    #[inline]
    fn is_nil(&self, element: &Element<'de>) -> Result<bool, Box<Error>> {
        // Attributes are searched only where one can matter.
        if !element.has_value_attribute {
            return Ok(false);
        }
        let nil = self.source.attribute(XSI, "nil")?;
        Ok(nil.is_some_and(|value| matches!(value.trim(), "true" | "1")))
    }

    /// Goes to the element that an `href` of the open one names, and on from
    /// there. Returns the number of references that were followed, and the
    /// element that is open now.
    fn follow_references(
        &mut self,
        element: Element<'de>,
    ) -> Result<(usize, Element<'de>), Box<Error>> {
        // Bounded: `Source::follow` refuses an element that is being read already, so
        // that a circle of references ends as an error.
        let mut hops = 0;
        let mut open = element;
        while let Some(target) = self.target(&open)? {
            open = target;
            hops += 1;
        }
        Ok((hops, open))
    }

    /// Opens the element that an `href` of the open one names.
    fn target(&mut self, element: &Element<'de>) -> Result<Option<Element<'de>>, Box<Error>> {
        if self.shape != Shape::Encoded || !element.has_value_attribute {
            return Ok(None);
        }
        let Some(href) = self.source.attribute("", "href")? else {
            return Ok(None);
        };
        // SOAP 1.1 section 5.4.1: an accessor with `href` is empty. Reading the child
        // also ends the element.
        if self.source.child()?.is_some() {
            return Err(Error::syntax(element.offset, "an href next to content").into());
        }
        // References out of the document are refused: they would make the reader fetch.
        let Some(id) = href.strip_prefix('#') else {
            let fault = "leads out of the document";
            let id = href.into_owned();
            let kind = ErrorKind::Reference { id, fault };
            return Err(Error::new(element.offset, kind).into());
        };
        Ok(Some(self.source.follow(id)?))
    }

    /// Refuses arrays of which only a part is there (SOAP 1.1 sections
    /// 5.4.2.1 and 5.4.2.2): no list of a message has gaps.
    fn check_complete_array(&self, open: &Element<'de>, attribute: &str) -> Result<(), Box<Error>> {
        let requested = self.shape == Shape::Encoded && open.has_value_attribute;
        if !requested || self.source.attribute(ENCODING, attribute)?.is_none() {
            return Ok(());
        }
        let what = "an array of which only a part is there";
        Err(Error::new(self.source.offset(), ErrorKind::Envelope(what)).into())
    }
}

/// The open element as a message.
struct Message<'r, 's, 'de, S>(&'r mut Reader<'s, 'de, S>);

impl<'de, S: Source<'de>> Message<'_, '_, 'de, S> {
    fn fields<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        self.0.level += 1;
        let message = visitor.visit_map(Fields {
            reader: self.0,
            field: None,
        })?;
        // Not reached after an error, which ends the whole reading.
        self.0.level -= 1;
        Ok(message)
    }
}

impl<'de, S: Source<'de>> de::Deserializer<'de> for Message<'_, '_, 'de, S> {
    type Error = Box<Error>;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        self.fields(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}

/// The children of the open element as fields.
struct Fields<'r, 's, 'de, S> {
    reader: &'r mut Reader<'s, 'de, S>,
    /// The one whose name has been handed to serde.
    field: Option<Element<'de>>,
}

impl<'de, S: Source<'de>> de::MapAccess<'de> for Fields<'_, '_, 'de, S> {
    type Error = Box<Error>;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Box<Error>> {
        loop {
            self.field = self.reader.child()?;
            let Some(element) = &self.field else {
                return Ok(None);
            };
            // XML Schema part 1, section 2.6.2: `xsi:nil` stands for an absent value.
            if !self.reader.is_nil(element)? {
                let name = de::value::BorrowedStrDeserializer::new(element.local);
                // The local name alone: whether the namespace is right is checked with
                // the value, and only for fields that the message has. Others are
                // ignored, as extensions.
                return seed.deserialize(name).map(Some);
            }
            self.reader.source.skip()?;
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Box<Error>> {
        let Some(element) = &self.field else {
            unreachable!("serde asks for a value after its key");
        };
        let value = Value {
            reader: &mut *self.reader,
            element,
            is_list_item: false,
        };
        seed.deserialize(value)
            .map_err(|error| error.at_offset(element.offset).into())
    }
}

/// The open element as a value.
struct Value<'r, 's, 'de, S> {
    reader: &'r mut Reader<'s, 'de, S>,
    element: &'r Element<'de>,
    /// An item of a list, whose name and references its list has checked.
    is_list_item: bool,
}

impl<'de, S: Source<'de>> Value<'_, '_, 'de, S> {
    /// Reads a value that the message knows: in the right namespace, wherever
    /// references lead. `read` is given the element that they led to.
    #[inline]
    fn read_in_namespace<T>(
        self,
        read: impl FnOnce(&mut Reader<'_, 'de, S>, &Element<'de>) -> Result<T, Box<Error>>,
    ) -> Result<T, Box<Error>> {
        let Value {
            reader, element, ..
        } = self;
        if !self.is_list_item {
            reader.check_namespace(element)?;
        }
        if !element.has_value_attribute {
            return read(reader, element);
        }
        let (hops, open) = reader.follow_references(*element)?;
        let value = read(reader, &open)?;
        // Each step back restores one place, in the reverse order of the references.
        for _ in 0..hops {
            reader.source.back();
        }
        Ok(value)
    }

    /// Reads a value of plain text.
    #[inline]
    fn parse_text<T>(
        self,
        parse: impl FnOnce(&super::source::Text<'de>) -> Result<T, ErrorKind>,
    ) -> Result<T, Box<Error>> {
        let offset = self.element.offset;
        self.read_in_namespace(|reader, _| {
            let text = reader.source.text()?;
            parse(&text).map_err(|kind| Error::new(offset, kind).into())
        })
    }
}

impl<'de, S: Source<'de>> de::Deserializer<'de> for Value<'_, '_, 'de, S> {
    type Error = Box<Error>;

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        visitor.visit_bool(self.parse_text(value::boolean)?)
    }

    #[inline]
    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        visitor.visit_i32(self.parse_text(|text| value::integer(text, "an int"))?)
    }

    #[inline]
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        visitor.visit_i64(self.parse_text(|text| value::integer(text, "a long"))?)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        visitor.visit_f64(self.parse_text(value::double)?)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        self.read_in_namespace(|reader, _| match reader.source.text()?.into_str() {
            std::borrow::Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            std::borrow::Cow::Owned(text) => visitor.visit_string(text),
        })
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        self.deserialize_str(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        // The element is there, so that there is a value: an absent one has no element,
        // and `xsi:nil` was passed over as a key.
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Box<Error>> {
        // The newtype's name marks bytes, which are text in XML.
        if name != wirelab_contract::BASE64_BINARY {
            return visitor.visit_newtype_struct(self);
        }
        self.read_in_namespace(|reader, _| {
            let text = value::base64(reader.source.text()?.into_str());
            visitor.visit_newtype_struct(de::value::CowStrDeserializer::new(text))
        })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        if self.reader.shape.wraps_lists(self.reader.level) {
            return self.read_in_namespace(|reader, open| {
                reader.check_complete_array(open, "offset")?;
                visitor.visit_seq(Wrapped { reader })
            });
        }
        // The first sibling is open already, because its name was needed to find the
        // field.
        let element = *self.element;
        self.read_in_namespace(|reader, _| {
            visitor.visit_seq(Siblings {
                reader,
                next: Some(element),
            })
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        self.read_in_namespace(|reader, _| Message(reader).fields(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Box<Error>> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Box<Error>> {
        let name = self.read_in_namespace(|reader, _| Ok(reader.source.text()?.into_str()))?;
        visitor.visit_enum(de::value::CowStrDeserializer::new(name))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Box<Error>> {
        self.reader.source.skip()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char bytes byte_buf unit unit_struct tuple
        tuple_struct identifier
    }
}

/// A list whose items are siblings of one name.
struct Siblings<'r, 's, 'de, S> {
    reader: &'r mut Reader<'s, 'de, S>,
    /// The item that has been opened.
    next: Option<Element<'de>>,
}

impl<'de, S: Source<'de>> de::SeqAccess<'de> for Siblings<'_, '_, 'de, S> {
    type Error = Box<Error>;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Box<Error>> {
        let Some(element) = self.next.take() else {
            return Ok(None);
        };
        let item = seed.deserialize(Value {
            reader: &mut *self.reader,
            element: &element,
            is_list_item: true,
        })?;
        match self.reader.child()? {
            // A list ends where another name begins: items of one list are adjacent,
            // because fields come in the order of their numbers.
            Some(child) if child.is(element.namespace, element.local) => self.next = Some(child),
            Some(other) => self.reader.lookahead = Lookahead::Child(other),
            None => self.reader.lookahead = Lookahead::End,
        }
        Ok(Some(item))
    }
}

/// A list whose items are the children of one element.
struct Wrapped<'r, 's, 'de, S> {
    reader: &'r mut Reader<'s, 'de, S>,
}

impl<'de, S: Source<'de>> de::SeqAccess<'de> for Wrapped<'_, '_, 'de, S> {
    type Error = Box<Error>;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Box<Error>> {
        let Some(element) = self.reader.child()? else {
            return Ok(None);
        };
        self.reader.check_complete_array(&element, "position")?;
        // SOAP 1.1 section 5.4.2: an array's items may have any name.
        // In rpc/literal the schema names the items; a wrong name there is another
        // message.
        if self.reader.shape == Shape::Rpc && !element.is("", "item") {
            return Err(element.unexpected("{}item").into());
        }
        let item = Value {
            reader: &mut *self.reader,
            element: &element,
            is_list_item: true,
        };
        seed.deserialize(item).map(Some)
    }
}
