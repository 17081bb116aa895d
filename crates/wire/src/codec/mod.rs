//! Codecs: a typed request to bytes, and the bytes of a reply to a judgement.
//!
//! Replies are decoded in full and compared with what the contract says,
//! never with one golden encoding: another implementation may order fields or
//! escape characters otherwise. Where replies may be large (transfer in JSON
//! and protobuf), decoding borrows from the reply, so that the judgement of a
//! large text costs no copy of it; everything else is decoded into the typed
//! message. Charging's numbers are the service's own choice: its replies are
//! judged by their form, and handed out for the next request of a sequence.

mod compare;
mod expected;
mod form;
mod json;
mod mismatch;
mod objects;
mod protobuf;
mod rules;
mod support;
mod tokens;
mod views;

pub use ciborium::Value as Object;
pub use expected::Expected;
pub use form::Form;
pub use mismatch::Mismatch;
pub use objects::{object, transcoded};
pub use wirelab_stack::Codec;

pub use support::{Unsupported, supports};
pub use tokens::{append_request_tokens, request_document};
