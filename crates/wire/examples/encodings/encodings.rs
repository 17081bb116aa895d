//! `encodings.json`: values of all contracts in every codec that needs no operation.

use serde::Serialize;
use serde_json::Value;
use wirelab_contract::{Message, TypeVisitor, visit_type};
use wirelab_wire::cdr::ByteOrder;
use wirelab_wire::codec::{Codec, MessageFormat};

use super::{values, xml_variants};

/// Everything in the file.
#[derive(Debug, Serialize)]
struct Encodings {
    accepted: Vec<Accepted>,
    refused_xml: Vec<Refused>,
    refused_cdr_big: Vec<Refused>,
    refused_cbor: Vec<Refused>,
    refused_msgpack: Vec<Refused>,
    refused_avro: Vec<Refused>,
}

/// One value and its encodings.
#[derive(Debug, Serialize)]
struct Accepted {
    contract: &'static str,
    message: &'static str,
    name: String,
    json: String,
    /// Hexadecimal.
    cbor: String,
    /// Hexadecimal.
    msgpack: String,
    /// Hexadecimal.
    avro: String,
    /// Hexadecimal.
    protobuf: String,
    xml: String,
    /// Other documents with the same content.
    xml_variants: Vec<String>,
    /// Hexadecimal, most significant byte first.
    cdr_big: String,
    /// Hexadecimal, least significant byte first.
    cdr_little: String,
}

/// Bytes that no reader may take for a message.
#[derive(Debug, Serialize)]
struct Refused {
    message: &'static str,
    why: &'static str,
    /// The document, or the bytes in hexadecimal.
    input: String,
}

/// The file as it must be.
pub fn format_document() -> String {
    let accepted = values::all().into_iter().map(|(message, name, value)| {
        let encoded = visit_type(&message, Encode { name, value });
        encoded.unwrap_or_else(|| panic!("no contract has {message}"))
    });
    let encodings = Encodings {
        accepted: accepted.collect(),
        refused_xml: list_refused_xml(),
        refused_cdr_big: list_refused_cdr(),
        refused_cbor: list_refused_cbor(),
        refused_msgpack: list_refused_msgpack(),
        refused_avro: list_refused_avro(),
    };
    serde_json::to_string_pretty(&encodings).expect("vectors have string keys") + "\n"
}

struct Encode {
    name: String,
    value: Value,
}

impl TypeVisitor for Encode {
    type Output = Accepted;

