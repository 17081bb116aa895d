//! Requests to services that are not of the lab, and what makes their replies right.

use std::sync::Arc;

use base64::Engine as _;
use prost_reflect::MethodDescriptor;
use wirelab_stack::{Binding, Compression, Stack, Transport, Work};
use wirelab_wire::grpc::Frames;
use wirelab_wire::websocket::Kind;
use wirelab_wire::{ContentType, Request};

use crate::call::fault;
use crate::call::result::Fault;
use crate::group::prepared::{Part, PartRows, PreparedRow};
use crate::plan::{
    Carry, Data, Expect, Group, RequestStep, RowPer, Stream, StreamFormat, Workload,
};
use crate::request::body::{BodyWriter, append, compress};
use crate::request::data::{self, ROW_BYTES_MAX, Row};
use crate::request::head::{self, encoding, message_format, status_of_streams};
use crate::request::own_sequence::{OwnSequence, Template};
use crate::request::placeholders::{Within, filled};
use crate::request::rows::RowPicker;
use crate::request::steps::{self, CarriedField};
use crate::validate::expect::{self as expected, Declared};
use crate::validate::kept_values::KeptValue;
use crate::validate::step::{Step, join_steps};
use crate::validate::stream::StreamRule;
use crate::validate::{Expectation, Validator};

fn refuse<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Fault> {
    Err(fault::plan(message, remedy))
}

/// One request to a third party's service, and what makes its replies right.
struct OwnRequest {
    name: String,
    validator: Validator,
    template: Template,
    /// Of gRPC, where it is described.
    method: Option<MethodDescriptor>,
}

impl OwnRequest {
    /// That request alone, or once for each row of `data`.
    fn part(self, data: Option<&Data>) -> Result<Part, Fault> {
        let make = &*self.template.0;
        let rows = match data {
            Some(data) => Some(PartRows {
                rows: of_rows(&data::read(&data.rows)?, make)?,
                per: data.per,
            }),
            None => None,
        };
        let first = match &rows {
            Some(rows) => rows.rows[0].0.clone(),
            None => make(None)?,
        };
        Ok(Part {
            requests: vec![first],
            steps: vec![Step {
                operation: 0,
                name: self.name,
                validator: Arc::new(self.validator),
            }],
            builder: None,
            rows,
            own: None,
        })
    }
}

/// Requests in a fixed order, values of replies carried into later ones.
pub(super) fn of_requests(
    group: &Group,
    steps: &[RequestStep],
    data: Option<&Data>,
) -> Result<Part, Fault> {
    steps::check_count(steps.len())?;
    let (rows, picker) = match data {
        Some(data) => {
            let rows = data::read(&data.rows)?;
            let picker = RowPicker::new(data.per, rows.len());
            (rows, picker)
        }
        None => (vec![Row::default()], RowPicker::new(RowPer::Call, 1)),
    };
    let mut requests: Vec<OwnRequest> = Vec::new();
    let (mut samples, mut carried) = (Vec::new(), Vec::new());
    for (at, step) in steps.iter().enumerate() {
        let named = |fault: Fault| Fault {
            message: format!("steps[{at}]: {}", fault.message),
            ..fault
        };
        let request = of_step(group, &step.request).map_err(named)?;
        let first = carried.len();
        for carry in &step.carry {
            let field = keep(&mut requests, at, carry, carried.len()).map_err(named)?;
            carried.push(field);
        }
        // With every row, so that one that does not fit is refused before the load.
        let mut made = rows.iter().map(|row| {
            let mut row = row.clone();
            row.values
                .extend(carried[first..].iter().map(CarriedField::sample));
            (request.template.0)(Some(&row)).map_err(named)
        });
        let sample = made.next().expect("there is a row")?;
        made.try_for_each(|request| request.map(drop))?;
        samples.push(sample);
        requests.push(request);
    }
    let mut templates = Vec::new();
    let recorded = requests.into_iter().map(|request| {
        templates.push(request.template);
        Step {
            operation: 0,
            name: request.name,
            validator: Arc::new(request.validator),
        }
    });
    Ok(Part {
        requests: samples,
        steps: join_steps(recorded),
        builder: None,
        rows: None,
        own: Some(OwnSequence::new(templates, carried, rows, picker)),
    })
}

