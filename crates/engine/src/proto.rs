//! gRPC messages given as JSON, and the .proto that defines them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};
use wirelab_load::plan::{Group, ProtobufType, Workload};
use wirelab_load::result::{Fault, FaultKind};

/// Message types that a refusal names.
const TYPES_NAMED: usize = 5;

/// Asks a server to describe itself.
pub(crate) type Reflect<'a> = &'a dyn Fn(&Group) -> Result<DescriptorPool, Fault>;

/// The group with the description of every method whose message is given as JSON, or whose reply
/// is expected to have some content, and with bodies of HTTP as Protobuf where the plan asks for it.
///
/// # Errors
/// When the .proto does not parse, or has no such method; those of `reflect`.
pub(crate) fn resolve(group: &Group, reflect: Reflect) -> Result<Group, Fault> {
    let mut resolved = group.clone();
    resolve_workload(&mut resolved.workload, group, reflect)?;
    Ok(resolved)
}

fn resolve_workload(workload: &mut Workload, group: &Group, reflect: Reflect) -> Result<(), Fault> {
    match workload {
        Workload::Mix { parts, .. } => {
            let mut parts = parts.iter_mut();
            parts.try_for_each(|part| resolve_workload(&mut part.workload, group, reflect))
        }
        Workload::Requests { steps, data, .. } => steps.iter_mut().try_for_each(|step| {
            if data.is_some() || !step.carry.is_empty() {
                refuse_protobuf(&step.request)?;
            }
            resolve_request(&mut step.request, group, reflect, true)
        }),
        workload => resolve_request(workload, group, reflect, false),
    }
}

fn resolve_request(
    workload: &mut Workload,
    group: &Group,
    reflect: Reflect,
    in_sequence: bool,
) -> Result<(), Fault> {
    if let Workload::Http { data: Some(_), .. } = workload {
        refuse_protobuf(workload)?;
    }
    let Workload::Http {
        protobuf,
        body_base64,
        ..
    } = workload
    else {
        return resolve_method(workload, group, reflect, in_sequence);
    };
    if let Some(named) = protobuf.take() {
        *body_base64 = encode_body(&named, body_base64)?;
    }
    Ok(())
}

/// `in_sequence`: values of its reply may go into later requests.
fn resolve_method(
    workload: &mut Workload,
    group: &Group,
    described_by_server: Reflect,
    in_sequence: bool,
) -> Result<(), Fault> {
    let Workload::Grpc {
        method,
        proto,
        reflect,
        include,
        descriptors_base64,
        message,
        body_base64,
        expect,
        ..
    } = workload
    else {
        return Ok(());
    };
    // Taken out: the engine's load part reads no .proto.
    let (given, proto) = (message.take(), proto.take());
    if given.is_some() && body_base64.is_some() {
        return Err(refused(
            "message and body_base64 are both given",
            "give one of them",
        ));
    }
    let of_reply = expect
        .as_ref()
        .is_some_and(|expect| expect.message.is_some());
    let is_described = in_sequence && (proto.is_some() || *reflect || descriptors_base64.is_some());
    if given.is_none() && !of_reply && !is_described {
        return Ok(());
    }
    let pool = match (proto, &descriptors_base64, *reflect) {
        (Some(proto), None, false) => compile(&proto, include)?,
        (None, Some(described), false) => read_descriptors(described)?,
        (None, None, true) => described_by_server(group)?,
        (None, None, false) => {
            return Err(refused(
                "message needs the .proto that defines it",
                "name it as proto (--proto FILE)",
            ));
        }
        _ => {
            return Err(refused(
                "more than one of proto, descriptors_base64 and reflect is given",
                "give one of them",
            ));
        }
    };
    find(&pool, method)?;
    *message = given;
    *descriptors_base64 = Some(BASE64.encode(pool.encode_to_vec()));
    Ok(())
}

/// Refuses a body of Protobuf where values of rows or replies go into requests.
fn refuse_protobuf(workload: &Workload) -> Result<(), Fault> {
    match workload {
        Workload::Http {
            protobuf: Some(_), ..
        } => Err(refused(
            "protobuf: values of data and carry are put into a body's text, which is Protobuf here",
            "leave out data and carry, or send the body as JSON",
        )),
        _ => Ok(()),
    }
}

