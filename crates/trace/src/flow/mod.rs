//! Connections: which packets belong together, what each segment is, and the bytes in order.
//!
//! The number of connections and the bytes that wait for others are bounded
//! ([`Limits`]); what does not fit is reported as a gap or as a connection whose end
//! is unseen. Nothing is allocated for a packet that comes in order.

mod analysis;
mod connection;
mod copies;
pub mod event;
mod key;
pub(crate) mod map;
mod past;
mod reassembly;
mod table;

pub use analysis::{Counts, Verdict};
pub use table::{Flows, Limits};
