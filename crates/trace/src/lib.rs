//! From packets to reasons.
//!
//! A capture is read once, packet by packet, in constant memory:
//! [`packet`] parses one, flows order their bytes and hand them as the events of
//! [`stream`] to whoever listens: protocols cut them into messages and
//! [`exchange`]s, accounts count them, the diagnosis looks for what cost time.
//! Everything takes hostile input: a capture can come from anyone.

pub mod account;
pub mod capture;
pub mod diagnosis;
pub mod dissection;
pub mod flow;
pub mod fuzzing;
mod ladder;
pub mod packet;
pub mod protocol;
mod read;
pub mod reconciliation;
mod summary;
pub mod text;

pub use read::{Analyzer, read, read_file, read_within};
pub use summary::{OtherPackets, Summary};
