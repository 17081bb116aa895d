//! `contracts/vectors/encodings.json` and `envelopes.json` are fresh, and our
//! readers read them.

#[path = "../examples/encodings/encodings.rs"]
mod encodings_json;
#[path = "../examples/encodings/envelopes.rs"]
mod envelopes;
#[path = "../examples/encodings/values.rs"]
mod values;
#[path = "../examples/encodings/xml_variants.rs"]
mod xml_variants;

use std::collections::BTreeSet;

use serde_json::Value;
use wirelab_contract::{Message, Operation, TypeVisitor, Unary, UnaryVisitor, visit_type};
use wirelab_wire::cdr::ByteOrder;
use wirelab_wire::codec::{Codec, MessageFormat};
use wirelab_wire::soap::Version;

const COMMITTED: &str = include_str!("../../../contracts/vectors/encodings.json");

fn read_committed() -> Value {
    serde_json::from_str(COMMITTED).unwrap()
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn the_committed_encodings_are_fresh() {
    assert!(
        encodings_json::format_document() == COMMITTED,
        "contracts/vectors/encodings.json is stale; run cargo run -p wirelab-wire --example encodings"
    );
}

const ENVELOPES: &str = include_str!("../../../contracts/vectors/envelopes.json");

#[test]
fn the_committed_envelopes_are_fresh() {
    assert!(
        envelopes::format_document() == ENVELOPES,
        "contracts/vectors/envelopes.json is stale; run cargo run -p wirelab-wire --example encodings"
    );
}

/// Reads the envelopes of a row in the form that it names.
struct ReadEnvelopes<'a>(MessageFormat, &'a Value);

impl UnaryVisitor for ReadEnvelopes<'_> {
    type Output = ();

    fn visit<O: Unary>(self) {
        let ReadEnvelopes(format, row) = self;
        let bytes = |name: &str| row[name].as_str().unwrap().as_bytes();
        let request = format.read_request::<O>(bytes("request_envelope")).unwrap();
        let reply = format.read_reply::<O>(bytes("reply_envelope")).unwrap();
        let error = format.read_error(O::OPERATION, bytes("error_envelope"));
        assert_eq!(serde_json::to_value(request).unwrap(), row["request"]);
        assert_eq!(serde_json::to_value(reply).unwrap(), row["reply"]);
        assert_eq!(error.unwrap(), row["error"].as_str().unwrap());
    }
}

#[test]
fn every_envelope_is_read_as_its_content() {
    let rows: Value = serde_json::from_str(ENVELOPES).unwrap();
    let mut operations = BTreeSet::new();
    for row in rows.as_array().unwrap() {
        let operation: Operation = row["operation"].as_str().unwrap().parse().unwrap();
        let codec: Codec = row["codec"].as_str().unwrap().parse().unwrap();
        let version = match row["soap"].as_str().unwrap() {
            "1.1" => Version::V11,
            _ => Version::V12,
        };
        let read = ReadEnvelopes(MessageFormat::from(codec).in_soap(version), row);
        operation.visit_unary(read).unwrap();
        operations.insert(operation);
    }
    // Streams and petclinic have no envelopes.
    let in_soap = |o: &Operation| !o.streaming() && !o.contract().is_json_and_protobuf_only();
    let unary = Operation::ALL.into_iter().filter(in_soap);
    assert!(operations.into_iter().eq(unary));
}

/// Reads every encoding of a vector and proves that it is one value.
struct ReadAll<'a>(&'a Value);

impl TypeVisitor for ReadAll<'_> {
    type Output = usize;

    fn visit<M: Message>(self) -> usize {
        let text = |name: &str| self.0[name].as_str().unwrap();
        let cdr = |order| MessageFormat::from(Codec::Cdr).in_order(order);
        // The reference, because prost reads it and not this crate.
        let value: M = MessageFormat::from(Codec::Protobuf)
            .read(&unhex(text("protobuf")))
            .unwrap();
        let mut all = vec![
            (
                MessageFormat::from(Codec::Json),
                text("json").as_bytes().to_vec(),
            ),
            (
                MessageFormat::from(Codec::Xml),
                text("xml").as_bytes().to_vec(),
            ),
            (MessageFormat::from(Codec::Avro), unhex(text("avro"))),
            (cdr(ByteOrder::Big), unhex(text("cdr_big"))),
            (cdr(ByteOrder::Little), unhex(text("cdr_little"))),
        ];
        for variant in self.0["xml_variants"].as_array().unwrap() {
            let document = variant.as_str().unwrap().as_bytes().to_vec();
            all.push((MessageFormat::from(Codec::Xml), document));
        }
        for (format, bytes) in &all {
            let read = format.read::<M>(bytes);
            assert_eq!(
                read.as_ref(),
                Ok(&value),
                "{format:?}: {}",
                bytes.escape_ascii()
            );
        }
        all.len()
    }
}

#[test]
fn every_encoding_of_a_value_is_read_as_that_value() {
    let mut read = 0;
    let mut messages = BTreeSet::new();
    for vector in read_committed()["accepted"].as_array().unwrap() {
        let message = vector["message"].as_str().unwrap();
        read += visit_type(message, ReadAll(vector)).unwrap();
        messages.insert(message.to_owned());
    }
    assert!(read > 500, "only {read} encodings");
    // Every message of the three contracts.
    // From the .proto files: a new message without a vector fails here.
    let sources = ["transfer", "charging", "calendar", "records"].map(|name| {
        let source = format!(
            "{}/../../contracts/{name}.proto",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::read_to_string(source).unwrap()
    });
    let declared = sources.iter().flat_map(|source| source.lines());
    let declared = declared.filter_map(|line| line.strip_prefix("message "));
    let declared = declared.map(|line| line.split([' ', '{']).next().unwrap().to_owned());
    assert_eq!(messages, declared.collect());
}

struct Refuses<'a>(MessageFormat, &'a [u8]);

impl TypeVisitor for Refuses<'_> {
    type Output = bool;

    fn visit<M: Message>(self) -> bool {
        self.0.read::<M>(self.1).is_err()
    }
}

#[test]
fn what_must_be_refused_is_refused() {
    let committed = read_committed();
    let big = MessageFormat::from(Codec::Cdr).in_order(ByteOrder::Big);
    for (list, format) in [
        ("refused_xml", Codec::Xml.into()),
        ("refused_cdr_big", big),
        ("refused_avro", Codec::Avro.into()),
    ] {
        let vectors = committed[list].as_array().unwrap();
        // An empty list would pass.
        assert!(vectors.len() > 10);
        for vector in vectors {
            let input = vector["input"].as_str().unwrap();
            let bytes = match format.codec {
                Codec::Xml => input.as_bytes().to_vec(),
                _ => unhex(input),
            };
            let message = vector["message"].as_str().unwrap();
            let refused = visit_type(message, Refuses(format, &bytes)).unwrap();
            assert!(refused, "{}: {input:.200}", vector["why"]);
        }
    }
}
