//! `grpc@rust`: every contract over gRPC, on tonic.
//!
//! The handlers are tonic's own, as its generated code calls them, once for
//! all operations instead of once for each.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, Ready, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::http;
use futures_util::stream;
use prost::bytes::Buf;
use sha2::{Digest, Sha256};
use tonic::body::Body;
use tonic::codec::{
    BufferSettings, CompressionEncoding, DecodeBuf, Decoder, EnabledCompressionEncodings,
};
use tonic::server::{ClientStreamingService, Grpc, ServerStreamingService, UnaryService};
use tonic::transport::Server;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};
use tower_service::Service;
use wirelab_contract::transfer::{DownloadChunk, DownloadRequest, UploadChunk, UploadReply};
use wirelab_contract::{
    ApplicationError, DATABASE_UNAVAILABLE, Message, Operation, Unary, UnaryVisitor, lists, model,
};

use crate::binding::http::calls::{Calls, RequestTarget};
use crate::connection::listener::Listener;
use crate::faults::corruption::{Corruptor, corrupt, corrupt_text};
use crate::process::config::ServiceConfig;
use crate::process::shutdown::Shutdown;
use crate::service::CallError;
use crate::service::state::ServiceState;
use wirelab_stack::Compression;

/// Largest message, in bytes: an upload of 64 MiB, and some room.
const MESSAGE_LIMIT: usize = 128 << 20;

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
            None => Box::pin(ready(Ok(unimplemented()))),
            Some(Operation::UploadStream) => Box::pin(async move {
                let mut grpc = grpc::<UploadReply, UploadChunk>(state.stack.compression);
                Ok(grpc.client_streaming(UploadHandler, request).await)
            }),
            Some(Operation::Download) => Box::pin(async move {
                let mut grpc = grpc::<DownloadChunk, DownloadRequest>(state.stack.compression);
                Ok(grpc.server_streaming(DownloadHandler, request).await)
            }),
            Some(unary) => unary
                .visit_unary(CallUnary { state, request })
                .expect("streams are matched above"),
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
        // Both directions: what is received compressed, and what is sent to a client that
        // accepts it.
        .apply_compression_config(enabled, enabled)
        .apply_max_message_size_config(Some(MESSAGE_LIMIT), Some(MESSAGE_LIMIT))
}

/// Calls the handler of a unary operation.
struct CallUnary {
    state: Arc<ServiceState>,
    request: http::Request<Body>,
}

impl UnaryVisitor for CallUnary {
    type Output = Reply;

    fn visit<O: Unary>(self) -> Reply {
        let CallUnary { state, request } = self;
        Box::pin(async move {
            let mut grpc = grpc::<O::Reply, O::Request>(state.stack.compression);
            let handler = UnaryHandler::<O>(state, PhantomData);
            Ok(grpc.unary(handler, request).await)
        })
    }
}

// `fn() -> O` and not `O`: the handler holds no operation, and so is Send whatever O is.
struct UnaryHandler<O>(Arc<ServiceState>, PhantomData<fn() -> O>);

impl<O: Unary> UnaryService<O::Request> for UnaryHandler<O> {
    type Response = O::Reply;
    type Future = Pin<Box<dyn Future<Output = Result<Response<O::Reply>, Status>> + Send>>;

    // Boxed, as tonic's generated code does it.
    fn call(&mut self, request: Request<O::Request>) -> Self::Future {
        let corruptor = corruptor(&request).cloned();
        let state = Arc::clone(&self.0);
        Box::pin(async move {
            let found = state.answer::<O>(request.into_inner(), corruptor.as_ref());
            found.await.map(Response::new).map_err(|error| match error {
                CallError::Application(text) => Status::invalid_argument(text),
                CallError::NotFound(text) => Status::not_found(text),
                CallError::Unavailable => Status::unavailable(DATABASE_UNAVAILABLE),
            })
        })
    }
}

fn corruptor<T>(request: &Request<T>) -> Option<&Corruptor> {
    request.extensions().get()
}

fn refusal<T>(error: ApplicationError, request: &Request<T>) -> Status {
    Status::invalid_argument(corrupt_text(error.to_string(), corruptor(request)))
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
    // Hashed as they come: an upload may be as large as 64 MiB, and is never held as a whole.
    while let Some(chunk) = request.get_mut().message().await? {
        // Counted before it is hashed: an upload beyond the limit ends at its first chunk
        // too many.
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
    Ok(Response::new(corrupt(reply, corruptor(&request))))
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
    let corruptor = corruptor(request);
    // Only the first chunk is corrupted: one wrong byte is enough to be found.
    let first = corruptor.map(|_| corrupt(chunks.next().unwrap_or_default(), corruptor));
    let chunks: Box<dyn Iterator<Item = _> + Send> =
        Box::new(first.into_iter().chain(chunks).map(Ok));
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

/// tonic's codec over prost, with lists counted before they are decoded: writes `Reply`,
/// reads `Request`.
struct Protobuf<Reply, Request>(PhantomData<fn(Request) -> Reply>);

impl<Reply, Request> Default for Protobuf<Reply, Request> {
    fn default() -> Self {
        Protobuf(PhantomData)
    }
}

impl<Reply, Request> fmt::Debug for Protobuf<Reply, Request> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Protobuf")
    }
}

impl<Reply: Message, Request: Message> tonic::codec::Codec for Protobuf<Reply, Request> {
    type Encode = Reply;
    type Decode = Request;
    type Encoder = ProstEncoder<Reply>;
    type Decoder = Counting<Request>;

    fn encoder(&mut self) -> ProstEncoder<Reply> {
        ProstCodec::<Reply, Request>::default().encoder()
    }

    fn decoder(&mut self) -> Counting<Request> {
        Counting(ProstDecoder::default())
    }
}

/// tonic's own decoder, which is not asked when a list is too long.
#[derive(Debug)]
struct Counting<M>(ProstDecoder<M>);

impl<M: Message> Decoder for Counting<M> {
    type Item = M;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<M>, Status> {
        // A message lies in one piece: tonic gathers it before it is decoded.
        lists::check_protobuf::<M>(buffer.chunk())
            // The code that contracts/README.md names for a list that is too long (Sizes).
            .map_err(|error| Status::resource_exhausted(error.to_string()))?;
        self.0.decode(buffer)
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}
