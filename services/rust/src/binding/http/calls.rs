//! What happens to every call over HTTP before and after its handler: it is
//! counted, delayed, and suffers the fault that was chosen for it.

use std::convert::Infallible;
use std::fmt::Debug;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use tower_service::Service;
use wirelab_contract::{Contract, Operation};

use crate::binding::http::reply_body::ReplyBody;
use crate::connection::control::{Command, Control};
use crate::faults::{FaultAction, Wrong};
use crate::service::state::{Arrival, ServiceState};
use wirelab_stack::Binding;

/// What a request asks for, of which its binding reads the operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTarget<'a> {
    /// The contract that is served.
    pub(crate) contract: Contract,
    /// The request's method.
    pub(crate) method: &'a str,
    /// The request's path, without a query.
    pub(crate) path: &'a str,
    /// The request's fields.
    pub(crate) fields: &'a HeaderMap,
}

/// Returns the operation that a request asks for, if it asks for one.
pub(crate) type FindOperation = fn(RequestTarget<'_>) -> Option<Operation>;

/// Marks a response as an application error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IsApplicationError;

/// Wraps the service that has the handlers.
#[derive(Debug, Clone)]
pub(crate) struct Calls<S> {
    inner: S,
    state: Arc<ServiceState>,
    find: FindOperation,
}

impl<S> Calls<S> {
    /// Wraps `inner`.
    pub(crate) fn new(inner: S, state: Arc<ServiceState>, find: FindOperation) -> Self {
        Calls { inner, state, find }
    }
}

impl<S, RequestBody, B> Service<Request<RequestBody>> for Calls<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    RequestBody: Send + 'static,
    B: HttpBody<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Debug,
{
    type Response = Response<ReplyBody<B>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let operation = (self.find)(RequestTarget {
            contract: self.state.contract,
            method: request.method().as_str(),
            path: request.uri().path(),
            fields: request.headers(),
        });
        // Unknown paths, and the self-call before the service is open: passed on, not
        // counted, without faults.
        let Some(arrival) = operation.and_then(|operation| self.state.arrive(operation)) else {
            let reply = self.inner.call(request);
            return Box::pin(async move { Ok(reply.await?.map(ReplyBody::pass)) });
        };
        // A clone, because the future outlives this borrow of the service.
        let (inner, state) = (self.inner.clone(), Arc::clone(&self.state));
        // A stream is in flight until its last message has left, all others until their reply is
        // made.
        let lasts = matches!(
            operation,
            Some(Operation::Download | Operation::Feed | Operation::Chat)
        );
        Box::pin(async move {
            let response = serve(&state, inner, request, &arrival).await;
            Ok(if lasts {
                response.map(|body| body.until_its_end(arrival))
            } else {
                response
            })
        })
    }
}

async fn serve<S, RequestBody, B>(
    state: &ServiceState,
    mut inner: S,
    mut request: Request<RequestBody>,
    arrival: &Arrival,
) -> Response<ReplyBody<B>>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Debug,
{
    let control = request.extensions().get::<Control>();
    let control = control.cloned().unwrap_or_default();
    match arrival.action {
        FaultAction::Hang => {
            arrival.fault_injected();
            // The future is dropped with its connection, and the arrival with it.
            return pending().await;
        }
        FaultAction::Reset => return cut(arrival, &control, Command::Reset),
        FaultAction::Garbage => return cut(arrival, &control, Command::Garbage),
        _ => {}
    }
    // The handler makes these mistakes itself, before it encodes: a reply that is corrupted as
    // bytes would no longer be well-formed, and would test the parser and not the comparison.
    if let Some(corruptor) = arrival.corruptor() {
        request.extensions_mut().insert(corruptor);
    }
    let Ok(mut response) = inner.call(request).await;
    // After the handler and before the first byte, as a slow backend behaves.
    state.delay(arrival.operation).await;
    let grpc = state.stack.binding == Binding::Grpc;
    if is_application_error(grpc, &response) {
        // Only refusals by the contract are errors here. A broken request is the library's
        // answer.
        arrival.refused();
        if let Some(mutation) = &state.mutation {
            mutation.status(response.status_mut());
        }
    }
    corrupt(grpc, arrival, response, control).await
}

/// Leaves a command for the connection. The reply only makes the library
/// write; its bytes never leave the process.
fn cut<B>(arrival: &Arrival, control: &Control, command: Command) -> Response<ReplyBody<B>> {
    arrival.fault_injected();
    control.send(command);
    Response::new(ReplyBody::empty())
}

fn is_application_error<B>(grpc: bool, response: &Response<B>) -> bool {
    if grpc {
        // A gRPC error without a message is "trailers-only": its status is a header field
        // (gRPC over HTTP/2, Responses).
        let status = response.headers().get(GRPC_STATUS);
        // INVALID_ARGUMENT, and NOT_FOUND of petclinic.
        status.is_some_and(|status| status == "3" || status == "5")
    } else {
        response.extensions().get::<IsApplicationError>().is_some()
    }
}

/// Makes a correct reply wrong where the fault concerns it as a whole.
async fn corrupt<B>(
    grpc: bool,
    arrival: &Arrival,
    response: Response<B>,
    control: Control,
) -> Response<ReplyBody<B>>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Debug,
{
    let response = match arrival.action {
        FaultAction::Wrong(Wrong::Status) => wrong_status(grpc, response),
        FaultAction::Wrong(Wrong::Trailers) => remove_status(response),
        FaultAction::Close => half(response, control).await,
        FaultAction::Endless => endless(response),
        _ => return response.map(ReplyBody::pass),
    };
    arrival.fault_injected();
    response
}

fn wrong_status<B>(grpc: bool, response: Response<B>) -> Response<ReplyBody<B>> {
    if !grpc {
        let mut response = response.map(ReplyBody::pass);
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return response;
    }
    // Status 2 is UNKNOWN, what gRPC libraries send when a handler fails.
    let mut response = Response::new(ReplyBody::empty());
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE.as_str(), "application/grpc"),
        (GRPC_STATUS, "2"),
        ("grpc-message", "wrong on purpose"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

const GRPC_STATUS: &str = "grpc-status";

/// The reply without its grpc-status, wherever that is.
fn remove_status<B>(mut response: Response<B>) -> Response<ReplyBody<B>> {
    response.headers_mut().remove(GRPC_STATUS);
    response.map(ReplyBody::without_trailers)
}

/// The header of the reply, half of its body, and then a closed connection.
async fn half<B>(response: Response<B>, control: Control) -> Response<ReplyBody<B>>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Debug,
{
    let (parts, body) = response.into_parts();
    // Taken before the body is consumed.
    let size = body.size_hint();
    let whole = body
        .collect()
        .await
        .expect("replies are made in memory")
        .to_bytes();
    // The announced length stays that of the whole reply, so that the caller waits for the rest.
    let first = whole.slice(..whole.len() / 2);
    Response::from_parts(parts, ReplyBody::half(first, size, control))
}

/// The reply without an end; its length is then not known beforehand.
fn endless<B>(mut response: Response<B>) -> Response<ReplyBody<B>> {
    // With a length the library would end the body itself.
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.map(ReplyBody::endless)
}
