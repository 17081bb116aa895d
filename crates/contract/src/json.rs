//! Messages as objects of JSON and of other self-describing formats.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use crate::lists;

/// A message read as an object and nothing else: the derived readers would
/// take an array of the fields' values as well.
#[derive(Debug, Clone, PartialEq)]
pub struct Object<M>(pub M);

impl<'de, M: Deserialize<'de>> Deserialize<'de> for Object<M> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        // `deserialize_map` asks for a map and nothing else; the derived code asks for a
        // struct, which readers may also give as a sequence.
        input.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<M>(PhantomData<M>);

impl<'de, M: Deserialize<'de>> Visitor<'de> for ObjectVisitor<M> {
    type Value = Object<M>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<M>, A::Error> {
        M::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// Reads a list of messages, for `#[serde(deserialize_with)]`: in
/// human-readable formats of objects only, in others in the derived form,
/// whose readers know no maps (CDR).
///
/// # Errors
/// Where the reader fails, an element is not an object, or there are more than
/// [`ITEMS_MAX`](crate::lists::ITEMS_MAX).
pub fn objects<'de, D, M>(input: D) -> Result<Vec<M>, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
{
    // CDR has no names and gives a struct as a sequence of its fields, so `Object` would
    // refuse it.
    if input.is_human_readable() {
        lists::read(input, |object: Object<M>| object.0)
    } else {
        lists::read(input, |message: M| message)
    }
}
