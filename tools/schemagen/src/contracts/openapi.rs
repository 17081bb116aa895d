//! OpenAPI 3.0.3 of a contract's REST binding.

use super::json::Json;
use super::profile::{Contract, Enumeration, Field, Kind, Label, Message, Operation};
use wirelab_stack::{Binding, Codec};

/// The contract's OpenAPI document, with one member a line.
///
/// # Errors
/// None that serde_json has for this type; its signature has one.
pub(crate) fn write(contract: &Contract) -> serde_json::Result<String> {
    let document = Json::object([
        ("openapi", Json::text("3.0.3")),
        ("info", info(contract)),
        ("paths", paths(contract)),
        ("components", components(contract)),
    ]);
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn info(contract: &Contract) -> Json {
    let about = [
        contract.provenance(),
        contract.doc.clone(),
        contract.service_doc.clone(),
    ];
    let about: Vec<&str> = about
        .iter()
        .map(|text| &**text)
        .filter(|t| !t.is_empty())
        .collect();
    Json::object([
        ("title", Json::text(&contract.service)),
        ("version", Json::text(&contract.version)),
        ("description", Json::text(&about.join("\n\n"))),
    ])
}

fn paths(contract: &Contract) -> Json {
    let path = |operation: &Operation| {
        let request = contract.message(&operation.request);
        let method = if request.fields.is_empty() {
            "get"
        } else {
            "post"
        };
        let call = Json::object([(method, call(contract, operation))]);
        (format!("/{}/{}", contract.name, operation.hyphened()), call)
    };
    Json::Object(contract.operations.iter().map(path).collect())
}

fn call(contract: &Contract, operation: &Operation) -> Json {
    let mut members = described(&operation.doc);
    members.push(("operationId".into(), Json::text(&operation.lower())));
    let is_read = contract.message(&operation.request).fields.is_empty();
    if !is_read {
        let content = Json::Object(media(&operation.request));
        let body = Json::object([("required", Json::Bool(true)), ("content", content)]);
        members.push(("requestBody".into(), body));
    }
    members.push((
        "responses".into(),
        responses(contract.message(&operation.reply), is_read),
    ));
    Json::Object(members)
}

fn responses(reply: &Message, is_read: bool) -> Json {
    let mut good = media(&reply.name);
    let mut bad = media("Error");
    // The codec text: a read whose reply is one text (contracts/README.md, REST).
    if is_read && matches!(&reply.fields[..], [field] if field.kind == Kind::Text) {
        let text = Json::object([("schema", Json::object([("type", Json::text("string"))]))]);
        good.push(("text/plain".into(), text.clone()));
        bad.push(("text/plain".into(), text));
    }
    let response = |about: &str, content| {
        Json::object([
            ("description", Json::text(about)),
            ("content", Json::Object(content)),
        ])
    };
    let bare = |about: &str| Json::object([("description", Json::text(about))]);
    let mut all = vec![
        ("200".to_owned(), response("The answer.", good)),
        (
            "400".into(),
            response(
                "An application error, or a body that cannot be parsed.",
                bad,
            ),
        ),
        (
            "406".into(),
            bare("Accept excludes the codec that this service speaks."),
        ),
    ];
    if !is_read {
        all.push((
            "415".into(),
            bare("The body is of another codec than this service speaks."),
        ));
    }
    Json::Object(all)
}

/// The media types in which every message travels: those of REST's codecs but text.
fn media(message: &str) -> Vec<(String, Json)> {
    let reference = Json::text(&format!("#/components/schemas/{message}"));
    let schema = Json::object([("schema", Json::object([("$ref", reference)]))]);
    let bytes = [
        ("type", Json::text("string")),
        ("format", Json::text("binary")),
    ];
    let protobuf = Json::object([("schema", Json::object(bytes))]);
    let codecs = Binding::Rest.row().codecs.iter();
    let carrying = codecs.filter(|codec| **codec != Codec::Text);
    let of = |codec: &Codec| match codec {
        Codec::Protobuf => protobuf.clone(),
        _ => schema.clone(),
    };
    carrying
        .map(|codec| (codec.media_type().to_owned(), of(codec)))
        .collect()
}

fn components(contract: &Contract) -> Json {
    let mut schemas = Vec::new();
    for found in &contract.messages {
        schemas.push((found.name.clone(), message(contract, found)));
    }
    for found in &contract.enums {
        schemas.push((found.name.clone(), enumeration(found)));
    }
    schemas.push(("Error".into(), message(contract, &error())));
    Json::object([("schemas", Json::Object(schemas))])
}

/// What an application error is in JSON, XML and protobuf.
fn error() -> Message {
    let text = Field {
        name: "error".into(),
        doc: "Why the contract refuses the call.".into(),
        kind: Kind::Text,
        label: Label::Plain,
    };
    Message {
        name: "Error".into(),
        doc: "An application error; in protobuf the field has number 1.".into(),
        fields: vec![text],
    }
}

fn message(contract: &Contract, message: &Message) -> Json {
    let mut members = described(&message.doc);
    members.push(("type".into(), Json::text("object")));
    let required = message
        .fields
        .iter()
        .filter(|field| field.label != Label::Optional);
    let required: Vec<Json> = required.map(|field| Json::text(&field.name)).collect();
    if !required.is_empty() {
        members.push(("required".into(), Json::List(required)));
    }
    let property = |field: &Field| (field.name.clone(), property(field));
    let properties = message.fields.iter().map(property).collect();
    members.push(("properties".into(), Json::Object(properties)));
    let xml = [
        ("name", &*message.name),
        ("namespace", &*contract.namespace()),
    ];
    let xml = Json::object(xml.map(|(name, value)| (name, Json::text(value))));
    members.push(("xml".into(), xml));
    Json::Object(members)
}

fn property(field: &Field) -> Json {
    let mut members = described(&field.doc);
    if field.label == Label::Repeated {
        members.push(("type".into(), Json::text("array")));
        members.push(("items".into(), Json::Object(value(&field.kind))));
        return Json::Object(members);
    }
    let own = value(&field.kind);
    if members.is_empty() || !matches!(field.kind, Kind::Enum(_) | Kind::Message(_)) {
        members.extend(own);
    } else {
        // Beside $ref every other member is ignored (OpenAPI 3.0.3, reference object).
        members.push(("allOf".into(), Json::List(vec![Json::Object(own)])));
    }
    Json::Object(members)
}

fn value(kind: &Kind) -> Vec<(String, Json)> {
    let members: &[(&str, &str)] = match kind {
        Kind::Bool => &[("type", "boolean")],
        Kind::Int32 => &[("type", "integer"), ("format", "int32")],
        Kind::Int64 => &[("type", "integer"), ("format", "int64")],
        Kind::Double => &[("type", "number"), ("format", "double")],
        Kind::Text => &[("type", "string")],
        Kind::Bytes => &[("type", "string"), ("format", "byte")],
        Kind::Enum(name) | Kind::Message(name) => {
            return vec![(
                "$ref".into(),
                Json::text(&format!("#/components/schemas/{name}")),
            )];
        }
    };
    members
        .iter()
        .map(|(name, word)| ((*name).to_owned(), Json::text(word)))
        .collect()
}

fn enumeration(found: &Enumeration) -> Json {
    let mut members = described(&found.doc);
    members.push(("type".into(), Json::text("string")));
    let values = found.values.iter().map(|value| Json::text(value)).collect();
    members.push(("enum".into(), Json::List(values)));
    Json::Object(members)
}

fn described(doc: &str) -> Vec<(String, Json)> {
    match doc {
        "" => Vec::new(),
        _ => vec![("description".into(), Json::text(doc))],
    }
}
