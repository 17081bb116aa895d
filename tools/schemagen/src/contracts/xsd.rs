//! XML Schema 1.0 (W3C, 2004) of a contract, in the three styles of contracts/README.md.

use super::markup::Markup;
use super::profile::{Contract, Enumeration, Field, Kind, Label, Message, Operation};
use super::style::Style;

const XSD: &str = "http://www.w3.org/2001/XMLSchema";
/// SOAP 1.1 section 5, where arrays come from.
pub(super) const SOAP_ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";
/// Of the attribute that says what a SOAP array holds (WSDL 1.1, 2.2).
const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";

/// The schema of REST's XML and of document/literal: an element per message.
pub(crate) fn document(contract: &Contract) -> String {
    standalone(contract, Style::Document)
}

/// The schema of rpc/literal: an element per operation and per reply, with
/// children in no namespace.
pub(crate) fn rpc(contract: &Contract) -> String {
    standalone(contract, Style::Rpc)
}

fn standalone(contract: &Contract, style: Style) -> String {
    let mut to = Markup::new(&contract.provenance());
    start(
        &mut to,
        contract,
        style,
        &[("xmlns:xsd", XSD), ("xmlns:tns", &contract.namespace())],
    );
    annotation(&mut to, &contract.doc);
    types(&mut to, contract, style);
    if style == Style::Rpc {
        for operation in &contract.operations {
            wrappers(&mut to, contract, operation);
        }
    }
    to.into_text()
}

/// The schema within a WSDL that has declared `tns`.
pub(super) fn write_embedded(to: &mut Markup, contract: &Contract, style: Style) {
    start(to, contract, style, &[("xmlns:xsd", XSD)]);
    if style == Style::Encoded {
        to.empty("xsd:import", &[("namespace", SOAP_ENCODING)]);
    }
    types(to, contract, style);
    to.end();
}

fn start(to: &mut Markup, contract: &Contract, style: Style, declared: &[(&str, &str)]) {
    let namespace = contract.namespace();
    let form = if style == Style::Document {
        "qualified"
    } else {
        "unqualified"
    };
    let own = [
        ("targetNamespace", namespace.as_str()),
        ("elementFormDefault", form),
    ];
    to.start("xsd:schema", &[declared, &own[..]].concat());
}

fn types(to: &mut Markup, contract: &Contract, style: Style) {
    match style {
        Style::Document => {
            for message in &contract.messages {
                root(to, message);
            }
            error(to);
        }
        Style::Rpc | Style::Encoded => {
            let inner = |message: &&Message| is_held(contract, &message.name);
            for message in contract.messages.iter().filter(inner) {
                complex_type(to, message, style);
            }
            for kind in list_types(contract, style) {
                list(to, &kind, style);
            }
        }
    }
    if style != Style::Encoded {
        contract
            .enums
            .iter()
            .for_each(|found| enumeration(to, found));
    }
}

/// Whether the style needs any type of the contract's own.
pub(super) fn has_types(contract: &Contract, style: Style) -> bool {
    let is_inner = |message: &Message| is_held(contract, &message.name);
    style == Style::Document
        || contract.messages.iter().any(is_inner)
        || !list_types(contract, style).is_empty()
        || (style == Style::Rpc && !contract.enums.is_empty())
}

fn is_held(contract: &Contract, name: &str) -> bool {
    let mut fields = contract.messages.iter().flat_map(|message| &message.fields);
    fields.any(|field| field.message() == Some(name))
}

/// What there must be a list type of, each kind once: with rpc/literal the
/// parts that repeat, with rpc/encoded every field that does.
fn list_types(contract: &Contract, style: Style) -> Vec<Kind> {
    let is_top = |message: &&Message| {
        let mut ends = contract.operations.iter();
        style == Style::Encoded
            || ends.any(|o| o.request == message.name || o.reply == message.name)
    };
    let fields = contract
        .messages
        .iter()
        .filter(is_top)
        .flat_map(|message| &message.fields);
    let mut kinds: Vec<Kind> = Vec::new();
    for field in fields.filter(|field| field.label == Label::Repeated) {
        if !kinds.iter().any(|known| known.word() == field.kind.word()) {
            kinds.push(field.kind.clone());
        }
    }
    kinds
}

fn root(to: &mut Markup, message: &Message) {
    let named = format!("tns:{}", message.name);
    to.empty("xsd:element", &[("name", &message.name), ("type", &named)]);
    complex_type(to, message, Style::Document);
}

fn complex_type(to: &mut Markup, message: &Message, style: Style) {
    to.start("xsd:complexType", &[("name", &message.name)]);
    annotation(to, &message.doc);
    sequence(to, &message.fields, |to, field| element(to, field, style));
    to.end();
}

fn sequence(to: &mut Markup, fields: &[Field], each: impl Fn(&mut Markup, &Field)) {
    if fields.is_empty() {
        return to.empty("xsd:sequence", &[]);
    }
    to.start("xsd:sequence", &[]);
    fields.iter().for_each(|field| each(to, field));
    to.end();
}

