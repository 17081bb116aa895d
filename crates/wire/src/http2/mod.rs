//! The client side of HTTP/2 with prior knowledge (RFC 9113 section 3.3).
//!
//! [`Client`] is one connection as a [`Session`](crate::Session); [`frame`] and
//! [`hpack`] are the layers below it, of use to anyone who reads captures.
//!
//! Shape: bytes come in through `receive`, which parses and checks frames, and go on
//! to `message` (HEADERS, DATA) and `control` (SETTINGS, PING, GOAWAY, credit);
//! `replies` applies them to a call. Bytes go out through `send`. A load engine repeats itself, so the
//! two costly steps are remembered, not redone: `requests` keeps the field block
//! of each request, `fields` the meaning of the last blocks received, each for
//! as long as HPACK's tables do not change. DATA is handed on from the caller's
//! buffer, never copied; only frames of other types that arrive in parts are
//! put together.
//!
//! No input makes it panic, and none makes it hold more than one frame, one
//! field block (`header_list_max`) and a bounded number of answers.

mod client;
mod control;
mod error;
mod fields;
mod flow_control;
pub mod frame;
pub mod hpack;
mod message;
mod receive;
mod replies;
mod requests;
mod send;
mod settings;
mod streams;

pub use client::Client;
pub use settings::Options;
