//! Forms of fields that serde does not write by itself: `#[serde(with = "…")]` names them.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::hash::Hash;
use std::marker::PhantomData;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A form of values of type `T`.
pub trait Form<T> {
    /// Writes a value.
    fn serialize<S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error>;

    /// Reads a value.
    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<T, D::Error>;
}

/// As serde writes it.
pub struct Plain;

impl<T: Serialize + for<'de> Deserialize<'de>> Form<T> for Plain {
    fn serialize<S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        value.serialize(to)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::deserialize(from)
    }
}

/// A number of 64 bits, which JSON made from Protocol Buffers has as a string of digits.
pub struct Digits;

macro_rules! digits {
    ($($number:ty)*) => {$(
        impl Form<$number> for Digits {
            fn serialize<S: Serializer>(value: &$number, to: S) -> Result<S::Ok, S::Error> {
                value.serialize(to)
            }

            fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$number, D::Error> {
                if from.is_human_readable() {
                    from.deserialize_any(AnyDigits(PhantomData))
                } else {
                    <$number>::deserialize(from)
                }
            }
        }
    )*};
}

digits! { i64 u64 }

struct AnyDigits<T>(PhantomData<T>);

impl<T: FromStr + TryFrom<i64> + TryFrom<u64>> Visitor<'_> for AnyDigits<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of 64 bits")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
        T::try_from(number).map_err(|_| E::custom("a number is beyond its field"))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<T, E> {
        T::try_from(number).map_err(|_| E::custom("a number is beyond its field"))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse()
            .map_err(|_| E::custom("a text is not a number of 64 bits"))
    }
}

/// xsd:float and xsd:double (XML Schema part 2, sections 3.2.4 and 3.2.5), whose infinities are not
/// written as Rust writes them.
pub struct Real;

macro_rules! real {
    ($($number:ty)*) => {$(
        impl Form<$number> for Real {
            fn serialize<S: Serializer>(value: &$number, to: S) -> Result<S::Ok, S::Error> {
                if value.is_infinite() {
                    to.serialize_str(if *value > 0.0 { "INF" } else { "-INF" })
                } else {
                    value.serialize(to)
                }
            }

            fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$number, D::Error> {
                from.deserialize_str(RealText(PhantomData))
            }
        }
    )*};
}

real! { f32 f64 }

struct RealText<T>(PhantomData<T>);

impl<T: FromStr> Visitor<'_> for RealText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of XML")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        // Rust also reads infinities and NaN by other words.
        let is_digits = |byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        if !matches!(text, "INF" | "-INF" | "NaN") && !text.bytes().all(is_digits) {
            return Err(E::custom("a text is not a number"));
        }
        text.parse()
            .map_err(|_| E::custom("a text is not a number"))
    }
}

/// Bytes: base64 in text, else the format's own.
pub struct Base64;

impl Form<Vec<u8>> for Base64 {
    fn serialize<S: Serializer>(value: &Vec<u8>, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            to.serialize_str(&STANDARD.encode(value))
        } else {
            to.serialize_bytes(value)
        }
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        if from.is_human_readable() {
            let text = String::deserialize(from)?;
            STANDARD.decode(text).map_err(D::Error::custom)
        } else {
            from.deserialize_byte_buf(Bytes)
        }
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}

/// A timestamp or duration as protobuf's JSON has it.
pub struct Moment;

impl<T: Display + FromStr<Err: Display>> Form<T> for Moment {
    fn serialize<S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Names and numbers of an enum.
pub trait Names {
    /// The name of a number.
    fn name(number: i32) -> Option<&'static str>;

    /// The number of a name.
    fn number(name: &str) -> Option<i32>;
}

/// The name of a number.
pub struct Named<E>(PhantomData<E>);

impl<E: Names> Form<i32> for Named<E> {
    fn serialize<S: Serializer>(value: &i32, to: S) -> Result<S::Ok, S::Error> {
        let unknown = || S::Error::custom(format!("{value} has no name"));
        to.serialize_str(E::name(*value).ok_or_else(unknown)?)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
        let name = String::deserialize(from)?;
        E::number(&name).ok_or_else(|| D::Error::custom("a name is not of its enum"))
    }
}

/// What may be absent.
pub struct Maybe<F>(PhantomData<F>);

impl<T, F: Form<T>> Form<Option<T>> for Maybe<F> {
    fn serialize<S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(Write::<T, F>::new).serialize(to)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        Ok(Option::<Read<T, F>>::deserialize(from)?.map(|read| read.0))
    }
}

