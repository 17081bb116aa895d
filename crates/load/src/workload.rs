//! A plan's workload, made ready to send.

use std::sync::Arc;

use base64::Engine as _;
use wirelab_contract::{Operation, workload};
use wirelab_wire::codec::{Codec, Expected};
use wirelab_wire::{ContentType, grpc, gzip};

use crate::fault;
use crate::judge::{Framing, Judge};
use crate::plan::{self, Binding, Compression, Group, Stack, Work, Workload};
use crate::result::Fault;
use crate::spec::{accepts, check_stack};

/// Seed of the contents of requests.
const SEED: u64 = 0;

/// One request, and what makes its reply right.
pub struct Prepared {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Arc<[u8]>,
    pub(crate) judge: Arc<Judge>,
}

/// Makes the request of `group`. A gRPC message given as JSON must have been
/// turned into bytes before.
///
/// # Errors
/// When the workload and the stack do not go together, or a size cannot be had.
pub fn prepare(group: &Group) -> Result<Prepared, Fault> {
    let stack = &group.stack;
    check_stack(stack)?;
    match &group.workload {
        Workload::Contract {
            contract,
            operation,
            bytes,
            chunk_bytes,
        } => of_contract(stack, contract, operation, *bytes, *chunk_bytes),
        Workload::Http { .. } => of_http(stack, &group.workload),
        Workload::Grpc { .. } => of_grpc(stack, &group.workload),
    }
}

fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

fn of_contract(
    stack: &Stack,
    contract: &str,
    operation: &str,
    bytes: u64,
    chunk: u32,
) -> Result<Prepared, Fault> {
    if contract != "transfer" {
        return refuse(
            format!("contract {contract:?} is unknown"),
            "use contract transfer",
        );
    }
    let operation: Operation = operation
        .parse()
        .map_err(|error| fault::plan(format!("operation: {error}"), "name one of these"))?;
    let call = workload::call(operation, bytes, chunk, SEED)
        .map_err(|error| fault::plan(error.to_string(), "change the message's size"))?;
    let codec = codec(stack);
    let unsupported = |error: wirelab_wire::codec::Unsupported| {
        fault::plan(error.to_string(), "change the codec axis, or the operation")
    };
    let messages = codec.encode(&call).map_err(unsupported)?;
    let expected = Expected::of(codec, &call).map_err(unsupported)?;
    match stack.binding {
        Binding::Grpc => Ok(grpc_request(
            stack,
            &operation.grpc_path(),
            &messages,
            Some(expected),
        )),
        Binding::Rest => rest_request(stack, operation, messages, expected),
    }
}

fn codec(stack: &Stack) -> Codec {
    match stack.codec {
        plan::Codec::Text => Codec::Text,
        plan::Codec::Json => Codec::Json,
        plan::Codec::Protobuf => Codec::Protobuf,
    }
}

fn rest_request(
    stack: &Stack,
    operation: Operation,
    messages: Vec<Vec<u8>>,
    expected: Expected,
) -> Result<Prepared, Fault> {
    let Some((method, path)) = operation.rest() else {
        return refuse(
            format!("operation {operation}: streams of messages exist in grpc only"),
            "use binding grpc, or another operation",
        );
    };
    let media = match stack.codec {
        plan::Codec::Text => ("text/plain", ContentType::Text),
        _ => ("application/json", ContentType::Json),
    };
    let mut fields = vec![("accept".to_owned(), media.0.to_owned())];
    fields.extend(accepts(stack));
    let mut body = Vec::new();
    if method != "GET" {
        fields.push(("content-type".into(), media.0.into()));
        body = messages.concat();
        if stack.compression == Compression::Gzip {
            fields.push(("content-encoding".into(), "gzip".into()));
            body = gzip::compress(&body);
        }
    }
    let mut judge = Judge::new(Framing::Whole, Some(expected), stack.work == Work::Decode);
    judge.status = Some(200);
    judge.content_type = Some(media.1);
    judge.gzip = stack.compression == Compression::Gzip;
    Ok(Prepared {
        method: method.into(),
        path: path.into(),
        fields,
        body: body.into(),
        judge: Arc::new(judge),
    })
}

fn grpc_request(
    stack: &Stack,
    path: &str,
    messages: &[Vec<u8>],
    expected: Option<Expected>,
) -> Prepared {
    let compress = stack.compression == Compression::Gzip;
    let mut fields = vec![
        ("content-type".to_owned(), "application/grpc".to_owned()),
        ("te".to_owned(), "trailers".to_owned()),
    ];
    fields.extend(accepts(stack));
    if compress {
        fields.push(("grpc-encoding".into(), "gzip".into()));
    }
    let framed = messages.iter().map(|message| match compress {
        true => grpc::frame(&gzip::compress(message), true),
        false => grpc::frame(message, false),
    });
    let body: Vec<u8> = framed.flatten().collect();
    let mut judge = Judge::new(Framing::Grpc, expected, stack.work == Work::Decode);
    judge.status = Some(200);
    judge.content_type = Some(ContentType::Grpc);
    // A stranger's metadata may ask for it without the axis.
    judge.gzip = compress || judge.expected.is_none();
    Prepared {
        method: "POST".into(),
        path: path.into(),
        fields,
        body: body.into(),
        judge: Arc::new(judge),
    }
}

fn of_http(stack: &Stack, workload: &Workload) -> Result<Prepared, Fault> {
    let Workload::Http {
        method,
        path,
        headers,
        body_base64,
        expect_status,
        expect_length,
    } = workload
    else {
        unreachable!("asked for HTTP workloads only")
    };
    if stack.binding != Binding::Rest {
        return refuse(
            "workload http goes with binding rest",
            "use binding rest, or workload grpc",
        );
    }
    let mut fields: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
        .collect();
    fields.extend(accepts(stack));
    let mut judge = Judge::new(Framing::Whole, None, stack.work == Work::Decode);
    judge.status = *expect_status;
    judge.length = *expect_length;
    let mut body = decode_base64(body_base64)?;
    if stack.compression == Compression::Gzip && !body.is_empty() {
        fields.push(("content-encoding".into(), "gzip".into()));
        body = gzip::compress(&body);
    }
    Ok(Prepared {
        method: method.clone(),
        path: path.clone(),
        fields,
        body: body.into(),
        judge: Arc::new(judge),
    })
}

fn of_grpc(stack: &Stack, workload: &Workload) -> Result<Prepared, Fault> {
    let Workload::Grpc {
        method,
        body_base64,
        metadata,
        message,
        ..
    } = workload
    else {
        unreachable!("asked for gRPC workloads only")
    };
    if stack.binding != Binding::Grpc {
        return refuse(
            "workload grpc goes with binding grpc",
            "use binding grpc, or workload http",
        );
    }
    if message.is_some() {
        return Err(fault::internal("a JSON message was not turned into bytes"));
    }
    let path = match method.starts_with('/') {
        true => method.clone(),
        false => format!("/{method}"),
    };
    let body = decode_base64(body_base64.as_deref().unwrap_or(""))?;
    let mut prepared = grpc_request(stack, &path, &[body], None);
    prepared.fields.extend(
        metadata
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.clone())),
    );
    Ok(prepared)
}

fn decode_base64(text: &str) -> Result<Vec<u8>, Fault> {
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| {
            fault::plan(
                format!("body_base64: {error}"),
                "write standard base64 with padding",
            )
        })
}