    fn visit<M: Message>(self) -> Accepted {
        let message: M = serde_json::from_value(self.value).expect("values are messages");
        let text = |codec: Codec| {
            String::from_utf8(MessageFormat::from(codec).write(&message)).expect("UTF-8")
        };
        let cdr = |order| {
            hex(&MessageFormat::from(Codec::Cdr)
                .in_order(order)
                .write(&message))
        };
        let xml = text(Codec::Xml);
        Accepted {
            contract: M::CONTRACT.name(),
            message: M::NAME,
            name: self.name,
            json: text(Codec::Json),
            cbor: hex(&MessageFormat::from(Codec::Cbor).write(&message)),
            msgpack: hex(&MessageFormat::from(Codec::Msgpack).write(&message)),
            avro: hex(&MessageFormat::from(Codec::Avro).write(&message)),
            protobuf: hex(&MessageFormat::from(Codec::Protobuf).write(&message)),
            xml_variants: xml_variants::of(&xml),
            xml,
            cdr_big: cdr(ByteOrder::Big),
            cdr_little: cdr(ByteOrder::Little),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A Record around `content`.
fn record(content: &str) -> String {
    format!("<Record xmlns=\"urn:wirelab:transfer:v1\">{content}</Record>")
}

#[rustfmt::skip]
fn list_refused_xml() -> Vec<Refused> {
    let refused = |why, input: String| Refused { message: "Record", why, input };
    let root = |root: &str| root.to_owned();
    let bomb = "<!DOCTYPE Record [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>";
    let external = "<!DOCTYPE Record [<!ENTITY a SYSTEM \"file:///etc/hostname\">]>";
    let data = "<data>!!!!</data>";
    // A recursive reader would exhaust its stack.
    let deep = "<x>".repeat(10_000) + &"</x>".repeat(10_000);
    vec![
        refused("nothing", root("")),
        refused("no XML", root("{}")),
        refused("cut off", root("<Record xmlns=\"urn:wirelab:transfer:v1\"><id>1</id>")),
        refused("another root", record("").replace("Record", "Refusal")),
        refused("another namespace", record("").replace(":v1", ":v2")),
        refused("no namespace", root("<Record><id>1</id></Record>")),
        refused("two roots", record("") + &record("")),
        refused("text behind the root", record("") + "x"),
        refused("an entity bomb", format!("{bomb}{}", record("<item>&b;</item>"))),
        refused("an external entity", format!("{external}{}", record("<item>&a;</item>"))),
        refused("a document type without entities", format!("<!DOCTYPE Record>{}", record(""))),
        refused("an entity that is not defined", record("<item>&nbsp;</item>")),
        refused("a bare ampersand", record("<item>a & b</item>")),
        refused("a reference to NUL", record("<item>&#0;</item>")),
        refused("a reference to a surrogate", record("<item>&#xD83D;</item>")),
        refused("a control character", record("<item>\u{1}</item>")),
        refused("a prefix that is not declared", record("<w:id>1</w:id>")),
        refused("tags that cross", record("<item><b></item></b>")),
        refused("an attribute twice", record("<id a=\"1\" a=\"2\">1</id>")),
        refused("an attribute without quotation marks", record("<id a=1>1</id>")),
        refused("more than int64", record("<id>9223372036854775808</id>")),
        refused("more than int32", record("<quantity>2147483648</quantity>")),
        refused("a fraction", record("<id>1.5</id>")),
        refused("a word for a number", record("<id>one</id>")),
        refused("no number", record("<id></id>")),
        refused("an element within a text", record("<item>a<b/></item>")),
        refused("10,000 elements deep", record(&deep)),
        Refused { message: "UploadRequest", why: "not base64", input: record(data).replace("Record", "UploadRequest") },
        Refused { message: "EntriesReply", why: "a word for a bool", input: record("<entries><open>yes</open></entries>").replace("Record", "EntriesReply").replace("transfer", "calendar") },
        Refused { message: "EntriesReply", why: "a word for a double", input: record("<entries><weight>much</weight></entries>").replace("Record", "EntriesReply").replace("transfer", "calendar") },
    ]
}

#[rustfmt::skip]
fn list_refused_cdr() -> Vec<Refused> {
    let refused = |message, why, input: &str| Refused { message, why, input: input.to_owned() };
    vec![
        refused("CreditRequest", "nothing", ""),
        refused("CreditRequest", "cut off", "00000001000000"),
        refused("CreditRequest", "more behind it", "000000010000000200"),
        refused("HelloReply", "a string without its NUL's length", "00000000"),
        refused("HelloReply", "a string without its NUL", "000000026161"),
        refused("HelloReply", "a NUL within", "00000003610000"),
        refused("HelloReply", "a string that is not UTF-8", "00000003c32800"),
        refused("HelloReply", "a string longer than the message", "0000000a6100"),
        refused("HelloReply", "a length of 4 GiB", "ffffffff6100"),
        refused("UploadRequest", "bytes longer than the message", "00000005ab"),
        // The length is announced, not sent: whoever allocates by it takes gigabytes.
        refused("SubmitRequest", "2^32 - 1 records", "0000000100000000ffffffff"),
        refused("Entry", "a boolean of 2", "000000000000000100020000000000000000000000000000"),
    ]
}

/// Bytes by RFC 8949: `a1` a map of one entry, `6x` a text, `4x` bytes, `8x` an array.
#[rustfmt::skip]
fn list_refused_cbor() -> Vec<Refused> {
    let refused = |message, why, input: &str| Refused { message, why, input: input.to_owned() };
    vec![
        refused("SubmitRequest", "nothing", ""),
        refused("SubmitRequest", "cut off", "a165626174636861"),
        refused("SubmitRequest", "more behind it", "a1656261746368616100"),
        refused("SubmitRequest", "an array", "816161"),
        refused("SubmitRequest", "a text that is not UTF-8", "a165626174636862c328"),
        refused("SubmitRequest", "bytes for a text", "a16562617463684161"),
        refused("SubmitRequest", "a number for a text", "a165626174636801"),
        refused("SubmitRequest", "a text longer than the message", "a1656261746368781061"),
        refused("SubmitRequest", "a length of 2^63", "a16562617463687b8000000000000000"),
        refused("CreditRequest", "a text for a number", "a162616d6131"),
        refused("CreditRequest", "a fraction", "a162616df93e00"),
        refused("CreditRequest", "more than int32", "a162616d1a80000000"),
        refused("SubmitRequest", "2^32 - 1 records", "a1677265636f7264739affffffff"),
    ]
}

/// Bytes by the MessagePack specification: `81` a map of one entry, `ax` a text, `c4` bytes.
#[rustfmt::skip]
fn list_refused_msgpack() -> Vec<Refused> {
    let refused = |message, why, input: &str| Refused { message, why, input: input.to_owned() };
    vec![
        refused("SubmitRequest", "nothing", ""),
        refused("SubmitRequest", "cut off", "81a56261746368a2"),
        refused("SubmitRequest", "more behind it", "81a56261746368a16100"),
        refused("SubmitRequest", "an array", "91a161"),
        refused("SubmitRequest", "a text that is not UTF-8", "81a56261746368a2c328"),
        refused("SubmitRequest", "a number for a text", "81a5626174636801"),
        refused("SubmitRequest", "a text longer than the message", "81a56261746368d91061"),
        refused("SubmitRequest", "a text of 4 GiB", "81a56261746368dbffffffff61"),
        refused("CreditRequest", "a text for a number", "81a2616da131"),
        refused("CreditRequest", "more than int32", "81a2616dce80000000"),
        refused("SubmitRequest", "2^32 - 1 records", "81a77265636f726473ddffffffff"),
    ]
}

/// Bytes by Avro's binary encoding: integers in zigzag, so that `02` is 1 and `01` is -1. A text
/// is its length and its bytes, an array blocks of a count and that number of items, and then `00`.
#[rustfmt::skip]
fn list_refused_avro() -> Vec<Refused> {
    let refused = |message, why, parts: &[&str]| Refused { message, why, input: parts.concat() };
    let submit = |why, parts: &[&str]| refused("SubmitRequest", why, parts);
    let (batch, record) = ("0261", "0202026200");
    // 2^62 and -2^63: ten bytes of seven bits each, least significant first.
    let (huge, least) = ("80".repeat(9) + "01", "ff".repeat(9) + "01");
    let (more, less) = ("8080808010", "8180808010");
    let weight = "00".repeat(8);
    vec![
        submit("nothing", &[]),
        submit("cut off in a text", &["0461"]),
        submit("cut off in a record", &[batch, "02", &record[..4]]),
        submit("cut off before the end of an array", &[batch, "02", record]),
        submit("more behind it", &[batch, "00", "00"]),
        submit("a text that is not UTF-8", &["04c328", "00"]),
        submit("a negative length", &["0161", "00"]),
        submit("a text longer than the message", &["2061", "00"]),
        submit("a text of 2^62 bytes", &[&huge, "61", "00"]),
        submit("a length of more than 64 bits", &["ff", &least, "61", "00"]),
        submit("2^62 records", &[batch, &huge]),
        submit("2^62 records after one", &[batch, "02", record, &huge]),
        submit("-2^63 records", &[batch, &least, "00"]),
        submit("2^62 bytes of records", &[batch, "01", &huge]),
        refused("CreditRequest", "more than int32", &["02", more]),
        refused("CreditRequest", "less than int32", &["02", less]),
        refused("UploadRequest", "bytes longer than the message", &["0aab"]),
        refused("UploadRequest", "a negative length of bytes", &["01"]),
        refused("BookRequest", "a boolean of 2", &[batch, "0200", batch, "02", &weight, "00"]),
    ]
}
