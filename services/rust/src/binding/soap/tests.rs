//! Envelopes as text against contracts/vectors/envelopes.json, and by hand.

use serde_json::Value;
use wirelab_contract::charging::CreditControlRequest;
use wirelab_contract::transfer::{SubmitReply, SubmitRequest};
use wirelab_contract::{Contract, Operation, Unary, UnaryVisitor};
use wirelab_wire_own::soap::{EnvelopeFormat, Fault, FaultCode, Style, Version};

use super::text::{Envelope, EnvelopeError};
use super::writer;
use crate::codec::xml::XmlError;

const ENVELOPE: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const ENCODED: &str = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/' \
                       xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><e:Body>";

fn form(codec: &str, soap: &str) -> EnvelopeFormat {
    let version = if soap == "1.2" {
        Version::V12
    } else {
        Version::V11
    };
    let style = match codec {
        "soap-rpc" => Style::Rpc,
        "soap-encoded" => Style::Encoded,
        _ => Style::Literal,
    };
    EnvelopeFormat::new(version, style).expect("a form of the vectors")
}

fn encoding_format() -> EnvelopeFormat {
    form("soap-encoded", "1.1")
}

/// A row of the vectors.
struct Row<'a> {
    row: &'a Value,
    form: EnvelopeFormat,
}

impl Row<'_> {
    fn text(&self, member: &str) -> &str {
        self.row[member].as_str().expect("a text")
    }
}

impl UnaryVisitor for Row<'_> {
    type Output = ();

    fn visit<O: Unary>(self) {
        let form = self.form;
        let what = format!("{} {}", O::OPERATION, self.row["codec"]);
        let expected: O::Request = message(&self.row["request"]);
        let read = |document: &str| -> O::Request {
            let envelope = Envelope::parse(document.as_bytes());
            let envelope = envelope.unwrap_or_else(|error| panic!("{what}: {error}"));
            let request = envelope.request(form, O::OPERATION);
            request.unwrap_or_else(|error| panic!("{what}: {error}: {document}"))
        };
        assert_eq!(read(self.text("request_envelope")), expected, "{what}");
        let own = writer::request(form, O::OPERATION, expected.clone(), None);
        assert_eq!(
            read(std::str::from_utf8(&own).expect("text")),
            expected,
            "{what}"
        );
        if let Some(document) = self.row["token_envelope"].as_str() {
            let token = Envelope::parse(document.as_bytes())
                .expect(&what)
                .head
                .token;
            let token = token.expect("name and password");
            assert_eq!((&*token.username, &*token.password), ("lab", "a & b"));
            assert_eq!(read(document), expected, "{what}");
        }
        let reply: O::Reply = message(&self.row["reply"]);
        let written = writer::reply(form, O::OPERATION, reply);
        assert_eq!(plain(&written), self.text("reply_envelope"), "{what}");
        let fault = writer::fault(form, &Fault::client(self.text("error")));
        assert_eq!(plain(&fault), self.text("error_envelope"), "{what}");
    }
}

/// A document as the vectors have it, where empty elements have two tags, and the
/// attributes of rpc/encoded have another order.
fn plain(document: &[u8]) -> String {
    let text = std::str::from_utf8(document).expect("text");
    let mut whole = String::new();
    for piece in text.split_inclusive("/>") {
        let Some((before, tag)) = piece.rsplit_once('<').filter(|_| piece.ends_with("/>")) else {
            whole.push_str(piece);
            continue;
        };
        let start = tag.trim_end_matches("/>");
        let name = start.split(' ').next().unwrap_or(start);
        whole.push_str(&format!("{before}<{start}></{name}>"));
    }
    let namespace = format!(" xmlns:SOAP-ENV=\"{ENVELOPE}\"");
    let style = " SOAP-ENV:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"";
    let (ours, theirs) = (format!("{namespace}{style}"), format!("{style}{namespace}"));
    whole.replace(&ours, &theirs)
}

