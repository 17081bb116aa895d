//! The embedded services: `rest@rust` on axum and hyper, `grpc@rust` on tonic.
//!
//! They are linked into the engine's binary but know nothing of the lab except
//! the process contract (docs/reference/process.md): a configuration on
//! standard input, one line when a call can be answered, metrics on a second
//! port, an end with standard input. [`serve_from_stdin`] is all of it.
//!
//! The handlers are what a user of these libraries would write. Around them
//! lie two thin layers of our own: `calls` counts every call and commits the
//! faults that were switched on, and `fault_io` has the bytes of a connection
//! in hand, so that "two sends" or "a reset instead of a reply" are exact.

#![deny(missing_docs)]

mod calls;
mod check;
mod coding;
mod compression;
mod config;
mod delay;
mod desk;
mod exposition;
mod fault_io;
mod faults;
mod grpc;
mod http;
mod listener;
mod metrics;
mod mutants;
mod negotiation;
mod orders;
mod own_process;
mod problem;
mod process;
mod ready;
mod refusal;
mod relabel;
mod reply_body;
mod representation;
mod rest;
mod self_call;
mod socket;
mod split;
mod spoil;
mod stack;
mod stop;
mod text_check;
mod tls;

pub use config::{Collector, ServiceConfig, SocketOptions, Store, TlsFiles, Writes};
pub use faults::{Every, FaultSwitches, Freeze, Wrong, WrongReplies};
pub use process::serve_from_stdin;
pub use ready::Ready;
pub use refusal::{Refusal, Refused};
pub use stack::{
    Binding, Codec, Compression, EndOfMessage, ReplyWay, Security, SoapVersion, Stack, Transport,
};
