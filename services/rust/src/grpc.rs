//! `grpc@rust`: every contract over gRPC, on tonic.
//!
//! The handlers are tonic's own, as its generated code calls them, once for
//! all operations instead of once for each.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::http;
use futures_util::stream;
use sha2::{Digest, Sha256};
use tonic::body::Body;
use tonic::codec::{CompressionEncoding, EnabledCompressionEncodings};
use tonic::server::{ClientStreamingService, Grpc, ServerStreamingService, UnaryService};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};
use tower_service::Service;
use wirelab_contract::transfer::{DownloadChunk, DownloadRequest, UploadChunk, UploadReply};
use wirelab_contract::{ApplicationError, Message, Operation, Unary, UnaryVisitor, model};

use crate::calls::{Asked, Calls};
use crate::config::ServiceConfig;
use crate::desk::Desk;
use crate::listener::Listener;
use crate::protobuf::Protobuf;
use crate::spoil::{Spoiler, spoil, spoil_text};
use crate::stop::Stop;
use wirelab_stack::Compression;

/// Largest message, in bytes: an upload of 64 MiB, and some room.
const MESSAGE_LIMIT: usize = 128 << 20;

/// The operation that a request asks for, if any.
pub(crate) fn operation(asked: Asked<'_>) -> Option<Operation> {
    let contract = asked.contract;
    let name = asked
        .path
        .strip_prefix("/wirelab.")?
        .strip_prefix(contract.name())?
        .strip_prefix(".v1.")?
        .strip_prefix(contract.service())?
        .strip_prefix('/')?;
    (asked.method == "POST")
        .then(|| Operation::all_of(contract).find(|operation| operation.name() == name))
        .flatten()
}

type Reply = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

/// Hands a request to the handler of its operation.
#[derive(Debug, Clone)]
struct Dispatch {
    desk: Arc<Desk>,
}

impl Service<http::Request<Body>> for Dispatch {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Reply {
        let asked = Asked {
            contract: self.desk.contract,
            method: request.method().as_str(),
            path: request.uri().path(),
            fields: request.headers(),
        };
        let desk = Arc::clone(&self.desk);
        match operation(asked) {
            None => Box::pin(ready(Ok(unimplemented()))),
            Some(Operation::UploadStream) => Box::pin(async move {
                let mut grpc = grpc::<UploadReply, UploadChunk>(desk.stack.compression);
                Ok(grpc.client_streaming(UploadHandler, request).await)
            }),
            Some(Operation::Download) => Box::pin(async move {
                let mut grpc = grpc::<DownloadChunk, DownloadRequest>(desk.stack.compression);
                Ok(grpc.server_streaming(DownloadHandler, request).await)
            }),
            Some(unary) => unary
                .visit_unary(CallUnary { desk, request })
                .expect("streams were told apart"),
        }
    }
}

fn unimplemented() -> http::Response<Body> {
    Status::new(Code::Unimplemented, "no such operation").into_http()
}

/// tonic's machinery for one operation.
fn grpc<Reply: Message, Request: Message>(
    compression: Compression,
) -> Grpc<Protobuf<Reply, Request>> {
    let mut enabled = EnabledCompressionEncodings::default();
    match compression {
        Compression::None => {}
        Compression::Gzip => enabled.enable(CompressionEncoding::Gzip),
        Compression::Zstd => enabled.enable(CompressionEncoding::Zstd),
    }
    Grpc::new(Protobuf::default())
        .apply_compression_config(enabled, enabled)
        .apply_max_message_size_config(Some(MESSAGE_LIMIT), Some(MESSAGE_LIMIT))
}

/// Calls the handler of a unary operation.
struct CallUnary {
    desk: Arc<Desk>,
    request: http::Request<Body>,
}

impl UnaryVisitor for CallUnary {
    type Output = Reply;

