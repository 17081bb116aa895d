//! Codecs: typed requests to bytes, and validation of the bytes of replies.
//!
//! Replies are decoded in full and compared with what the contract demands,
//! never with one golden encoding: another implementation may order fields or
//! escape characters otherwise. Where replies may be large (transfer in JSON
//! and protobuf), decoding borrows from the reply, so that validating a
//! large text costs no copy of it; everything else is decoded into the typed
//! message. Charging's numbers are the service's own choice: its replies are
//! validated by their form, and handed out for the next request of a sequence.

mod compare;
mod error;
mod expected;
mod message_format;
mod proto_json;
mod protobuf;
mod serde_formats;
mod token_xml;
mod views;

pub use error::{Mismatch, Unsupported, supports};
pub use expected::Expected;
pub use message_format::{Mapping, MessageFormat};
pub use serde_formats::{Value as Object, document, transcode};
pub use token_xml::{append_request_tokens, request_document};
pub use wirelab_stack::Codec;
