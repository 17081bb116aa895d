//! An operation as function pointers: code through which each call passes once is compiled once, and
//! not for each operation.

use std::any::Any;

use axum::body::Bytes;
use prost::bytes::Buf;
use serde_json::Value;
use tonic::Status;
use tonic::codec::{DecodeBuf, EncodeBuf};
use wirelab_contract::{ApplicationError, Message, Operation, State, Unary, UnaryVisitor, lists};
use wirelab_stack::Codec;

use super::rows::{AnyMessage, erase, take, wrong_type};
use crate::codec::Representation as _;
use crate::codec::times::{CodedReply, Replies};
use crate::mutants::Mutation;

/// What is done with the messages of one operation.
#[derive(Debug)]
pub(crate) struct AnyOperation {
    pub(crate) operation: Operation,
    /// The answer of the canonical model.
    pub(crate) answer: fn(&State, AnyMessage) -> Result<AnyMessage, ApplicationError>,
    /// The answer of the model to a body of REST, as a body. Without messages on the heap: this is
    /// how calls go where nothing is to be wrong.
    pub(crate) respond: Respond,
    /// The answer of a service with a mistake.
    pub(crate) mutated: fn(&Mutation, &State, AnyMessage) -> Result<AnyMessage, String>,
    pub(crate) request: MessageForm,
    pub(crate) reply: MessageForm,
}

type Respond = fn(&State, Codec, Option<&[u8]>) -> Result<Vec<u8>, Failure>;

/// The reason for which a body of REST gets an error.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It is not the request; with what is wrong with it.
    Malformed(String),
    /// The operation refuses it.
    Application(ApplicationError),
}

/// How the messages of one type are written and read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageForm {
    /// The empty message.
    pub(crate) empty: fn() -> AnyMessage,
    /// Reads a body of REST.
    pub(crate) read: fn(Codec, &[u8]) -> Result<AnyMessage, String>,
    /// Writes a body of REST.
    pub(crate) write: fn(Codec, &AnyMessage) -> Vec<u8>,
    /// Reads Protobuf that lies in one piece.
    pub(crate) decode: fn(&mut DecodeBuf<'_>) -> Result<AnyMessage, Status>,
    /// Writes Protobuf.
    pub(crate) encode: fn(&AnyMessage, &mut EncodeBuf<'_>),
    /// The fields of an object in JSON.
    pub(crate) fields: fn(&AnyMessage) -> Value,
    /// Keeps a reply, so that its codec can be timed.
    pub(crate) keep: Keep,
}

/// The last parameter makes a body of the codec's bytes.
type Keep = fn(&Replies, Operation, Codec, AnyMessage, fn(Vec<u8>) -> Bytes);

impl AnyOperation {
    /// The operation; `None` for streams.
    pub(crate) fn of(operation: Operation) -> Option<&'static AnyOperation> {
        operation.visit_unary(Find)
    }

    pub(crate) fn of_type<O: Unary>() -> &'static AnyOperation {
        &<O as Erased>::ANY
    }
}

impl MessageForm {
    pub(crate) const fn of<M: Message>() -> MessageForm {
        MessageForm {
            empty: || erase(M::default()),
            read: |codec, body| codec.read::<M>(body).map(erase),
            write: |codec, message| codec.write(cast::<M>(message)),
            decode: decode::<M>,
            encode: |message, buffer| {
                let written = cast::<M>(message).encode(buffer);
                written.expect("a buffer of gRPC grows");
            },
            fields: |message| {
                let fields = serde_json::to_value(cast::<M>(message));
                fields.expect("messages are maps with text keys")
            },
            keep: |replies, operation, codec, message, body| {
                let message = take::<M>(message);
                let reply = CodedReply {
                    codec,
                    message,
                    body,
                };
                replies.keep(operation, reply);
            },
        }
    }
}

fn decode<M: Message>(buffer: &mut DecodeBuf<'_>) -> Result<AnyMessage, Status> {
    // A message lies in one piece: tonic gathers it before it is decoded.
    lists::check_protobuf::<M>(buffer.chunk())
        // The code that contracts/README.md names for a list that is too long (Sizes).
        .map_err(|error| Status::resource_exhausted(error.to_string()))?;
    match M::decode(buffer) {
        Ok(message) => Ok(erase(message)),
        // As tonic's own codec.
        Err(error) => Err(Status::internal(error.to_string())),
    }
}

fn cast<M: Any>(message: &AnyMessage) -> &M {
    let message: &dyn Any = &**message;
    message.downcast_ref::<M>().unwrap_or_else(|| wrong_type())
}

trait Erased: Unary {
    const ANY: AnyOperation;
}

impl<O: Unary> Erased for O {
    const ANY: AnyOperation = AnyOperation {
        operation: O::OPERATION,
        answer: |state, request| O::answer(state, take(request)).map(erase),
        respond: |state, codec, body| {
            let request = match body {
                None => O::Request::default(),
                Some(body) => codec.read(body).map_err(Failure::Malformed)?,
            };
            let reply = O::answer(state, request).map_err(Failure::Application)?;
            Ok(codec.write(&reply))
        },
        mutated: |mutation, state, request| mutation.answer::<O>(state, take(request)).map(erase),
        request: MessageForm::of::<O::Request>(),
        reply: MessageForm::of::<O::Reply>(),
    };
}

struct Find;

impl UnaryVisitor for Find {
    type Output = &'static AnyOperation;

    fn visit<O: Unary>(self) -> &'static AnyOperation {
        AnyOperation::of_type::<O>()
    }
}
