//! The call over HTTP: REST, SOAP, Connect and gRPC.

use axum::body::{Body, Bytes};
use axum::http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use wirelab_contract::{Call, Message, Operation};

use super::{SelfCallError, WithRequest, with_request};
use crate::binding::connect::content_type;
use crate::binding::soap::envelopes::Envelopes;
use crate::binding::soap::{self, writer};
use crate::codec::Representation as _;
use crate::documents::config::ServiceConfig;
use crate::service::state::ServiceState;
use wirelab_stack::{Binding, Transport};

/// Calls and checks the status.
pub(super) async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    config: &ServiceConfig,
    state: &ServiceState,
) -> Result<(), SelfCallError> {
    let request = with_request(state.contract, MakeRequest { config });
    let stream = TokioIo::new(stream);
    let response = if config.stack.transport == Transport::Http2 {
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        // hyper's client is driven by a task of its own.
        tokio::spawn(connection);
        sender.send_request(request).await?
    } else {
        let (mut sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    };
    check(response.map(Body::new), config.stack.binding).await
}

struct MakeRequest<'a> {
    config: &'a ServiceConfig,
}

impl WithRequest for MakeRequest<'_> {
    type Output = Request<Full<Bytes>>;

    fn with<M: Message>(self, call: &Call, message: &M) -> Self::Output {
        let operation = call.operation();
        match self.config.stack.binding {
            Binding::Grpc => grpc(operation, message),
            Binding::Connect => connect(self.config, operation, message),
            Binding::Soap => soap(self.config, operation, message),
            _ => rest(self.config, operation, message),
        }
    }
}

fn request(
    method: &str,
    path: &str,
    fields: &[(&str, &str)],
    body: Vec<u8>,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder()
        .method(method)
        // Absolute, because HTTP/2 takes scheme and authority from it (RFC 9113 section 8.3.1).
        .uri(format!("http://localhost{path}"))
        .header(header::HOST, "localhost");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.body(Full::from(body)).expect("a legal request")
}

fn rest<M: Message>(
    config: &ServiceConfig,
    operation: Operation,
    message: &M,
) -> Request<Full<Bytes>> {
    let codec = config.stack.codec;
    let route = operation.route().expect("no stream is harmless");
    let body = match route.has_body() {
        false => Vec::new(),
        true => codec.write(message),
    };
    let path = route.path(message);
    request(
        route.method,
        &path,
        &[("content-type", codec.media_type())],
        body,
    )
}

fn soap<M: Message>(
    config: &ServiceConfig,
    operation: Operation,
    message: &M,
) -> Request<Full<Bytes>> {
    let envelopes = Envelopes::new(config);
    let (form, token) = (envelopes.form, envelopes.token.as_ref());
    let body = writer::request(form, operation, message.clone(), token);
    let content_type = form.version().request_type(operation);
    let action = form.version().action_field(operation);
    let mut fields = vec![("content-type", content_type.as_str())];
    fields.extend(action.as_deref().map(|action| ("soapaction", action)));
    request("POST", soap::path(operation.contract()), &fields, body)
}

/// Not compressed, and its length (gRPC over HTTP/2, Length-Prefixed-Message; Connect protocol,
/// Enveloped-Message).
fn envelop(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("a small message");
    [&[0][..], &length.to_be_bytes(), message].concat()
}

fn connect<M: Message>(
    config: &ServiceConfig,
    operation: Operation,
    message: &M,
) -> Request<Full<Bytes>> {
    let codec = config.stack.codec;
    let message = codec.write(message);
    let body = match operation.streaming() {
        true => envelop(&message),
        false => message,
    };
    let fields = [
        ("content-type", content_type(codec, operation)),
        ("connect-protocol-version", "1"),
    ];
    request("POST", &operation.grpc_path(), &fields, body)
}

fn grpc<M: Message>(operation: Operation, message: &M) -> Request<Full<Bytes>> {
    let body = envelop(&message.encode_to_vec());
    let fields = [("content-type", "application/grpc"), ("te", "trailers")];
    request("POST", &operation.grpc_path(), &fields, body)
}

/// Reads the whole reply and judges its status.
async fn check(response: Response<Body>, binding: Binding) -> Result<(), SelfCallError> {
    let status = response.status();
    let head = response.headers().clone();
    // To its end: gRPC reports its status behind the body.
    let body = response.into_body().collect().await?;
    // An error without a message has its status in the header ("trailers-only").
    let trailers = body.trailers().unwrap_or(&head);
    let fine = match binding {
        Binding::Grpc => trailers
            .get("grpc-status")
            .is_some_and(|status| status == "0"),
        _ => status.is_success(),
    };
    if fine {
        Ok(())
    } else {
        Err(SelfCallError::Answer(format!("{status}, {trailers:?}")))
    }
}
