//! What services do, whatever they speak: typed messages and the canonical model.
//!
//! A service and the model are given the same request; the service is right
//! when it answers what the model answers. The model therefore knows no codec
//! and no transport. [`texts`] is fast because texts of 64 MiB are made while
//! people wait, and [`State`] is because the embedded services keep theirs in it.
//!
//! - [`transfer`], [`charging`], [`calendar`], [`records`], [`petclinic`], [`stream`]: the messages,
//!   made from `contracts/*.proto`; [`Message`] says what their serde form is;
//! - [`Contract`], [`Operation`]: their names in every mapping;
//! - [`ops`]: each unary operation as a type, and the way from its name to it;
//! - [`Call`], [`Reply`]: any call and any reply as a value;
//! - [`allocations`]: the tables with which a service of records starts;
//! - [`clinic`]: rows, limits and routes of petclinic;
//! - [`State`]: what each operation must answer; [`model`]: transfer's part,
//!   [`streams`]: stream's;
//! - [`texts`]: the texts and patterns that the contracts speak of;
//! - [`print_error!`]: messages on standard error;
//! - [`ranks`]: what the slowest of many times are made of;
//! - [`refusal`]: how every process of the lab refuses a configuration that it
//!   cannot honour;
//! - [`workload`]: requests to send, made from a size and a seed, and the
//!   sequences of charging;
//! - [`json`]: messages read as objects only; [`lists`]: no more of them than a
//!   message may hold.

#![deny(missing_docs)]

mod accounts;
pub mod allocations;
mod bytes;
mod calendars;
mod call;
pub mod clinic;
mod contract;
mod error;
mod fields;
pub mod json;
pub mod lists;
mod message;
pub mod model;
mod nested;
mod numbered;
mod operation;
pub mod ops;
pub mod ranks;
pub mod refusal;
pub mod standard_error;
mod state;
pub mod streams;
pub mod texts;
pub mod workload;

pub use accounts::{ACTIONS_MAX, RESERVATIONS_MAX};
pub use bytes::BASE64_BINARY;
pub use calendars::{DAYS, DOCUMENT_BYTES_MAX, OWNERS_MAX, SLOTS, TEXT_BYTES_MAX, deploy};
pub use call::{Call, Reply};
pub use contract::{Contract, UnknownContract};
pub use error::{ApplicationError, DATABASE_UNAVAILABLE, UnknownError};
pub use fields::FieldError;
pub use message::{Items, Message, MessageVisitor, TypeVisitor, visit_type};
pub use operation::{Operation, UnknownOperation};
pub use ops::{Unary, UnaryVisitor};
pub use state::{State, Store};

/// The messages of `contracts/transfer.proto`.
#[allow(missing_docs)]
pub mod transfer {
    include!("generated/wirelab.transfer.v1.rs");
}

/// The messages of `contracts/charging.proto`.
#[allow(missing_docs)]
pub mod charging {
    include!("generated/wirelab.charging.v1.rs");
}

/// The messages of `contracts/calendar.proto`.
#[allow(missing_docs)]
pub mod calendar {
    include!("generated/wirelab.calendar.v1.rs");
}

/// The messages of `contracts/petclinic.proto`.
#[allow(missing_docs)]
pub mod petclinic {
    include!("generated/wirelab.petclinic.v1.rs");
}

/// The messages of `contracts/stream.proto`.
#[allow(missing_docs)]
pub mod stream {
    include!("generated/wirelab.stream.v1.rs");
}

/// The messages of `contracts/records.proto`.
#[allow(missing_docs)]
pub mod records {
    include!("generated/wirelab.records.v1.rs");
}
