//! OpenAPI 3.0.3 of a contract's REST binding.

use super::json::Json;
use super::profile::{Contract, Enumeration, Field, Kind, Label, Message, Operation};
use wirelab_contract::clinic::routes::{ReplyBody, Route};
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

/// Paths by the routes of the contract crate, which engine and services have too.
fn paths(contract: &Contract) -> Json {
    match contract.known() {
        Some(known @ wirelab_contract::Contract::Petclinic) => write_paths(contract, known),
        _ => plain_paths(contract),
    }
}

/// Paths with parameters, several methods each.
fn write_paths(contract: &Contract, known: wirelab_contract::Contract) -> Json {
    let mut paths: Vec<(String, Vec<(String, Json)>)> = Vec::new();
    for operation in &contract.operations {
        let Some(route) = wirelab_contract::Operation::of(known, &operation.name)
            .ok()
            .and_then(wirelab_contract::Operation::route)
        else {
            continue;
        };
        let path = format!("{}{}", route.prefix, route.template);
        let call = (
            route.method.to_lowercase(),
            write_call(contract, operation, &route),
        );
        match paths.iter_mut().find(|(known, _)| *known == path) {
            Some((_, calls)) => calls.push(call),
            None => paths.push((path, vec![call])),
        }
    }
    let paths = paths
        .into_iter()
        .map(|(path, calls)| (path, Json::Object(calls)));
    Json::Object(paths.collect())
}

fn write_call(contract: &Contract, operation: &Operation, route: &Route) -> Json {
    let mut members = describe(&operation.doc);
    members.push(("operationId".into(), Json::text(&operation.lower())));
    let parameters = parameters(contract, operation, route);
    if !parameters.is_empty() {
        members.push(("parameters".into(), Json::List(parameters)));
    }
    if route.has_body() {
        let content = Json::Object(list_media(&operation.request, false, contract));
        let body = Json::object([("required", Json::Bool(true)), ("content", content)]);
        members.push(("requestBody".into(), body));
    }
    let about = |about: &str| ("description".to_owned(), Json::text(about));
    let mut good = vec![about("The answer.")];
    if route.location.is_some() {
        let schema = Json::object([("type", Json::text("string"))]);
        let location = Json::object([
            ("description", Json::text("The path of the new row.")),
            ("required", Json::Bool(true)),
            ("schema", schema),
        ]);
        good.push(("headers".into(), Json::object([("Location", location)])));
    }
    if route.reply != ReplyBody::Empty {
        let is_list = route.reply == ReplyBody::List;
        let content = list_media(&operation.reply, is_list, contract);
        good.push(("content".into(), Json::Object(content)));
    }
    let mut responses = vec![(route.status.to_string(), Json::Object(good))];
    responses.extend(list_refusals(route));
    members.push(("responses".into(), Json::Object(responses)));
    Json::Object(members)
}

/// How a call is refused, by status.
fn list_refusals(route: &Route) -> Vec<(String, Json)> {
    let refusal = |about: &str, headers: Option<Json>| {
        let mut members = vec![("description".to_owned(), Json::text(about))];
        members.extend(headers.map(|headers| ("headers".to_owned(), headers)));
        let content = list_codings(json_reference("ErrorInfo"));
        members.push(("content".into(), Json::Object(content)));
        Json::Object(members)
    };
    let has_id = route.template.contains('{');
    let mut all = Vec::new();
    if has_id || route.has_body() || route.query.is_some() {
        let errors = Json::object([
            ("description", Json::text("What is wrong with the body.")),
            // A parameter may be at fault instead.
            ("required", Json::Bool(!has_id)),
            ("schema", Json::object([("type", Json::text("string"))])),
        ]);
        let headers = route.has_body().then(|| Json::object([("errors", errors)]));
        let about = "The body or a parameter is invalid.";
        all.push(("400".to_owned(), refusal(about, headers)));
    }
    if has_id || route.reply == ReplyBody::List {
        let about = Json::object([("description", Json::text("There is no such row."))]);
        all.push(("404".to_owned(), about));
    }
    let about = "Accept excludes the codec that this service speaks.";
    all.push(("406".to_owned(), refusal(about, None)));
    if route.has_body() {
        let about = "The body is of another codec than this service speaks.";
        all.push(("415".to_owned(), refusal(about, None)));
    }
    let about = "The database is unavailable.";
    all.push(("503".to_owned(), refusal(about, None)));
    all
}

fn json_reference(name: &str) -> Json {
    let reference = Json::text(&format!("#/components/schemas/{name}"));
    Json::object([("$ref", reference)])
}

