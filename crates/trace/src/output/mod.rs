//! The document about one capture.
//!
//! [`Dissector`] listens to the flows of a capture once, and hands everything on to the
//! accounts of bytes, the counts of connections and exchanges, the ladders, and the
//! diagnosis. [`Dissection`] is what they found, as JSON.

pub mod account;
mod connection_counts;
mod dissector;
mod document;
mod exchange_counts;
mod in_flight;
mod ladder;
mod load;
mod quantiles;
pub mod reconciliation;
mod series;

pub use dissector::{Dissector, Options};
pub use document::*;
pub use quantiles::Quantiles;
