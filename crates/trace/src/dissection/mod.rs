//! What one capture says, as one document.
//!
//! [`Dissector`] listens to the flows of a capture once and hands everything on
//! to those who count: accounts, the census of exchanges, ladders, and the
//! diagnosis. [`Dissection`] is what they found, as JSON.

mod census;
mod connections;
mod dissector;
mod document;
mod load;
mod one_sided;

pub use dissector::{Dissector, Options};
pub use document::*;
