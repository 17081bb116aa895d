//! Packets: capture files, and the headers of their frames down to TCP.

mod byte_order;
pub mod decode;
pub mod file;
mod headers;
pub mod link_layer;
mod link_type;
mod network;
pub mod tcp;
mod tunnel;

pub use decode::Packet;
pub use tcp::Flags;
