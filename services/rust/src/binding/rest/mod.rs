//! `rest@rust`: every contract over HTTP, on axum and hyper.

mod caching;
mod error_response;
mod negotiation;
mod petclinic;
mod streams;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post, put};
use axum::{Extension, Router};
use serde::Serialize;
use wirelab_contract::{Contract, Operation, ops};

use crate::binding::http::BODY_LIMIT;
use crate::binding::http::calls::RequestTarget;
use crate::binding::http::content_coding::{self, Refuse};
use crate::codec::Representation as _;
use crate::service::any_operation::{AnyOperation, Failure};
use crate::service::corruption::Corruptor;
use crate::service::rows::AnyMessage;
use crate::service::state::ServiceState;
use error_response::ErrorResponse;
use negotiation::{Acceptable, Content};
use wirelab_stack::Codec;

type Shared = State<Arc<ServiceState>>;
type Fault = Option<Extension<Corruptor>>;

/// The operation that a request asks for, if any.
pub(crate) fn operation(target: RequestTarget<'_>) -> Option<Operation> {
    if target.contract == Contract::Petclinic {
        return petclinic::operation(target.method, target.path);
    }
    Operation::all_of(target.contract)
        .find(|operation| operation.rest() == Some((target.method, target.path)))
}

/// The handlers of the contract that is served.
pub(crate) fn router(state: &Arc<ServiceState>) -> Router {
    let served =
        // The codec text has a form for Hello's reply only.
        |operation: &Operation| state.stack.codec != Codec::Text || *operation == Operation::Hello;
    let is_kept = |operation: &Operation| {
        state.contract == Contract::Transfer
            && operation.rest().is_some_and(|(method, _)| method == "GET")
    };
    let (kept, others): (Vec<_>, Vec<_>) = Operation::all_of(state.contract)
        .filter(served)
        .partition(is_kept);
    let kept = kept.into_iter().fold(Router::new(), add_route);
    let routes = others.into_iter().fold(Router::new(), add_route);
    let routes = routes.merge(caching::layer(kept, state));
    let routes = match state.contract {
        Contract::Stream => routes.merge(streams::routes(state.stack.binding)),
        _ => routes,
    };
    let routes = routes
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT));
    let refuse: Refuse =
        |state, status, text| ErrorResponse::new(state, status, text).into_response();
    // Outermost, so that errors of the router are compressed and counted like replies.
    content_coding::layer(routes, state, refuse).with_state(Arc::clone(state))
}

fn add_route(router: Router<Arc<ServiceState>>, operation: Operation) -> Router<Arc<ServiceState>> {
    match (operation.route(), AnyOperation::of(operation)) {
        (Some(route), Some(any)) => {
            let handler = match operation {
                Operation::Hello => get(hello).head(wrong_method),
                _ => on_method(route.method, any),
            };
            // axum's templates have the same braces as the contract's.
            router.route(&format!("{}{}", route.prefix, route.template), handler)
        }
        _ => router,
    }
}

fn on_method(method: &str, operation: &'static AnyOperation) -> MethodRouter<Arc<ServiceState>> {
    let handler = move |_: Acceptable, State(state): Shared, received: Received| async move {
        let responded = match state.contract {
            Contract::Petclinic => petclinic::respond(&state, operation, received).await,
            _ => respond(&state, operation, received).await,
        };
        responded.unwrap_or_else(IntoResponse::into_response)
    };
    match method {
        "POST" => post(handler),
        "PUT" => put(handler),
        "DELETE" => delete(handler),
        // axum answers HEAD by GET's handler unless configured otherwise; the contract has no HEAD.
        _ => get(handler).head(wrong_method),
    }
}

/// What a request brought: everything that an operation's answer depends on.
pub(super) struct Received {
    uri: Uri,
    content: Content,
    fault: Fault,
}

impl Received {
    /// Makes the reply wrong, where that was asked for.
    fn corruptor(&self) -> Option<&Corruptor> {
        self.fault.as_deref()
    }
}

impl FromRequest<Arc<ServiceState>> for Received {
    type Rejection = ErrorResponse;

    async fn from_request(
        mut request: Request,
        state: &Arc<ServiceState>,
    ) -> Result<Self, ErrorResponse> {
        // Before the content, whose extractor consumes the request.
        let uri = std::mem::take(request.uri_mut());
        let fault = request.extensions_mut().remove().map(Extension);
        let content = Content::from_request(request, state).await?;
        Ok(Received {
            uri,
            content,
            fault,
        })
    }
}