/// The fields of a request that are in its path or query.
fn parameters(contract: &Contract, operation: &Operation, route: &Route) -> Vec<Json> {
    let request = contract.message(&operation.request);
    let parameter = |name: &str, place: &str| {
        let field = request.fields.iter().find(|field| field.name == name);
        let schema = field.map_or_else(Vec::new, |field| value(&field.kind));
        Json::object([
            ("name", Json::text(name)),
            ("in", Json::text(place)),
            ("required", Json::Bool(place == "path")),
            ("schema", Json::Object(schema)),
        ])
    };
    let names = route
        .template
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = names.map(|name| parameter(name, "path"));
    let in_query = route.query.iter().map(|name| parameter(name, "query"));
    in_path.chain(in_query).collect()
}

/// A message, or in JSON the array that its only list is, as JSON and Protocol Buffers.
fn list_media(name: &str, is_list: bool, contract: &Contract) -> Vec<(String, Json)> {
    let schema = match contract.message(name).fields.first() {
        Some(list) if is_list => property(list),
        _ => json_reference(name),
    };
    list_codings(schema)
}

/// A body as JSON and Protocol Buffers.
fn list_codings(schema: Json) -> Vec<(String, Json)> {
    let bytes = Json::object([
        ("type", Json::text("string")),
        ("format", Json::text("binary")),
    ]);
    [(Codec::Json, schema), (Codec::Protobuf, bytes)]
        .map(|(codec, schema)| {
            let media = Json::object([("schema", schema)]);
            (codec.media_type().to_owned(), media)
        })
        .into()
}

/// Whether the operation is called with GET. The contract crate decides; of a contract that
/// it does not have, operations without fields in their requests are.
fn is_read(contract: &Contract, operation: &Operation) -> bool {
    let known = contract
        .known()
        .and_then(|known| wirelab_contract::Operation::of(known, &operation.name).ok())
        .and_then(wirelab_contract::Operation::route);
    match known {
        Some(route) => route.method == "GET",
        None => contract.message(&operation.request).fields.is_empty(),
    }
}

fn plain_paths(contract: &Contract) -> Json {
    let path = |operation: &Operation| {
        let method = match is_read(contract, operation) {
            true => "get",
            false => "post",
        };
        let call = Json::object([(method, call(contract, operation))]);
        (format!("/{}/{}", contract.name, operation.hyphened()), call)
    };
    Json::Object(contract.operations.iter().map(path).collect())
}

fn call(contract: &Contract, operation: &Operation) -> Json {
    let mut members = describe(&operation.doc);
    members.push(("operationId".into(), Json::text(&operation.lower())));
    let is_read = is_read(contract, operation);
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
    let opaque = Json::object([("schema", Json::object(bytes))]);
    let codecs = Binding::Rest.row().codecs.iter();
    let carrying = codecs.filter(|codec| **codec != Codec::Text);
    // JSON Schema describes formats with names; the others need their own schemas.
    let of = |codec: &Codec| match codec.is_self_describing() || *codec == Codec::Xml {
        true => schema.clone(),
        false => opaque.clone(),
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
    let error = match contract.known() {
        Some(wirelab_contract::Contract::Petclinic) => error_info(),
        _ => error(),
    };
    schemas.push((error.name.clone(), message(contract, &error)));
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

/// What an error of petclinic is in JSON; in protobuf a text with number 1.
fn error_info() -> Message {
    let text = |name: &str, doc: &str| Field {
        name: name.into(),
        doc: doc.into(),
        kind: Kind::Text,
        label: Label::Plain,
    };
    Message {
        name: "ErrorInfo".into(),
        doc: "An error; in protobuf only exMessage, with number 1.".into(),
        fields: vec![
            text("className", "Of which kind, in the service's own words."),
            text("exMessage", "What is wrong."),
        ],
    }
}

fn message(contract: &Contract, message: &Message) -> Json {
    let mut members = describe(&message.doc);
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
    let mut members = describe(&field.doc);
    if field.label == Label::Repeated {
        members.push(("type".into(), Json::text("array")));
        members.push(("items".into(), Json::Object(value(&field.kind))));
        return Json::Object(members);
    }
    let own = value(&field.kind);
    if members.is_empty() || !matches!(field.kind, Kind::Enum(_) | Kind::Message(_)) {
        members.extend(own);
    } else {
        // Next to $ref every other member is ignored (OpenAPI 3.0.3, reference object).
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
    let mut members = describe(&found.doc);
    members.push(("type".into(), Json::text("string")));
    let values = found.values.iter().map(|value| Json::text(value)).collect();
    members.push(("enum".into(), Json::List(values)));
    Json::Object(members)
}

fn describe(doc: &str) -> Vec<(String, Json)> {
    match doc {
        "" => Vec::new(),
        _ => vec![("description".into(), Json::text(doc))],
    }
}
