//! Requests to services that are not of the lab, and what makes their replies right.

use std::sync::Arc;

use base64::Engine as _;
use prost_reflect::MethodDescriptor;
use wirelab_stack::{Binding, Stack, Work};
use wirelab_wire::{ContentType, Request};

use crate::fault;
use crate::plan::{Expect, Workload};
use crate::record::result::Fault;
use crate::request::body::{BodyWriter, compress};
use crate::request::head::{self, encoding, message_format};
use crate::request::prepared::Part;
use crate::request::steps::Step;
use crate::validate::expect::{self as expected, Declared};
use crate::validate::{Expectation, Framing, Validator};

fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

/// One request to a third party's service.
fn third_party(request: Request, name: &str, validator: Validator) -> Part {
    Part {
        requests: vec![request],
        steps: vec![Step {
            operation: 0,
            name: name.to_owned(),
            validator: Arc::new(validator),
        }],
        builder: None,
        rows: None,
    }
}

/// Anything over HTTP.
pub(super) fn of_http(stack: &Stack, workload: &Workload) -> Result<Part, Fault> {
    let Workload::Http {
        method,
        path,
        headers,
        body_base64,
        expect,
        count_replies,
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
    let mut fields = lower_case(headers);
    fields.extend(head::accepts(stack));
    if let Some(of_grpc) = expect.as_deref().and_then(of_grpc_only) {
        return refuse(
            format!("expect.{of_grpc}: a reply of HTTP has none"),
            "use status, headers, json, json_schema, sha256 and bytes",
        );
    }
    let expectation = expectation(expect.as_deref(), *count_replies, None)?;
    let mut validator = Validator::new(Framing::Whole, expectation, stack.work == Work::Decode);
    validator.status = expect.as_ref().and_then(|expect| expect.status);
    let mut body = decode_base64(body_base64)?;
    if let (false, (_, Some(name))) = (body.is_empty(), encoding(stack.compression)) {
        fields.push(("content-encoding".into(), name.into()));
        body = compress(stack.compression, &body).unwrap_or(body);
    }
    let request = Request {
        method: method.clone(),
        path: path.clone(),
        fields,
        body: body.into(),
        ..Request::default()
    };
    Ok(third_party(request, path, validator))
}

/// A gRPC method, its message as bytes.
pub(super) fn of_grpc(stack: &Stack, workload: &Workload) -> Result<Part, Fault> {
    let Workload::Grpc {
        method,
        body_base64,
        metadata,
        message,
        descriptors_base64,
        expect,
        count_replies,
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
    let message = decode_base64(body_base64.as_deref().unwrap_or(""))?;
    let mut body = Vec::new();
    BodyWriter::new(stack, message_format(stack)).wrap(&message, &mut body);
    let mut request = head::grpc(stack, &path);
    request.body = body.into();
    request.fields.extend(lower_case(metadata));
    if let Some(of_http) = expect.as_deref().and_then(of_http_only) {
        return refuse(
            format!("expect.{of_http}: a reply of gRPC has none"),
            "use grpc_status, headers, message, sha256 and bytes",
        );
    }
    let of_method = match (expect, descriptors_base64) {
        (Some(expect), Some(described)) if expect.message.is_some() => {
            Some(expected::method(described, &path)?)
        }
        _ => None,
    };
    let expectation = expectation(expect.as_deref(), *count_replies, of_method.as_ref())?;
    let mut validator = Validator::new(Framing::Grpc, expectation, stack.work == Work::Decode);
    // gRPC answers with 200 whatever came of the call: errors are in grpc-status.
    validator.status = Some(200);
    validator.content_type = Some(ContentType::Grpc);
    Ok(third_party(request, &path, validator))
}

/// What is known of replies of a service that is not of the lab.
fn expectation(
    expect: Option<&Expect>,
    count_replies: bool,
    method: Option<&MethodDescriptor>,
) -> Result<Expectation, Fault> {
    Ok(match (expect, count_replies) {
        (Some(expect), _) => Expectation::Declared(Box::new(Declared::of(expect, method)?)),
        (None, true) => Expectation::Counted,
        (None, false) => Expectation::Anything,
    })
}

fn of_grpc_only(expect: &Expect) -> Option<&'static str> {
    let grpc_status = expect.grpc_status.map(|_| "grpc_status");
    grpc_status.or(expect.message.as_ref().map(|_| "message"))
}

/// gRPC answers with status 200 whatever came of the call.
fn of_http_only(expect: &Expect) -> Option<&'static str> {
    let status = expect.status.map(|_| "status");
    let json = expect.json.as_ref().map(|_| "json");
    let schema = expect.json_schema.as_ref().map(|_| "json_schema");
    status.or(json).or(schema)
}

fn lower_case(fields: &[(String, String)]) -> Vec<(String, String)> {
    let fields = fields.iter();
    fields
        // HTTP/2 refuses capitals (RFC 9113 section 8.2.1), HTTP/1.1 does not care.
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
        .collect()
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
