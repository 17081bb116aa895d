//! What all operations over gRPC share: the codec of their messages, tonic's machinery around it,
//! and refusals.

use tonic::codec::{
    Codec, CompressionEncoding, DecodeBuf, Decoder, EnabledCompressionEncodings, EncodeBuf, Encoder,
};
use tonic::server::Grpc;
use tonic::{Request, Status};
use wirelab_contract::ApplicationError;
use wirelab_stack::Compression;

use crate::service::any_operation::MessageForm;
use crate::service::corruption::{Corruptor, corrupt_text};
use crate::service::rows::AnyMessage;

/// Largest message, in bytes: an upload of 64 MiB, and some room.
const MESSAGE_LIMIT: usize = 128 << 20;

/// tonic's machinery for one operation.
pub(super) fn grpc(codec: Protobuf, compression: Compression) -> Grpc<Protobuf> {
    let mut enabled = EnabledCompressionEncodings::default();
    match compression {
        Compression::None | Compression::PermessageDeflate => {}
        Compression::Gzip => enabled.enable(CompressionEncoding::Gzip),
        Compression::Zstd => enabled.enable(CompressionEncoding::Zstd),
    }
    Grpc::new(codec)
        // Both directions: what is received compressed, and what is sent to a client that
        // accepts it.
        .apply_compression_config(enabled, enabled)
        .apply_max_message_size_config(Some(MESSAGE_LIMIT), Some(MESSAGE_LIMIT))
}

pub(super) fn corruptor<T>(request: &Request<T>) -> Option<&Corruptor> {
    request.extensions().get()
}

pub(super) fn refusal(error: ApplicationError, corruptor: Option<&Corruptor>) -> Status {
    Status::invalid_argument(corrupt_text(error.to_string(), corruptor))
}

/// A codec of tonic for the messages of one operation, by prost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Protobuf {
    request: MessageForm,
    reply: MessageForm,
}

impl Protobuf {
    pub(super) fn new(request: MessageForm, reply: MessageForm) -> Self {
        Protobuf { request, reply }
    }
}

impl Codec for Protobuf {
    type Encode = AnyMessage;
    type Decode = AnyMessage;
    type Encoder = Protobuf;
    type Decoder = Protobuf;

    fn encoder(&mut self) -> Protobuf {
        *self
    }

    fn decoder(&mut self) -> Protobuf {
        *self
    }
}

impl Encoder for Protobuf {
    type Item = AnyMessage;
    type Error = Status;

    fn encode(&mut self, message: AnyMessage, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        (self.reply.encode)(&message, buffer);
        Ok(())
    }
}

impl Decoder for Protobuf {
    type Item = AnyMessage;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<AnyMessage>, Status> {
        (self.request.decode)(buffer).map(Some)
    }
}
