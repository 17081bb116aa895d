//! Codecs and protocol state machines, sans-IO: bytes in, bytes out.
//! No socket, no clock, no thread.

mod excerpt;
pub mod http1;
mod session;

pub use session::{
    CallId, ContentType, Encoding, End, Failure, Head, ProtocolError, Replies, Request, Session,
};
