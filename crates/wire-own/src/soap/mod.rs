//! SOAP 1.1 and 1.2 over any [`infoset`](crate::infoset), by the mapping of
//! contracts/README.md: what an envelope holds, whether its elements come from
//! the text of a document or from tokens.
//!
//! Three styles: document/literal, rpc/literal, and rpc/encoded of SOAP 1.1
//! section 5 in the shape of Elfwing and Paulsson (2002), appendix C.

mod envelope;
mod fault;
mod format;
mod http;
mod reader;
mod security;
pub mod writer;

pub use envelope::{BodyName, Envelope, EnvelopeError, HeaderBlock};
pub use fault::{Fault, FaultCode};
pub use format::{EnvelopeFormat, Style, UnsupportedStyle, Version};
pub use http::{ContentType, action_of_field};
pub use reader::Response;
pub use security::{UsernameToken, WSSE};
