//! What the profile refuses, and what it makes of everything that it has.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::refused::Refused;

const CONTRACTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts");

/// A file `sample.proto` in a folder of its own, which goes with it.
struct Sample(PathBuf);

impl Sample {
    fn new(text: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wirelab-contracts-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("sample.proto"), text).expect("a file");
        Sample(folder)
    }

    fn schemas(&self) -> anyhow::Result<Vec<(String, String)>> {
        super::schemas(&self.0.join("sample.proto"))
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        // What is left behind is in the system's folder for that.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn proto3(definitions: &str) -> String {
    format!("syntax = \"proto3\";\npackage wirelab.sample.v1;\n{definitions}")
}

/// A contract with a call of `Ask` and `Answer`; `Ask` has the given content.
fn with_request(content: &str, others: &str) -> String {
    proto3(&format!(
        "service Sample {{ rpc Call(Ask) returns (Answer); }}\n\
         message Ask {{ {content} }}\nmessage Answer {{ string text = 1; }}\n{others}"
    ))
}

fn refusal(proto: &str) -> Refused {
    let made = Sample::new(proto).schemas();
    let error = made.expect_err("the profile must refuse it");
    error
        .downcast()
        .expect("a refusal, not a fault of the machine")
}

#[track_caller]
fn refuses(proto: &str, name: &str, reason: &str, remedy: &str) {
    let refused = refusal(proto);
    assert_eq!(refused.name, name, "{refused}");
    assert!(refused.reason.contains(reason), "{refused}");
    assert!(refused.remedy.contains(remedy), "{refused}");
}

#[test]
fn maps_and_oneofs_are_refused_by_name() {
    let map = with_request("map<string, string> names = 1;", "");
    refuses(
        &map,
        "wirelab.sample.v1.Ask.names",
        "map",
        "repeated messages",
    );
    let oneof = with_request("oneof choice { string a = 1; string b = 2; }", "");
    refuses(&oneof, "wirelab.sample.v1.Ask.choice", "oneof", "optional");
}

#[test]
fn scalars_that_some_format_lacks_are_refused_with_the_one_to_use() {
    for (scalar, instead) in [
        ("uint32", "int64"),
        ("uint64", "int64"),
        ("sint32", "int32"),
        ("sint64", "int64"),
        ("fixed32", "int64"),
        ("fixed64", "int64"),
        ("sfixed32", "int32"),
        ("sfixed64", "int64"),
        ("float", "double"),
    ] {
        let proto = with_request(&format!("{scalar} n = 1;"), "");
        refuses(&proto, "wirelab.sample.v1.Ask.n", scalar, instead);
    }
}

#[test]
fn older_protobuf_is_refused() {
    let with = |syntax: &str, message: &str| {
        format!(
            "{syntax}\npackage wirelab.sample.v1;\n\
             service Sample {{ rpc Call(Ask) returns (Ask); }}\nmessage Ask {{ {message} }}"
        )
    };
    let proto2 = with("syntax = \"proto2\";", "optional string a = 1;");
    refuses(&proto2, "sample.proto", "proto2", "proto3");
    let group = with(
        "syntax = \"proto2\";",
        "optional group G = 1 { optional int32 a = 1; }",
    );
    refuses(&group, "sample.proto", "proto2", "proto3");
    let extended = with("syntax = \"proto2\";", "extensions 100 to 200;");
    refuses(&extended, "sample.proto", "proto2", "proto3");
}

#[test]
fn nested_types_are_refused() {
    let message = with_request("message Part { int32 a = 1; } Part part = 1;", "");
    refuses(&message, "wirelab.sample.v1.Ask.Part", "nested", "next to");
    let found = with_request("enum Sort { A = 0; } Sort sort = 1;", "");
    refuses(&found, "wirelab.sample.v1.Ask.Sort", "nested", "next to");
}

#[test]
fn imports_packages_and_services_are_those_of_one_contract() {
    let import = with_request("", "").replace(
        "package",
        "import \"google/protobuf/timestamp.proto\";\npackage",
    );
    refuses(&import, "sample.proto", "imports nothing", "in the file");
    let package = with_request("", "").replace("wirelab.sample.v1", "wirelab.other.v1");
    refuses(
        &package,
        "sample.proto",
        "wirelab.other.v1",
        "wirelab.sample.v1",
    );
    let two = with_request("", "service Second { rpc Call(Ask) returns (Answer); }");
    refuses(&two, "sample.proto", "2 services", "split");
    let none = proto3("message Ask {}");
    refuses(&none, "sample.proto", "0 services", "one service");
}

#[test]
fn messages_that_hold_themselves_are_refused() {
    let own = with_request(
        "Tree tree = 1;",
        "message Tree { repeated Tree children = 1; }",
    );
    refuses(&own, "wirelab.sample.v1.Tree", "holds itself", "flat");
}

