//! The message types of every contract: fields with their serde form, and what each message is
//! called.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use heck::ToSnakeCase;
use protox::prost_reflect::{DescriptorPool, FieldDescriptor, Kind, MessageDescriptor};

use protox::prost_reflect::prost_types::FileDescriptorSet;

const DERIVE: &str = "#[derive(serde::Serialize, serde::Deserialize)]";
const BYTES: &str = "#[serde(with = \"crate::bytes\")]";
const NESTED: &str = "#[serde(with = \"crate::nested\")]";
const OBJECTS: &str = "#[serde(deserialize_with = \"crate::json::objects\")]";

/// Writes the types of all messages in `files` into a folder, and `names.rs`.
///
/// # Errors
/// A message is outside the profile of contracts/README.md, or a file cannot be written.
pub fn write(files: FileDescriptorSet, out: &Path) -> Result<(), Box<dyn Error>> {
    let pool = DescriptorPool::from_file_descriptor_set(files.clone())?;
    let mut config = prost_build::Config::new();
    config.out_dir(out);
    config.type_attribute(".", DERIVE);
    // proto3 has no required fields: an absent one is its zero, and serde must read it the
    // same way.
    config.type_attribute(".", "#[serde(default)]");
    for field in pool.all_messages().flat_map(|message| fields(&message)) {
        if let Some(form) = serde_form(&field)? {
            config.field_attribute(path(&field), form);
        }
        // prost writes members in snake case. The contract's spelling (`ownerId`,
        // `lastName`) is what goes over the wire.
        if rust_name(field.name()).trim_start_matches("r#") != field.name() {
            let rename = format!("#[serde(rename = {:?})]", field.name());
            config.field_attribute(path(&field), rename);
        }
    }
    config.compile_fds(files)?;
    fs::write(out.join("names.rs"), names(&pool)?)?;
    Ok(())
}

fn fields(message: &MessageDescriptor) -> Vec<FieldDescriptor> {
    message.fields().collect()
}

/// The attribute that a field needs in addition to the derived form.
///
/// # Errors
/// When the profile of contracts/README.md has the field's type but the
/// derived form would not be the profile's, or when the profile has it not.
fn serde_form(field: &FieldDescriptor) -> Result<Option<&'static str>, String> {
    let derived = !field.is_map() && field.containing_oneof().is_none();
    match (field.kind(), field.is_list()) {
        (Kind::Bytes, false) if derived => Ok(Some(BYTES)),
        // Items must be objects. serde's derived reader would take an array of the fields'
        // values too.
        (Kind::Message(_), true) if derived => Ok(Some(OBJECTS)),
        (Kind::Message(_), false) if derived => Ok(Some(NESTED)),
        (Kind::Bool | Kind::Int32 | Kind::Int64 | Kind::Double | Kind::String, _) if derived => {
            Ok(None)
        }
        // The build fails for a type outside the profile. A silent default would be a form
        // that other languages do not share.
        (kind, _) => Err(format!(
            "{}: a {:?} field of type {kind:?} has no serde form here; see the profile in \
             contracts/README.md",
            field.full_name(),
            field.cardinality(),
        )),
    }
}

/// The name of a field's member in Rust: prost-build writes snake case, and `r#` before
/// Rust's own words.
fn rust_name(name: &str) -> String {
    match name.to_snake_case() {
        word if word == "type" => format!("r#{word}"),
        word => word,
    }
}

/// The name by which prost-build finds a field.
fn path(field: &FieldDescriptor) -> String {
    format!(".{}", field.full_name())
}

