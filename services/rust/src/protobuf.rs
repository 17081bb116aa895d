//! gRPC's messages: tonic's codec over prost, with lists counted before they
//! are decoded.

use std::fmt;
use std::marker::PhantomData;

use prost::bytes::Buf;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};
use wirelab_contract::{Message, lists};

/// Writes `Reply`, reads `Request`.
pub(crate) struct Protobuf<Reply, Request>(PhantomData<fn(Request) -> Reply>);

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

impl<Reply: Message, Request: Message> Codec for Protobuf<Reply, Request> {
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
pub(crate) struct Counting<M>(ProstDecoder<M>);

impl<M: Message> Decoder for Counting<M> {
    type Item = M;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<M>, Status> {
        // A message lies in one piece: tonic gathers it before it is decoded.
        lists::check_protobuf::<M>(buffer.chunk())
            .map_err(|error| Status::resource_exhausted(error.to_string()))?;
        self.0.decode(buffer)
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}
