//! Codecs and protocol state machines of the engine, sans-IO: bytes in, bytes out.
//! No socket, no clock, no thread.
//!
//! Formats that services share with the engine, because no library has them, are in
//! `wirelab-wire-own` and show here under the same names.

pub mod codec;
pub mod connect;
#[doc(hidden)]
pub mod fuzzing;
pub mod grpc;
pub mod gzip;
pub mod http1;
pub mod http2;
pub mod soap;
pub mod stream;
pub mod token_xml;
pub mod websocket;
pub mod xml;
pub mod zstd;

use wirelab_wire_own::{excerpt, send_queue, session};

pub use wirelab_wire_own::{cdr, giop, raw};

pub use session::{
    CallId, ContentType, Encoding, End, Failure, Head, ProtocolError, Replies, Request, Session,
};