fn message<M: serde::de::DeserializeOwned>(json: &Value) -> M {
    serde_json::from_value(json.clone()).expect("the message of the vector")
}

#[test]
fn every_operation_is_read_and_written_in_every_form() {
    let text = include_str!("../../../../../contracts/vectors/envelopes.json");
    let rows: Vec<Value> = serde_json::from_str(text).expect("JSON");
    let texts = rows.iter().filter(|row| row["codec"] != "token-xml");
    let mut found = 0;
    for row in texts {
        let action = row["action"].as_str().expect("an action");
        let mut contracts = Contract::ALL.into_iter();
        let contract = contracts.find(|contract| action.starts_with(contract.namespace()));
        let name = row["operation"].as_str().expect("a name");
        let operation = Operation::of(contract.expect("a contract"), name).expect(name);
        let form = form(
            row["codec"].as_str().expect("a codec"),
            row["soap"].as_str().expect("a version"),
        );
        operation.visit_unary(Row { row, form }).expect("no stream");
        found += 1;
    }
    assert!(found > 60, "only {found} rows");
}

fn submit(records: &str, behind: &str) -> Result<SubmitRequest, String> {
    let document = format!(
        "{ENCODED}<submit><batch>b</batch>{records}</submit>{behind}</e:Body></e:Envelope>"
    );
    let envelope = Envelope::parse(document.as_bytes()).map_err(|error| error.to_string())?;
    let request = envelope.request(encoding_format(), Operation::Submit);
    request.map_err(|error| error.to_string())
}

#[test]
fn references_stand_for_what_they_name() {
    let behind = "<multiRef id='r'><item href='#t'/><quantity>2</quantity></multiRef>\
                  <multiRef id='t' xsi:type='xsd:string'>bolt &amp; nut</multiRef>";
    let read = submit(
        "<records><item href='#r'/><item href=\"#r\"></item></records>",
        behind,
    );
    let request = read.expect("references");
    let items: Vec<(&str, i32)> = (request.records.iter())
        .map(|record| (record.item.as_str(), record.quantity))
        .collect();
    assert_eq!(items, [("bolt & nut", 2), ("bolt & nut", 2)]);
    // A whole list elsewhere, and a reference to a reference.
    let behind = "<multiRef id='l' href='#m'/><multiRef id='m'><item><id>7</id></item></multiRef>";
    let request = submit("<records href='#l'/>", behind).expect("a list elsewhere");
    assert_eq!(request.records[0].id, 7);
    // The word alone is not a reference.
    let request = submit("<records><item><item>href</item></item></records>", "");
    assert_eq!(request.expect("a text").records[0].item, "href");
}

#[test]
fn references_that_lead_nowhere_or_grow_are_refused() {
    for (records, behind, why) in [
        ("<records href='#x'/>", "", "leads nowhere"),
        ("<records href='http://x/'/>", "", "out of the document"),
        (
            "<records href='#a'><item/></records>",
            "",
            "next to content",
        ),
        ("<records href='#a'/>", "<m id='a' href='#a'/>", "too deep"),
        (
            "<records href='#a'/>",
            "<m id='a'><item href='#a'/></m>",
            "too deep",
        ),
        (
            "<records href='#a'/>",
            "<m id='a'/><m id='a'/>",
            "appears twice",
        ),
    ] {
        let refused = submit(records, behind).expect_err(why);
        assert!(refused.contains(why), "{why}: {refused}");
    }
    // Each of 30 levels doubles what the level below stands for.
    let levels: String = (0..30)
        .map(|n| format!("<m id='a{n}'><x href='#a{0}'/><x href='#a{0}'/></m>", n + 1))
        .collect();
    let behind = format!("{levels}<m id='a30'><x>0123456789</x></m>");
    let refused = submit("<records href='#a0'/>", &behind).expect_err("a bomb");
    assert!(refused.contains("beyond measure"), "{refused}");
}

