//! Messages from trees of JSON, CBOR and MessagePack (contracts/README.md, "Formats").

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::str::FromStr;

use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value,
};
use prost_types::{Duration, Timestamp};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize as _, Deserializer};

use super::digest::is_moment;
use super::values::{Base64, Digits, Form as _, Moment};

/// Reads a message of this type.
pub struct Tree(pub MessageDescriptor);

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = DynamicMessage;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<DynamicMessage, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = DynamicMessage;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {}", self.0.name())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<DynamicMessage, A::Error> {
        let mut message = DynamicMessage::new(self.0.clone());
        while let Some(name) = members.next_key::<String>()? {
            let Some(field) = self.0.get_field_by_json_name(&name) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            let Some(value) = members.next_value_seed(Member(&field))? else {
                continue;
            };
            if let Some(oneof) = field.containing_oneof()
                && oneof.fields().any(|other| message.has_field(&other))
            {
                return Err(A::Error::custom(format!(
                    "a second member of {}",
                    oneof.name()
                )));
            }
            message.set_field(&field, value);
        }
        Ok(message)
    }
}

/// Reads the value of a field; none for null.
struct Member<'a>(&'a FieldDescriptor);

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<Value>, D::Error> {
        from.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of {}", self.0.name())
    }

    fn visit_none<E>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<Value>, D::Error> {
        let kind = self.0.kind();
        match &kind {
            Kind::Message(entry) if self.0.is_map() => {
                let key = entry.map_entry_key_field().kind();
                let value = entry.map_entry_value_field().kind();
                from.deserialize_map(Entries(&key, &value)).map(Some)
            }
            _ if self.0.is_list() => from.deserialize_seq(Items(&kind)).map(Some),
            _ => One(&kind).deserialize(from).map(Some),
        }
    }
}

/// Reads a list of values of a kind.
struct Items<'a>(&'a Kind);

impl<'de> Visitor<'de> for Items<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(item) = items.next_element_seed(One(self.0))? {
            read.push(item);
        }
        Ok(Value::List(read))
    }
}

/// Reads a map with keys and values of these kinds.
struct Entries<'a>(&'a Kind, &'a Kind);

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut read = HashMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            let key = read_key(self.0, key)?;
            read.insert(key, entries.next_value_seed(One(self.1))?);
        }
        Ok(Value::Map(read))
    }
}

fn read_key<E: Error>(kind: &Kind, text: String) -> Result<MapKey, E> {
    fn parse<T: FromStr<Err: Display>, E: Error>(text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
    Ok(match kind {
        Kind::Bool => MapKey::Bool(parse(&text)?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => MapKey::I32(parse(&text)?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => MapKey::I64(parse(&text)?),
        Kind::Uint32 | Kind::Fixed32 => MapKey::U32(parse(&text)?),
        Kind::Uint64 | Kind::Fixed64 => MapKey::U64(parse(&text)?),
        _ => MapKey::String(text),
    })
}

/// Reads one value of a kind.
struct One<'a>(&'a Kind);

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        Ok(match self.0 {
            Kind::Bool => Value::Bool(bool::deserialize(from)?),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(i32::deserialize(from)?),
            Kind::Uint32 | Kind::Fixed32 => Value::U32(u32::deserialize(from)?),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(Digits::deserialize(from)?),
            Kind::Uint64 | Kind::Fixed64 => Value::U64(Digits::deserialize(from)?),
            Kind::Float => Value::F32(f32::deserialize(from)?),
            Kind::Double => Value::F64(f64::deserialize(from)?),
            Kind::String => Value::String(String::deserialize(from)?),
            Kind::Bytes => Value::Bytes(Base64::deserialize(from)?.into()),
            Kind::Enum(of) => Value::EnumNumber(read_enum(of, from)?),
            Kind::Message(of) if is_moment(of) => Value::Message(read_moment(of, from)?),
            Kind::Message(of) => Value::Message(Tree(of.clone()).deserialize(from)?),
        })
    }
}

fn read_enum<'de, D: Deserializer<'de>>(of: &EnumDescriptor, from: D) -> Result<i32, D::Error> {
    let name = String::deserialize(from)?;
    let value = of.get_value_by_name(&name);
    let value = value.ok_or_else(|| D::Error::custom("a name is not of its enum"))?;
    Ok(value.number())
}

fn read_moment<'de, D: Deserializer<'de>>(
    of: &MessageDescriptor,
    from: D,
) -> Result<DynamicMessage, D::Error> {
    let (seconds, nanos) = if of.name() == "Timestamp" {
        let Timestamp { seconds, nanos } = Moment::deserialize(from)?;
        (seconds, nanos)
    } else {
        let Duration { seconds, nanos } = Moment::deserialize(from)?;
        (seconds, nanos)
    };
    let mut message = DynamicMessage::new(of.clone());
    message.set_field_by_number(1, Value::I64(seconds));
    message.set_field_by_number(2, Value::I32(nanos));
    Ok(message)
}
