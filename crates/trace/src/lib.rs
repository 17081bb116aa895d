//! From packets to reasons.
//!
//! A capture is read once, packet by packet, in constant memory. [`packet`] parses one,
//! [`flow`] orders the bytes of connections, [`protocol`] cuts them into messages and
//! exchanges, [`diagnosis`] looks for what cost time, and [`output`] writes one document
//! about all of it. [`hops`] compares two captures around a proxy, [`host`] reads what processes did meanwhile. [`capture`] takes packets from an interface. Each layer listens to
//! the one before it. Everything takes hostile input: a capture can come from anyone.

pub mod capture;
pub mod clock;
pub mod diagnosis;
pub mod flow;
pub mod fuzzing;
pub mod hops;
pub mod host;
pub mod output;
pub mod packet;
pub mod protocol;
mod read;
pub mod text;

pub use read::{Analyzer, OtherPackets, Summary, read, read_file, read_within};
