//! Example messages of Protobuf types: every field set, of a `oneof` the first.

use std::collections::BTreeSet;

use prost_reflect::{
    DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, SerializeOptions, Value,
};
use serde_json::value::Serializer;

/// Messages within messages.
const DEPTH_MAX: usize = 5;
/// Fields of one example: types that refer to each other widely multiply.
const FIELDS_MAX: usize = 500;
/// Types whose empty message is an example: the JSON of most is a word or a time.
const EMPTY: [&str; 6] = [
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
    "google.protobuf.FieldMask",
    "google.protobuf.Struct",
    "google.protobuf.ListValue",
    "google.protobuf.Empty",
];
const ANY: &str = "google.protobuf.Any";
const VALUE: &str = "google.protobuf.Value";

/// A message of the type with example values, as proto3 JSON. Types that contain
/// themselves end where they would begin again.
///
/// # Errors
/// When the message has no JSON form.
pub(super) fn request(of: &MessageDescriptor) -> Result<Example, serde_json::Error> {
    let mut examples = Examples {
        open: Vec::new(),
        left: FIELDS_MAX,
        left_out: BTreeSet::new(),
    };
    if of.full_name() == ANY || of.full_name() == VALUE {
        return Ok(Example {
            value: serde_json::json!({}),
            left_out: vec![of.full_name().to_owned()],
        });
    }
    let options = SerializeOptions::new().stringify_64_bit_integers(false);
    let message = examples.message(of);
    Ok(Example {
        value: message.serialize_with_options(Serializer, &options)?,
        left_out: examples.left_out.into_iter().collect(),
    })
}

/// An example message.
#[derive(Debug)]
pub(super) struct Example {
    /// As proto3 JSON.
    pub value: serde_json::Value,
    /// Full names of fields without a value: of a type that contains itself, or of
    /// `google.protobuf.Any`.
    pub left_out: Vec<String>,
}

struct Examples {
    /// Full names of the types that the current field is within.
    open: Vec<String>,
    left: usize,
    left_out: BTreeSet<String>,
}

impl Examples {
    fn message(&mut self, of: &MessageDescriptor) -> DynamicMessage {
        let mut message = DynamicMessage::new(of.clone());
        if EMPTY.contains(&of.full_name()) {
            return message;
        }
        self.open.push(of.full_name().to_owned());
        for field in of.fields() {
            let taken = field
                .containing_oneof()
                .is_some_and(|one| one.fields().any(|other| message.has_field(&other)));
            if taken || self.left == 0 {
                continue;
            }
            self.left -= 1;
            if let Some(value) = self.field(&field) {
                message.set_field(&field, value);
            } else {
                self.left_out.insert(field.full_name().to_owned());
            }
        }
        self.open.pop();
        message
    }

    fn field(&mut self, field: &FieldDescriptor) -> Option<Value> {
        if field.is_map() {
            let Kind::Message(entry) = field.kind() else {
                return None;
            };
            let key = key(&entry.map_entry_key_field().kind())?;
            let value = self.value(&entry.map_entry_value_field().kind())?;
            return Some(Value::Map([(key, value)].into()));
        }
        let value = self.value(&field.kind())?;
        Some(if field.is_list() {
            Value::List(vec![value])
        } else {
            value
        })
    }

    /// `None` for a message that would contain itself, or has no JSON without a choice.
    fn value(&mut self, kind: &Kind) -> Option<Value> {
        Some(match kind {
            Kind::Double => Value::F64(1.5),
            Kind::Float => Value::F32(1.5),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(1),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(1),
            Kind::Uint32 | Kind::Fixed32 => Value::U32(1),
            Kind::Uint64 | Kind::Fixed64 => Value::U64(1),
            Kind::Bool => Value::Bool(true),
            Kind::String => Value::String("text".into()),
            Kind::Bytes => Value::Bytes(b"bytes".to_vec().into()),
            Kind::Enum(of) => {
                // The first is mostly "unspecified".
                let value = of.values().nth(1).or_else(|| of.values().next())?;
                Value::EnumNumber(value.number())
            }
            Kind::Message(of) => {
                let name = of.full_name();
                let again = self.open.iter().any(|open| open == name);
                if again || self.open.len() >= DEPTH_MAX || name == ANY || name == VALUE {
                    return None;
                }
                Value::Message(self.message(of))
            }
        })
    }
}

fn key(kind: &Kind) -> Option<MapKey> {
    Some(match kind {
        Kind::Bool => MapKey::Bool(true),
        Kind::String => MapKey::String("key".into()),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => MapKey::I32(1),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => MapKey::I64(1),
        Kind::Uint32 | Kind::Fixed32 => MapKey::U32(1),
        Kind::Uint64 | Kind::Fixed64 => MapKey::U64(1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use prost_reflect::DescriptorPool;
    use protox::file::{File, FileResolver, GoogleFileResolver};
    use serde_json::{Value as Json, json};

    use super::{DynamicMessage, Example, request};

    fn pool(text: &str) -> DescriptorPool {
        let file = File::from_source("x.proto", text).expect("a .proto");
        let mut compiler =
            protox::Compiler::with_file_resolver(One(file, GoogleFileResolver::new()));
        compiler.open_file("x.proto").expect("it compiles");
        compiler.descriptor_pool()
    }

    /// One file, and those of Google.
    struct One(File, GoogleFileResolver);

    impl FileResolver for One {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            match name {
                "x.proto" => Ok(self.0.clone()),
                _ => self.1.open_file(name),
            }
        }
    }

    fn example(fields: &str) -> Json {
        make_example(fields).value
    }

    fn make_example(fields: &str) -> Example {
        let text = format!(
            "syntax = \"proto3\";\n\
             import \"google/protobuf/timestamp.proto\";\n\
             import \"google/protobuf/any.proto\";\n\
             enum Color {{ NONE = 0; RED = 1; }}\n\
             message M {{ {fields} }}"
        );
        let of = pool(&text).get_message_by_name("M").expect("it is there");
        let made = request(&of).expect("it has JSON");
        // What is written must be read again.
        DynamicMessage::deserialize(of, &made.value).expect("it is of its type");
        made
    }

    #[test]
    fn every_field_has_a_value_of_its_type() {
        assert_eq!(
            example(
                "string a = 1; int64 b = 2; bool c = 3; Color d = 4; bytes e = 5;\n\
                 repeated double f = 6; map<string, uint32> g = 7;\n\
                 google.protobuf.Timestamp h = 8; google.protobuf.Any i = 9;"
            ),
            json!({
                "a": "text", "b": 1, "c": true, "d": "RED", "e": "Ynl0ZXM=",
                "f": [1.5], "g": {"key": 1}, "h": "1970-01-01T00:00:00Z"
            })
        );
    }

    #[test]
    fn of_a_oneof_the_first_is_set() {
        assert_eq!(
            example("oneof either { string a = 1; string b = 2; }"),
            json!({"a": "text"})
        );
    }

    #[test]
    fn fields_without_a_value_are_named() {
        let made = make_example("M parent = 1; google.protobuf.Any extra = 2; string name = 3;");
        assert_eq!(made.left_out, ["M.extra", "M.parent"]);
    }

    #[test]
    fn a_type_that_contains_itself_ends() {
        assert_eq!(
            example("M parent = 1; repeated M children = 2; string name = 3;"),
            json!({"name": "text"})
        );
    }
}
