//! A service as a child process, and clients that are not ours.

pub mod frames;
mod grpc;
mod http;
mod service;
pub mod websocket;

pub use grpc::Client;
pub use http::{Http, Reply};
pub use service::*;