/// A list.
pub struct Each<F>(PhantomData<F>);

impl<T, F: Form<T>> Form<Vec<T>> for Each<F> {
    fn serialize<S: Serializer>(value: &Vec<T>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(value.iter().map(Write::<T, F>::new))
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
        let items = Vec::<Read<T, F>>::deserialize(from)?;
        Ok(items.into_iter().map(|read| read.0).collect())
    }
}

/// A key of a map, which is text in every format.
pub trait Key: Display + FromStr<Err: Display> + Eq + Hash {}

impl<K: Display + FromStr<Err: Display> + Eq + Hash> Key for K {}

/// A map.
pub struct Keyed<F>(PhantomData<F>);

impl<K: Key, T, F: Form<T>> Form<HashMap<K, T>> for Keyed<F> {
    fn serialize<S: Serializer>(value: &HashMap<K, T>, to: S) -> Result<S::Ok, S::Error> {
        let entries = value.iter();
        to.collect_map(entries.map(|(key, item)| (KeyText(key), Write::<T, F>::new(item))))
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<HashMap<K, T>, D::Error> {
        from.deserialize_map(Map::<K, T, F>(PhantomData))
    }
}

struct KeyText<'a, K>(&'a K);

impl<K: Display> Serialize for KeyText<'_, K> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self.0)
    }
}

struct Map<K, T, F>(PhantomData<(K, T, F)>);

impl<'de, K: Key, T, F: Form<T>> Visitor<'de> for Map<K, T, F> {
    type Value = HashMap<K, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<HashMap<K, T>, A::Error> {
        let mut map = HashMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            let key = key.parse().map_err(A::Error::custom)?;
            map.insert(key, entries.next_value::<Read<T, F>>()?.0);
        }
        Ok(map)
    }
}

/// A map in XML: one element with key and value per entry.
pub struct Entries<F>(PhantomData<F>);

#[derive(Serialize)]
#[serde(bound = "K: Display, F: Form<T>")]
struct EntryOut<'a, K, T, F> {
    key: KeyText<'a, K>,
    value: Write<'a, T, F>,
}

#[derive(Deserialize)]
#[serde(bound = "T: Default, F: Form<T>")]
struct EntryIn<T, F> {
    #[serde(default)]
    key: String,
    #[serde(default)]
    value: Read<T, F>,
}

impl<K: Key, T: Default, F: Form<T>> Form<HashMap<K, T>> for Entries<F> {
    fn serialize<S: Serializer>(value: &HashMap<K, T>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(value.iter().map(|(key, item)| EntryOut {
            key: KeyText(key),
            value: Write::<T, F>::new(item),
        }))
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<HashMap<K, T>, D::Error> {
        let entries = Vec::<EntryIn<T, F>>::deserialize(from)?;
        let read = entries.into_iter().map(|entry| {
            let key = entry.key.parse().map_err(D::Error::custom)?;
            Ok((key, entry.value.0))
        });
        read.collect()
    }
}

struct Write<'a, T, F>(&'a T, PhantomData<F>);

impl<'a, T, F> Write<'a, T, F> {
    fn new(value: &'a T) -> Self {
        Write(value, PhantomData)
    }
}

impl<T, F: Form<T>> Serialize for Write<'_, T, F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        F::serialize(self.0, to)
    }
}

struct Read<T, F>(T, PhantomData<F>);

impl<T: Default, F> Default for Read<T, F> {
    fn default() -> Self {
        Read(T::default(), PhantomData)
    }
}

impl<'de, T, F: Form<T>> Deserialize<'de> for Read<T, F> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Read(F::deserialize(from)?, PhantomData))
    }
}