fn of_step(group: &Group, request: &Workload) -> Result<OwnRequest, Fault> {
    match request {
        Workload::Http { data: None, .. } => http(group, request),
        Workload::Grpc { data: None, .. } => grpc(group, request),
        Workload::Http { .. } | Workload::Grpc { .. } => refuse(
            "data belongs to the whole sequence",
            "give data next to steps",
        ),
        _ => refuse(
            "a step is not a request to a service of your own",
            "use kind http or grpc",
        ),
    }
}

/// A value that goes into the request of step `to_step`; its step keeps it from now on.
fn keep(
    earlier: &mut [OwnRequest],
    to_step: usize,
    carry: &Carry,
    field: usize,
) -> Result<CarriedField, Fault> {
    let from_step = carry.step.map(|step| step as usize);
    let Some(from_step) = from_step
        .or(to_step.checked_sub(1))
        .filter(|step| *step < to_step)
    else {
        return refuse(
            "carry: there is no earlier step of that number",
            "name a step before this one, counted from 0",
        );
    };
    let from = &mut earlier[from_step];
    if from.validator.stream.is_some() {
        return refuse(
            format!("carry: the reply to steps[{from_step}] is a stream of messages"),
            "take values of a reply that is one message",
        );
    }
    let message = match (from.validator.frames, &from.method) {
        (None, _) => None,
        (Some(_), Some(method)) => Some(method.output()),
        (Some(_), None) => {
            return refuse(
                format!("carry: nothing describes the reply to steps[{from_step}]"),
                "name its .proto file as proto",
            );
        }
    };
    let kept = KeptValue::new(field, &carry.from, message)?;
    from.validator.kept.push(kept);
    Ok(CarriedField {
        from_step,
        from: carry.from.clone(),
        to_step,
        to: carry.to.clone(),
    })
}

fn of_rows(
    rows: &[Row],
    request: &dyn Fn(Option<&Row>) -> Result<Request, Fault>,
) -> Result<Vec<PreparedRow>, Fault> {
    let (mut bytes, mut made) = (0, Vec::with_capacity(rows.len()));
    for row in rows {
        let request = request(Some(row))?;
        let fields = request.fields.iter();
        let head: usize = fields.map(|(name, value)| name.len() + value.len()).sum();
        bytes += request.path.len() + head + request.body.len();
        if bytes > ROW_BYTES_MAX {
            return refuse(
                format!(
                    "data: the requests of {} rows take more than 256 MiB",
                    rows.len()
                ),
                "use fewer rows, which are taken again after the last, or smaller requests",
            );
        }
        made.push((request, None));
    }
    Ok(made)
}

/// A text with the values of a row, where there is one.
fn with_values(text: &str, row: Option<&Row>, within: Within) -> Result<String, Fault> {
    row.map_or_else(|| Ok(text.to_owned()), |row| filled(text, row, within))
}

fn fields_with_values(
    fields: &[(String, String)],
    row: Option<&Row>,
) -> Result<Vec<(String, String)>, Fault> {
    let fields = fields.iter();
    fields
        .map(|(name, value)| Ok((name.clone(), with_values(value, row, Within::Header)?)))
        .collect()
}

/// Where the values of a body go; a body that is not text has none.
fn body_with_values(body: &[u8], row: Option<&Row>) -> Result<Vec<u8>, Fault> {
    let (Some(row), Ok(text)) = (row, std::str::from_utf8(body)) else {
        return Ok(body.to_vec());
    };
    let within = match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Within::Json,
        Err(_) => Within::Text,
    };
    Ok(filled(text, row, within)?.into_bytes())
}

/// Anything over HTTP.
pub(super) fn of_http(group: &Group, workload: &Workload) -> Result<Part, Fault> {
    let Workload::Http { data, .. } = workload else {
        unreachable!("asked for HTTP workloads only")
    };
    http(group, workload)?.part(data.as_ref())
}