#[test]
fn names_that_clash_in_idl_are_refused() {
    let keyword = with_request("string Attribute = 1;", "");
    refuses(
        &keyword,
        "wirelab.sample.v1.Ask.Attribute",
        "keyword",
        "rename",
    );
    let case = with_request(
        "Part a = 1; PART b = 2;",
        "message Part { int32 a = 1; } message PART { int32 a = 1; }",
    );
    refuses(
        &case,
        "wirelab.sample.v1.PART",
        "cannot tell it from Part",
        "rename",
    );
    let hidden = with_request("Part PART = 1;", "message Part { int32 a = 1; }");
    refuses(
        &hidden,
        "wirelab.sample.v1.Ask.PART",
        "its type Part",
        "rename",
    );
    let made = with_request("Error a = 1;", "message Error { int32 a = 1; }");
    refuses(
        &made,
        "wirelab.sample.v1.Error",
        "made by the mapping",
        "rename",
    );
    let list = with_request(
        "repeated Part a = 1; PartList b = 2;",
        "message Part { int32 a = 1; } message PartList { int32 a = 1; }",
    );
    refuses(
        &list,
        "wirelab.sample.v1.PartList",
        "made by the mapping",
        "rename",
    );
    let array = list.replace("PartList", "ArrayOfPart");
    refuses(
        &array,
        "wirelab.sample.v1.ArrayOfPart",
        "made by the mapping",
        "rename",
    );
    let reply = with_request("", "").replace(
        "rpc Call",
        "rpc CallResponse(Ask) returns (Answer); rpc Call",
    );
    refuses(
        &reply,
        "wirelab.sample.v1.Sample.callResponse",
        "made by the mapping",
        "rename",
    );
    let operation = with_request("", "").replace("rpc Call", "rpc Raises");
    refuses(
        &operation,
        "wirelab.sample.v1.Sample.raises",
        "keyword",
        "rename",
    );
    let interface = with_request("", "").replace("rpc Call", "rpc Sample");
    refuses(
        &interface,
        "wirelab.sample.v1.Sample.sample",
        "Sample",
        "rename",
    );
    let value = with_request("Sort sort_ = 1;", "enum Sort { A = 0; OUT = 1; }");
    refuses(&value, "wirelab.sample.v1.OUT", "", "rename");
}

#[test]
fn what_rpc_or_idl_cannot_say_is_refused() {
    let optional = with_request("optional int32 a = 1;", "");
    refuses(
        &optional,
        "wirelab.sample.v1.Ask.a",
        "rpc/literal",
        "message that",
    );
    let empty = with_request("", "").replace("string text = 1;", "");
    refuses(&empty, "wirelab.sample.v1.Answer", "empty struct", "field");
    let alias = with_request(
        "Sort s = 1;",
        "enum Sort { option allow_alias = true; A = 0; B = 0; }",
    );
    refuses(
        &alias,
        "wirelab.sample.v1.A",
        "another name",
        "number of its own",
    );
}

#[test]
fn a_file_that_does_not_parse_is_named() {
    let refused = refusal("syntax = \"proto3\"; message {");
    assert!(refused.name.ends_with("sample.proto"), "{refused}");
}

/// Every kind and label of the profile at once, out of the order of their numbers.
const EVERYTHING: &str = "
// Everything < & the profile has.
syntax = \"proto3\";
package wirelab.sample.v1;
service Sample {
  // Calls.
  rpc CallTwice(Ask) returns (Answer);
  rpc Watch(Ask) returns (stream Chunk);
}
enum Sort { PLAIN = 0; FANCY = 1; }
message Ask { repeated int64 numbers = 2; bool yes = 1; repeated Part parts = 3; }
message Part {
  // How it is.
  Sort quality = 1;
  optional double weight = 2;
  repeated string labels = 3;
  bytes data = 4;
  Leaf bud = 5;
}
message Leaf { int32 n = 1; }
message Answer { string text = 1; }
message Chunk { bytes data = 1; }
";

fn generate_all() -> Vec<(String, String)> {
    Sample::new(EVERYTHING)
        .schemas()
        .expect("within the profile")
}

#[track_caller]
fn says(path: &str, lines: &[&str]) {
    let all = generate_all();
    let (_, text) = all
        .iter()
        .find(|(name, _)| name == path)
        .expect("that schema");
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in lines {
        assert!(flat.contains(line), "{path} does not say {line}:\n{text}");
    }
    assert!(!text.contains("Chunk"), "{path} describes a stream");
}

#[test]
fn xsd_has_every_kind_and_label() {
    says(
        "xsd/sample.xsd",
        &[
            "<xsd:documentation>Everything &lt; &amp; the profile has.</xsd:documentation>",
            r#"elementFormDefault="qualified">"#,
            r#"<xsd:element name="Ask" type="tns:Ask"/>"#,
            r#"<xsd:element name="yes" type="xsd:boolean"/> <xsd:element name="numbers" type="xsd:long" minOccurs="0" maxOccurs="unbounded"/>"#,
            r#"<xsd:element name="quality" type="tns:Sort">"#,
            "<xsd:documentation>How it is.</xsd:documentation>",
            r#"<xsd:element name="weight" type="xsd:double" minOccurs="0"/>"#,
            r#"<xsd:element name="data" type="xsd:base64Binary"/>"#,
            r#"<xsd:enumeration value="FANCY"/>"#,
        ],
    );
}

