//! Messages on their way out.

use serde::ser::{self, Impossible, Serialize};

use super::error::Error;
use super::writer::Writer;

/// Writes what serde hands it, in order.
pub(super) struct Serializer<'w, 'a> {
    writer: &'w mut Writer<'a>,
}

impl<'w, 'a> Serializer<'w, 'a> {
    pub(super) fn new(writer: &'w mut Writer<'a>) -> Self {
        Serializer { writer }
    }
}

/// `$method` takes `$type` and hands it to the writer's `$primitive`.
macro_rules! numbers {
    ($($method:ident: $type:ty => $primitive:ident),*) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), Error> {
            self.writer.$primitive(value);
            Ok(())
        }
    )*};
}

type None = Impossible<(), Error>;

impl<'w, 'a> ser::Serializer for Serializer<'w, 'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'w, 'a>;
    type SerializeTuple = Items<'w, 'a>;
    type SerializeTupleStruct = Items<'w, 'a>;
    type SerializeTupleVariant = None;
    type SerializeMap = None;
    type SerializeStruct = Items<'w, 'a>;
    type SerializeStructVariant = None;

    numbers! {
        serialize_u8: u8 => octet, serialize_i16: i16 => short, serialize_u16: u16 => ushort,
        serialize_i32: i32 => long, serialize_u32: u32 => ulong, serialize_i64: i64 => long_long,
        serialize_u64: u64 => ulong_long, serialize_f32: f32 => float, serialize_f64: f64 => double
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        // `boolean` is one octet, 1 or 0 (section 9.3.1.5).
        self.serialize_u8(value.into())
    }

    // IDL has no signed octet before version 4, and `char` is subject to code set
    // conversion.
    fn serialize_i8(self, _: i8) -> Result<(), Error> {
        Err(Error::Unsupported("i8"))
    }

    fn serialize_char(self, _: char) -> Result<(), Error> {
        Err(Error::Unsupported("char"))
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.writer.string(text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Error> {
        self.writer.octets(bytes)
    }

    // IDL has no optional fields; contracts/README.md writes them as a sequence of none
    // or one.
    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_u32(0)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        // Optional fields are sequences: one item follows.
        self.writer.ulong(1);
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
        self.serialize_u32(index)
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

    fn serialize_seq(self, count: Option<usize>) -> Result<Items<'w, 'a>, Error> {
        // The count comes first (section 9.3.2.5). It could be patched in afterwards,
        // but no message of the contracts needs that.
        let count = count.ok_or(Error::Unsupported("a sequence of unknown length"))?;
        self.writer.length(count)?;
        Ok(Items(self.writer))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'w, 'a>, Error> {
        Ok(Items(self.writer))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'w, 'a>, Error> {
        Ok(Items(self.writer))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<None, Error> {
        Err(Error::Unsupported("a union"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<None, Error> {
        Err(Error::Unsupported("a map"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'w, 'a>, Error> {
        Ok(Items(self.writer))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<None, Error> {
        Err(Error::Unsupported("a union"))
    }

    // Types that have a text and a binary form, such as bytes, then take the binary
    // one.
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// What follows one after the other.
pub(super) struct Items<'w, 'a>(&'w mut Writer<'a>);

impl Items<'_, '_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Serializer::new(self.0))
    }
}

impl ser::SerializeSeq for Items<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

impl ser::SerializeTuple for Items<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

impl ser::SerializeTupleStruct for Items<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

impl ser::SerializeStruct for Items<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.item(value)
    }

    /// Only an absent optional field is ever skipped.
    fn skip_field(&mut self, _: &'static str) -> Result<(), Error> {
        // serde skips absent fields; CDR has no names, so that the place must be filled.
        self.0.ulong(0);
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}
