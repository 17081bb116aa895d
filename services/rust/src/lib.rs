//! The embedded services: `rest@rust` and `soap@rust` on axum and hyper,
//! `grpc@rust` on tonic, `iiop@rust` and `raw@rust` on a loop of our own.
//!
//! They are linked into the engine's binary but know nothing of the lab except
//! the process contract (docs/reference/process.md): a configuration on
//! standard input, one line when a call can be answered, metrics on a second
//! port, an end with standard input. [`serve_from_stdin`] is all of it.
//!
//! Every binding is written once over all contracts, whose answers come from
//! `wirelab-contract` by way of the `desk`. Around the handlers lie two thin
//! layers of our own: `calls` (over HTTP) and `exchange` (elsewhere) count
//! every call and commit the faults that were switched on, and `fault_io` has
//! the bytes of a connection in hand, so that "two sends" or "a reset instead
//! of a reply" are exact.

#![deny(missing_docs)]

#[doc(hidden)]
pub mod bodies;
mod calls;
mod check;
mod coding;
mod compression;
mod config;
mod conversation;
mod delay;
mod desk;
mod exchange;
mod exposition;
mod fault_io;
mod faults;
mod grpc;
mod http;
mod iiop;
mod listener;
mod metrics;
mod mutants;
mod negotiation;
mod orders;
mod own_process;
mod plain_socket;
mod problem;
mod process;
mod protobuf;
mod raw;
mod ready;
mod relabel;
mod reply_body;
mod reports;
mod representation;
mod rest;
mod self_call;
mod soap;
mod socket;
mod split;
mod spoil;
mod stack;
mod stop;
mod text_check;
mod tls;
mod wsdl;
mod xml;

use wirelab_contract::refusal;

pub use config::{Collector, ServiceConfig, SocketOptions, Store, TlsFiles, Writes};
pub use faults::{Every, FaultSwitches, Freeze, Wrong, WrongReplies};
pub use process::serve_from_stdin;
pub use ready::{Library, Ready, Role};
pub use refusal::{Refusal, Refused};
pub use stack::Stack;
pub use wirelab_stack::{
    Binding, Codec, Compression, EndOfMessage, Reply, Security, SoapVersion, TokenCache, Transport,
};
