//! SOAP 1.1 and 1.2: envelopes around the messages of [`crate::xml`], by the
//! mapping of contracts/README.md.
//!
//! Three styles: document/literal, rpc/literal, and rpc/encoded of SOAP 1.1
//! section 5 in the shape of Elfwing and Paulsson (2002), appendix C. A service
//! first reads an [`Envelope`] up to its body's child, which tells the
//! operation, and then the message; a caller reads a reply or a [`Fault`].

mod envelope;
mod fault;
mod form;
mod http;
pub(crate) mod input;
mod reading;
mod security;
pub(crate) mod writing;

pub use envelope::{BodyName, Envelope, EnvelopeError, HeaderBlock};
pub use fault::{Fault, FaultCode};
pub use form::{Form, NotEncoded, Style, Version};
pub use http::{ContentType, action_of_field};
pub use reading::{Answer, read_reply, read_request};
pub use security::UsernameToken;
pub use writing::{write_fault, write_reply, write_request};
