//! What a stack is: bindings, codecs, axes, their defaults, and the rules that say which
//! combinations exist.
//!
//! This crate is the only place that holds them. Python reads them from `contracts/stack.json`,
//! which [`document`] writes; services in Go and Java are tested against the same file.
//!
//! - [`axes`]: the table; a new value of an axis begins there or in [`values`];
//! - [`rules`]: combinations that cannot exist, each with its reason and its repair;
//! - [`AxisMap`]: a point of the table as texts, as plans carry it;
//! - [`Stack`]: the same, checked against the rules and resolved into types.

#![deny(missing_docs)]

pub mod axes;
mod axis_map;
mod document;
pub mod rules;
mod stack;
pub mod values;

pub use axis_map::{AxisError, AxisMap};
pub use document::document;
pub use stack::{Connection, Illegal, SocketAxes, Stack};
pub use values::{
    Binding, ByteOrder, Codec, Compression, EndOfMessage, Reply, Security, SoapVersion, SocketKind,
    TokenCache, TokenSource, Transport, Work, Writes,
};
