//! Every message of every contract comes back from every form: text, envelopes
//! of all kinds, tokens. Other documents are errors and never a panic.

use std::collections::BTreeSet;

use proptest::prelude::*;
use wirelab_contract::calendar::{BookRequest, EntriesReply, Entry};
use wirelab_contract::transfer::{Record, SubmitRequest, UploadRequest};
use wirelab_contract::{Message, Operation, TypeVisitor, visit_type};
use wirelab_wire::soap::{self, EnvelopeFormat, Response, Style, Version};
use wirelab_wire::token_xml::{self, Decoder, Document, Encoder, TokenCache};
use wirelab_wire::xml;

/// Every style in every version that has it.
fn formats() -> Vec<EnvelopeFormat> {
    let styles = [Style::Literal, Style::Rpc, Style::Encoded];
    let all = Version::ALL
        .into_iter()
        .flat_map(|version| styles.map(|style| EnvelopeFormat::new(version, style)));
    all.flatten().collect()
}

/// The golden envelopes: requests, replies and faults.
fn golden() -> Vec<String> {
    let vectors = include_str!("../../../../contracts/vectors/envelopes.json");
    let rows: Vec<serde_json::Value> = serde_json::from_str(vectors).unwrap();
    let parts = ["request_envelope", "reply_envelope", "error_envelope"];
    let envelope = |row: &serde_json::Value, part| row[part].as_str().unwrap().to_owned();
    let all = rows
        .iter()
        .flat_map(|row| parts.map(|part| envelope(row, part)));
    all.collect()
}

/// Carries a message through everything that this crate makes of it.
fn assert_round_trip<M: Message>(message: &M) {
    let document = xml::to_vec(message);
    assert_eq!(xml::from_slice::<M>(&document).as_ref(), Ok(message));
    // Any operation of the contract will do: the forms take what they are given.
    let operation = Operation::all_of(M::CONTRACT).next().unwrap();
    for format in formats() {
        let mut request = Vec::new();
        soap::write_request(format, operation, message, None, &mut request);
        let read = soap::read_request::<M>(format, operation, &request);
        assert_eq!(read.as_ref(), Ok(message));
        let mut answered = Vec::new();
        soap::write_reply(format, operation, message, &mut answered);
        let read = soap::read_reply(format, operation, &answered);
        assert_eq!(read, Ok(Response::Message(message.clone())));
        assert_eq!(
            token_xml::to_xml(&token_xml::parse(&request).unwrap()),
            request
        );
    }
    let direct = Document::of_reply(operation, message);
    let mut text = Vec::new();
    soap::write_reply(
        EnvelopeFormat::DOCUMENT_LITERAL,
        operation,
        message,
        &mut text,
    );
    assert_eq!(token_xml::parse(&text).as_ref(), Ok(&direct));
    let mut tokens = Vec::new();
    Encoder::new(TokenCache::NamesAndTexts).encode(&direct, &mut tokens);
    let decoded = Decoder::new(TokenCache::NamesAndTexts)
        .decode(&tokens)
        .unwrap();
    assert_eq!(decoded, direct);
    let read = decoded.read_reply(operation);
    assert_eq!(read, Ok(Response::Message(message.clone())));
}

struct FromJson<'v>(&'v serde_json::Value);

impl TypeVisitor for FromJson<'_> {
    type Output = ();

    fn visit<M: Message>(self) {
        let message: M = serde_json::from_str(self.0.as_str().unwrap()).unwrap();
        assert_round_trip(&message);
    }
}

#[test]
fn every_message_of_the_vectors_comes_back() {
    let vectors = include_str!("../../../../contracts/vectors/encodings.json");
    let vectors: serde_json::Value = serde_json::from_str(vectors).unwrap();
    let mut names = BTreeSet::new();
    for vector in vectors["accepted"].as_array().unwrap() {
        let name = vector["message"].as_str().unwrap();
        visit_type(name, FromJson(&vector["json"])).unwrap();
        names.insert(name.to_owned());
    }
    // All messages of the contracts that SOAP serves: a vector file that shrinks must not
    // pass.
    assert!(names.len() >= 33, "{names:?}");
}

/// Strings of characters that XML 1.0 allows, those that need care often.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::char::range(' ', '~'),
        2 => prop::sample::select(vec!['\r', '\n', '\t', ' ', '<', '>', '&', ']', '"', '\'', ';', '#']),
        1 => prop::char::range('\u{A0}', '\u{D7FF}'),
        1 => prop::char::range('\u{E000}', '\u{FFFD}'),
        1 => prop::char::range('\u{10000}', '\u{10FFFF}'),
    ];
    prop::collection::vec(character, 0..20).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_batch_comes_back(
        batch in text(),
        records in prop::collection::vec((any::<i64>(), any::<i32>(), text(), text()), 0..5),
    ) {
        let record = |(id, quantity, item, remark)| Record { id, quantity, item, remark };
        assert_round_trip(&SubmitRequest { batch, records: records.into_iter().map(record).collect() });
    }

    #[test]
    fn any_booking_comes_back(
        (owner, title, note) in (text(), text(), text()),
        (day, slot, open) in any::<(i32, i32, bool)>(),
        weight in prop::num::f64::ANY.prop_filter("NaN differs from itself", |w| !w.is_nan()),
    ) {
        assert_round_trip(&BookRequest { owner, day, slot, title: title.clone(), open, weight, note });
        assert_round_trip(&EntriesReply { entries: vec![Entry { slot, title, open, weight }] });
    }

    #[test]
    fn any_bytes_come_back(data in prop::collection::vec(any::<u8>(), 0..200)) {
        assert_round_trip(&UploadRequest { data });
    }

    /// Any change of a byte is an error or another document, never a panic.
    #[test]
    fn a_changed_byte_is_an_error_or_a_message(at in 0..10_000_usize, byte in any::<u8>()) {
        for envelope in golden() {
            let mut envelope = envelope.into_bytes();
            let at = at % envelope.len();
            envelope[at] = byte;
            wirelab_wire::fuzzing::fuzz_soap(&envelope);
            wirelab_wire::fuzzing::fuzz_xml(&envelope);
            wirelab_wire::fuzzing::fuzz_token_xml_text(&envelope);
        }
    }

    #[test]
    fn any_tokens_are_a_document_or_an_error(tokens in prop::collection::vec(any::<u8>(), 0..200)) {
        wirelab_wire::fuzzing::fuzz_token_xml(&tokens);
    }
}
