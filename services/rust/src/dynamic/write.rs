//! Messages as trees of JSON, CBOR and MessagePack (contracts/README.md, "Formats").

use prost_reflect::{DynamicMessage, Kind, MapKey, ReflectMessage as _, Value};
use prost_types::{Duration, Timestamp};
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};

use super::digest::{has, is_moment, moment_of};
use super::values::{Base64, Form as _};

/// A message, written with its fields in the order of their numbers.
pub struct Tree<'a>(pub &'a DynamicMessage);

impl Serialize for Tree<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let message = self.0;
        let descriptor = message.descriptor();
        let present = || descriptor.fields().filter(|field| has(message, field));
        let mut map = to.serialize_map(Some(present().count()))?;
        for field in present() {
            let value = message.get_field(&field);
            let kind = match field.kind() {
                Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
                kind => kind,
            };
            map.serialize_entry(field.json_name(), &Item(&value, &kind))?;
        }
        map.end()
    }
}

/// A value of a field of that kind; of a map, the kind is that of its values.
struct Item<'a>(&'a Value, &'a Kind);

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Item(value, kind) = *self;
        match value {
            Value::Bool(of) => to.serialize_bool(*of),
            Value::I32(of) => to.serialize_i32(*of),
            Value::I64(of) => to.serialize_i64(*of),
            Value::U32(of) => to.serialize_u32(*of),
            Value::U64(of) => to.serialize_u64(*of),
            Value::F32(of) => to.serialize_f32(*of),
            Value::F64(of) => to.serialize_f64(*of),
            Value::String(of) => to.serialize_str(of),
            Value::Bytes(of) => Base64::serialize(&of.to_vec(), to),
            Value::EnumNumber(number) => match kind {
                Kind::Enum(of) => match of.get_value(*number) {
                    Some(value) => to.serialize_str(value.name()),
                    None => Err(S::Error::custom(format!("{number} has no name"))),
                },
                _ => unreachable!("an enum's number is in a field of its kind"),
            },
            Value::Message(of) if is_moment(&of.descriptor()) => write_moment(of, to),
            Value::Message(of) => Tree(of).serialize(to),
            Value::List(items) => to.collect_seq(items.iter().map(|item| Item(item, kind))),
            Value::Map(entries) => {
                let entries = entries.iter();
                to.collect_map(entries.map(|(key, item)| (Key(key), Item(item, kind))))
            }
        }
    }
}

fn write_moment<S: Serializer>(message: &DynamicMessage, to: S) -> Result<S::Ok, S::Error> {
    let (seconds, nanos) = moment_of(message);
    if message.descriptor().name() == "Timestamp" {
        to.collect_str(&Timestamp { seconds, nanos })
    } else {
        to.collect_str(&Duration { seconds, nanos })
    }
}

/// A key of a map, which is text in every format.
struct Key<'a>(&'a MapKey);

impl Serialize for Key<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            MapKey::Bool(of) => to.collect_str(of),
            MapKey::I32(of) => to.collect_str(of),
            MapKey::I64(of) => to.collect_str(of),
            MapKey::U32(of) => to.collect_str(of),
            MapKey::U64(of) => to.collect_str(of),
            MapKey::String(of) => to.serialize_str(of),
        }
    }
}
