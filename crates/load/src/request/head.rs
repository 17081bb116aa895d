//! A request without its body: method, path, fields; and the codec, as `wirelab-wire` and
//! the fields name it.

use wirelab_contract::clinic::routes::Route;
use wirelab_contract::{Call, Message, MessageVisitor, Operation};
use wirelab_stack::{Binding, Codec, Compression, Stack, Transport};
use wirelab_wire::codec::{Mapping, MessageFormat};
use wirelab_wire::grpc::Frames;
use wirelab_wire::websocket::SWITCHING_PROTOCOLS;
use wirelab_wire::{ContentType, Encoding, Request, soap};

use crate::call::fault;
use crate::call::result::Fault;
use crate::plan::Group;

/// How messages are written.
pub(crate) fn message_format(stack: &Stack) -> MessageFormat {
    MessageFormat::from(stack.codec)
        .in_order(stack.byte_order)
        .in_soap(version(stack))
        .with_cache(stack.token_cache)
        .in_mapping(match stack.binding {
            Binding::Connect => Mapping::Connect,
            _ => Mapping::Contracts,
        })
}

/// The version of SOAP; 1.1 where the stack has none.
pub(crate) fn version(stack: &Stack) -> soap::Version {
    stack.soap.into()
}

/// The media type of requests and replies in HTTP, without parameters.
pub(crate) fn media_type(stack: &Stack) -> (&'static str, ContentType) {
    let name = match stack.binding {
        Binding::Grpc => "application/grpc",
        Binding::Connect => connect_type(stack, false),
        Binding::Soap => version(stack).media_type(),
        Binding::Rest | Binding::Sse | Binding::Websocket | Binding::Iiop | Binding::Raw => {
            stack.codec.media_type()
        }
    };
    (name, ContentType::named(name.as_bytes()))
}

/// The media type of unary calls over Connect, or of streams.
fn connect_type(stack: &Stack, is_stream: bool) -> &'static str {
    match (stack.codec, is_stream) {
        (Codec::Json, false) => "application/json",
        (Codec::Json, true) => "application/connect+json",
        (_, false) => "application/proto",
        (_, true) => "application/connect+proto",
    }
}

/// The content type of the replies to an operation, streams of REST, sse and websocket aside.
pub(crate) fn reply_type(stack: &Stack, operation: Operation) -> ContentType {
    match stack.binding {
        Binding::Connect => {
            ContentType::named(connect_type(stack, operation.streaming()).as_bytes())
        }
        _ => media_type(stack).1,
    }
}

/// The frames of messages, which may be those of a stream; None where a body is one message, or
/// has frames of its own protocol.
pub(crate) fn frames(binding: Binding, is_stream: bool) -> Option<Frames> {
    match binding {
        Binding::Grpc => Some(Frames::Grpc),
        Binding::Connect if is_stream => Some(Frames::Connect),
        _ => None,
    }
}

/// How the stack compresses, and what HTTP and gRPC call it.
pub(crate) fn encoding(compression: Compression) -> (Encoding, Option<&'static str>) {
    match compression {
        Compression::None | Compression::PermessageDeflate => (Encoding::Identity, None),
        Compression::Gzip => (Encoding::Gzip, Some("gzip")),
        Compression::Zstd => (Encoding::Zstd, Some("zstd")),
    }
}

/// Fields that ask for compressed replies, by binding.
pub(crate) fn accepts(stack: &Stack) -> Option<(String, String)> {
    let (_, name) = encoding(stack.compression);
    // RFC 9110 section 12.5.3; gRPC has a field of its own, since it compresses messages and
    // not the body.
    let field = match stack.binding {
        Binding::Rest | Binding::Sse | Binding::Soap | Binding::Connect => "accept-encoding",
        Binding::Grpc => "grpc-accept-encoding",
        Binding::Websocket | Binding::Iiop | Binding::Raw => return None,
    };
    Some((field.to_owned(), name?.to_owned()))
}