/// The body, which is proto3 JSON in base64, as Protobuf in base64.
fn encode_body(named: &ProtobufType, body_base64: &str) -> Result<String, Fault> {
    let pool = compile(&named.proto, &named.include)?;
    let Some(described) = pool.get_message_by_name(&named.name) else {
        let mut names: Vec<_> = pool
            .all_messages()
            .map(|one| one.full_name().to_owned())
            .collect();
        names.truncate(TYPES_NAMED);
        return Err(refused(
            format!(
                "protobuf: {} has no message type {}",
                named.proto, named.name
            ),
            format!("name one with its package, such as {}", names.join(", ")),
        ));
    };
    let unfit = |reason: String| {
        refused(
            format!(
                "protobuf: the body is not proto3 JSON of {}: {reason}",
                named.name
            ),
            "correct the body, or name another type",
        )
    };
    let text = BASE64
        .decode(body_base64)
        .map_err(|error| unfit(error.to_string()))?;
    let mut from = serde_json::Deserializer::from_slice(&text);
    let message = DynamicMessage::deserialize(described, &mut from);
    let message = message.map_err(|error| unfit(error.to_string()))?;
    from.end().map_err(|error| unfit(error.to_string()))?;
    Ok(BASE64.encode(message.encode_to_vec()))
}

fn read_descriptors(descriptors: &str) -> Result<DescriptorPool, Fault> {
    let unusable = |reason: String| {
        refused(
            format!("descriptors_base64: {reason}"),
            "give a FileDescriptorSet with the method and all that it imports",
        )
    };
    let bytes = BASE64.decode(descriptors);
    let bytes = bytes.map_err(|error| unusable(error.to_string()))?;
    DescriptorPool::decode(&bytes[..]).map_err(|error| unusable(error.to_string()))
}

pub(crate) fn refused(message: impl Into<String>, remedy: impl Into<String>) -> Fault {
    Fault {
        kind: FaultKind::Plan,
        message: message.into(),
        remedy: remedy.into(),
    }
}

/// The files that a .proto needs, from its folder and those of `include`; or those of a
/// descriptor set, which is any file with another ending.
///
/// # Errors
/// When a file cannot be read, is not of its format, or imports one that is not there.
pub(crate) fn compile(proto: &str, include: &[String]) -> Result<DescriptorPool, Fault> {
    if Path::new(proto).extension() != Some("proto".as_ref()) {
        return decode(proto);
    }
    let own = Path::new(proto)
        .parent()
        .map(|folder| match folder.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => folder.to_string_lossy().into_owned(),
        });
    // The file's own folder last, as protoc looks through --proto_path in its order.
    let folders: Vec<String> = include.iter().cloned().chain(own).collect();
    let remedy = "imports are looked for next to the file and in the folders of include (--import)";
    let set = protox::compile([proto], &folders)
        .map_err(|error| refused(format!("{proto}: {}", format_location(&error)), remedy))?;
    DescriptorPool::from_file_descriptor_set(set)
        .map_err(|error| refused(format!("{proto}: {error}"), remedy))
}

fn decode(set: &str) -> Result<DescriptorPool, Fault> {
    let remedy = "name a .proto, or a descriptor set with its imports, as protoc \
                  --include_imports --descriptor_set_out, buf build -o or grpcurl -protoset-out \
                  write it";
    let bytes = std::fs::read(set).map_err(|error| refused(format!("{set}: {error}"), remedy))?;
    DescriptorPool::decode(bytes.as_slice())
        .map_err(|error| refused(format!("{set}: not a descriptor set: {error}"), remedy))
}

/// The error with its file and line, which its one-line form leaves out.
fn format_location(error: &protox::Error) -> String {
    let (message, whole) = (error.to_string(), format!("{error:?}"));
    // `file:line:column: message`, where there is a place to name.
    // protox gives the place only in its Debug form.
    let place = whole.strip_suffix(&message).unwrap_or_default();
    let mut parts = place.trim_end().trim_end_matches(':').rsplitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(line), Some(file)) => format!("{file}, line {line}: {message}"),
        _ => message,
    }
}

/// `/package.Service/Method`, also without the first slash or with a dot
/// before the method.
fn find(pool: &DescriptorPool, path: &str) -> Result<MethodDescriptor, Fault> {
    let name = path.trim_start_matches('/');
    let (service, method) = name
        .rsplit_once('/')
        // As grpcurl and ghz take it, too.
        .or_else(|| name.rsplit_once('.'))
        // Finds nothing, so that the remedy lists the methods that there are.
        .unwrap_or((name, ""));
    let all = || {
        pool.services()
            .flat_map(|s| s.methods().collect::<Vec<_>>())
    };
    let found = all().find(|m| m.parent_service().full_name() == service && m.name() == method);
    found.ok_or_else(|| {
        let known: Vec<String> = all()
            .map(|m| format!("/{}/{}", m.parent_service().full_name(), m.name()))
            .collect();
        refused(
            format!("the .proto has no method {path}"),
            format!("it has {}", known.join(", ")),
        )
    })
}
