//! From a `.proto` to a [`Contract`]: everything outside the profile is refused by name.

use std::path::Path;

use prost_reflect::{
    Cardinality, DescriptorPool, EnumDescriptor, FieldDescriptor, FileDescriptor,
    Kind as ProtoKind, MessageDescriptor, ServiceDescriptor, Syntax,
};

use super::comments::Comments;
use super::profile::{Contract, Enumeration, Field, Kind, Label, Message, Operation};
use super::refused::Refused;

/// The contract that `path` defines.
///
/// # Errors
/// When the file does not parse, or says something that not every format can.
pub(crate) fn read(path: &Path) -> Result<Contract, Refused> {
    let shown = path.display().to_string();
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let unparsed = |why: String| Refused::new(&*shown, why, "correct the file");
    let set = protox::compile([path], [folder]).map_err(|error| unparsed(error.to_string()))?;
    let pool = DescriptorPool::from_file_descriptor_set(set)
        .map_err(|error| unparsed(error.to_string()))?;
    let own = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let file = own.as_deref().and_then(|name| pool.get_file_by_name(name));
    contract(&file.ok_or_else(|| unparsed("the compiler lost it".into()))?)
}

fn contract(file: &FileDescriptor) -> Result<Contract, Refused> {
    accept_file(file)?;
    let (name, version) = package(file)?;
    let service = only_service(file)?;
    let comments = Comments::of(file);
    let mut reached = Reached::default();
    let operations = operations(&service, &comments, &mut reached)?;
    let kept = file
        .messages()
        .filter(|message| reached.messages.contains(message));
    let messages = kept
        .map(|m| message(&m, &comments))
        .collect::<Result<_, _>>()?;
    let kept = file.enums().filter(|found| reached.enums.contains(found));
    Ok(Contract {
        name,
        version,
        doc: comments.of_file(),
        service: service.name().to_owned(),
        service_doc: comments.find(service.path()),
        operations,
        messages,
        enums: kept
            .map(|e| enumeration(&e, &comments))
            .collect::<Result<_, _>>()?,
    })
}

fn accept_file(file: &FileDescriptor) -> Result<(), Refused> {
    let refuse = |reason: &str, remedy: &str| Err(Refused::new(file.name(), reason, remedy));
    if file.syntax() != Syntax::Proto3 {
        return refuse(
            "proto2 has defaults, groups and extensions",
            "write syntax = \"proto3\"",
        );
    }
    if file.dependencies().len() > 0 {
        return refuse(
            "a contract imports nothing",
            "define the types in the file itself",
        );
    }
    // All, also those that only streams use: a profile with exceptions is none.
    file.messages()
        .try_for_each(|message| accept_message(&message))
}

/// `wirelab.NAME.VERSION`, NAME being the file's.
fn package(file: &FileDescriptor) -> Result<(String, String), Refused> {
    let stem = file.name().trim_end_matches(".proto");
    match file.package_name().split('.').collect::<Vec<_>>()[..] {
        ["wirelab", name, version] if name == stem => Ok((name.into(), version.into())),
        _ => Err(Refused::new(
            file.name(),
            format!("the package is {:?}", file.package_name()),
            format!("name it wirelab.{stem}.v1, as paths and namespaces are made from it"),
        )),
    }
}

fn only_service(file: &FileDescriptor) -> Result<ServiceDescriptor, Refused> {
    let mut services = file.services();
    match (services.next(), services.next()) {
        (Some(service), None) => Ok(service),
        _ => Err(Refused::new(
            file.name(),
            format!("it has {} services", file.services().len()),
            "a contract is one service; split the file",
        )),
    }
}

/// What the operations need, directly or through fields.
#[derive(Default)]
struct Reached {
    messages: Vec<MessageDescriptor>,
    enums: Vec<EnumDescriptor>,
}

impl Reached {
    /// Adds a message and all that it holds; `path` leads from an operation's message to it.
    fn add(
        &mut self,
        message: MessageDescriptor,
        path: &[MessageDescriptor],
    ) -> Result<(), Refused> {
        if path.contains(&message) {
            return Err(Refused::new(
                message.full_name(),
                "it holds itself, and neither SOAP encoding nor IDL structs can say that",
                "hold a list of a flat message instead",
            ));
        }
        let path = [path, std::slice::from_ref(&message)].concat();
        for field in message.fields() {
            match field.kind() {
                ProtoKind::Message(inner) => self.add(inner, &path)?,
                ProtoKind::Enum(inner) if !self.enums.contains(&inner) => self.enums.push(inner),
                _ => {}
            }
        }
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
        Ok(())
    }
}

