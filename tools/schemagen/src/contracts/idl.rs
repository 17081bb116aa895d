//! CORBA IDL (OMG, formal/2008-01-04, chapter 7) of a contract.

use super::lines::Lines;
use super::profile::{Contract, Enumeration, Field, Kind, Label, Message, Operation};

/// Columns of an operation and its parameters on one line.
const WIDTH_MAX: usize = 90;

/// The contract's IDL: structs, the exception and the interface, in
/// `wirelab::CONTRACT_v1`.
pub(crate) fn write(contract: &Contract) -> String {
    let mut to = Lines::default();
    to.line(&format!("// {}", contract.provenance()));
    to.line("");
    to.each("// ", &contract.doc);
    to.open("module wirelab {");
    to.open(&format!("module {}_{} {{", contract.name, contract.version));
    for found in &contract.enums {
        enumeration(&mut to, found);
    }
    let mut known = Vec::new();
    for message in contract.innermost_first() {
        typedefs(&mut to, message, &mut known);
        if is_struct(contract, message) {
            structure(&mut to, message);
        }
    }
    to.line("// The contract refuses the call; the text says why.");
    to.open("exception ApplicationError {");
    to.line("string message;");
    to.close("};");
    to.line("");
    interface(&mut to, contract);
    to.close("};");
    to.close("};");
    to.into_text()
}

/// A request's fields are parameters; every other message is a struct.
fn is_struct(contract: &Contract, message: &Message) -> bool {
    let mut fields = contract.messages.iter().flat_map(|other| &other.fields);
    contract
        .operations
        .iter()
        .any(|operation| operation.reply == message.name)
        || fields.any(|field| field.message() == Some(message.name.as_str()))
}

/// The names that members and parameters need: IDL has no anonymous sequences.
fn typedefs(to: &mut Lines, message: &Message, known: &mut Vec<String>) {
    for field in &message.fields {
        let octets = ("Octets".to_owned(), "sequence<octet>".to_owned());
        let own = (type_name(field), sequence(field));
        let expected = [
            (field.kind == Kind::Bytes).then_some(octets),
            own.1.map(|of| (own.0, of)),
        ];
        for (name, of) in expected.into_iter().flatten() {
            if !known.contains(&name) {
                to.line(&format!("typedef {of} {name};"));
                to.line("");
                known.push(name);
            }
        }
    }
}

fn sequence(field: &Field) -> Option<String> {
    let item = item_name(&field.kind);
    match field.label {
        Label::Plain => None,
        Label::Optional => Some(format!("sequence<{item}, 1>")),
        Label::Repeated => Some(format!("sequence<{item}>")),
    }
}

/// The type of a field where it is used.
pub(super) fn type_name(field: &Field) -> String {
    match field.label {
        Label::Plain => item_name(&field.kind).to_owned(),
        Label::Optional => format!("Optional{}", field.kind.word()),
        Label::Repeated => format!("{}List", field.kind.word()),
    }
}

fn item_name(kind: &Kind) -> &str {
    match kind {
        Kind::Bool => "boolean",
        Kind::Int32 => "long",
        Kind::Int64 => "long long",
        Kind::Double => "double",
        Kind::Text => "string",
        Kind::Bytes => "Octets",
        Kind::Enum(name) | Kind::Message(name) => name,
    }
}

fn enumeration(to: &mut Lines, found: &Enumeration) {
    to.each("// ", &found.doc);
    to.line(&format!(
        "enum {} {{ {} }};",
        found.name,
        found.values.join(", ")
    ));
    to.line("");
}

fn structure(to: &mut Lines, message: &Message) {
    to.each("// ", &message.doc);
    to.open(&format!("struct {} {{", message.name));
    for field in &message.fields {
        to.each("// ", &field.doc);
        to.line(&format!("{} {};", type_name(field), field.name));
    }
    to.close("};");
    to.line("");
}

fn interface(to: &mut Lines, contract: &Contract) {
    to.each("// ", &contract.service_doc);
    to.open(&format!("interface {} {{", contract.service));
    for (at, operation) in contract.operations.iter().enumerate() {
        if at > 0 {
            to.line("");
        }
        call(to, contract, operation);
    }
    to.close("};");
}

fn call(to: &mut Lines, contract: &Contract, operation: &Operation) {
    let request = contract.message(&operation.request);
    let parameter = |field: &Field| format!("in {} {}", type_name(field), field.name);
    let parameters: Vec<String> = request.fields.iter().map(parameter).collect();
    to.each("// ", &operation.doc);
    for field in request.fields.iter().filter(|field| !field.doc.is_empty()) {
        to.each(&format!("// {}: ", field.name), &field.doc);
    }
    let start = format!("{} {}(", operation.reply, operation.lower());
    let joined = parameters.join(", ");
    if start.len() + joined.len() > WIDTH_MAX {
        to.open(&start);
        to.each("", &format!("{})", parameters.join(",\n")));
    } else {
        to.open(&format!("{start}{joined})"));
    }
    to.line("raises (ApplicationError);");
    to.shallower();
}
