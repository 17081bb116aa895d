//! What a stack is: bindings, codecs, axes, their defaults, and the rules that say which
//! combinations exist.
//!
//! This crate is the only place that holds them. Python reads them from
//! `python/wirelab/data/stack.json`, which [`document`] makes; services in Go and Java are
//! tested against the same file.
//!
//! - [`bindings`]: bindings and codecs; a new codec begins there;
//! - [`values`] and [`axes`]: the other axes and the table of all; a new value begins there;
//! - [`rules`]: combinations that cannot exist, each with its reason and its repair;
//! - `proxies`: what each proxy of the axis `via` lacks, as rules;
//! - [`AxisMap`]: a point of the table as texts, as plans carry it;
//! - [`Stack`]: the same, checked against the rules and resolved into types.

#![deny(missing_docs)]

pub mod axes;
mod axis_map;
pub mod bindings;
mod document;
mod proxies;
mod rule;
pub mod rules;
#[cfg(feature = "schema")]
mod schema;
mod stack;
pub mod values;

pub use axis_map::{AxisError, AxisMap};
pub use bindings::{Binding, BindingFamily, Codec, CodecFamily};
pub use document::document;
pub use stack::{Connection, Illegal, SocketAxes, Stack};
pub use values::{
    ByteOrder, Compression, EndOfMessage, Flush, HttpCache, Reply, Security, SoapVersion,
    SocketKind, TokenCache, TokenSource, Transport, Work, Writes,
};
