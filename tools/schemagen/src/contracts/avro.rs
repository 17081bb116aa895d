//! Avro schemas (Apache Avro 1.12, Schema Declaration) of a contract's messages.

use super::json::Json;
use super::profile::{Contract, Enumeration, Field, Kind, Label, Message};

/// The contract's schemas: a union of its enums, of its messages, each after those that it holds,
/// and of the record that carries an error's text.
///
/// # Errors
/// None that serde_json has for this type; its signature has one.
pub(crate) fn write(contract: &Contract) -> serde_json::Result<String> {
    let enums = contract
        .enums
        .iter()
        .map(|found| enumeration(contract, found));
    let messages = contract.innermost_first();
    let messages = messages
        .into_iter()
        .map(|message| record(contract, message));
    let schemas = enums.chain(messages).chain([error(contract)]).collect();
    Ok(serde_json::to_string_pretty(&Json::List(schemas))? + "\n")
}

/// A definition; names in it that have no dots are of its namespace.
fn define(contract: &Contract, kind: &str, name: &str, doc: &str, content: (&str, Json)) -> Json {
    let namespace = format!("wirelab.{}.{}", contract.name, contract.version);
    let doc = (!doc.is_empty()).then(|| ("doc", Json::text(doc)));
    let members = [("type", Json::text(kind)), ("name", Json::text(name))]
        .into_iter()
        .chain([("namespace", Json::Text(namespace))])
        .chain(doc)
        .chain([content]);
    Json::Object(
        members
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

fn enumeration(contract: &Contract, found: &Enumeration) -> Json {
    let symbols = found.values.iter().map(|value| Json::text(value)).collect();
    let symbols = ("symbols", Json::List(symbols));
    define(contract, "enum", &found.name, &found.doc, symbols)
}

fn record(contract: &Contract, message: &Message) -> Json {
    let fields = (
        "fields",
        Json::List(message.fields.iter().map(field).collect()),
    );
    define(contract, "record", &message.name, &message.doc, fields)
}

fn error(contract: &Contract) -> Json {
    let text = Json::object([
        ("name", Json::text("error")),
        ("type", Json::text("string")),
    ]);
    let doc = format!(
        "The text of an application error. {}",
        contract.provenance()
    );
    define(
        contract,
        "record",
        "Error",
        &doc,
        ("fields", Json::List(vec![text])),
    )
}

fn field(field: &Field) -> Json {
    let mut members = vec![("name".to_owned(), Json::text(&field.name))];
    if !field.doc.is_empty() {
        members.push(("doc".to_owned(), Json::text(&field.doc)));
    }
    members.push(("type".to_owned(), type_of(field)));
    Json::Object(members)
}

fn type_of(field: &Field) -> Json {
    let item = Json::text(match &field.kind {
        Kind::Bool => "boolean",
        Kind::Int32 => "int",
        Kind::Int64 => "long",
        Kind::Double => "double",
        Kind::Text => "string",
        Kind::Bytes => "bytes",
        Kind::Enum(name) | Kind::Message(name) => name,
    });
    match field.label {
        Label::Plain => item,
        Label::Optional => Json::List(vec![Json::text("null"), item]),
        Label::Repeated => Json::object([("type", Json::text("array")), ("items", item)]),
    }
}
