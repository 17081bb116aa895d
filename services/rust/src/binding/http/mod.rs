//! Connections that speak HTTP, on hyper, whatever is said in it.

pub(crate) mod calls;
pub(crate) mod content_coding;
mod reply_body;

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, Version, header};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::mpsc;
use tower_service::Service;

use wirelab_contract::print_error;

use crate::binding::http::calls::Calls;
use crate::binding::http::reply_body::ReplyBody;
use crate::connection::control::Control;
use crate::connection::fault_io::FaultIo;
use crate::connection::listener::Listener;
use crate::connection::shutdown::Shutdown;
use crate::documents::config::ServiceConfig;
use crate::documents::config::Stack;
use wirelab_stack::{EndOfMessage, Transport};

/// Largest request body, in bytes: 64 MiB of data as base64, and some room.
pub(crate) const BODY_LIMIT: usize = 128 << 20;

/// Serves until `shutdown`, then until the calls in flight have ended.
pub(crate) async fn serve(
    listener: Listener,
    config: Arc<ServiceConfig>,
    calls: Calls<Router>,
    shutdown: Shutdown,
) {
    // Nothing is ever sent: each connection holds a sender, and the receiver ends when the last of
    // them is dropped.
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    loop {
        let connection = tokio::select! {
            connection = listener.accept() => connection,
            () = shutdown.requested() => break,
        };
        let (calls, config) = (calls.clone(), Arc::clone(&config));
        let (shutdown, open) = (shutdown.clone(), open.clone());
        tokio::spawn(async move {
            match config.stack.transport {
                Transport::Http2 => http2_connection(connection, calls, &config, shutdown).await,
                _ => http1_connection(connection, calls, &config, shutdown).await,
            }
            drop(open);
        });
    }
    // The listener goes first, so that the kernel refuses new connections during the grace period.
    drop((listener, open));
    let _none = all_closed.recv().await;
}

/// Answers the requests of one HTTP/1.x connection.
async fn http1_connection(
    connection: FaultIo,
    calls: Calls<Router>,
    config: &ServiceConfig,
    shutdown: Shutdown,
) {
    let handler = handler(connection.control(), calls, Framing::of(&config.stack));
    let mut builder = http1::Builder::new();
    // hyper then writes `connection: close`, or HTTP/1.0 without keep-alive, by itself.
    builder.keep_alive(!config.stack.closes());
    let serving = builder.serve_connection(TokioIo::new(connection), handler);
    // WebSocket takes over a connection of HTTP/1.1.
    let mut serving = pin!(serving.with_upgrades());
    tokio::select! {
        ended = &mut serving => return log(ended),
        // Finishes the calls under way: HTTP/1 closes after the reply, HTTP/2 sends GOAWAY
        // (RFC 9113 section 6.8).
        () = shutdown.requested() => serving.as_mut().graceful_shutdown(),
    }
    log(serving.await);
}

/// Answers the requests of one HTTP/2 connection.
async fn http2_connection(
    connection: FaultIo,
    calls: Calls<Router>,
    config: &ServiceConfig,
    shutdown: Shutdown,
) {
    let handler = handler(connection.control(), calls, Framing::of(&config.stack));
    let mut builder = http2::Builder::new(TokioExecutor::new());
    if let Some(window) = config.socket.h2_window {
        builder
            // Both levels: a stream cannot use more than what is left of the connection's window
            // (RFC 9113 section 5.2.1).
            .initial_stream_window_size(window)
            .initial_connection_window_size(window);
    }
    let mut serving = pin!(builder.serve_connection(TokioIo::new(connection), handler));
    tokio::select! {
        ended = &mut serving => return log(ended),
        () = shutdown.requested() => serving.as_mut().graceful_shutdown(),
    }
    log(serving.await);
}

/// How a reply begins and how its end is marked.
#[derive(Debug, Clone, Copy)]
struct Framing {
    /// The library ends a body by the end of the connection only in HTTP/1.0.
    old: bool,
    /// No length is passed to the library.
    without_length: bool,
}

impl Framing {
    fn of(stack: &Stack) -> Self {
        Framing {
            old: stack.closes(),
            without_length: stack.end_of_message != EndOfMessage::ContentLength,
        }
    }

    fn apply(self, mut response: Response<ReplyBody<Body>>) -> Response<ReplyBody<Body>> {
        if self.old {
            *response.version_mut() = Version::HTTP_10;
        }
        // axum states the length 0 of a 304, where a length is that of the reply that is not sent
        // (RFC 9110 section 8.6).
        if response.status() == StatusCode::NOT_MODIFIED {
            response.headers_mut().remove(header::CONTENT_LENGTH);
            return response;
        }
        if !self.without_length {
            return response;
        }
        // hyper writes a length that the handler set, even where it does not know the body's size.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.map(ReplyBody::without_length)
    }
}

/// Hands requests to their handlers, each with a way to its connection.
fn handler(
    control: Control,
    calls: Calls<Router>,
    framing: Framing,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response<ReplyBody<Body>>,
    Error = Infallible,
    Future: Send,
> {
    service_fn(move |mut request: Request<Incoming>| {
        // The map of extensions allocates with its first entry: services without faults do not pay.
        if control.is_active() {
            request.extensions_mut().insert(control.clone());
        }
        let reply = calls.clone().call(request);
        async move { Ok(framing.apply(reply.await?)) }
    })
}

/// A connection that breaks is the caller's affair; it is only noted.
fn log(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended
        // A reset or an early end is daily business of a load generator. Bytes that are not
        // HTTP are worth a line.
        && error.is_parse()
    {
        print_error!("wirelab: {error}");
    }
}
