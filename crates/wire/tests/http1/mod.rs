//! The HTTP/1.x client: what it sends, what it makes of replies, and how it meets a
//! server of another implementation.

mod error_handling;
mod interop;
mod replies;
mod requests;
pub(crate) mod support;
