//! `grpc@rust`: every contract over gRPC, on tonic.
//!
//! The handlers are tonic's own, as its generated code calls them, compiled once for all operations
//! instead of once for each.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::http;
use futures_util::stream;
use sha2::{Digest, Sha256};
use tonic::body::Body;
use tonic::server::{ClientStreamingService, ServerStreamingService, UnaryService};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};
use tower_service::Service;
use wirelab_contract::transfer::{DownloadChunk, DownloadRequest, UploadChunk, UploadReply};
use wirelab_contract::{ApplicationError, DATABASE_UNAVAILABLE, Operation, model};

use crate::binding::grpc_codec::{Protobuf, corruptor, grpc, refusal};
use crate::binding::grpc_streams;
use crate::binding::http::calls::{Calls, RequestTarget};
use crate::connection::listener::Listener;
use crate::connection::shutdown::Shutdown;
use crate::documents::config::ServiceConfig;
use crate::service::CallError;
use crate::service::any_operation::{AnyOperation, MessageForm};
use crate::service::corruption::corrupt;
use crate::service::rows::{AnyMessage, take};
use crate::service::state::ServiceState;

/// The operation that a request asks for, if any.
pub(crate) fn operation(target: RequestTarget<'_>) -> Option<Operation> {
    let contract = target.contract;
    let name = target
        .path
        // `/wirelab.CONTRACT.v1.SERVICE/OPERATION`, split without an allocation per call.
        .strip_prefix("/wirelab.")?
        .strip_prefix(contract.name())?
        .strip_prefix(".v1.")?
        .strip_prefix(contract.service())?
        .strip_prefix('/')?;
    (target.method == "POST")
        .then(|| Operation::all_of(contract).find(|operation| operation.name() == name))
        .flatten()
}

type Reply = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

/// Hands a request to the handler of its operation.
#[derive(Debug, Clone)]
struct Dispatch {
    state: Arc<ServiceState>,
}

impl Service<http::Request<Body>> for Dispatch {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Reply {
        let target = RequestTarget {
            contract: self.state.contract,
            method: request.method().as_str(),
            path: request.uri().path(),
            fields: request.headers(),
        };
        let state = Arc::clone(&self.state);
        match operation(target) {
            // gRPC answers an unknown method with UNIMPLEMENTED, not with an HTTP error.
            None => Box::pin(ready(Ok(refuse_operation()))),
            Some(Operation::UploadStream) => Box::pin(async move {
                let codec = Protobuf::new(UPLOAD_CHUNK, UPLOAD_REPLY);
                let mut grpc = grpc(codec, state.stack.compression);
                Ok(grpc.client_streaming(UploadHandler, request).await)
            }),
            Some(Operation::Download) => Box::pin(async move {
                let codec = Protobuf::new(DOWNLOAD_REQUEST, DOWNLOAD_CHUNK);
                let mut grpc = grpc(codec, state.stack.compression);
                Ok(grpc.server_streaming(DownloadHandler, request).await)
            }),
            Some(operation) if operation.has_items() => {
                Box::pin(grpc_streams::answer(state, operation, request))
            }
            Some(unary) => {
                let operation = AnyOperation::of(unary).expect("streams are matched above");
                Box::pin(async move {
                    let codec = Protobuf::new(operation.request, operation.reply);
                    let mut grpc = grpc(codec, state.stack.compression);
                    Ok(grpc.unary(UnaryHandler(state, operation), request).await)
                })
            }
        }
    }
}

fn refuse_operation() -> http::Response<Body> {
    Status::new(Code::Unimplemented, "no such operation").into_http()
}

const UPLOAD_CHUNK: MessageForm = MessageForm::of::<UploadChunk>();
const UPLOAD_REPLY: MessageForm = MessageForm::of::<UploadReply>();
const DOWNLOAD_REQUEST: MessageForm = MessageForm::of::<DownloadRequest>();
const DOWNLOAD_CHUNK: MessageForm = MessageForm::of::<DownloadChunk>();