/// The request for an operation of a contract, still without authority and body.
///
/// # Errors
/// When the binding has no such operation.
pub(crate) fn of_operation(group: &Group, operation: Operation) -> Result<Request, Fault> {
    let stack = &group.stack;
    match stack.binding {
        Binding::Rest | Binding::Sse if operation.has_items() => items(stack, operation),
        Binding::Rest | Binding::Sse => rest(stack, operation),
        Binding::Websocket => websocket(operation),
        Binding::Connect => connect(group, operation),
        Binding::Soap => Ok(soap(stack, operation)),
        Binding::Grpc => Ok(grpc(stack, &operation.grpc_path())),
        Binding::Iiop => Ok(Request {
            path: operation.lower_camel().to_owned(),
            ..Request::default()
        }),
        Binding::Raw => Ok(Request::default()),
    }
}

/// The request for a call: in REST its path may hold fields of the request.
///
/// # Errors
/// When the binding has no such operation.
pub(crate) fn of_call(group: &Group, call: &Call) -> Result<Request, Fault> {
    let (stack, operation) = (&group.stack, call.operation());
    let mut request = match (stack.binding, operation.route()) {
        (Binding::Rest, Some(route)) if !operation.has_items() => rest_request(stack, &route),
        _ => return of_operation(group, operation),
    };
    if let Some(route) = operation.route()
        && let Some(path) = path(&route, call)
    {
        request.path = path;
        request.method = route.method.into();
    }
    Ok(request)
}

/// The path of a call in REST; None where its request is a stream.
pub(crate) fn path(route: &Route, call: &Call) -> Option<String> {
    call.visit(PathOf(route))
}

/// The path of a request message.
struct PathOf<'a>(&'a Route);

impl MessageVisitor for PathOf<'_> {
    type Output = String;

    fn visit<M: Message>(self, message: &M) -> String {
        self.0.path(message)
    }
}

