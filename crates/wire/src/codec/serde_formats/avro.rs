//! Avro's binary encoding (Apache Avro 1.12, Binary Encoding): the fields of a message in the order
//! of its schema, which is that of their numbers (contracts/avro), without names and types.

use std::fmt;

use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{self, Impossible, Serialize};

/// Bytes of the longest variable-length integer: 64 bits, seven in each.
const VARINT_BYTES_MAX: usize = 10;

/// Bytes that are not the message, or a value that Avro has no form for here.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("the bytes end within a value")]
    Truncated,
    #[error("{0}")]
    Malformed(&'static str),
    #[error("{0} has no form in Avro; use the types of contracts/README.md, Mappings")]
    Unsupported(&'static str),
    #[error("{0}")]
    Message(String),
}

impl ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::Message(message.to_string())
    }
}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error::Message(message.to_string())
    }
}

/// Appends a message.
///
/// # Errors
/// When it has a value outside of the profile.
pub(super) fn write(message: &impl Serialize, out: &mut Vec<u8>) -> Result<(), Error> {
    message.serialize(Serializer(out))
}

/// Reads a message from the front of `bytes`, and leaves there what follows it.
///
/// # Errors
/// When the bytes are not that message; `bytes` then begin near the fault.
pub(super) fn read<'de, T: de::Deserialize<'de>>(bytes: &mut &'de [u8]) -> Result<T, Error> {
    T::deserialize(Deserializer(bytes))
}

struct Serializer<'w>(&'w mut Vec<u8>);

impl Serializer<'_> {
    /// Zigzag, so that small negative numbers are short too, then seven bits a byte, least
    /// significant first.
    fn long(&mut self, value: i64) {
        let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
        while rest > 0x7f {
            self.0.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push(rest as u8);
    }

    fn length(&mut self, length: usize) {
        self.long(i64::try_from(length).expect("memory is below 2^63 bytes"));
    }
}

/// Methods for types outside of the profile.
macro_rules! unsupported {
    ($($method:ident: $type:ty => $words:literal),*) => {$(
        fn $method(self, _: $type) -> Result<(), Error> {
            Err(Error::Unsupported($words))
        }
    )*};
}

type Never = Impossible<(), Error>;

