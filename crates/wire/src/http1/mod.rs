//! HTTP/1.0 and HTTP/1.1, the client's side (RFC 1945, RFC 9112).
//!
//! A reply that lies whole in the input is neither copied nor allocated for:
//! its head is parsed where it lies and its body is handed on as a slice of
//! the input. Only a head that arrives in pieces is put together in a buffer.
//! The head of a request is written once per [`Request::id`](crate::Request::id) and then copied.
//!
//! Who reads captures finds the heads of both sides in [`passive`].
//!
//! Where RFC 9112 lets a recipient choose between repairing a reply and
//! refusing it, this client refuses: a laboratory reports what it was sent.

mod chunked;
mod client;
mod head;
mod options;
pub mod passive;
mod request;

pub use client::Http1;
pub use options::{Options, OptionsError, Version};
pub use request::{RequestError, check_request};