/// A field within a message.
fn element(to: &mut Markup, field: &Field, style: Style) {
    let (of, occurs): (_, &[(&str, &str)]) = match field.label {
        Label::Plain => (type_name(&field.kind, style), &[]),
        Label::Optional => (type_name(&field.kind, style), &[("minOccurs", "0")]),
        Label::Repeated if style == Style::Encoded => (list_name(&field.kind, style), &[]),
        Label::Repeated => (
            type_name(&field.kind, style),
            &[("minOccurs", "0"), ("maxOccurs", "unbounded")],
        ),
    };
    write_documentation(
        to,
        &[&[("name", &*field.name), ("type", &*of)], occurs].concat(),
        &field.doc,
    );
}

/// A field of a request or reply, where it is a part of a WSDL message.
fn part(to: &mut Markup, field: &Field) {
    let of = part_type(field, Style::Rpc);
    write_documentation(to, &[("name", &field.name), ("type", &of)], &field.doc);
}

/// The type of a field as a part: a part appears once, so a list is one element.
pub(super) fn part_type(field: &Field, style: Style) -> String {
    match field.label {
        Label::Repeated => list_name(&field.kind, style),
        _ => type_name(&field.kind, style),
    }
}

fn write_documentation(to: &mut Markup, attributes: &[(&str, &str)], doc: &str) {
    if doc.is_empty() {
        return to.empty("xsd:element", attributes);
    }
    to.start("xsd:element", attributes);
    annotation(to, doc);
    to.end();
}

fn wrappers(to: &mut Markup, contract: &Contract, operation: &Operation) {
    let reply = format!("{}Response", operation.lower());
    let ends = [
        (operation.lower(), &operation.request),
        (reply, &operation.reply),
    ];
    for (name, message) in ends {
        to.start("xsd:element", &[("name", &name)]);
        to.start("xsd:complexType", &[]);
        sequence(to, &contract.message(message).fields, part);
        to.end();
        to.end();
    }
}

fn list(to: &mut Markup, kind: &Kind, style: Style) {
    let (name, item) = (list_name(kind, style), type_name(kind, style));
    to.start(
        "xsd:complexType",
        &[("name", name.trim_start_matches("tns:"))],
    );
    if style == Style::Encoded {
        let array = format!("{item}[]");
        to.start("xsd:complexContent", &[]);
        to.start("xsd:restriction", &[("base", "SOAP-ENC:Array")]);
        let of = [("xmlns:wsdl", WSDL), ("wsdl:arrayType", &*array)];
        to.empty(
            "xsd:attribute",
            &[&[("ref", "SOAP-ENC:arrayType")], &of[..]].concat(),
        );
        to.end();
    } else {
        to.start("xsd:sequence", &[]);
        let occurs = [("minOccurs", "0"), ("maxOccurs", "unbounded")];
        to.empty(
            "xsd:element",
            &[&[("name", "item"), ("type", &*item)], &occurs[..]].concat(),
        );
    }
    to.end();
    to.end();
}

/// What an application error is in REST.
fn error(to: &mut Markup) {
    to.start("xsd:element", &[("name", "Error")]);
    annotation(to, "An application error, with REST.");
    to.start("xsd:complexType", &[]);
    to.start("xsd:sequence", &[]);
    to.empty("xsd:element", &[("name", "error"), ("type", "xsd:string")]);
    to.end();
    to.end();
    to.end();
}

fn enumeration(to: &mut Markup, found: &Enumeration) {
    to.start("xsd:simpleType", &[("name", &found.name)]);
    annotation(to, &found.doc);
    to.start("xsd:restriction", &[("base", "xsd:string")]);
    for value in &found.values {
        to.empty("xsd:enumeration", &[("value", value)]);
    }
    to.end();
    to.end();
}

fn annotation(to: &mut Markup, doc: &str) {
    if !doc.is_empty() {
        to.start("xsd:annotation", &[]);
        to.text("xsd:documentation", doc);
        to.end();
    }
}

fn type_name(kind: &Kind, style: Style) -> String {
    match kind {
        Kind::Bool => "xsd:boolean".into(),
        Kind::Int32 => "xsd:int".into(),
        Kind::Int64 => "xsd:long".into(),
        Kind::Double => "xsd:double".into(),
        Kind::Text => "xsd:string".into(),
        Kind::Bytes => "xsd:base64Binary".into(),
        Kind::Enum(_) if style == Style::Encoded => "xsd:string".into(),
        Kind::Enum(name) | Kind::Message(name) => format!("tns:{name}"),
    }
}

fn list_name(kind: &Kind, style: Style) -> String {
    match style {
        Style::Encoded => format!("tns:ArrayOf{}", kind.word()),
        Style::Document | Style::Rpc => format!("tns:{}List", kind.word()),
    }
}
