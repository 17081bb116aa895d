//! Connections that speak HTTP, on hyper, whatever is said in it.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, Version, header};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::mpsc;
use tower_service::Service;

use wirelab_contract::complain;

use crate::calls::Calls;
use crate::config::ServiceConfig;
use crate::fault_io::FaultIo;
use crate::listener::Listener;
use crate::orders::Orders;
use crate::reply_body::ReplyBody;
use crate::stack::Stack;
use crate::stop::Stop;
use wirelab_stack::{EndOfMessage, Transport};

/// Largest request body, in bytes: 64 MiB of data as base64, and some room.
pub(crate) const BODY_LIMIT: usize = 128 << 20;

/// Serves until `stop`, then until the calls in flight have ended.
pub(crate) async fn serve(
    listener: Listener,
    config: Arc<ServiceConfig>,
    calls: Calls<Router>,
    stop: Stop,
) {
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    loop {
        let connection = tokio::select! {
            connection = listener.accept() => connection,
            () = stop.ordered() => break,
        };
        let (calls, config) = (calls.clone(), Arc::clone(&config));
        let (stop, open) = (stop.clone(), open.clone());
        tokio::spawn(async move {
            match config.stack.transport {
                Transport::Http2 => http2_connection(connection, calls, &config, stop).await,
                _ => http1_connection(connection, calls, &config, stop).await,
            }
            drop(open);
        });
    }
    drop((listener, open));
    let _none = all_closed.recv().await;
}

/// Answers the requests of one HTTP/1.x connection.
async fn http1_connection(
    connection: FaultIo,
    calls: Calls<Router>,
    config: &ServiceConfig,
    stop: Stop,
) {
    let handler = handler(connection.orders(), calls, Framing::of(&config.stack));
    let mut builder = http1::Builder::new();
    builder.keep_alive(!config.stack.closes());
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
    let handler = handler(connection.orders(), calls, Framing::of(&config.stack));
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

/// How a reply begins and how its end is told.
#[derive(Debug, Clone, Copy)]
struct Framing {
    /// The library ends a body by the end of the connection only in HTTP/1.0.
    old: bool,
    /// The library is told no length.
    unmeasured: bool,
}

impl Framing {
    fn of(stack: &Stack) -> Self {
        Framing {
            old: stack.closes(),
            unmeasured: stack.end_of_message != EndOfMessage::ContentLength,
        }
    }

    fn apply(self, mut response: Response<ReplyBody<Body>>) -> Response<ReplyBody<Body>> {
        if self.old {
            *response.version_mut() = Version::HTTP_10;
        }
        if !self.unmeasured {
            return response;
        }
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.map(ReplyBody::unmeasured)
    }
}

/// Hands requests to their handlers, each with a way to its connection.
fn handler(
    orders: Orders,
    calls: Calls<Router>,
    framing: Framing,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response<ReplyBody<Body>>,
    Error = Infallible,
    Future: Send,
> {
    service_fn(move |mut request: Request<Incoming>| {
        if orders.can_be_given() {
            request.extensions_mut().insert(orders.clone());
        }
        let reply = calls.clone().call(request);
        async move { Ok(framing.apply(reply.await?)) }
    })
}

/// A connection that breaks is the caller's affair; it is only noted.
fn log(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended
        && error.is_parse()
    {
        complain!("wirelab: {error}");
    }
}
