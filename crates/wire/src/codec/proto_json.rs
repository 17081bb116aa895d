//! JSON by the mapping of Protocol Buffers (protobuf.dev, "ProtoJSON Format"), in which services of
//! Connect reply: names in lowerCamelCase, 64-bit integers as text, zeros left out. Readers take
//! names of the .proto and numbers as well.
//!
//! It is a layer over the reader of JSON: the messages keep one serde form. The engine writes JSON
//! by the mapping of contracts/README.md, which every reader of this one takes.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use wirelab_contract::Message;
use wirelab_contract::json::Object;

use super::Mismatch;
use super::serde_formats::{json_text, malformed_json};

/// The names of the contracts that this mapping spells in another way, and that way.
pub(super) const NAMES: [(&str, &str); 6] = [
    ("chunk_bytes", "chunkBytes"),
    ("due_ns", "dueNs"),
    ("gap_us", "gapUs"),
    ("quantity_total", "quantityTotal"),
    ("received_ns", "receivedNs"),
    ("sent_ns", "sentNs"),
];

/// Parses one whole document into a message.
pub(super) fn parse<M: Message>(body: &[u8]) -> Result<M, Mismatch> {
    let mut input = serde_json::Deserializer::from_str(json_text(body)?);
    let object: Object<M> = serde::Deserialize::deserialize(Layer(&mut input))
        .map_err(|error| malformed_json(body, &error))?;
    input.end().map_err(|error| malformed_json(body, &error))?;
    Ok(object.0)
}

/// A reader, visitor, access or seed of JSON, in whose place this one is.
struct Layer<T>(T);

/// A visitor of a number that may be in a text.
struct Number<V>(V);

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.deserialize_any(Number(visitor))
        }
    )*};
}

/// Values that the inner visitor is given as they are.
macro_rules! visit_unchanged {
    ($($method:ident: $value:ty),*) => {$(
        fn $method<E: Error>(self, value: $value) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Layer<D> {
    type Error = D::Error;

    numbers! { deserialize_i32 deserialize_i64 deserialize_f64 }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Layer(visitor))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Layer(visitor))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_seq(Layer(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Layer(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Layer(visitor))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }

    forward_to_deserialize_any! {
        bool i8 i16 u8 u16 u32 u64 f32 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct struct enum identifier
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Layer<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(f)
    }

    visit_unchanged! {
        visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str,
        visit_borrowed_str: &'de str
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, input: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Layer(input))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, input: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Layer(input))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Layer(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Layer(map))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Layer<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Layer(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Layer<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        self.0.next_key_seed(Key(seed))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.0.next_value_seed(Layer(seed))
    }
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for Layer<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<T::Value, D::Error> {
        self.0.deserialize(Layer(input))
    }
}

/// The seed of a field's name.
struct Key<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<K> {
    type Value = K::Value;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<K::Value, D::Error> {
        input.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Key<K> {
    type Value = K::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<K::Value, E> {
        let found = NAMES.iter().find(|(_, json)| *json == name);
        let name = found.map_or(name, |(own, _)| own);
        self.0.deserialize(StrDeserializer::new(name))
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Number<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(f)
    }

    visit_unchanged! { visit_i64: i64, visit_u64: u64, visit_f64: f64 }

    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        if let Ok(value) = text.parse::<i64>() {
            return self.0.visit_i64(value);
        }
        match (text, text.parse::<f64>()) {
            ("NaN" | "Infinity" | "-Infinity", Ok(value)) => self.0.visit_f64(value),
            (_, Ok(value)) if value.is_finite() => self.0.visit_f64(value),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use wirelab_contract::calendar::BookRequest;
    use wirelab_contract::stream::Item;
    use wirelab_contract::transfer::{HelloBytesReply, Refusal, SubmitReply};

    use super::*;

    #[test]
    fn replies_of_libraries_are_read() {
        let body = br#"{"batch":"b", "quantityTotal":"9223372036854775807", "accepted":2,
                        "refused":[{"id":"-1","reason":"x"},{}], "unknown":{"a":[1,null]}}"#;
        let expected = SubmitReply {
            batch: "b".to_owned(),
            accepted: 2,
            quantity_total: i64::MAX,
            refused: vec![
                Refusal {
                    id: -1,
                    reason: "x".to_owned(),
                },
                Refusal::default(),
            ],
        };
        assert_eq!(parse::<SubmitReply>(body).unwrap(), expected);
        assert_eq!(
            parse::<Item>(b"{}").unwrap(),
            Item::default(),
            "zeros are left out"
        );
        let bytes: HelloBytesReply = parse(br#"{"text":"AQI="}"#).unwrap();
        assert_eq!(bytes.text, [1, 2]);
    }

    #[test]
    fn names_and_numbers_of_the_contracts_are_read_too() {
        let body = br#"{"index":3,"due_ns":1,"sentNs":"2","received_ns":"3","text":"1"}"#;
        let item: Item = parse(body).unwrap();
        assert_eq!((item.index, item.due_ns, item.sent_ns), (3, 1, 2));
        assert_eq!((item.received_ns, item.text.as_str()), (3, "1"));
    }

    #[test]
    fn doubles_have_names_for_what_json_has_no_number_for() {
        let weight = |text: &str| {
            let body = format!("{{\"weight\":{text}}}");
            parse::<BookRequest>(body.as_bytes()).map(|book| book.weight)
        };
        assert!(weight("\"NaN\"").unwrap().is_nan());
        assert_eq!(weight("\"-Infinity\"").unwrap(), f64::NEG_INFINITY);
        assert_eq!(weight("\"1.5\"").unwrap(), 1.5);
        assert_eq!(weight("2").unwrap(), 2.0);
        assert!(weight("\"inf\"").is_err());
        assert!(weight("\"\"").is_err());
    }

    #[test]
    fn documents_other_than_messages_are_refused() {
        for body in [
            "",
            "[]",
            "null",
            "{}{}",
            r#"{"index":"x"}"#,
            r#"{"index":"1.5"}"#,
            r#"{"index":1.5}"#,
            r#"{"index":"2147483648"}"#,
            r#"{"dueNs":"9223372036854775808"}"#,
            r#"{"text":5}"#,
            r#"{"index":{}}"#,
        ] {
            assert!(parse::<Item>(body.as_bytes()).is_err(), "{body}");
        }
        assert!(parse::<SubmitReply>(br#"{"refused":[["1","x"]]}"#).is_err());
        assert!(parse::<SubmitReply>(br#"{"refused":{}}"#).is_err());
        assert!(parse::<Item>(b"{\"text\":\"\xff\"}").is_err());
    }

    #[test]
    fn every_name_with_an_underscore_is_known() {
        const CONTRACTS: [&str; 6] = [
            include_str!("../../../../contracts/transfer.proto"),
            include_str!("../../../../contracts/charging.proto"),
            include_str!("../../../../contracts/calendar.proto"),
            include_str!("../../../../contracts/records.proto"),
            include_str!("../../../../contracts/petclinic.proto"),
            include_str!("../../../../contracts/stream.proto"),
        ];
        let lines = CONTRACTS.iter().flat_map(|text| text.lines());
        let fields = lines.filter(|line| !line.trim_start().starts_with("//"));
        let names = fields.filter_map(|line| line.split_once(" = ")?.0.split(' ').next_back());
        let mut found: Vec<&str> = names
            .filter(|name| {
                name.contains('_') && !name.starts_with("java_") && *name != "go_package"
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, NAMES.map(|(own, _)| own));
    }
}
