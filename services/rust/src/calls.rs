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

use crate::desk::{Arrival, Desk};
use crate::faults::{Fate, Wrong};
use crate::orders::{Order, Orders};
use crate::reply_body::ReplyBody;
use wirelab_stack::Binding;

/// What a request asks for, of which its binding reads the operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The contract that is served.
    pub(crate) contract: Contract,
    /// The request's method.
    pub(crate) method: &'a str,
    /// The request's path, without a query.
    pub(crate) path: &'a str,
    /// The request's fields.
    pub(crate) fields: &'a HeaderMap,
}

/// Tells the operation that a request asks for, if it asks for one.
pub(crate) type FindOperation = fn(Asked<'_>) -> Option<Operation>;

/// Marks a response as an application error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApplicationRefusal;

/// Wraps the service that has the handlers.
#[derive(Debug, Clone)]
pub(crate) struct Calls<S> {
    inner: S,
    desk: Arc<Desk>,
    find: FindOperation,
}

impl<S> Calls<S> {
    /// Wraps `inner`.
    pub(crate) fn new(inner: S, desk: Arc<Desk>, find: FindOperation) -> Self {
        Calls { inner, desk, find }
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
        let operation = (self.find)(Asked {
            contract: self.desk.contract,
            method: request.method().as_str(),
            path: request.uri().path(),
            fields: request.headers(),
        });
        let Some(arrival) = operation.and_then(|operation| self.desk.arrive(operation)) else {
            let reply = self.inner.call(request);
            return Box::pin(async move { Ok(reply.await?.map(ReplyBody::pass)) });
        };
        let (inner, desk) = (self.inner.clone(), Arc::clone(&self.desk));
        let lasts = operation == Some(Operation::Download);
        Box::pin(async move {
            let response = serve(&desk, inner, request, &arrival).await;
            Ok(if lasts {
                response.map(|body| body.until_its_end(arrival))
            } else {
                response
            })
        })
    }
}

async fn serve<S, RequestBody, B>(
    desk: &Desk,
    mut inner: S,
    mut request: Request<RequestBody>,
    arrival: &Arrival,
) -> Response<ReplyBody<B>>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Debug,
{
    let orders = request.extensions().get::<Orders>();
    let orders = orders.cloned().unwrap_or_default();
    match arrival.fate {
        Fate::Hang => {
            arrival.committed();
            return pending().await;
        }
        Fate::Reset => return cut(arrival, &orders, Order::Reset),
        Fate::Garbage => return cut(arrival, &orders, Order::Garbage),
        _ => {}
    }
    if let Some(spoiler) = arrival.spoiler() {
        request.extensions_mut().insert(spoiler);
    }
    let Ok(mut response) = inner.call(request).await;
    desk.delay(arrival.operation).await;
    let grpc = desk.stack.binding == Binding::Grpc;
    if is_application_error(grpc, &response) {
        arrival.refused();
        if let Some(mutation) = &desk.mutation {
            mutation.status(response.status_mut());
        }
    }
    spoil(grpc, arrival, response, orders).await
}

/// Leaves an order for the connection. The reply only makes the library
/// write; its bytes never leave the process.
fn cut<B>(arrival: &Arrival, orders: &Orders, order: Order) -> Response<ReplyBody<B>> {
    arrival.committed();
    orders.give(order);
    Response::new(ReplyBody::empty())
}

fn is_application_error<B>(grpc: bool, response: &Response<B>) -> bool {
    if grpc {
        let status = response.headers().get(GRPC_STATUS);
        status.is_some_and(|status| status == "3")
    } else {
        response.extensions().get::<ApplicationRefusal>().is_some()
    }
}

/// Makes a correct reply wrong where its fate is to be wrong as a whole.
async fn spoil<B>(
    grpc: bool,
    arrival: &Arrival,
    response: Response<B>,
    orders: Orders,
) -> Response<ReplyBody<B>>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Debug,
{
    let response = match arrival.fate {
        Fate::Wrong(Wrong::Status) => wrong_status(grpc, response),
        Fate::Wrong(Wrong::Trailers) => without_status(response),
        Fate::Close => half(response, orders).await,
        Fate::Endless => endless(response),
        _ => return response.map(ReplyBody::pass),
    };
    arrival.committed();
    response
}

fn wrong_status<B>(grpc: bool, response: Response<B>) -> Response<ReplyBody<B>> {
    if !grpc {
        let mut response = response.map(ReplyBody::pass);
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        return response;
    }
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

/// The reply without its grpc-status, wherever that stands.
fn without_status<B>(mut response: Response<B>) -> Response<ReplyBody<B>> {
    response.headers_mut().remove(GRPC_STATUS);
    response.map(ReplyBody::without_trailers)
}

/// The header of the reply, half of its body, and then a closed connection.
async fn half<B>(response: Response<B>, orders: Orders) -> Response<ReplyBody<B>>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Debug,
{
    let (parts, body) = response.into_parts();
    let size = body.size_hint();
    let whole = body
        .collect()
        .await
        .expect("replies are made in memory")
        .to_bytes();
    let first = whole.slice(..whole.len() / 2);
    Response::from_parts(parts, ReplyBody::half(first, size, orders))
}

/// The reply without an end; its length can then not be told beforehand.
fn endless<B>(mut response: Response<B>) -> Response<ReplyBody<B>> {
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.map(ReplyBody::endless)
}
