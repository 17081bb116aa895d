//! Names that a format has taken already, or cannot distinguish.
//!
//! IDL compares names without regard to case (formal/2008-01-04, 7.2.3), and a
//! type that a scope uses must not be the name of something else in it (7.20.3).

use super::idl;
use super::profile::{Contract, Field, Label, Message};
use super::refused::Refused;

/// IDL's keywords (formal/2008-01-04, table 7-6).
const KEYWORDS: &str = "abstract any attribute boolean case char component const consumes context \
    custom default double emits enum eventtype exception factory false finder fixed float \
    getraises home import in inout interface local long module multiple native object octet \
    oneway out primarykey private provides public publishes raises readonly sequence setraises \
    short string struct supports switch true truncatable typedef typeid typeprefix union unsigned \
    uses valuebase valuetype void wchar wstring";

/// Types that the mappings add to a contract's own.
const MADE: [&str; 3] = ["Error", "ApplicationError", "Octets"];

/// Refuses names that clash in one of the formats, and what only some of them can say.
///
/// # Errors
/// The first clash, by the full name of what must be changed.
pub(crate) fn accept(contract: &Contract) -> Result<(), Refused> {
    let package = format!("wirelab.{}.{}", contract.name, contract.version);
    types(contract, &package)?;
    for message in &contract.messages {
        let owner = format!("{package}.{}", message.name);
        distinct(message.fields.iter().map(|field| &*field.name), &owner)?;
        message
            .fields
            .iter()
            .try_for_each(|field| type_hides(field, &owner))?;
    }
    operations(contract, &package)
}

/// Everything that IDL defines in the contract's module.
fn types(contract: &Contract, package: &str) -> Result<(), Refused> {
    let fields = contract.messages.iter().flat_map(|message| &message.fields);
    let mut lists: Vec<String> = fields.flat_map(list_types).collect();
    lists.sort();
    lists.dedup();
    let messages = contract.messages.iter().map(|message| &*message.name);
    let enums = contract
        .enums
        .iter()
        .flat_map(|e| e.values.iter().map(|v| &**v).chain([&*e.name]));
    let made = MADE.into_iter().chain(lists.iter().map(|name| &**name));
    // Ours first, so that the contract's name is the one that is refused.
    distinct(
        made.chain([&*contract.service])
            .chain(messages)
            .chain(enums),
        package,
    )
}

/// What IDL, and rpc/encoded, call the type of a field that is not plain.
fn list_types(field: &Field) -> Vec<String> {
    match field.label {
        Label::Plain => Vec::new(),
        Label::Optional => vec![idl::type_name(field)],
        Label::Repeated => vec![
            idl::type_name(field),
            format!("ArrayOf{}", field.kind.word()),
        ],
    }
}

fn operations(contract: &Contract, package: &str) -> Result<(), Refused> {
    let owner = format!("{package}.{}", contract.service);
    let lower: Vec<String> = contract.operations.iter().map(|o| o.lower()).collect();
    // With rpc each reply has an element next to its operation's.
    let replies = lower.iter().map(|name| format!("{name}Response"));
    let names: Vec<String> = replies.chain(lower.iter().cloned()).collect();
    distinct(
        [&*contract.service]
            .into_iter()
            .chain(names.iter().map(|name| &**name)),
        &owner,
    )?;
    for operation in &contract.operations {
        for end in [&operation.request, &operation.reply] {
            no_optional_part(contract.message(end), package)?;
        }
        if contract.message(&operation.reply).fields.is_empty() {
            return Err(Refused::new(
                format!("{package}.{}", operation.reply),
                "a reply without fields would be an empty struct, which IDL does not have",
                "give it a field",
            ));
        }
    }
    Ok(())
}

fn no_optional_part(message: &Message, package: &str) -> Result<(), Refused> {
    match message
        .fields
        .iter()
        .find(|field| field.label == Label::Optional)
    {
        None => Ok(()),
        Some(field) => Err(Refused::new(
            format!("{package}.{}.{}", message.name, field.name),
            "an optional field of a request or reply would be a part that may be absent, \
             which rpc/literal does not have",
            "move it into a message that the request or reply holds",
        )),
    }
}

/// `Record record;`: within the struct, `record` would be the type.
fn type_hides(field: &Field, owner: &str) -> Result<(), Refused> {
    let of = idl::type_name(field);
    if !of.eq_ignore_ascii_case(&field.name) {
        return Ok(());
    }
    Err(Refused::new(
        format!("{owner}.{}", field.name),
        format!("IDL cannot tell it from its type {of}"),
        "rename the field or the type",
    ))
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>, owner: &str) -> Result<(), Refused> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        let full = || format!("{owner}.{name}");
        if KEYWORDS
            .split_whitespace()
            .any(|keyword| keyword.eq_ignore_ascii_case(name))
        {
            return Err(Refused::new(full(), "it is a keyword of IDL", "rename it"));
        }
        if let Some(other) = seen.iter().find(|other| other.eq_ignore_ascii_case(name)) {
            let reason = format!("IDL cannot tell it from {other}, there or made by the mapping");
            return Err(Refused::new(full(), reason, "rename it"));
        }
        seen.push(name);
    }
    Ok(())
}