/// Every message's name and contract, and the way from a name to its type.
fn names(pool: &DescriptorPool) -> Result<String, Box<dyn Error>> {
    let mut types = String::new();
    let mut arms = String::new();
    for message in pool.all_messages() {
        let name = message.name();
        // Packages are `wirelab.CONTRACT.v1`.
        let module = message.package_name().split('.').nth(1).unwrap_or_default();
        let contract = module[..1].to_uppercase() + &module[1..];
        let lists: Vec<u32> = fields(&message)
            .iter()
            .filter(|field| field.is_list())
            .map(FieldDescriptor::number)
            .collect();
        // Most messages have no list, and then the form with items is the message itself.
        let parts = if lists.is_empty() || has_nested_lists(&message) {
            format!("crate::{module}::{name}")
        } else {
            types += &parts(&message, module)?;
            format!("{name}Parts")
        };
        writeln!(
            types,
            "impl Message for crate::{module}::{name} {{ const NAME: &'static str = {name:?}; \
             const CONTRACT: Contract = Contract::{contract}; \
             const LISTS: &'static [u32] = &{lists:?}; type Parts = {parts}; }}"
        )?;
        writeln!(
            arms,
            "{name:?} => Some(visitor.visit::<crate::{module}::{name}>()),"
        )?;
    }
    Ok(format!(
        "{types}\n\
         fn visit_named<V: TypeVisitor>(name: &str, visitor: V) -> Option<V::Output> {{\n\
         match name {{\n{arms}_ => None,\n}}\n}}\n"
    ))
}

/// Whether an item of a list, or a nested message, has a list itself. SOAP's rpc styles
/// have no form for that here, so such a message is its own `Parts`; its contract is served
/// over REST and gRPC only.
fn has_nested_lists(message: &MessageDescriptor) -> bool {
    fields(message).iter().any(|field| match field.kind() {
        Kind::Message(nested) => {
            fields(&nested).iter().any(FieldDescriptor::is_list) || has_nested_lists(&nested)
        }
        _ => false,
    })
}

/// The type [`Message::Parts`] of a message with lists, and the ways there and back.
fn parts(message: &MessageDescriptor, module: &str) -> Result<String, Box<dyn Error>> {
    let name = message.name();
    let mut members = String::new();
    let (mut there, mut back) = (String::new(), String::new());
    for field in fields(message) {
        let (field_name, list) = (rust_name(field.name()), field.is_list());
        let plain = part_type(&field, module)?;
        let (form, kind) = match (list, serde_form(&field)?) {
            // The list goes into one element around its items; `Items` brings its own
            // reader.
            (true, _) => ("", format!("Items<{plain}>")),
            (false, form) => (form.unwrap_or_default(), plain),
        };
        writeln!(
            members,
            "{form} #[serde(rename = {:?})] {field_name}: {kind},",
            field.name()
        )?;
        let (wrap, unwrap) = if list {
            (format!("Items {{ item: message.{field_name} }}"), ".item")
        } else {
            (format!("message.{field_name}"), "")
        };
        writeln!(there, "{field_name}: {wrap},")?;
        writeln!(back, "{field_name}: parts.{field_name}{unwrap},")?;
    }
    let whole = format!("crate::{module}::{name}");
    Ok(format!(
        "/// {name} with each of its lists in one element.\n\
         #[derive(Debug, Default, serde::Serialize, serde::Deserialize)]\n#[serde(default)]\n\
         pub struct {name}Parts {{\n{members}}}\n\
         impl From<{whole}> for {name}Parts {{ fn from(message: {whole}) -> Self {{ \
         {name}Parts {{\n{there}}} }} }}\n\
         impl From<{name}Parts> for {whole} {{ fn from(parts: {name}Parts) -> Self {{ \
         {whole} {{\n{back}}} }} }}\n"
    ))
}

/// The Rust type of a field of a message in parts, or of its items.
///
/// # Errors
/// When an item has a list itself, for which there is no form.
fn part_type(field: &FieldDescriptor, module: &str) -> Result<String, String> {
    Ok(match field.kind() {
        Kind::Bool => "bool".to_owned(),
        Kind::Int32 => "i32".to_owned(),
        Kind::Int64 => "i64".to_owned(),
        Kind::Double => "f64".to_owned(),
        Kind::String => "String".to_owned(),
        Kind::Bytes => "Vec<u8>".to_owned(),
        Kind::Message(item) if fields(&item).iter().any(FieldDescriptor::is_list) => {
            return Err(format!(
                "{}: a list within a list has no form in SOAP's rpc styles here",
                field.full_name()
            ));
        }
        Kind::Message(item) if field.is_list() => format!("crate::{module}::{}", item.name()),
        Kind::Message(nested) => format!("Option<crate::{module}::{}>", nested.name()),
        kind => return Err(format!("{}: no type for {kind:?}", field.full_name())),
    })
}
