//! What of a request is no body: method, path, fields.

use wirelab_contract::Operation;
use wirelab_stack::{Binding, Stack};
use wirelab_wire::Request;

use crate::fault;
use crate::record::result::Fault;
use crate::request::message_format::{encoding, media_type, version};

/// Fields that ask for compressed replies, by binding.
pub(crate) fn accepts(stack: &Stack) -> Option<(String, String)> {
    let (_, name) = encoding(stack.compression);
    let field = match stack.binding {
        Binding::Rest | Binding::Soap => "accept-encoding",
        Binding::Grpc => "grpc-accept-encoding",
        Binding::Iiop | Binding::Raw => return None,
    };
    Some((field.to_owned(), name?.to_owned()))
}

/// The request for an operation of a contract, still without authority and body.
///
/// # Errors
/// When the binding has no such operation.
pub(crate) fn of_operation(stack: &Stack, operation: Operation) -> Result<Request, Fault> {
    match stack.binding {
        Binding::Rest => rest(stack, operation),
        Binding::Soap => Ok(soap(stack, operation)),
        Binding::Grpc => Ok(grpc(stack, &operation.grpc_path())),
        Binding::Iiop => Ok(Request {
            path: operation.lower_camel().to_owned(),
            ..Request::default()
        }),
        Binding::Raw => Ok(Request::default()),
    }
}

fn field(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn rest(stack: &Stack, operation: Operation) -> Result<Request, Fault> {
    let Some((method, path)) = operation.rest() else {
        return Err(fault::plan(
            format!("operation {operation}: streams of messages exist in grpc only"),
            "use binding grpc, or another operation",
        ));
    };
    let (media, _) = media_type(stack);
    let mut fields = vec![field("accept", media)];
    fields.extend(accepts(stack));
    if method != "GET" {
        fields.push(field("content-type", media));
        fields.extend(content_encoding(stack));
    }
    Ok(Request {
        method: method.into(),
        path: path.into(),
        fields,
        ..Request::default()
    })
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

/// gRPC over HTTP/2, Requests.
pub(crate) fn grpc(stack: &Stack, path: &str) -> Request {
    let mut fields = vec![
        field("content-type", "application/grpc"),
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
