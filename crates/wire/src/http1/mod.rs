//! HTTP/1.0 and HTTP/1.1, the client's side (RFC 1945, RFC 9112).
//!
//! A reply that lies whole in the input is neither copied nor allocated for:
//! its head is parsed where it lies and its body is handed on as a slice of
//! the input. Only a head that arrives in pieces is put together in a buffer.
//! The head of a request is written once per [`Request::id`](crate::Request::id) and then copied.
//!
//! Who reads captures finds the heads of both sides in [`passive`].
//!
//! Where RFC 9112 lets a recipient choose between repairing a reply and refusing it, this
//! client repairs what other clients repair too, or servers of other makers could not be
//! measured: folded lines become spaces (section 5.2), and transfer-encoding wins over
//! content-length, which is reported ([`Replies::framing_conflict`](crate::Replies)) and ends
//! the connection (section 6.3). All else is refused.

mod chunked;
mod client;
mod head;
mod options;
pub mod passive;
mod request;

pub(crate) use head::{each_field, has_empty_line, parse_upgrade};
pub(crate) use request::write_head;

pub use client::Http1;
pub use head::{FIELDS_MAX, HEAD_BYTES_MAX, HeadLimits};
pub use options::{Options, OptionsError, Version};
pub use request::{RequestError, check_request};
