//! gRPC, on tonic.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::http;
use prost::Message;
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codec::{
    Codec, CompressionEncoding, DecodeBuf, Decoder, EnabledCompressionEncodings, EncodeBuf, Encoder,
};
use tonic::server::{Grpc, UnaryService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Request, Response, Status};
use tower_service::Service;

use super::compression::Coding;
use super::contract::grpc_path;
use super::http::BODY_LIMIT;
use super::model;
use super::rules::{Number, Numbered, digest, renumber};

/// What all calls share.
pub struct Shared {
    /// What replies are copied from.
    pub sample: model::Reply,
    /// What carries their number.
    pub numbered: Numbered,
    /// Of messages.
    pub coding: Option<Coding>,
}

type Reply = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

/// Hands a request to tonic's machinery.
#[derive(Clone)]
struct Dispatch(Arc<Shared>);

impl Service<http::Request<Body>> for Dispatch {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Reply;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Reply {
        // gRPC answers an unknown method with UNIMPLEMENTED, not with an HTTP error.
        if request.uri().path() != grpc_path() {
            let status = Status::new(Code::Unimplemented, "no such operation");
            return Box::pin(ready(Ok(status.into_http())));
        }
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let mut enabled = EnabledCompressionEncodings::default();
            match shared.coding {
                None => {}
                Some(Coding::Gzip) => enabled.enable(CompressionEncoding::Gzip),
                Some(Coding::Zstd) => enabled.enable(CompressionEncoding::Zstd),
            }
            let mut grpc = Grpc::new(Protobuf::default())
                .apply_compression_config(enabled, enabled)
                .apply_max_message_size_config(Some(BODY_LIMIT), Some(BODY_LIMIT));
            Ok(grpc.unary(Handler(shared), request).await)
        })
    }
}

struct Handler(Arc<Shared>);

impl UnaryService<model::Request> for Handler {
    type Response = model::Reply;
    type Future = Pin<Box<dyn Future<Output = Result<Response<model::Reply>, Status>> + Send>>;

    // Boxed, as tonic's generated code does it.
    fn call(&mut self, request: Request<model::Request>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let number = Number::of(digest(request.get_ref()), shared.numbered);
            Ok(Response::new(renumber(&shared.sample, &number)))
        })
    }
}

/// Serves until `stop`, then until the calls in flight have ended.
///
/// # Errors
/// When tonic cannot go on.
pub async fn serve(
    listener: TcpListener,
    shared: Shared,
    stop: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    Server::builder()
        .serve_with_incoming_shutdown(Dispatch(Arc::new(shared)), incoming, stop)
        .await
}

/// A codec of tonic by prost. tonic's own answers a request that does not decode by INTERNAL.
struct Protobuf<E, D>(PhantomData<(E, D)>);

impl<E, D> Default for Protobuf<E, D> {
    fn default() -> Self {
        Protobuf(PhantomData)
    }
}

impl<E, D> Codec for Protobuf<E, D>
where
    E: Message + 'static,
    D: Message + Default + 'static,
{
    type Encode = E;
    type Decode = D;
    type Encoder = Protobuf<E, D>;
    type Decoder = Protobuf<E, D>;

    fn encoder(&mut self) -> Self {
        Self::default()
    }

    fn decoder(&mut self) -> Self {
        Self::default()
    }
}

impl<E: Message, D> Encoder for Protobuf<E, D> {
    type Item = E;
    type Error = Status;

    fn encode(&mut self, message: E, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        let encoded = message.encode(buffer);
        encoded.map_err(|error| Status::internal(error.to_string()))
    }
}

impl<E, D: Message + Default> Decoder for Protobuf<E, D> {
    type Item = D;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<D>, Status> {
        let decoded = D::decode(buffer).map(Some);
        decoded.map_err(|error| Status::invalid_argument(error.to_string()))
    }
}
