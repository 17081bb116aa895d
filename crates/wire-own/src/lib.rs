//! The formats that no maintained library covers: GIOP with its CDR, XML as
//! binary tokens, and contents after their length. Engine and services share
//! them; nothing else of the engine is here.
//!
//! All of it is sans-IO: bytes in, bytes out. No socket, no clock, no thread.

pub mod cdr;
pub mod excerpt;
pub mod giop;
pub mod infoset;
pub mod raw;
pub mod send_queue;
pub mod session;
pub mod soap;
pub mod token_xml;

pub use session::{
    CallId, ContentType, Encoding, End, Failure, Head, ProtocolError, Replies, Request, Session,
};
