//! Messages of gRPC compared with a part of them that must be there, as proto3 JSON.

use base64::Engine as _;
use prost::Message as _;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, MessageDescriptor, MethodDescriptor,
    ReflectMessage, SerializeOptions,
};
use serde_json::Value;

use super::json::JsonPattern;
use crate::call::fault;
use crate::call::result::Fault;

/// The expected part of a message.
#[derive(Debug)]
pub(super) struct MessagePattern {
    of: MessageDescriptor,
    pattern: JsonPattern,
    /// Fields of which nothing is expected.
    unexpected: Vec<FieldDescriptor>,
}

impl MessagePattern {
    /// # Errors
    /// When no message of the type can look like that.
    pub(super) fn of(of: &MessageDescriptor, expected: &Value) -> Result<MessagePattern, Fault> {
        let parsed = DynamicMessage::deserialize(of.clone(), expected);
        let parsed = parsed.map_err(|error| {
            fault::plan(
                format!("expect.message: not a {}: {error}", of.full_name()),
                "write what is expected of the reply as proto3 JSON",
            )
        })?;
        // Written again, so that values look as those of replies will: enums by their names,
        // 64-bit integers as numbers, fields at their default.
        let canonical = text(&parsed).map_err(|error| {
            fault::plan(format!("expect.message: {error}"), "leave that field out")
        })?;
        let canonical = serde_json::from_str(&canonical)
            .map_err(|error| fault::internal(&format!("expect.message: {error}")))?;
        let Some(named) = restrict(&canonical, expected) else {
            return Err(fault::plan(
                "expect.message: a field that is null is one that is not there",
                "leave it out, and name fields as proto3 JSON does",
            ));
        };
        let is_named = |field: &FieldDescriptor| named.get(field.json_name()).is_some();
        Ok(MessagePattern {
            unexpected: of.fields().filter(|field| !is_named(field)).collect(),
            pattern: JsonPattern::of(&named),
            of: of.clone(),
        })
    }

    /// # Errors
    /// Where `message` differs, or why it cannot be decoded.
    pub(super) fn check(&self, message: &[u8]) -> Result<(), String> {
        let decoded = DynamicMessage::decode(self.of.clone(), message);
        let mut decoded =
            decoded.map_err(|error| format!("not a {}: {error}", self.of.full_name()))?;
        // Fields without expectations need no form in JSON, such as an Any of another pool.
        for field in &self.unexpected {
            decoded.clear_field(field);
        }
        self.pattern.check(text(&decoded)?.as_bytes())
    }

    /// The message as JSON.
    pub(super) fn show(&self, message: &[u8]) -> Option<String> {
        as_json(&self.of, message).ok()
    }
}

/// A message as JSON. Fields at their default are in it: a reply need not send them.
///
/// # Errors
/// When it has none, as a `google.protobuf.Any` of an unknown type.
fn text(message: &DynamicMessage) -> Result<String, String> {
    let options = SerializeOptions::new()
        .skip_default_fields(false)
        .stringify_64_bit_integers(false);
    let mut out = Vec::new();
    message
        .serialize_with_options(&mut serde_json::Serializer::new(&mut out), &options)
        .map_err(|error| {
            format!(
                "{} has no form in JSON: {error}",
                message.descriptor().full_name()
            )
        })?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// What of `canonical` was named; None where something of it is not there.
fn restrict(canonical: &Value, named: &Value) -> Option<Value> {
    match (canonical, named) {
        (Value::Object(all), Value::Object(named)) => {
            let entries = named.iter().map(|(key, value)| {
                // Fields may be named as in the .proto, too.
                let (key, found) = match all.get(key) {
                    Some(found) => (key.clone(), found),
                    None => (camel_case(key), all.get(&camel_case(key))?),
                };
                Some((key, restrict(found, value)?))
            });
            entries.collect()
        }
        (Value::Array(all), Value::Array(named)) => {
            let items = all.iter().zip(named);
            items.map(|(one, named)| restrict(one, named)).collect()
        }
        _ => Some(canonical.clone()),
    }
}

/// The JSON name of a field (Protocol Buffers, "ProtoJSON Format").
fn camel_case(name: &str) -> String {
    let mut upper = false;
    let letters = name.chars().filter_map(|letter| match letter {
        '_' => {
            upper = true;
            None
        }
        letter if std::mem::take(&mut upper) => Some(letter.to_ascii_uppercase()),
        letter => Some(letter),
    });
    letters.collect()
}

/// A reply of a type as proto3 JSON.
///
/// # Errors
/// When it is none, or has no such form.
pub(crate) fn as_json(of: &MessageDescriptor, message: &[u8]) -> Result<String, String> {
    let decoded = DynamicMessage::decode(of.clone(), message);
    text(&decoded.map_err(|error| format!("not a {}: {error}", of.full_name()))?)
}

/// A request of the method, given as proto3 JSON, as bytes.
///
/// # Errors
/// When it is none.
pub(crate) fn encoded(method: &MethodDescriptor, json: &str) -> Result<Vec<u8>, Fault> {
    let input = method.input();
    let name = input.full_name().to_owned();
    let mut reader = serde_json::Deserializer::from_str(json);
    let message = DynamicMessage::deserialize(input, &mut reader);
    let message = message.and_then(|message| reader.end().map(|()| message));
    message
        .map(|message| message.encode_to_vec())
        .map_err(|error| {
            fault::plan(
                format!("message: not a {name}: {error}"),
                "write it as proto3 JSON",
            )
        })
}

/// The method of that path, described by a `FileDescriptorSet` in base64.
///
/// # Errors
/// When there is none.
pub(crate) fn method(descriptors: &str, path: &str) -> Result<MethodDescriptor, Fault> {
    let refused = |reason: String| {
        fault::plan(
            format!("descriptors_base64: {reason}"),
            "give a FileDescriptorSet with the method and all that it imports",
        )
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(descriptors);
    let bytes = bytes.map_err(|error| refused(error.to_string()))?;
    let pool = DescriptorPool::decode(&bytes[..]).map_err(|error| refused(error.to_string()))?;
    let name = path.trim_start_matches('/');
    let (service, method) = name
        .rsplit_once('/')
        .or_else(|| name.rsplit_once('.'))
        .unwrap_or((name, ""));
    let found = pool
        .get_service_by_name(service)
        .and_then(|service| service.methods().find(|own| own.name() == method));
    found.ok_or_else(|| refused(format!("there is no method {path}")))
}