struct UnaryHandler(Arc<ServiceState>, &'static AnyOperation);

impl UnaryService<AnyMessage> for UnaryHandler {
    type Response = AnyMessage;
    type Future = Pin<Box<dyn Future<Output = Result<Response<AnyMessage>, Status>> + Send>>;

    // Boxed, as tonic's generated code does it.
    fn call(&mut self, request: Request<AnyMessage>) -> Self::Future {
        let corruptor = corruptor(&request).cloned();
        let state = Arc::clone(&self.0);
        let operation = self.1;
        Box::pin(async move {
            let found = state.answer_any(operation, request.into_inner(), corruptor.as_ref());
            found.await.map(Response::new).map_err(|error| match error {
                CallError::Application(text) => Status::invalid_argument(text),
                CallError::NotFound(text) => Status::not_found(text),
                CallError::Unavailable => Status::unavailable(DATABASE_UNAVAILABLE),
            })
        })
    }
}

struct UploadHandler;

impl ClientStreamingService<AnyMessage> for UploadHandler {
    type Response = AnyMessage;
    type Future = Pin<Box<dyn Future<Output = Result<Response<AnyMessage>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<AnyMessage>>) -> Self::Future {
        Box::pin(upload_stream(request))
    }
}

async fn upload_stream(
    mut request: Request<Streaming<AnyMessage>>,
) -> Result<Response<AnyMessage>, Status> {
    let (mut digest, mut length) = (Sha256::new(), 0);
    // Hashed as they come: an upload may be as large as 64 MiB, and is never held as a whole.
    while let Some(chunk) = request.get_mut().message().await? {
        let chunk: UploadChunk = take(chunk);
        // Counted before it is hashed: an upload beyond the limit ends at its first chunk
        // too many.
        length += chunk.data.len() as u64;
        if length > model::TRANSFER_BYTES_MAX {
            return Err(refusal(ApplicationError::TooManyBytes, corruptor(&request)));
        }
        digest.update(&chunk.data);
    }
    let digits = digest.finalize();
    let sha256 = digits.iter().map(|byte| format!("{byte:02x}")).collect();
    let reply = UploadReply {
        length: length as i64,
        sha256,
    };
    let reply = corrupt(reply, corruptor(&request));
    Ok(Response::new(Box::new(reply)))
}

struct DownloadHandler;

type Chunks = stream::Iter<Box<dyn Iterator<Item = Result<AnyMessage, Status>> + Send>>;

impl ServerStreamingService<AnyMessage> for DownloadHandler {
    type Response = AnyMessage;
    type ResponseStream = Chunks;
    type Future = Ready<Result<Response<Chunks>, Status>>;

    fn call(&mut self, request: Request<AnyMessage>) -> Self::Future {
        ready(download(request))
    }
}

fn download(request: Request<AnyMessage>) -> Result<Response<Chunks>, Status> {
    let corruptor = corruptor(&request).cloned();
    let corruptor = corruptor.as_ref();
    let request: DownloadRequest = take(request.into_inner());
    let found = model::download(&request);
    let mut chunks = found.map_err(|error| refusal(error, corruptor))?;
    // Only the first chunk is corrupted: one wrong byte is enough to be found.
    let first = corruptor.map(|_| corrupt(chunks.next().unwrap_or_default(), corruptor));
    let chunks = first.into_iter().chain(chunks);
    let chunks: Box<dyn Iterator<Item = _> + Send> =
        Box::new(chunks.map(|chunk| Ok(Box::new(chunk) as AnyMessage)));
    Ok(Response::new(stream::iter(chunks)))
}

/// Serves until `shutdown`, then until the calls in flight have ended.
///
/// # Errors
/// When tonic cannot go on.
pub(crate) async fn serve(
    listener: Listener,
    config: &ServiceConfig,
    state: Arc<ServiceState>,
    shutdown: Shutdown,
) -> Result<(), tonic::transport::Error> {
    // tonic takes a stream of connections. Errors never end it: `accept` outlives them.
    let incoming = stream::unfold(listener, |listener| async {
        let connection = listener.accept().await;
        Some((Ok::<_, Infallible>(connection), listener))
    });
    let dispatch = Dispatch {
        state: Arc::clone(&state),
    };
    Server::builder()
        // none leaves hyper's defaults, which the ready line reports as `h2_window`.
        .initial_stream_window_size(config.socket.h2_window)
        .initial_connection_window_size(config.socket.h2_window)
        .serve_with_incoming_shutdown(
            Calls::new(dispatch, state, operation),
            incoming,
            async move { shutdown.requested().await },
        )
        .await
}
