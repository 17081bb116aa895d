//! `grpc@rust`: the contract over gRPC, on tonic.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{self, Stream};
use sha2::{Digest, Sha256};
use tonic::codec::CompressionEncoding;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};
use wirelab_contract::transfer::{
    DownloadChunk, DownloadRequest, HelloBytesReply, HelloReply, HelloRequest, SubmitReply,
    SubmitRequest, UploadChunk, UploadReply, UploadRequest,
};
use wirelab_contract::{ApplicationError, Operation, model};

use crate::calls::{Calls, Desk};
use crate::config::{Compression, ServiceConfig};
use crate::listener::Listener;
use crate::spoil::{Spoiler, spoil};
use crate::stop::Stop;
use crate::text_check::TextCheck;

/// The service trait, made from `contracts/transfer.proto`.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub(crate) mod generated {
    tonic::include_proto!("wirelab.transfer.v1");
}

use generated::transfer_server::{Transfer, TransferServer};

/// Largest message, in bytes: an upload of 64 MiB, and some room.
const MESSAGE_LIMIT: usize = 128 << 20;

/// The operation that a request asks for, if any.
pub(crate) fn operation(method: &str, path: &str) -> Option<Operation> {
    let name = path.strip_prefix("/wirelab.transfer.v1.Transfer/")?;
    if method == "POST" {
        name.parse().ok()
    } else {
        None
    }
}

#[derive(Debug)]
struct Handlers {
    text: String,
    text_check: TextCheck,
}

fn refusal<T>(error: ApplicationError, request: &Request<T>) -> Status {
    Status::invalid_argument(spoil(error.to_string(), spoiler(request)))
}

fn spoiler<T>(request: &Request<T>) -> Option<&Spoiler> {
    request.extensions().get()
}

#[tonic::async_trait]
impl Transfer for Handlers {
    type DownloadStream = Pin<Box<dyn Stream<Item = Result<DownloadChunk, Status>> + Send>>;

    async fn hello(&self, request: Request<HelloRequest>) -> Result<Response<HelloReply>, Status> {
        self.text_check.run(self.text.len());
        let reply = HelloReply {
            text: self.text.clone(),
        };
        Ok(Response::new(spoil(reply, spoiler(&request))))
    }

    async fn hello_bytes(
        &self,
        request: Request<HelloRequest>,
    ) -> Result<Response<HelloBytesReply>, Status> {
        let reply = HelloBytesReply {
            text: self.text.clone().into_bytes(),
        };
        Ok(Response::new(spoil(reply, spoiler(&request))))
    }

    async fn submit(
        &self,
        request: Request<SubmitRequest>,
    ) -> Result<Response<SubmitReply>, Status> {
        let reply = model::submit(request.get_ref()).map_err(|error| refusal(error, &request))?;
        Ok(Response::new(spoil(reply, spoiler(&request))))
    }

    async fn upload(
        &self,
        request: Request<UploadRequest>,
    ) -> Result<Response<UploadReply>, Status> {
        let found = model::upload(&request.get_ref().data);
        let reply = found.map_err(|error| refusal(error, &request))?;
        Ok(Response::new(spoil(reply, spoiler(&request))))
    }

    async fn upload_stream(
        &self,
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
        let sha256 = digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let reply = UploadReply {
            length: length as i64,
            sha256,
        };
        Ok(Response::new(spoil(reply, spoiler(&request))))
    }

    async fn download(
        &self,
        request: Request<DownloadRequest>,
    ) -> Result<Response<Self::DownloadStream>, Status> {
        let chunks =
            model::download(request.get_ref()).map_err(|error| refusal(error, &request))?;
        let Some(spoiler) = spoiler(&request) else {
            return Ok(Response::new(Box::pin(stream::iter(chunks.map(Ok)))));
        };
        let mut chunks = chunks;
        let first = spoil(chunks.next().unwrap_or_default(), Some(spoiler));
        let chunks = std::iter::once(first).chain(chunks);
        Ok(Response::new(Box::pin(stream::iter(chunks.map(Ok)))))
    }
}

/// Serves until `stop`, then until the calls in flight have ended.
///
/// # Errors
/// When tonic cannot go on.
pub(crate) async fn serve(
    listener: Listener,
    config: ServiceConfig,
    text: String,
    desk: Arc<Desk>,
    stop: Stop,
) -> Result<(), tonic::transport::Error> {
    let text_check = TextCheck::new(config.faults.text_check_ns_per_kb);
    let mut service = TransferServer::new(Handlers { text, text_check })
        .max_decoding_message_size(MESSAGE_LIMIT)
        .max_encoding_message_size(MESSAGE_LIMIT);
    if config.stack.compression == Compression::Gzip {
        service = service
            .accept_compressed(CompressionEncoding::Gzip)
            .send_compressed(CompressionEncoding::Gzip);
    }
    let incoming = stream::unfold(listener, |listener| async {
        let connection = listener.accept().await;
        Some((Ok::<_, Infallible>(connection), listener))
    });
    Server::builder()
        .initial_stream_window_size(config.socket.h2_window)
        .initial_connection_window_size(config.socket.h2_window)
        .serve_with_incoming_shutdown(
            Calls::new(Routes::new(service).prepare(), desk),
            incoming,
            async move { stop.ordered().await },
        )
        .await
}
