//! Forms of fields in Avro that serde does not write by itself.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, EnumAccess, VariantAccess, Visitor};
use serde::ser::{Error as _, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::values::{Form, Names};

/// Symbols of an enum.
pub trait Symbols: Names {
    /// The place of a number's symbol among all.
    fn place(number: i32) -> Option<u32>;
}

/// The symbol of a number, which Avro has.
pub struct Symbol<E>(PhantomData<E>);

impl<E: Symbols> Form<i32> for Symbol<E> {
    fn serialize<S: Serializer>(value: &i32, to: S) -> Result<S::Ok, S::Error> {
        let found = E::place(*value).zip(E::name(*value));
        let (place, name) =
            found.ok_or_else(|| S::Error::custom(format!("{value} has no name")))?;
        to.serialize_unit_variant("", place, name)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
        from.deserialize_enum("", &[], Symbol::<E>(PhantomData))
    }
}

impl<'de, E: Symbols> Visitor<'de> for Symbol<E> {
    type Value = i32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a symbol")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<i32, A::Error> {
        let (number, rest) = access.variant_seed(self)?;
        rest.unit_variant()?;
        Ok(number)
    }

    fn visit_str<X: serde::de::Error>(self, name: &str) -> Result<i32, X> {
        E::number(name).ok_or_else(|| X::custom("a symbol is not of its enum"))
    }
}

impl<'de, E: Symbols> DeserializeSeed<'de> for Symbol<E> {
    type Value = i32;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<i32, D::Error> {
        from.deserialize_identifier(self)
    }
}

/// An unsigned number of 64 bits in a `long` of Avro, which has a sign.
pub struct Bits;

impl Form<u64> for Bits {
    fn serialize<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
        value.cast_signed().serialize(to)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        Ok(i64::deserialize(from)?.cast_unsigned())
    }
}

/// A timestamp or duration as a record.
pub struct MomentRecord;

macro_rules! moment_record {
    ($($moment:ident)*) => {$(
        impl Form<prost_types::$moment> for MomentRecord {
            fn serialize<S: Serializer>(
                value: &prost_types::$moment,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                let mut record = to.serialize_struct(stringify!($moment), 2)?;
                record.serialize_field("seconds", &value.seconds)?;
                record.serialize_field("nanos", &value.nanos)?;
                record.end()
            }

            fn deserialize<'de, D: Deserializer<'de>>(
                from: D,
            ) -> Result<prost_types::$moment, D::Error> {
                #[derive(Deserialize)]
                struct $moment {
                    seconds: i64,
                    nanos: i32,
                }
                let $moment { seconds, nanos } = $moment::deserialize(from)?;
                Ok(prost_types::$moment { seconds, nanos })
            }
        }
    )*};
}

moment_record! { Timestamp Duration }