#[test]
fn what_follows_the_message_is_looked_at() {
    let read = |inside: &str, behind: &str| {
        let document = format!(
            "<e:Envelope xmlns:e='{ENVELOPE}'><e:Body><c:CreditControlRequest \
             xmlns:c='urn:wirelab:charging:v1'><c:id>7</c:id></c:CreditControlRequest>{inside}\
             </e:Body>{behind}"
        );
        let envelope = Envelope::parse(document.as_bytes()).expect("up to the body's child");
        envelope
            .request::<CreditControlRequest>(form("soap-literal", "1.1"), Operation::CreditControl)
    };
    const END: &str = "</e:Envelope>";
    for (inside, behind) in [
        ("", END),
        ("\n", END),
        ("", "\n</e:Envelope>\n"),
        ("<!-- -->", END),
    ] {
        assert_eq!(read(inside, behind).expect("white space").id, 7);
    }
    for (inside, behind) in [
        ("<x/>", END),
        ("x", END),
        ("", "x</e:Envelope>"),
        ("", "<x/></e:Envelope>"),
        ("", "</e:Envelope><x/>"),
        ("", "</e:Envelope>x"),
        ("", ""),
        ("", "</e:Envelop>"),
    ] {
        assert!(read(inside, behind).is_err(), "{inside} {behind}");
    }
}

#[test]
fn an_envelope_of_no_version_is_distinguished_from_no_envelope() {
    let other = Envelope::parse(b"<e:Envelope xmlns:e='urn:x'><e:Body><x/></e:Body></e:Envelope>");
    let error = other.err().expect("of no version");
    assert!(matches!(error, EnvelopeError::Version(_)));
    assert_eq!(Fault::from(error).code, FaultCode::VersionMismatch);
    for document in ["<x/>", "", "<e:Envelope/>", "no xml"] {
        let error = Envelope::parse(document.as_bytes()).err().expect(document);
        assert!(matches!(error, EnvelopeError::Xml(_)), "{document}");
        assert_eq!(Fault::from(error).code, FaultCode::Client);
    }
    let envelope = format!("<e:Envelope xmlns:e='{ENVELOPE}'><e:Body/></e:Envelope>");
    let error = Envelope::parse(envelope.as_bytes())
        .err()
        .expect("an empty body");
    assert!(matches!(error, EnvelopeError::Xml(XmlError::Structure(_))));
}

#[test]
fn header_blocks_are_those_of_the_service_only() {
    let head = |attributes: &str| {
        let document = format!(
            "<e:Envelope xmlns:e='{ENVELOPE}'><e:Header><x:a xmlns:x='urn:x' {attributes}>\
             <b>c</b></x:a></e:Header><e:Body><x/></e:Body></e:Envelope>"
        );
        Envelope::parse(document.as_bytes())
            .expect("an envelope")
            .head
    };
    for (attributes, must_understand) in [
        ("", false),
        ("e:mustUnderstand='1'", true),
        ("e:mustUnderstand=' true '", true),
        ("e:mustUnderstand='0'", false),
        ("mustUnderstand='1'", false),
        ("e:mustUnderstand='1' e:actor='urn:another'", false),
        (
            "e:actor='http://schemas.xmlsoap.org/soap/actor/next' e:mustUnderstand='1'",
            true,
        ),
    ] {
        let head = head(attributes);
        let [block] = &head.blocks[..] else {
            panic!("one block: {head:?}");
        };
        assert_eq!((&*block.namespace, &*block.name), ("urn:x", "a"));
        assert_eq!(block.must_understand, must_understand, "{attributes}");
    }
}

#[test]
fn an_empty_list_is_an_array_of_nothing() {
    let reply = SubmitReply {
        batch: "b".to_owned(),
        ..SubmitReply::default()
    };
    let rpc = writer::reply(form("soap-rpc", "1.1"), Operation::Submit, reply);
    let text = String::from_utf8(rpc).expect("text");
    assert!(
        text.contains("<refused/>"),
        "a part appears exactly once: {text}"
    );
}
