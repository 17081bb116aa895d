//! One module per binding: what is around a message on the wire, and how an error is reported.

pub(crate) mod connect;
pub(crate) mod grpc;
mod grpc_codec;
mod grpc_streams;
pub(crate) mod http;
pub(crate) mod iiop;
mod message_loop;
pub(crate) mod raw;
pub(crate) mod rest;
pub(crate) mod soap;
pub(crate) mod websocket;
