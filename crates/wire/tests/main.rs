//! Codecs and sessions of the engine, and a search for inputs that make them fail.

mod avro;
mod codec;
mod compression;
mod connect;
mod encodings;
mod fuzz;
mod http1;
mod http1_allocations;
mod http2_hpack;
mod http2_nghttpd;
mod http2_scripted;
#[path = "../../contract/tests/skipped/mod.rs"]
mod skipped;
mod soap;
mod token_xml;
mod vectors;
mod websocket;
mod xml_messages;