fn http(group: &Group, workload: &Workload) -> Result<OwnRequest, Fault> {
    let stack = &group.stack;
    let Workload::Http {
        name,
        method,
        path,
        headers,
        body_base64,
        expect,
        count_replies,
        stream,
        ..
    } = workload
    else {
        unreachable!("asked for HTTP workloads only")
    };
    let is_websocket = stack.binding == Binding::Websocket;
    let has_messages = stream.as_ref().map(|stream| stream.format) == Some(StreamFormat::Websocket);
    if (stack.binding != Binding::Rest || has_messages) && !(is_websocket && has_messages) {
        return refuse(
            "workload http goes with binding rest, or with binding websocket and its stream",
            "use binding rest, workload grpc, or stream.format websocket",
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
    if is_websocket {
        check_websocket(expect.as_deref(), path, headers)?;
    }
    let counts = *count_replies && stream.is_none();
    let expectation = expectation(expect.as_deref(), counts, None)?;
    let mut validator = Validator::new(None, expectation, stack.work == Work::Decode);
    if let Some(stream) = stream {
        validator.stream = Some(http_stream(stack, stream)?);
        let is_events = matches!(stream.format, StreamFormat::Sse | StreamFormat::OpenAi);
        validator.content_type = is_events.then_some(ContentType::EventStream);
    }
    validator.status = match is_websocket {
        true => Some(status_of_streams(stack.binding)),
        false => expect.as_ref().and_then(|expect| expect.status),
    };
    let body = decode_base64(body_base64)?;
    let name = name.clone().unwrap_or_else(|| path.clone());
    let (method, path, compression) = (method.clone(), path.clone(), stack.compression);
    let request = move |row: Option<&Row>| {
        let mut fields = fields_with_values(&fields, row)?;
        let mut body = body_with_values(&body, row)?;
        if let (false, (_, Some(name))) = (body.is_empty(), encoding(compression)) {
            fields.push(("content-encoding".into(), name.into()));
            body = compress(compression, &body).unwrap_or(body);
        }
        if is_websocket {
            body = as_message(compression, &body);
        }
        Ok(Request {
            method: method.clone(),
            path: with_values(&path, row, Within::Path)?,
            fields,
            body: body.into(),
            ..Request::default()
        })
    };
    Ok(OwnRequest {
        name,
        validator,
        template: Template(Arc::new(request)),
        method: None,
    })
}

/// A gRPC method, its message as bytes or as JSON with its description.
pub(super) fn of_grpc(group: &Group, workload: &Workload) -> Result<Part, Fault> {
    let Workload::Grpc { data, .. } = workload else {
        unreachable!("asked for gRPC workloads only")
    };
    grpc(group, workload)?.part(data.as_ref())
}

fn grpc(group: &Group, workload: &Workload) -> Result<OwnRequest, Fault> {
    let stack = group.stack.clone();
    let Workload::Grpc {
        name,
        method,
        body_base64,
        metadata,
        message,
        descriptors_base64,
        expect,
        count_replies,
        stream,
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
    let path = match method.starts_with('/') {
        true => method.clone(),
        false => format!("/{method}"),
    };
    if let Some(of_http) = expect.as_deref().and_then(of_http_only) {
        return refuse(
            format!("expect.{of_http}: a reply of gRPC has none"),
            "use grpc_status, headers, message, sha256 and bytes",
        );
    }
    let of_method = match descriptors_base64 {
        Some(described) => Some(expected::method(described, &path)?),
        None => None,
    };
    if message.is_some() && of_method.is_none() {
        return Err(fault::internal("nothing describes a message in JSON"));
    }
    let expectation = expectation(expect.as_deref(), *count_replies, of_method.as_ref())?;
    let template = message.as_ref().map(ToString::to_string);
    let prepared = decode_base64(body_base64.as_deref().unwrap_or(""))?;
    let mut metadata = lower_case(metadata);
    if !metadata.iter().any(|(name, _)| name == TIMEOUT) {
        metadata.push((TIMEOUT.into(), timeout(group.timeout_s)));
    }
    let name = name.clone().unwrap_or_else(|| path.clone());
    let mut validator = Validator::new(Some(Frames::Grpc), expectation, stack.work == Work::Decode);
    // gRPC answers with 200 whatever came of the call: errors are in grpc-status.
    validator.status = Some(200);
    validator.content_type = Some(ContentType::Grpc);
    validator.stream = grpc_stream(stream.as_deref(), of_method.as_ref())?;
    let described = of_method.clone();
    let request = move |row: Option<&Row>| {
        let message = match (&template, &of_method) {
            (Some(template), Some(method)) => {
                let text = with_values(template, row, Within::Json)?;
                expected::encoded(method, &text).map_err(|fault| named(fault, row))?
            }
            _ => prepared.clone(),
        };
        let mut body = Vec::new();
        BodyWriter::new(&stack, message_format(&stack)).wrap(&message, false, &mut body);
        let mut request = head::grpc(&stack, &path);
        request.body = body.into();
        request.fields.extend(fields_with_values(&metadata, row)?);
        Ok(request)
    };
    Ok(OwnRequest {
        name,
        validator,
        template: Template(Arc::new(request)),
        method: described,
    })
}

/// Refuses what the replies of WebSocket do not have, and a path that differs from call to call:
/// that of the first call begins the connection.
fn check_websocket(
    expect: Option<&Expect>,
    path: &str,
    headers: &[(String, String)],
) -> Result<(), Fault> {
    let has_status = |expect: &Expect| expect.status.is_some() || !expect.headers.is_empty();
    if expect.is_some_and(has_status) {
        return refuse(
            "expect: a message of WebSocket has no status and no headers",
            "use json, json_schema, sha256 or bytes",
        );
    }
    let mut values = headers.iter().map(|(_, value)| value.as_str());
    if path.contains("${") || values.any(|value| value.contains("${")) {
        return refuse(
            "path, headers: a connection of WebSocket has those of its first call",
            "use ${column} in the body only",
        );
    }
    Ok(())
}

/// A body that is one message of WebSocket: text if it is UTF-8.
fn as_message(compression: Compression, body: &[u8]) -> Vec<u8> {
    let kind = match std::str::from_utf8(body) {
        Ok(_) => Kind::Text,
        Err(_) => Kind::Binary,
    };
    let mut message = Vec::new();
    append(compression, kind, body, &mut message);
    message
}

/// What makes a stream over HTTP right.
fn http_stream(stack: &Stack, stream: &Stream) -> Result<StreamRule, Fault> {
    if stream.format == StreamFormat::Grpc {
        return refuse(
            "stream.format: grpc goes with workload grpc",
            "use sse, ndjson or openai",
        );
    }
    if stack.transport != Transport::Http2 && stack.in_flight > 1 {
        return refuse(
            "stream: calls behind one in a pipeline would wait for its end",
            "use one call in flight per connection, or transport http/2",
        );
    }
    StreamRule::of(stream)
}

/// The same with gRPC, where the plan or the description of the method says that it is one.
fn grpc_stream(
    stream: Option<&Stream>,
    method: Option<&MethodDescriptor>,
) -> Result<Option<StreamRule>, Fault> {
    let described = method.is_some_and(MethodDescriptor::is_server_streaming);
    let stream = match stream {
        Some(stream) if stream.format != StreamFormat::Grpc => {
            return refuse("stream.format: workload grpc has its own", "use grpc");
        }
        Some(stream) => Some(stream.clone()),
        None => described.then(|| Stream::new(StreamFormat::Grpc)),
    };
    stream.as_ref().map(StreamRule::of).transpose()
}

/// The deadline of a call (gRPC over HTTP/2, Requests).
const TIMEOUT: &str = "grpc-timeout";

/// As metadata: at most eight digits and a unit.
fn timeout(seconds: f64) -> String {
    let milliseconds = (seconds * 1e3).ceil();
    if milliseconds <= 99_999_999.0 {
        return format!("{milliseconds:.0}m");
    }
    format!("{:.0}S", seconds.ceil().min(99_999_999.0))
}

/// With the place of the row.
fn named(fault: Fault, row: Option<&Row>) -> Fault {
    let place = row.map_or_else(String::new, |row| format!("data: {}: ", row.place));
    Fault {
        message: place + &fault.message,
        ..fault
    }
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