#[test]
fn rpc_has_parts_that_appear_once() {
    says(
        "xsd/sample-rpc.xsd",
        &[
            r#"<xsd:element name="callTwice">"#,
            r#"<xsd:element name="callTwiceResponse">"#,
            r#"<xsd:element name="parts" type="tns:PartList"/>"#,
            r#"<xsd:element name="item" type="xsd:long" minOccurs="0" maxOccurs="unbounded"/>"#,
            r#"<xsd:element name="labels" type="xsd:string" minOccurs="0" maxOccurs="unbounded"/>"#,
        ],
    );
    says(
        "wsdl/sample-rpc.wsdl",
        &[
            r#"<wsdl:part name="numbers" type="tns:LongList"/>"#,
            r#"<soap12:body use="literal" namespace="urn:wirelab:sample:v1"/>"#,
            r#"<soap:operation soapAction="urn:wirelab:sample:v1#CallTwice"/>"#,
        ],
    );
}

#[test]
fn encoded_has_arrays_and_names_for_enums() {
    says(
        "wsdl/sample-encoded.wsdl",
        &[
            r#"<xsd:complexType name="ArrayOfString">"#,
            r#"wsdl:arrayType="xsd:string[]""#,
            r#"wsdl:arrayType="tns:Part[]""#,
            r#"<xsd:element name="quality" type="xsd:string">"#,
            r#"<soap:body use="encoded" encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"/>"#,
        ],
    );
    let all = generate_all();
    let (_, text) = all
        .iter()
        .find(|(name, _)| name.ends_with("-encoded.wsdl"))
        .expect("it");
    assert!(!text.contains("soap12"), "section 5 is of SOAP 1.1");
}

#[test]
fn idl_defines_before_it_uses() {
    says(
        "idl/sample.idl",
        &[
            "// Everything < & the profile has. module wirelab { module sample_v1 {",
            "enum Sort { PLAIN, FANCY };",
            "struct Leaf { long n; }; typedef sequence<double, 1> OptionalDouble;",
            "struct Part { // How it is. Sort quality; OptionalDouble weight; StringList labels; Octets data; Leaf bud; };",
            "// Calls. Answer callTwice(in boolean yes, in LongList numbers, in PartList parts) raises (ApplicationError);",
        ],
    );
}

#[test]
fn avro_defines_before_it_uses() {
    says(
        "avro/sample.avsc",
        &[
            r#"{ "type": "enum", "name": "Sort", "namespace": "wirelab.sample.v1", "symbols": [ "PLAIN", "FANCY" ] }, { "type": "record", "name": "Leaf""#,
            r#"{ "name": "quality", "doc": "How it is.", "type": "Sort" }"#,
            r#"{ "name": "weight", "type": [ "null", "double" ] }"#,
            r#"{ "name": "labels", "type": { "type": "array", "items": "string" } }"#,
            r#"{ "name": "data", "type": "bytes" }, { "name": "bud", "type": "Leaf" }"#,
            r#"{ "name": "yes", "type": "boolean" }, { "name": "numbers", "type": { "type": "array", "items": "long" } }, { "name": "parts", "type": { "type": "array", "items": "Part" } }"#,
            r#""name": "Error", "namespace": "wirelab.sample.v1", "doc": "The text of an application error. Made from sample.proto by `make generate`; do not edit.", "fields": [ { "name": "error", "type": "string" } ]"#,
        ],
    );
}

#[test]
fn openapi_has_paths_and_every_kind() {
    says(
        "openapi/sample.json",
        &[
            r#""/sample/call-twice": { "post": {"#,
            r#""required": [ "yes", "numbers", "parts" ]"#,
            r#""weight": { "type": "number", "format": "double" }"#,
            r##""quality": { "description": "How it is.", "allOf": [ { "$ref": "#/components/schemas/Sort" } ] }"##,
            r#""data": { "type": "string", "format": "byte" }"#,
            r#""numbers": { "type": "array", "items": { "type": "integer", "format": "int64" } }"#,
            r#""enum": [ "PLAIN", "FANCY" ]"#,
        ],
    );
}

#[test]
fn the_committed_schemas_are_fresh() {
    let folder = Path::new(CONTRACTS);
    for contract in ["transfer", "charging", "calendar", "records"] {
        let made = super::schemas(&folder.join(format!("{contract}.proto"))).expect("a contract");
        for (path, text) in made {
            let committed = fs::read_to_string(folder.join(&path)).expect("a committed schema");
            assert!(
                committed == text,
                "contracts/{path} is stale: run make generate"
            );
        }
    }
}
