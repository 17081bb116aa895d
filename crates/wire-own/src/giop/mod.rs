//! GIOP over TCP, which is IIOP (CORBA 3.3 part 2, section 9.4 and 9.7):
//! the client's side of version 1.2, the server's side of 1.0 to 1.2.
//!
//! A GIOP message is twelve bytes of header, then CDR. What is defined here once
//! and used by both sides: [`MessageHeader`], service contexts, exceptions,
//! object references ([`Ior`]). [`Giop`] is the client's session; bodies of
//! replies pass through it where they lie, fragmented or not. A server finds
//! its requests with [`Deframer`] and answers with [`ReplyTo`].
//!
//! The client demands version 1.2 of replies, as the standard demands of the
//! answer to a 1.2 request; in older ones a body would begin anywhere.

mod client;
mod corbaloc;
mod deframer;
mod exceptions;
mod ior;
mod message;
mod options;
pub mod passive;
mod reply_reader;
mod reply_writer;
mod request_writer;
mod requests;
mod service_contexts;

pub use client::Giop;
pub use corbaloc::CorbalocError;
pub use deframer::Deframer;
pub use exceptions::{Completed, SystemException, UserException};
pub use ior::{Component, IiopProfile, Ior, IorError, Profile};
pub use message::{HEADER_BYTES, Kind, MESSAGE_BYTES_MAX, MessageHeader, Version, fragment};
pub use options::{Options, OptionsError, RequestError, check_request};
pub use reply_writer::{LocateStatus, ReplyStatus, ReplyTo, close_connection, message_error};
pub use requests::{Body, ClientMessage, LocateRequest, Request};
pub use service_contexts::{CODE_SET_UTF8, CODE_SET_UTF16, CodeSets};