    fn visit<O: Unary>(self) -> Reply {
        let CallUnary { desk, request } = self;
        Box::pin(async move {
            let mut grpc = grpc::<O::Reply, O::Request>(desk.stack.compression);
            let handler = UnaryHandler::<O>(desk, PhantomData);
            Ok(grpc.unary(handler, request).await)
        })
    }
}

struct UnaryHandler<O>(Arc<Desk>, PhantomData<fn() -> O>);

impl<O: Unary> UnaryService<O::Request> for UnaryHandler<O> {
    type Response = O::Reply;
    type Future = Ready<Result<Response<O::Reply>, Status>>;

    fn call(&mut self, request: Request<O::Request>) -> Self::Future {
        let spoiler = spoiler(&request).cloned();
        let found = self.0.answer::<O>(request.into_inner(), spoiler.as_ref());
        ready(found.map(Response::new).map_err(Status::invalid_argument))
    }
}

fn spoiler<T>(request: &Request<T>) -> Option<&Spoiler> {
    request.extensions().get()
}

fn refusal<T>(error: ApplicationError, request: &Request<T>) -> Status {
    Status::invalid_argument(spoil_text(error.to_string(), spoiler(request)))
}

struct UploadHandler;

impl ClientStreamingService<UploadChunk> for UploadHandler {
    type Response = UploadReply;
    type Future = Pin<Box<dyn Future<Output = Result<Response<UploadReply>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<UploadChunk>>) -> Self::Future {
        Box::pin(upload_stream(request))
    }
}

async fn upload_stream(
    mut request: Request<Streaming<UploadChunk>>,
) -> Result<Response<UploadReply>, Status> {
    let (mut digest, mut length) = (Sha256::new(), 0);
    while let Some(chunk) = request.get_mut().message().await? {
        length += chunk.data.len() as u64;
        if length > model::TRANSFER_BYTES_MAX {
            return Err(refusal(ApplicationError::TooManyBytes, &request));
        }
        digest.update(&chunk.data);
    }
    let digits = digest.finalize();
    let sha256 = digits.iter().map(|byte| format!("{byte:02x}")).collect();
    let reply = UploadReply {
        length: length as i64,
        sha256,
    };
    Ok(Response::new(spoil(reply, spoiler(&request))))
}

struct DownloadHandler;

type Chunks = stream::Iter<Box<dyn Iterator<Item = Result<DownloadChunk, Status>> + Send>>;

impl ServerStreamingService<DownloadRequest> for DownloadHandler {
    type Response = DownloadChunk;
    type ResponseStream = Chunks;
    type Future = Ready<Result<Response<Chunks>, Status>>;

    fn call(&mut self, request: Request<DownloadRequest>) -> Self::Future {
        ready(download(&request))
    }
}

fn download(request: &Request<DownloadRequest>) -> Result<Response<Chunks>, Status> {
    let found = model::download(request.get_ref());
    let mut chunks = found.map_err(|error| refusal(error, request))?;
    let spoiler = spoiler(request);
    let first = spoiler.map(|_| spoil(chunks.next().unwrap_or_default(), spoiler));
    let chunks: Box<dyn Iterator<Item = _> + Send> =
        Box::new(first.into_iter().chain(chunks).map(Ok));
    Ok(Response::new(stream::iter(chunks)))
}

/// Serves until `stop`, then until the calls in flight have ended.
///
/// # Errors
/// When tonic cannot go on.
pub(crate) async fn serve(
    listener: Listener,
    config: &ServiceConfig,
    desk: Arc<Desk>,
    stop: Stop,
) -> Result<(), tonic::transport::Error> {
    let incoming = stream::unfold(listener, |listener| async {
        let connection = listener.accept().await;
        Some((Ok::<_, Infallible>(connection), listener))
    });
    let dispatch = Dispatch {
        desk: Arc::clone(&desk),
    };
    Server::builder()
        .initial_stream_window_size(config.socket.h2_window)
        .initial_connection_window_size(config.socket.h2_window)
        .serve_with_incoming_shutdown(
            Calls::new(dispatch, desk, operation),
            incoming,
            async move { stop.ordered().await },
        )
        .await
}
