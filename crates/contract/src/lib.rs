//! What services do, whatever they speak: typed messages and the canonical model.
//!
//! A service and the model are given the same request; the service is right
//! when it answers what the model answers. The model is therefore pure, knows
//! no codec and no transport, and is written for clarity, not for speed. Only
//! [`texts`] is fast, because texts of 64 MiB are made while people wait.
//!
//! - [`transfer`]: the messages, made from `contracts/transfer.proto`, with
//!   the JSON mapping of `contracts/README.md` as their serde form;
//! - [`json`]: messages read as JSON objects only;
//! - [`texts`]: the texts and patterns that the contract speaks of;
//! - [`model`]: what each operation must answer;
//! - [`workload`]: requests to send, made from a size and a seed.

#![deny(missing_docs)]

pub mod json;
mod json_bytes;
pub mod model;
mod operation;
pub mod texts;
pub mod workload;

pub use model::{ApplicationError, Call, Reply};
pub use operation::{Operation, UnknownOperation};

/// The messages of `contracts/transfer.proto`.
#[allow(missing_docs)]
pub mod transfer {
    include!(concat!(env!("OUT_DIR"), "/wirelab.transfer.v1.rs"));
}
