//! The services as processes, against clients that are not ours.

mod codec_times;
mod connect;
mod contracts;
mod delays;
mod dependencies;
mod endings;
mod faults;
mod grpc;
mod harness;
mod iiop;
mod lists;
mod process;
mod raw;
mod rest;
mod soap;
mod sockets;
mod streams;
mod tls;
mod websocket;

/// The program under test.
const SERVICE: &str = env!("CARGO_BIN_EXE_wirelab-rust-service");
