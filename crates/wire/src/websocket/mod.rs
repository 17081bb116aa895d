//! WebSocket (RFC 6455), sans-IO: the client's side of a connection, and the parts that readers
//! of either side need.
//!
//! [`WebSocket`] is the session, [`Header`] the header of a frame, [`Deframer`] finds the messages
//! of a server. The body of a request is a list of messages, which [`append_message`] writes, or
//! [`append_compressed`] where [`DeflateOffer`] is a part of the options.

mod client;
mod deflate;
mod deframer;
mod extension;
mod frame;
mod handshake;
mod requests;

pub use client::{BAD_REQUEST, Ending, Options, WebSocket};
pub use deframer::{Deframer, Piece};
pub use extension::{Deflate, DeflateOffer, Negotiated};
pub use frame::{CONTROL_BYTES_MAX, Header, Kind, Opcode, mask};
pub use handshake::{SWITCHING_PROTOCOLS, accept_of, check_request};
pub use requests::{append_compressed, append_message};
