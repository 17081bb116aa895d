//! Messages read from bytes.

use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};

use super::error::Error;
use super::reader::Reader;

/// Reads what serde asks for, in order.
pub(super) struct Deserializer<'r, 'de> {
    reader: &'r mut Reader<'de>,
}

impl<'r, 'de> Deserializer<'r, 'de> {
    pub(super) fn new(reader: &'r mut Reader<'de>) -> Self {
        Deserializer { reader }
    }
}

/// `$method` takes a `$primitive` and hands it to the visitor's `$visit`.
macro_rules! primitives {
    ($($method:ident: $primitive:ident => $visit:ident),*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.reader.$primitive()?)
        }
    )*};
}

/// Types outside of the profile.
macro_rules! unsupported {
    ($($method:ident: $words:literal),*) => {$(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(Error::Unsupported($words))
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Deserializer<'_, 'de> {
    type Error = Error;

    primitives! {
        deserialize_bool: boolean => visit_bool,
        deserialize_u8: octet => visit_u8, deserialize_i16: short => visit_i16,
        deserialize_u16: ushort => visit_u16, deserialize_i32: long => visit_i32,
        deserialize_u32: ulong => visit_u32, deserialize_i64: long_long => visit_i64,
        deserialize_u64: ulong_long => visit_u64, deserialize_f32: float => visit_f32,
        deserialize_f64: double => visit_f64,
        // Borrowed: texts and bytes stay where they lie, and the message's own type
        // decides whether it copies them.
        deserialize_str: string => visit_borrowed_str,
        deserialize_string: string => visit_borrowed_str,
        deserialize_bytes: octets => visit_borrowed_bytes,
        deserialize_byte_buf: octets => visit_borrowed_bytes
    }

    unsupported! {
        // CDR carries no types (section 9.3), so that nothing can be read, or passed
        // over, without knowing what it is.
        deserialize_any: "a value of unknown type", deserialize_i8: "i8",
        deserialize_char: "char", deserialize_map: "a map",
        deserialize_identifier: "a name", deserialize_ignored_any: "a value of unknown type"
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.reader.ulong()? {
            // contracts/README.md maps optional to a sequence of at most one item.
            0 => visitor.visit_none(),
            1 => visitor.visit_some(self),
            count => Err(Error::Optional {
                at: self.reader.position() - 4,
                count,
            }),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        // No item takes less than a byte (see `Sequence`).
        let left = self.reader.length(1)?;
        visitor.visit_seq(Sequence {
            reader: self.reader,
            left,
        })
    }

    // Tuples and structs have no count on the wire: both ends know it (section
    // 9.3.2.2).
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Fields {
            reader: self.reader,
            left,
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(left, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        // An IDL enum is an `unsigned long` (section 9.3.2.6). The contracts' messages
        // hold theirs as i32, four octets as well, so that they come by
        // `deserialize_i32`.
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        Err(Error::Unsupported("an enum that is not an i32"))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The items of a sequence.
struct Sequence<'r, 'de> {
    reader: &'r mut Reader<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Sequence<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let before = self.reader.position();
        let item = seed.deserialize(Deserializer::new(self.reader))?;
        if self.reader.position() == before {
            // Or a count could make work and memory out of nothing; IDL has
            // no empty struct.
            return Err(Error::Unsupported("a sequence of items without fields"));
        }
        Ok(Some(item))
    }

    /// Every item that is still to come takes at least a byte of the rest, and
    /// most take four: room for more than that would be made on trust.
    fn size_hint(&self) -> Option<usize> {
        Some(self.left.min(self.reader.rest() / 4))
    }
}

/// The fields of a struct.
struct Fields<'r, 'de> {
    reader: &'r mut Reader<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Fields<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(Deserializer::new(self.reader)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}
