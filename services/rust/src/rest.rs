//! `rest@rust`: the contract over HTTP, on axum and hyper.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Request, StatusCode, Uri, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router, middleware};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::Serialize;
use tokio::sync::mpsc;
use tower_service::Service;
use wirelab_contract::transfer::{
    HelloBytesReply, HelloReply, SubmitReply, SubmitRequest, UploadReply, UploadRequest,
};
use wirelab_contract::{Operation, model};

use crate::calls::{Calls, Desk};
use crate::config::{Codec, Compression, ServiceConfig, Transport};
use crate::fault_io::FaultIo;
use crate::gzip;
use crate::listener::Listener;
use crate::negotiation::{Acceptable, FromJson, Problem};
use crate::orders::Orders;
use crate::reply_body::ReplyBody;
use crate::spoil::{Spoil, Spoiler, spoil};
use crate::stop::Stop;
use crate::text_check::TextCheck;

/// Largest request body, in bytes: 64 MiB of data as base64, and some room.
pub(crate) const BODY_LIMIT: usize = 128 << 20;

/// What the handlers share.
#[derive(Debug)]
pub(crate) struct Store {
    /// The text that Hello answers.
    text: Bytes,
    /// A slow check of strings, where it is switched on.
    text_check: TextCheck,
    /// The codec that is served.
    codec: Codec,
    /// Whether requests and replies may be compressed.
    compression: Compression,
}

impl Store {
    /// The codec that is served.
    pub(crate) fn codec(&self) -> Codec {
        self.codec
    }

    /// Whether requests and replies may be compressed.
    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.text).expect("the text is made of letters")
    }
}

type Shared = State<Arc<Store>>;
type Fault = Option<Extension<Spoiler>>;

/// The operation that a request asks for, if any.
pub(crate) fn operation(method: &str, path: &str) -> Option<Operation> {
    match (method, path) {
        ("GET", "/transfer/hello") => Some(Operation::Hello),
        ("GET", "/transfer/hello-bytes") => Some(Operation::HelloBytes),
        ("POST", "/transfer/submit") => Some(Operation::Submit),
        ("POST", "/transfer/upload") => Some(Operation::Upload),
        _ => None,
    }
}

fn router(config: &ServiceConfig, text: String) -> Router {
    let store = Arc::new(Store {
        text: text.into(),
        text_check: TextCheck::new(config.faults.text_check_ns_per_kb),
        codec: config.stack.codec,
        compression: config.stack.compression,
    });
    let large = DefaultBodyLimit::max(BODY_LIMIT);
    let routes = match config.stack.codec {
        Codec::Json => Router::new()
            .route("/transfer/hello", get(hello_json).head(wrong_method))
            .route("/transfer/hello-bytes", get(hello_bytes).head(wrong_method))
            .route("/transfer/submit", post(submit).layer(large))
            .route("/transfer/upload", post(upload).layer(large)),
        _ => Router::new().route("/transfer/hello", get(hello_text).head(wrong_method)),
    };
    let routes = routes
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method);
    let routes = match config.stack.compression {
        Compression::None => routes,
        Compression::Gzip => routes.layer(middleware::from_fn_with_state(
            Arc::clone(&store),
            gzip::apply,
        )),
    };
    routes.with_state(store)
}

/// Hello's and HelloBytes' replies, borrowed from the store.
#[derive(Serialize)]
struct Greeting<'a> {
    text: &'a str,
}