async fn respond(
    state: &ServiceState,
    operation: &AnyOperation,
    received: Received,
) -> Result<Response, ErrorResponse> {
    if state.is_plain() && received.fault.is_none() {
        return respond_by_model(state, operation, &received.content);
    }
    let request = received.content.read(state, &operation.request)?;
    let reply = state.answer_any(operation, request, received.corruptor());
    let reply = reply.await;
    let reply = reply.map_err(|error| ErrorResponse::of_call(state, error))?;
    let mut body = (operation.reply.write)(state.stack.codec, &reply);
    if let Some(mutation) = &state.mutation {
        mutation.bytes(&mut body);
    }
    keep(state, operation, reply, Bytes::from);
    Ok(represent(state, body))
}

/// Answers where the reply depends on the model alone.
fn respond_by_model(
    state: &ServiceState,
    operation: &AnyOperation,
    content: &Content,
) -> Result<Response, ErrorResponse> {
    if operation.operation == Operation::Hello {
        state.check_text();
    }
    match (operation.respond)(&state.model, state.stack.codec, content.body()) {
        Ok(body) => Ok(represent(state, body)),
        Err(Failure::Malformed(error)) => Err(ErrorResponse::malformed(state, error)),
        Err(Failure::Application(error)) => Err(ErrorResponse::of_call(state, error.into())),
    }
}

/// Keeps a reply where its codec is to be timed.
fn keep(
    state: &ServiceState,
    operation: &AnyOperation,
    reply: AnyMessage,
    body: fn(Vec<u8>) -> Bytes,
) {
    if let Some(replies) = &state.replies {
        let codec = state.stack.codec;
        (operation.reply.keep)(replies, operation.operation, codec, reply, body);
    }
}

/// Hello's reply, borrowed from the state.
#[derive(Serialize)]
struct Greeting<'a> {
    text: &'a str,
}

/// The state's text without a copy of it.
struct Text(Arc<ServiceState>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.model.text().as_bytes()
    }
}

/// Hello, whose text can be large, without a copy where nothing is to be wrong.
async fn hello(_: Acceptable, State(state): Shared, received: Received) -> Response {
    let codec = state.stack.codec;
    // The text can have 64 MiB: a copy per call would be measured as cost of the protocol.
    // Where replies are kept one is enough, since all are the same.
    let is_kept = state
        .replies
        .as_ref()
        .is_none_or(|replies| replies.has(Operation::Hello));
    let as_it_is = received.fault.is_none() && state.mutation.is_none() && is_kept;
    match codec {
        Codec::Text if as_it_is => {
            state.check_text();
            represent(&state, Bytes::from_owner(Text(Arc::clone(&state))))
        }
        Codec::Json if as_it_is => {
            state.check_text();
            let text = state.model.text();
            let body = serde_json::to_vec(&Greeting { text }).expect("a text can be written");
            represent(&state, body)
        }
        Codec::Text => {
            let request = wirelab_contract::transfer::HelloRequest {};
            match state
                .answer::<ops::Hello>(request, received.corruptor())
                .await
            {
                Ok(reply) => represent(&state, reply.text),
                Err(error) => ErrorResponse::of_call(&state, error).into_response(),
            }
        }
        _ => {
            let operation = AnyOperation::of_type::<ops::Hello>();
            let responded = respond(&state, operation, received).await;
            responded.unwrap_or_else(IntoResponse::into_response)
        }
    }
}

fn represent(state: &ServiceState, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    let content_type = HeaderValue::from_static(state.stack.codec.content_type());
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}

// In the service's codec, as every answer, so that a client can read it.
async fn not_found(State(state): Shared) -> ErrorResponse {
    ErrorResponse::new(&state, StatusCode::NOT_FOUND, "no such path")
}

/// Names the right method, as RFC 9110 section 15.5.6 demands.
async fn wrong_method(State(state): Shared, uri: Uri) -> impl IntoResponse {
    let right = right_method(state.contract, uri.path());
    let allow = AppendHeaders(right.map(|method| (header::ALLOW, method)));
    let text = "another method is needed here";
    (
        allow,
        ErrorResponse::new(&state, StatusCode::METHOD_NOT_ALLOWED, text),
    )
}

fn right_method(contract: Contract, requested: &str) -> Option<String> {
    if contract == Contract::Petclinic {
        return petclinic::methods(requested);
    }
    Operation::all_of(contract)
        .filter_map(Operation::rest)
        .find_map(|(method, path)| (path == requested).then(|| method.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of_future<A, B, C, F>(_: impl Fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn handlers_are_small_enough_to_be_moved() {
        let bytes = bytes_of_future(hello);
        assert!(bytes <= 1024, "{bytes} bytes");
    }
}
