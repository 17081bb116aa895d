//! One real call that a service makes to itself before it says that it is ready.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use wirelab_contract::{Contract, Operation};

use crate::desk::Desk;
use crate::ready::Ready;
use crate::stack::{Binding, Transport};

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

/// Calls the service that will be `ready`, by a connection of its `own` where
/// it has one, and checks the answer's status.
///
/// # Errors
/// When there is no good answer.
pub(crate) async fn call(
    ready: &Ready,
    desk: &Desk,
    own: Option<UnixStream>,
) -> Result<(), SelfCallError> {
    let call = async {
        match (own, ready.address.strip_prefix("unix:")) {
            (Some(own), _) => exchange(own, desk).await,
            (None, Some(path)) => exchange(UnixStream::connect(path).await?, desk).await,
            (None, None) => exchange(TcpStream::connect(&ready.address).await?, desk).await,
        }
    };
    tokio::time::timeout(PATIENCE, call)
        .await
        .map_err(|_| SelfCallError::Silence)?
}

/// An operation that changes nothing and that an empty request may ask for,
/// even if it is then refused.
fn harmless(contract: Contract) -> Operation {
    match contract {
        Contract::Transfer => Operation::Hello,
        Contract::Charging => Operation::CreditControl,
        Contract::Calendar => Operation::Entries,
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    desk: &Desk,
) -> Result<(), SelfCallError> {
    let operation = harmless(desk.contract);
    let request = match desk.stack.binding {
        Binding::Grpc => grpc_request(operation),
        _ => rest_request(desk, operation),
    };
    let stream = TokioIo::new(stream);
    let response = if desk.stack.transport == Transport::Http2 {
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    } else {
        let (mut sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    };
    check(response.map(Body::new), desk.stack.binding).await
}

fn rest_request(desk: &Desk, operation: Operation) -> Request<Full<Bytes>> {
    let (method, path) = operation.rest().expect("no stream is harmless");
    let codec = desk.stack.codec;
    let body = match operation {
        Operation::CreditControl => {
            codec.write(&wirelab_contract::charging::CreditControlRequest { id: 1 })
        }
        Operation::Entries => codec.write(&wirelab_contract::calendar::EntriesRequest {
            owner: "self".to_owned(),
            day: 1,
        }),
        _ => Vec::new(),
    };
    Request::builder()
        .method(method)
        .uri(format!("http://localhost{path}"))
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, codec.media_type())
        .body(Full::from(body))
        .expect("a legal request")
}

/// An empty message; charging and calendar refuse it, in form.
fn grpc_request(operation: Operation) -> Request<Full<Bytes>> {
    Request::builder()
        .method("POST")
        .uri(format!("http://localhost{}", operation.grpc_path()))
        .header(header::CONTENT_TYPE, "application/grpc")
        .header(header::TE, "trailers")
        .body(Full::from(Bytes::from_static(&[0; 5])))
        .expect("a legal request")
}

/// Reads the whole reply and judges its status.
async fn check(response: Response<Body>, binding: Binding) -> Result<(), SelfCallError> {
    let status = response.status();
    let head = response.headers().clone();
    let body = response.into_body().collect().await?;
    let trailers = body.trailers().unwrap_or(&head);
    let fine = match binding {
        Binding::Grpc => trailers
            .get("grpc-status")
            .is_some_and(|status| status == "0" || status == "3"),
        _ => status.is_success(),
    };
    if fine {
        Ok(())
    } else {
        Err(SelfCallError::Answer(format!("{status}, {trailers:?}")))
    }
}