fn operations(
    service: &ServiceDescriptor,
    comments: &Comments,
    reached: &mut Reached,
) -> Result<Vec<Operation>, Refused> {
    let unary = service
        .methods()
        .filter(|m| !m.is_client_streaming() && !m.is_server_streaming());
    unary
        .map(|method| {
            reached.add(method.input(), &[])?;
            reached.add(method.output(), &[])?;
            Ok(Operation {
                name: method.name().to_owned(),
                doc: comments.find(method.path()),
                request: method.input().name().to_owned(),
                reply: method.output().name().to_owned(),
            })
        })
        .collect()
}

fn accept_message(message: &MessageDescriptor) -> Result<(), Refused> {
    let refuse = |name: &str, reason: &str, remedy: &str| Err(Refused::new(name, reason, remedy));
    if let Some(field) = message.fields().find(FieldDescriptor::is_map) {
        return refuse(
            field.full_name(),
            "only protobuf and JSON have map",
            "use repeated messages with a key and a value",
        );
    }
    if let Some(oneof) = message.oneofs().find(|oneof| !oneof.is_synthetic()) {
        return refuse(
            oneof.full_name(),
            "CDR and SOAP encoding have no oneof",
            "use optional fields",
        );
    }
    let nested = message.child_messages().map(|m| m.full_name().to_owned());
    match nested
        .chain(message.child_enums().map(|e| e.full_name().to_owned()))
        .next()
    {
        Some(name) => refuse(
            &name,
            "XSD has no nested types",
            "define it next to the message",
        ),
        None => message
            .fields()
            .try_for_each(|field| kind(&field).map(drop)),
    }
}

fn message(message: &MessageDescriptor, comments: &Comments) -> Result<Message, Refused> {
    let mut fields: Vec<FieldDescriptor> = message.fields().collect();
    fields.sort_by_key(FieldDescriptor::number);
    let field = |field: &FieldDescriptor| {
        Ok(Field {
            name: field.name().to_owned(),
            doc: comments.find(field.path()),
            kind: kind(field)?,
            label: label(field),
        })
    };
    Ok(Message {
        name: message.name().to_owned(),
        doc: comments.find(message.path()),
        fields: fields.iter().map(field).collect::<Result<_, _>>()?,
    })
}

fn label(field: &FieldDescriptor) -> Label {
    match field.cardinality() {
        Cardinality::Repeated => Label::Repeated,
        _ if field.field_descriptor_proto().proto3_optional() => Label::Optional,
        _ => Label::Plain,
    }
}

fn kind(field: &FieldDescriptor) -> Result<Kind, Refused> {
    let refuse = |instead: &str| {
        Err(Refused::new(
            field.full_name(),
            format!("the profile has no {:?}", field.kind()),
            format!("use {instead}"),
        ))
    };
    match field.kind() {
        ProtoKind::Bool => Ok(Kind::Bool),
        ProtoKind::Int32 => Ok(Kind::Int32),
        ProtoKind::Int64 => Ok(Kind::Int64),
        ProtoKind::Double => Ok(Kind::Double),
        ProtoKind::String => Ok(Kind::Text),
        ProtoKind::Bytes => Ok(Kind::Bytes),
        ProtoKind::Enum(found) => Ok(Kind::Enum(found.name().to_owned())),
        ProtoKind::Message(found) => Ok(Kind::Message(found.name().to_owned())),
        ProtoKind::Float => refuse("double"),
        ProtoKind::Uint32 | ProtoKind::Fixed32 => refuse("int64, as it can exceed an int32"),
        ProtoKind::Sint32 | ProtoKind::Sfixed32 => refuse("int32"),
        ProtoKind::Uint64 | ProtoKind::Fixed64 | ProtoKind::Sint64 | ProtoKind::Sfixed64 => {
            refuse("int64")
        }
    }
}

fn enumeration(found: &EnumDescriptor, comments: &Comments) -> Result<Enumeration, Refused> {
    let mut values: Vec<_> = found.values().collect();
    values.sort_by_key(|value| value.number());
    if let Some(pair) = values
        .windows(2)
        .find(|pair| pair[0].number() == pair[1].number())
    {
        return Err(Refused::new(
            pair[1].full_name(),
            format!("it is {} under another name", pair[0].name()),
            "give every value a number of its own",
        ));
    }
    Ok(Enumeration {
        name: found.name().to_owned(),
        doc: comments.find(found.path()),
        values: values.iter().map(|value| value.name().to_owned()).collect(),
    })
}
