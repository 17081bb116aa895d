//! Packets: capture files, and the headers of their frames down to TCP.

mod byte_order;
pub mod decode;
pub mod file;
pub mod link_layer;
mod network;
pub mod tcp;

pub use decode::Packet;
pub use tcp::Flags;