fn field(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn rest(stack: &Stack, operation: Operation) -> Result<Request, Fault> {
    let Some(route) = operation.route() else {
        return Err(fault::plan(
            format!("operation {operation}: this stream of messages exists in grpc only"),
            "use binding grpc, or another operation",
        ));
    };
    Ok(rest_request(stack, &route))
}

/// The media types of streams of items (contracts/README.md, stream).
const LINES: &str = "application/x-ndjson";
const EVENTS: &str = "text/event-stream";

/// The request of a stream of items over HTTP without gRPC.
fn items(stack: &Stack, operation: Operation) -> Result<Request, Fault> {
    let stream = match stack.binding {
        Binding::Sse => EVENTS,
        _ => LINES,
    };
    let (message, _) = media_type(stack);
    let (sent, accepted) = match (stack.binding, operation) {
        (_, Operation::Feed) => (message, stream),
        (Binding::Rest, Operation::Push) => (stream, message),
        (binding, _) => {
            return Err(fault::plan(
                format!("operation {operation}: binding {binding} does not have it"),
                "use binding grpc, or operation Feed",
            ));
        }
    };
    let (method, path) = operation.rest().expect("Feed and Push have paths");
    let mut fields = vec![field("accept", accepted), field("content-type", sent)];
    fields.extend(accepts(stack));
    fields.extend(content_encoding(stack));
    Ok(Request {
        method: method.into(),
        path: path.into(),
        fields,
        ..Request::default()
    })
}

/// The status of a stream of items that is right.
pub(crate) fn status_of_streams(binding: Binding) -> u16 {
    match binding {
        Binding::Websocket => SWITCHING_PROTOCOLS,
        _ => 200,
    }
}

/// The path of a stream of items over WebSocket (contracts/README.md, WebSocket).
fn websocket(operation: Operation) -> Result<Request, Fault> {
    if !operation.has_items() {
        return Err(fault::plan(
            format!("operation {operation}: binding websocket does not have it"),
            "use Feed, Push or Chat",
        ));
    }
    Ok(Request {
        method: "GET".into(),
        path: format!("/stream/{}", operation.name().to_ascii_lowercase()),
        ..Request::default()
    })
}

/// The request of a route; its path is a template.
fn rest_request(stack: &Stack, route: &Route) -> Request {
    let (media, _) = media_type(stack);
    let mut fields = vec![field("accept", media)];
    fields.extend(accepts(stack));
    if route.has_body() {
        fields.push(field("content-type", media));
        fields.extend(content_encoding(stack));
    }
    Request {
        method: route.method.into(),
        path: format!("{}{}", route.prefix, route.template),
        fields,
        ..Request::default()
    }
}

fn content_encoding(stack: &Stack) -> Option<(String, String)> {
    let (_, name) = encoding(stack.compression);
    Some(field("content-encoding", name?))
}

/// contracts/README.md, SOAP.
fn soap(stack: &Stack, operation: Operation) -> Request {
    let version = version(stack);
    let mut fields = vec![field("content-type", version.request_type(operation))];
    let action = version.action_field(operation);
    fields.extend(action.map(|action| field("soapaction", action)));
    fields.push(field("accept", version.media_type()));
    fields.extend(accepts(stack));
    fields.extend(content_encoding(stack));
    Request {
        method: "POST".into(),
        path: format!("/{}/soap", operation.contract()),
        fields,
        ..Request::default()
    }
}

/// Connect protocol, Unary-Request and Streaming-Request. The deadline is the time after which the
/// engine gives a call up.
fn connect(group: &Group, operation: Operation) -> Result<Request, Fault> {
    let stack = &group.stack;
    let is_stream = operation.streaming();
    if is_stream && !operation.has_items() {
        return Err(fault::plan(
            format!("operation {operation}: this stream of messages exists in grpc only"),
            "use binding grpc, or another operation",
        ));
    }
    if operation == Operation::Chat && stack.transport != Transport::Http2 {
        return Err(fault::plan(
            "operation Chat: a stream in both directions over Connect needs HTTP/2",
            "use transport=http/2, or another operation",
        ));
    }
    let mut fields = vec![
        field("content-type", connect_type(stack, is_stream)),
        field("connect-protocol-version", "1"),
        field("connect-timeout-ms", timeout_ms(group.timeout_s)),
    ];
    if let (_, Some(name)) = encoding(stack.compression) {
        let names = match is_stream {
            true => ["connect-accept-encoding", "connect-content-encoding"],
            false => ["accept-encoding", "content-encoding"],
        };
        fields.extend(names.map(|of_field| field(of_field, name)));
    }
    Ok(Request {
        method: "POST".into(),
        path: operation.grpc_path(),
        fields,
        ..Request::default()
    })
}

/// Digits of a time: plans have 1,000,000 s at most, and Connect 10 digits.
fn timeout_ms(timeout_s: f64) -> String {
    (timeout_s * 1e3).ceil().max(1.0).to_string()
}

/// gRPC over HTTP/2, Requests.
pub(crate) fn grpc(stack: &Stack, path: &str) -> Request {
    let mut fields = vec![
        field("content-type", "application/grpc"),
        // Required by gRPC to find proxies that drop trailers; the one field of a connection
        // that HTTP/2 allows (RFC 9113 section 8.2.2).
        field("te", "trailers"),
    ];
    fields.extend(accepts(stack));
    if let (_, Some(name)) = encoding(stack.compression) {
        fields.push(field("grpc-encoding", name));
    }
    Request {
        method: "POST".into(),
        path: path.into(),
        fields,
        ..Request::default()
    }
}

/// Marks ids of heads with a path of their own.
pub(crate) const OWN_PATH: u64 = 1 << 63;

/// Sessions remember heads by the request's id: equal heads, equal ids. Heads
/// differ by step, and by the body's length where they tell it.
pub(crate) fn head_id(step: usize, length: usize) -> u64 {
    // Bodies are far below 2^40 bytes, which leaves 24 bits for the step.
    (step as u64) << 40 | length as u64
}