async fn hello_text(_: Acceptable, State(store): Shared, fault: Fault) -> Response {
    store.text_check.run(store.text.len());
    let text = match fault {
        None => store.text.clone(),
        Some(Extension(spoiler)) => spoil(store.text().to_owned(), Some(&spoiler)).into(),
    };
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

async fn hello_json(_: Acceptable, State(store): Shared, fault: Fault) -> Response {
    store.text_check.run(store.text.len());
    match fault {
        None => Json(Greeting { text: store.text() }).into_response(),
        Some(Extension(spoiler)) => {
            let reply = HelloReply {
                text: store.text().to_owned(),
            };
            Json(spoil(reply, Some(&spoiler))).into_response()
        }
    }
}

async fn hello_bytes(_: Acceptable, State(store): Shared, fault: Fault) -> Json<HelloBytesReply> {
    let reply = HelloBytesReply {
        text: store.text.to_vec(),
    };
    Json(spoil(reply, fault.as_deref()))
}

async fn submit(
    _: Acceptable,
    State(store): Shared,
    fault: Fault,
    FromJson(request): FromJson<SubmitRequest>,
) -> Result<Json<SubmitReply>, Problem> {
    answer(&store, model::submit(&request), fault)
}

async fn upload(
    _: Acceptable,
    State(store): Shared,
    fault: Fault,
    FromJson(request): FromJson<UploadRequest>,
) -> Result<Json<UploadReply>, Problem> {
    answer(&store, model::upload(&request.data), fault)
}

fn answer<T: Spoil>(
    store: &Store,
    found: Result<T, model::ApplicationError>,
    fault: Fault,
) -> Result<Json<T>, Problem> {
    match found {
        Ok(reply) => Ok(Json(spoil(reply, fault.as_deref()))),
        Err(error) => {
            let text = spoil(error.to_string(), fault.as_deref());
            Err(Problem::new(store.codec, StatusCode::BAD_REQUEST, text))
        }
    }
}

async fn not_found(State(store): Shared) -> Problem {
    Problem::new(store.codec, StatusCode::NOT_FOUND, "no such path")
}

/// Tells which method is right, as RFC 9110 section 15.5.6 demands.
async fn wrong_method(State(store): Shared, uri: Uri) -> impl IntoResponse {
    let right = ["GET", "POST"]
        .into_iter()
        .find(|method| operation(method, uri.path()).is_some());
    let allow = AppendHeaders(right.map(|method| (header::ALLOW, method)));
    let text = "another method is needed here";
    (
        allow,
        Problem::new(store.codec, StatusCode::METHOD_NOT_ALLOWED, text),
    )
}

/// Serves until `stop`, then until the calls in flight have ended.
pub(crate) async fn serve(
    listener: Listener,
    config: ServiceConfig,
    text: String,
    desk: Arc<Desk>,
    stop: Stop,
) {
    let calls = Calls::new(router(&config, text), desk);
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    loop {
        let connection = tokio::select! {
            connection = listener.accept() => connection,
            () = stop.ordered() => break,
        };
        let (calls, config, stop, open) =
            (calls.clone(), config.clone(), stop.clone(), open.clone());
        tokio::spawn(async move {
            match config.stack.transport {
                Transport::Http11 => http1_connection(connection, calls, stop).await,
                Transport::Http2 => http2_connection(connection, calls, &config, stop).await,
            }
            drop(open);
        });
    }
    drop((listener, open));
    let _none = all_closed.recv().await;
}

/// Answers the requests of one HTTP/1.x connection.
async fn http1_connection(connection: FaultIo, calls: Calls<Router>, stop: Stop) {
    let handler = handler(connection.orders(), calls);
    let builder = http1::Builder::new();
    let mut serving = pin!(builder.serve_connection(TokioIo::new(connection), handler));
    tokio::select! {
        ended = &mut serving => return log(ended),
        () = stop.ordered() => serving.as_mut().graceful_shutdown(),
    }
    log(serving.await);
}

/// Answers the requests of one HTTP/2 connection.
async fn http2_connection(
    connection: FaultIo,
    calls: Calls<Router>,
    config: &ServiceConfig,
    stop: Stop,
) {
    let handler = handler(connection.orders(), calls);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    if let Some(window) = config.socket.h2_window {
        builder
            .initial_stream_window_size(window)
            .initial_connection_window_size(window);
    }
    let mut serving = pin!(builder.serve_connection(TokioIo::new(connection), handler));
    tokio::select! {
        ended = &mut serving => return log(ended),
        () = stop.ordered() => serving.as_mut().graceful_shutdown(),
    }
    log(serving.await);
}

/// Hands requests to their handlers, each with a way to its connection.
fn handler(
    orders: Orders,
    calls: Calls<Router>,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = axum::http::Response<ReplyBody<Body>>,
    Error = Infallible,
    Future: Send,
> {
    service_fn(move |mut request: Request<Incoming>| {
        if orders.can_be_given() {
            request.extensions_mut().insert(orders.clone());
        }
        calls.clone().call(request)
    })
}

/// A connection that breaks is the caller's affair; it is only noted.
fn log(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended
        && error.is_parse()
    {
        eprintln!("wirelab: {error}");
    }
}
