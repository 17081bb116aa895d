//! The digest of a message, and its copy with a number in it, by walking its descriptor
//! (contracts/README.md, "Digest" and "Reply").

use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage as _,
    Value as Dynamic,
};

use super::rules::{Number, Renumber as _, Sum, Value as _};

/// Whether it is a timestamp or duration, whose fields have one value together.
pub fn is_moment(descriptor: &MessageDescriptor) -> bool {
    let name = descriptor.full_name();
    name == "google.protobuf.Timestamp" || name == "google.protobuf.Duration"
}

/// Seconds and nanoseconds of a timestamp or duration.
pub fn moment_of(message: &DynamicMessage) -> (i64, i32) {
    let seconds = message.get_field_by_number(1);
    let nanos = message.get_field_by_number(2);
    (
        seconds.and_then(|value| value.as_i64()).unwrap_or(0),
        nanos.and_then(|value| value.as_i32()).unwrap_or(0),
    )
}

/// Whether a message has the field: what cannot be absent, it always has.
pub fn has(message: &DynamicMessage, field: &FieldDescriptor) -> bool {
    !field.supports_presence() || message.has_field(field)
}

/// The value of a message: its digest and 1.
pub fn value_of(message: &DynamicMessage) -> u64 {
    let descriptor = message.descriptor();
    let present = descriptor.fields().filter(|field| has(message, field));
    let add = |sum: Sum, field: FieldDescriptor| {
        let value = value_of_field(&field, &message.get_field(&field));
        sum.field(field.number().into(), value)
    };
    present.fold(Sum::default(), add).value()
}

fn value_of_field(field: &FieldDescriptor, value: &Dynamic) -> u64 {
    match value {
        Dynamic::List(items) => {
            let add = |sum: u64, item| sum.wrapping_add(value_of_one(item));
            items.iter().fold(items.len() as u64, add)
        }
        Dynamic::Map(entries) => {
            let add = |sum: u64, (key, item)| {
                sum.wrapping_add(value_of_key(key))
                    .wrapping_add(value_of_one(item))
            };
            entries.iter().fold(entries.len() as u64, add)
        }
        one => {
            // A message has its own 1; a moment has none.
            let is_message = matches!(field.kind(), Kind::Message(of) if !is_moment(&of));
            let is_optional = field.containing_oneof().is_some() && !is_message;
            value_of_one(one).wrapping_add(is_optional.into())
        }
    }
}

fn value_of_one(value: &Dynamic) -> u64 {
    match value {
        Dynamic::Bool(of) => of.value(),
        Dynamic::I32(of) | Dynamic::EnumNumber(of) => of.value(),
        Dynamic::I64(of) => of.value(),
        Dynamic::U32(of) => of.value(),
        Dynamic::U64(of) => of.value(),
        Dynamic::F32(of) => of.value(),
        Dynamic::F64(of) => of.value(),
        Dynamic::String(of) => of.value(),
        Dynamic::Bytes(of) => of.len() as u64 + of.first().map_or(0, |first| u64::from(*first)),
        Dynamic::Message(of) if is_moment(&of.descriptor()) => {
            let (seconds, nanos) = moment_of(of);
            seconds.value().wrapping_add(nanos.value())
        }
        Dynamic::Message(of) => value_of(of),
        Dynamic::List(_) | Dynamic::Map(_) => unreachable!("items are neither lists nor maps"),
    }
}

fn value_of_key(key: &MapKey) -> u64 {
    match key {
        MapKey::Bool(of) => of.value(),
        MapKey::I32(of) => of.value(),
        MapKey::I64(of) => of.value(),
        MapKey::U32(of) => of.value(),
        MapKey::U64(of) => of.value(),
        MapKey::String(of) => of.value(),
    }
}

/// A copy of a part of the sample reply, with a number in it.
pub fn renumber_message(message: &DynamicMessage, n: &Number) -> DynamicMessage {
    let descriptor = message.descriptor();
    let mut copy = DynamicMessage::new(descriptor.clone());
    for field in descriptor.fields().filter(|field| has(message, field)) {
        copy.set_field(&field, renumber(&message.get_field(&field), n));
    }
    copy
}

fn renumber(value: &Dynamic, n: &Number) -> Dynamic {
    match value {
        Dynamic::I32(of) => Dynamic::I32(of.renumber(n)),
        Dynamic::I64(of) => Dynamic::I64(of.renumber(n)),
        Dynamic::U32(of) => Dynamic::U32(of.renumber(n)),
        Dynamic::U64(of) => Dynamic::U64(of.renumber(n)),
        Dynamic::F32(of) => Dynamic::F32(of.renumber(n)),
        Dynamic::F64(of) => Dynamic::F64(of.renumber(n)),
        Dynamic::String(of) => Dynamic::String(of.renumber(n)),
        Dynamic::Message(of) if !is_moment(&of.descriptor()) => {
            Dynamic::Message(renumber_message(of, n))
        }
        Dynamic::List(items) => Dynamic::List(items.iter().map(|item| renumber(item, n)).collect()),
        Dynamic::Map(entries) => {
            let copies = entries.iter();
            Dynamic::Map(
                copies
                    .map(|(key, item)| (key.clone(), renumber(item, n)))
                    .collect(),
            )
        }
        unchanged => unchanged.clone(),
    }
}
