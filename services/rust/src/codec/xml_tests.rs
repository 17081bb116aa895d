//! Documents of every message against contracts/vectors/encodings.json.

use serde_json::Value;
use wirelab_contract::{TypeVisitor, visit_type};

use super::*;

/// What quick-xml takes although no message is written so. It reads attributes only where
/// a structure has them, and no namespaces, and passes over unknown elements without a
/// stack; no message depends on any of these.
const LENIENT: [&str; 4] = [
    "a prefix that is not declared",
    "an attribute twice",
    "an attribute without quotation marks",
    "10,000 elements deep",
];

fn vectors() -> Value {
    let text = include_str!("../../../../contracts/vectors/encodings.json");
    serde_json::from_str(text).expect("JSON")
}

fn rows<'a>(vectors: &'a Value, list: &str) -> &'a [Value] {
    vectors[list].as_array().expect("a list")
}

fn text<'a>(row: &'a Value, member: &str) -> &'a str {
    row[member].as_str().expect("a text")
}

/// Reads a row's documents as its message, and writes them again.
struct Accepted<'a>(&'a Value);

impl TypeVisitor for Accepted<'_> {
    type Output = ();

    fn visit<M: Message>(self) {
        let row = self.0;
        let what = format!("{}, {}", text(row, "message"), text(row, "name"));
        let expected: M = read_hexadecimal(text(row, "protobuf"));
        let variants = rows(row, "xml_variants").iter();
        let documents = variants.map(|variant| variant.as_str().expect("a document"));
        for document in documents.chain([text(row, "xml")]) {
            let found = read::<M>(document.as_bytes());
            let found = found.unwrap_or_else(|error| panic!("{what}: {error}: {document}"));
            assert_eq!(same(&found), same(&expected), "{what}: {document}");
        }
        // xsd:double has its own names for what is not finite, quick-xml those of Rust.
        if !text(row, "xml").contains("INF") {
            let again = read::<M>(&write(&expected)).expect("what was written");
            assert_eq!(same(&again), same(&expected), "{what}");
        }
    }
}

/// NaN differs from itself, but not from its name.
fn same<M: Message>(message: &M) -> String {
    format!("{message:?}")
}

fn read_hexadecimal<M: Message>(digits: &str) -> M {
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(pair, 16).expect("hexadecimal digits")
    };
    let bytes: Vec<u8> = pairs.map(byte).collect();
    M::decode(&bytes[..]).expect("protobuf of the vector")
}

#[test]
fn every_form_of_every_message_is_read_and_written() {
    let vectors = vectors();
    let accepted = rows(&vectors, "accepted");
    assert!(accepted.len() > 70);
    for row in accepted {
        visit_type(text(row, "message"), Accepted(row)).expect("a message of a contract");
    }
}

/// Whether a document is read as the message.
struct Taken<'a>(&'a str);

impl TypeVisitor for Taken<'_> {
    type Output = bool;

    fn visit<M: Message>(self) -> bool {
        read::<M>(self.0.as_bytes()).is_ok()
    }
}

#[test]
fn what_no_reader_may_take_is_refused_except_what_quick_xml_does_not_look_at() {
    let vectors = vectors();
    let refused = rows(&vectors, "refused_xml");
    let mut lenient = Vec::new();
    for row in refused {
        let taken = visit_type(text(row, "message"), Taken(text(row, "input")));
        if taken.expect("a message of a contract") {
            lenient.push(text(row, "why"));
        }
    }
    // An unexpected refusal is a reason to take a row from the list.
    assert_eq!(lenient, LENIENT);
}

#[test]
fn what_follows_the_root_is_looked_at() {
    let document = |behind: &str| {
        format!("<CreditReply xmlns=\"urn:wirelab:charging:v1\"><cn>7</cn></CreditReply>{behind}")
    };
    for fine in ["", "\n", " <!-- a --> ", "<?pi?>\r\n"] {
        let found = read::<wirelab_contract::charging::CreditReply>(document(fine).as_bytes());
        assert_eq!(found.expect(fine).cn, 7);
    }
    for bad in [
        "x",
        "<a/>",
        "</a>",
        "&lt;",
        "<![CDATA[x]]>",
        "<!DOCTYPE a>",
        "<",
    ] {
        let found = read::<wirelab_contract::charging::CreditReply>(document(bad).as_bytes());
        assert!(found.is_err(), "{bad}");
    }
}

#[test]
fn a_list_ends_at_its_bound() {
    let document = |records: usize| {
        let records = "<records/>".repeat(records);
        format!("<SubmitRequest xmlns=\"urn:wirelab:transfer:v1\">{records}</SubmitRequest>")
    };
    let read =
        |records| read::<wirelab_contract::transfer::SubmitRequest>(document(records).as_bytes());
    assert_eq!(
        read(200_000).expect("as many as may be").records.len(),
        200_000
    );
    let more = read(200_001).unwrap_err().to_string();
    assert!(more.contains("at most 200000"), "{more}");
}

#[test]
fn elements_a_million_deep_take_no_stack() {
    let deep = 1_000_000;
    let document = format!(
        "<CreditReply xmlns=\"urn:wirelab:charging:v1\">{}{}<cn>7</cn></CreditReply>",
        "<x>".repeat(deep),
        "</x>".repeat(deep)
    );
    let found = read::<wirelab_contract::charging::CreditReply>(document.as_bytes());
    assert_eq!(found.expect("an unknown element is passed over").cn, 7);
}

#[test]
fn an_application_error_is_an_element_of_its_own() {
    let written = write_error(Contract::Charging, "a < b & c");
    assert_eq!(
        String::from_utf8(written).expect("text"),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error xmlns=\"urn:wirelab:charging:v1\">\
         <error>a &lt; b &amp; c</error></Error>"
    );
}
