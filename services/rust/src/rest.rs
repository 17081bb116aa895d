//! `rest@rust`: every contract over HTTP, on axum and hyper.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use serde::Serialize;
use wirelab_contract::{Contract, Operation, Unary, UnaryVisitor, ops};

use crate::calls::Asked;
use crate::coding::{self, Refuse};
use crate::desk::Desk;
use crate::http::BODY_LIMIT;
use crate::negotiation::{Acceptable, Sent};
use crate::problem::Problem;
use crate::representation::Representation as _;
use crate::spoil::Spoiler;
use wirelab_stack::Codec;

type Shared = State<Arc<Desk>>;
type Fault = Option<Extension<Spoiler>>;

/// The operation that a request asks for, if any.
pub(crate) fn operation(asked: Asked<'_>) -> Option<Operation> {
    Operation::all_of(asked.contract)
        .find(|operation| operation.rest() == Some((asked.method, asked.path)))
}

/// The handlers of the contract that is served.
pub(crate) fn router(desk: &Arc<Desk>) -> Router {
    let served =
        |operation: &Operation| desk.stack.codec != Codec::Text || *operation == Operation::Hello;
    let routes = Operation::all_of(desk.contract)
        .filter(served)
        .fold(Router::new(), add_route)
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT));
    let refuse: Refuse = |desk, status, text| Problem::new(desk, status, text).into_response();
    coding::layer(routes, desk, refuse).with_state(Arc::clone(desk))
}

fn add_route(router: Router<Arc<Desk>>, operation: Operation) -> Router<Arc<Desk>> {
    match (operation.rest(), operation.visit_unary(Handler)) {
        (Some((_, path)), Some(handler)) => router.route(path, handler),
        _ => router,
    }
}

/// Makes an operation's handler.
struct Handler;

impl UnaryVisitor for Handler {
    type Output = MethodRouter<Arc<Desk>>;

    fn visit<O: Unary>(self) -> Self::Output {
        match O::OPERATION.rest() {
            Some(("GET", _)) if O::OPERATION == Operation::Hello => get(hello).head(wrong_method),
            Some(("GET", _)) => get(unary::<O>).head(wrong_method),
            _ => post(unary::<O>),
        }
    }
}

async fn unary<O: Unary>(
    _: Acceptable,
    State(desk): Shared,
    fault: Fault,
    Sent(request): Sent<O::Request>,
) -> Response {
    match desk.answer::<O>(request, fault.as_deref()) {
        Ok(reply) => {
            let mut body = desk.stack.codec.write(&reply);
            if let Some(mutation) = &desk.mutation {
                mutation.bytes(&mut body);
            }
            represented(&desk, body)
        }
        Err(text) => Problem::application(&desk, text).into_response(),
    }
}

/// Hello's reply, borrowed from the state.
#[derive(Serialize)]
struct Greeting<'a> {
    text: &'a str,
}

/// The state's text without a copy of it.
struct Text(Arc<Desk>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.state.text().as_bytes()
    }
}

/// Hello, whose text can be large, without a copy where nothing is to be wrong.
async fn hello(accept: Acceptable, State(desk): Shared, fault: Fault) -> Response {
    let codec = desk.stack.codec;
    let as_it_is = fault.is_none() && desk.mutation.is_none();
    match codec {
        Codec::Text if as_it_is => {
            desk.check_text();
            represented(&desk, Bytes::from_owner(Text(Arc::clone(&desk))))
        }
        Codec::Json if as_it_is => {
            desk.check_text();
            let text = desk.state.text();
            let body = serde_json::to_vec(&Greeting { text }).expect("a text can be written");
            represented(&desk, body)
        }
        Codec::Text => {
            let request = wirelab_contract::transfer::HelloRequest {};
            match desk.answer::<ops::Hello>(request, fault.as_deref()) {
                Ok(reply) => represented(&desk, reply.text),
                Err(text) => Problem::application(&desk, text).into_response(),
            }
        }
        _ => {
            let request = wirelab_contract::transfer::HelloRequest {};
            unary::<ops::Hello>(accept, State(desk), fault, Sent(request)).await
        }
    }
}

fn represented(desk: &Desk, body: impl IntoResponse) -> Response {
    let mut response = body.into_response();
    let content_type = HeaderValue::from_static(desk.stack.codec.content_type());
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}

async fn not_found(State(desk): Shared) -> Problem {
    Problem::new(&desk, StatusCode::NOT_FOUND, "no such path")
}

/// Tells which method is right, as RFC 9110 section 15.5.6 demands.
async fn wrong_method(State(desk): Shared, uri: Uri) -> impl IntoResponse {
    let right = right_method(desk.contract, uri.path());
    let allow = AppendHeaders(right.map(|method| (header::ALLOW, method)));
    let text = "another method is needed here";
    (
        allow,
        Problem::new(&desk, StatusCode::METHOD_NOT_ALLOWED, text),
    )
}

fn right_method(contract: Contract, wanted: &str) -> Option<&'static str> {
    Operation::all_of(contract)
        .filter_map(Operation::rest)
        .find_map(|(method, path)| (path == wanted).then_some(method))
}
