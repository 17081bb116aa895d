//! One real call that a service makes to itself before it says that it is ready.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::config::{Binding, Stack, Transport};

/// Time that the call may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why the service cannot answer itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelfCallError {
    #[error("cannot connect: {0}")]
    Connect(#[from] std::io::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("{0}")]
    Body(#[from] axum::Error),
    #[error("answered {0}")]
    Answer(String),
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Silence,
}

/// Calls Hello at `address` and checks the status.
pub(crate) async fn hello(address: &str, stack: &Stack) -> Result<(), SelfCallError> {
    tokio::time::timeout(PATIENCE, call(address, stack))
        .await
        .map_err(|_| SelfCallError::Silence)?
}

async fn call(address: &str, stack: &Stack) -> Result<(), SelfCallError> {
    let request = request(stack.binding);
    match address.strip_prefix("unix:") {
        Some(path) => exchange(UnixStream::connect(path).await?, stack, request).await,
        None => exchange(TcpStream::connect(address).await?, stack, request).await,
    }
}

fn request(binding: Binding) -> Request<Full<Bytes>> {
    let builder = Request::builder();
    let request = match binding {
        Binding::Rest => builder
            .uri("http://localhost/transfer/hello")
            .header(header::HOST, "localhost")
            .body(Full::default()),
        Binding::Grpc => builder
            .method("POST")
            .uri("http://localhost/wirelab.transfer.v1.Transfer/Hello")
            .header(header::CONTENT_TYPE, "application/grpc")
            .header(header::TE, "trailers")
            .body(Full::from(Bytes::from_static(&[0; 5]))),
    };
    request.expect("both requests are legal")
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    stack: &Stack,
    request: Request<Full<Bytes>>,
) -> Result<(), SelfCallError> {
    let stream = TokioIo::new(stream);
    match stack.transport {
        Transport::Http11 => {
            let (mut sender, connection) = http1::handshake(stream).await?;
            tokio::spawn(connection);
            check(
                sender.send_request(request).await?.map(Body::new),
                stack.binding,
            )
            .await
        }
        Transport::Http2 => {
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
            tokio::spawn(connection);
            check(
                sender.send_request(request).await?.map(Body::new),
                stack.binding,
            )
            .await
        }
    }
}

/// Reads the whole reply and judges its status.
async fn check(response: Response<Body>, binding: Binding) -> Result<(), SelfCallError> {
    let status = response.status();
    let head = response.headers().clone();
    let body = response.into_body().collect().await?;
    let trailers = body.trailers().unwrap_or(&head);
    let fine = match binding {
        Binding::Rest => status.is_success(),
        Binding::Grpc => trailers
            .get("grpc-status")
            .is_some_and(|status| status == "0"),
    };
    if fine {
        Ok(())
    } else {
        Err(SelfCallError::Answer(format!("{status}, {trailers:?}")))
    }
}