impl<'w> ser::Serializer for Serializer<'w> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'w>;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Items<'w>;
    type SerializeStructVariant = Never;

    unsupported! {
        serialize_i8: i8 => "i8", serialize_i16: i16 => "i16", serialize_u8: u8 => "u8",
        serialize_u16: u16 => "u16", serialize_u32: u32 => "u32", serialize_u64: u64 => "u64",
        serialize_f32: f32 => "f32", serialize_char: char => "char"
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.push(value.into());
        Ok(())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(mut self, value: i64) -> Result<(), Error> {
        self.long(value);
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.0.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.serialize_bytes(text.as_bytes())
    }

    fn serialize_bytes(mut self, bytes: &[u8]) -> Result<(), Error> {
        self.length(bytes.len());
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    // An optional field is the union of null and its type: the index of the one that follows.
    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_i64(0)
    }

    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), Error> {
        self.long(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), Error> {
        self.serialize_i64(index.into())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        Err(Error::Unsupported("a union"))
    }

    /// One block with all items; the empty one that ends an array follows in [`Items`].
    fn serialize_seq(mut self, count: Option<usize>) -> Result<Items<'w>, Error> {
        let count = count.ok_or(Error::Unsupported("a list of unknown length"))?;
        if count > 0 {
            self.length(count);
        }
        Ok(Items(self))
    }

    fn serialize_tuple(self, _: usize) -> Result<Never, Error> {
        Err(Error::Unsupported("a tuple"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Never, Error> {
        Err(Error::Unsupported("a tuple"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never, Error> {
        Err(Error::Unsupported("a union"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Never, Error> {
        Err(Error::Unsupported("a map"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'w>, Error> {
        Ok(Items(self))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never, Error> {
        Err(Error::Unsupported("a union"))
    }

    // Types with a text and a binary form, such as bytes, then take the binary one.
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The items of an array, or the fields of a record.
struct Items<'w>(Serializer<'w>);

impl Items<'_> {
    fn append<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Serializer(self.0.0))
    }
}

impl ser::SerializeSeq for Items<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.append(value)
    }

    fn end(mut self) -> Result<(), Error> {
        self.0.long(0);
        Ok(())
    }
}

impl ser::SerializeStruct for Items<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.append(value)
    }

    // Only an absent optional field is skipped; without names its place must be filled.
    fn skip_field(&mut self, _: &'static str) -> Result<(), Error> {
        self.0.long(0);
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

struct Deserializer<'r, 'de>(&'r mut &'de [u8]);

impl<'de> Deserializer<'_, 'de> {
    fn take(&mut self, count: usize) -> Result<&'de [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Error::Truncated)?;
        *self.0 = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Error> {
        self.take(1).map(|byte| byte[0])
    }

    fn long(&mut self) -> Result<i64, Error> {
        let mut zigzag = 0;
        for at in 0..VARINT_BYTES_MAX {
            let byte = self.byte()?;
            // The tenth byte has room for one bit.
            if at == VARINT_BYTES_MAX - 1 && byte > 1 {
                break;
            }
            zigzag |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                return Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed());
            }
        }
        Err(Error::Malformed("an integer of more than 64 bits"))
    }

    fn int(&mut self) -> Result<i32, Error> {
        let value = self.long()?;
        i32::try_from(value).map_err(|_| Error::Malformed("an int of more than 32 bits"))
    }

    /// Bytes behind their length.
    fn bytes(&mut self) -> Result<&'de [u8], Error> {
        let length = self.long()?;
        let length = usize::try_from(length).map_err(|_| Error::Malformed("a negative length"))?;
        self.take(length)
    }

    fn text(&mut self) -> Result<&'de str, Error> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Error::Malformed("a text that is not UTF-8"))
    }

    /// Items in the next block of an array, 0 at its end. A negative count is followed by the
    /// block's length in bytes, by which readers may skip it.
    fn block(&mut self) -> Result<u64, Error> {
        let count = self.long()?;
        let length = if count < 0 { self.long()? } else { 0 };
        let rest = self.0.len() as u64;
        // No item takes less than a byte (see `Blocks`).
        if length < 0 || length.unsigned_abs().max(count.unsigned_abs()) > rest {
            return Err(Error::Malformed("a block of an array beyond the end"));
        }
        Ok(count.unsigned_abs())
    }
}

/// `$method` takes a `$primitive` and hands it to the visitor's `$visit`.
macro_rules! primitives {
    ($($method:ident: $primitive:ident => $visit:ident),*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.$primitive()?)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Deserializer<'_, 'de> {
    type Error = Error;

    primitives! {
        deserialize_i32: int => visit_i32, deserialize_i64: long => visit_i64,
        // Borrowed: the message's own type decides whether it copies them.
        deserialize_str: text => visit_borrowed_str, deserialize_string: text => visit_borrowed_str,
        deserialize_bytes: bytes => visit_borrowed_bytes,
        deserialize_byte_buf: bytes => visit_borrowed_bytes
    }

    // Nothing can be read, or passed over, without knowing what it is.
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::Unsupported("a value of unknown type"))
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 char map enum identifier ignored_any tuple tuple_struct
    }

    fn deserialize_bool<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        match self.byte()? {
            0 => visitor.visit_bool(false),
            1 => visitor.visit_bool(true),
            _ => Err(Error::Malformed("a boolean other than 0 and 1")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        let bytes = self.take(size_of::<f64>())?;
        visitor.visit_f64(f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        match self.long()? {
            0 => visitor.visit_none(),
            1 => visitor.visit_some(self),
            _ => Err(Error::Malformed("a branch that the union does not have")),
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

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        let left = self.block()?;
        visitor.visit_seq(Blocks {
            bytes: self.0,
            left,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Fields {
            bytes: self.0,
            left: fields.len(),
        })
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The items of an array, block by block.
struct Blocks<'r, 'de> {
    bytes: &'r mut &'de [u8],
    /// Items of this block; 0 behind the last block.
    left: u64,
}

impl<'de> SeqAccess<'de> for Blocks<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let before = self.bytes.len();
        let item = seed.deserialize(Deserializer(self.bytes))?;
        if self.bytes.len() == before {
            // Or a count could make work and memory out of nothing.
            return Err(Error::Unsupported("a list of items without fields"));
        }
        self.left -= 1;
        if self.left == 0 {
            self.left = Deserializer(self.bytes).block()?;
        }
        Ok(Some(item))
    }

    fn size_hint(&self) -> Option<usize> {
        usize::try_from(self.left).ok()
    }
}

/// The fields of a record.
struct Fields<'r, 'de> {
    bytes: &'r mut &'de [u8],
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
        seed.deserialize(Deserializer(self.bytes)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}
