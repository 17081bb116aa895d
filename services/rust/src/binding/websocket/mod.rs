//! `websocket@rust`: the contract stream over messages of WebSocket (RFC 6455), on axum, hyper and
//! tokio-tungstenite (contracts/README.md, WebSocket).
//!
//! tokio-tungstenite is used as it is and not as a part of axum: a connection that is refused must
//! be drained before it is closed, and axum hides the socket under its messages.

mod connection;
mod streams;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use wirelab_contract::{Contract, Operation};
use wirelab_stack::Codec;

use crate::binding::http;
use crate::binding::http::calls::Calls;
use crate::codec::Representation as _;
use crate::connection::control::Control;
use crate::connection::listener::Listener;
use crate::connection::shutdown::{GRACE, Shutdown};
use crate::documents::config::ServiceConfig;
use crate::service::state::ServiceState;
use connection::{Connection, Ended, LINGER};
pub(crate) use streams::to_message;

/// How a connection ends with the service.
const AWAY: Ended = Ended::Close(CloseCode::Away, "the service ends");

/// What the connections of a service share.
struct Endpoint {
    state: Arc<ServiceState>,
    shutdown: Shutdown,
    /// Nothing is ever sent: its receiver ends when the last connection has dropped this.
    _open: mpsc::Sender<()>,
}

/// Serves until `shutdown`, then until the connections are closed.
pub(crate) async fn serve(
    listener: Listener,
    config: Arc<ServiceConfig>,
    state: Arc<ServiceState>,
    shutdown: Shutdown,
) {
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    let endpoint = Endpoint {
        state: Arc::clone(&state),
        shutdown: shutdown.clone(),
        _open: open,
    };
    // A request begins a connection; the calls are the streams on it.
    let calls = Calls::new(router(endpoint), state, |_| None);
    http::serve(listener, config, calls, shutdown).await;
    let _none = all_closed.recv().await;
}

fn router(endpoint: Endpoint) -> Router {
    let routes = [
        ("/stream/feed", Operation::Feed),
        ("/stream/push", Operation::Push),
        ("/stream/chat", Operation::Chat),
    ];
    let add = |router: Router<Arc<Endpoint>>, (path, operation)| {
        let begin = move |State(endpoint): State<Arc<Endpoint>>, request: Request| async move {
            upgrade(endpoint, operation, request)
        };
        // axum answers HEAD by GET's handler unless configured otherwise.
        router.route(path, get(begin).head(refuse_method))
    };
    let routes = routes.into_iter().fold(Router::new(), add);
    routes
        .fallback(async || refuse(StatusCode::NOT_FOUND, "no such path"))
        .method_not_allowed_fallback(refuse_method)
        .with_state(Arc::new(endpoint))
}

/// Answers a handshake (RFC 6455 section 4.2), and serves the connection that it begins.
fn upgrade(endpoint: Arc<Endpoint>, operation: Operation, mut request: Request) -> Response {
    let response = match create_response_with_body(&request, Body::empty) {
        Ok(response) => response,
        Err(error) => return refuse_handshake(&error),
    };
    let control = request.extensions_mut().remove::<Control>();
    let upgraded = hyper::upgrade::on(request);
    tokio::spawn(async move {
        // A client that left before the response has no connection to serve.
        if let Ok(upgraded) = upgraded.await {
            let codec = endpoint.state.stack.codec;
            let connection = Connection::new(upgraded, control.unwrap_or_default(), codec).await;
            serve_connection(&endpoint, operation, connection).await;
        }
    });
    response
}

/// Serves streams until the connection ends. When the service is to stop, a connection without a
/// stream ends at once, and another one when its stream has ended, or shortly before the grace has.
async fn serve_connection(endpoint: &Endpoint, operation: Operation, mut connection: Connection) {
    let cut_off = async {
        endpoint.shutdown.requested().await;
        sleep(GRACE - 2 * LINGER).await;
    };
    let ended = tokio::select! {
        ended = serve_streams(endpoint, operation, &mut connection) => ended,
        () = cut_off => AWAY,
    };
    connection.close(ended).await;
}

async fn serve_streams(
    endpoint: &Endpoint,
    operation: Operation,
    connection: &mut Connection,
) -> Ended {
    loop {
        let first = tokio::select! {
            biased;
            () = endpoint.shutdown.requested() => return AWAY,
            first = connection.next() => first,
        };
        let served = match first {
            Ok(first) => streams::serve(&endpoint.state, operation, connection, first).await,
            Err(ended) => Err(ended),
        };
        if let Err(ended) = served {
            return ended;
        }
    }
}

fn refuse_handshake(error: &tungstenite::Error) -> Response {
    let is_key = matches!(
        error,
        tungstenite::Error::Protocol(
            ProtocolError::MissingSecWebSocketKey | ProtocolError::InvalidSecWebSocketKey
        )
    );
    let status = match is_key {
        true => StatusCode::BAD_REQUEST,
        // What would be accepted is in the fields (RFC 9110 section 15.5.22, RFC 6455 section 4.4).
        false => StatusCode::UPGRADE_REQUIRED,
    };
    let upgrade = [
        (header::CONNECTION, "upgrade"),
        (header::UPGRADE, "websocket"),
        (header::SEC_WEBSOCKET_VERSION, "13"),
    ];
    (upgrade, refuse(status, &error.to_string())).into_response()
}

/// Names the right method, as RFC 9110 section 15.5.6 demands.
async fn refuse_method() -> Response {
    let text = "another method is needed here";
    let refused = refuse(StatusCode::METHOD_NOT_ALLOWED, text);
    ([(header::ALLOW, "GET")], refused).into_response()
}

/// An error as REST has it, in JSON with either codec: nothing is a message of the codec yet.
fn refuse(status: StatusCode, text: &str) -> Response {
    let body = Codec::Json.write_error(Contract::Stream, text);
    let content_type = [(header::CONTENT_TYPE, Codec::Json.content_type())];
    (status, content_type, body).into_response()
}
