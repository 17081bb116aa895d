//! Codecs and protocol state machines, sans-IO: bytes in, bytes out.
//! No socket, no clock, no thread.

pub mod cdr;
pub mod codec;
mod excerpt;
#[doc(hidden)]
pub mod fuzzing;
pub mod giop;
pub mod grpc;
pub mod gzip;
pub mod http1;
pub mod http2;
mod outbox;
pub mod raw;
mod session;
pub mod soap;
pub mod token_xml;
pub mod xml;
pub mod zstd;

pub use session::{
    CallId, ContentType, Encoding, End, Failure, Head, ProtocolError, Replies, Request, Session,
};
