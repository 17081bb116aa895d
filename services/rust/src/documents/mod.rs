//! The documents between the lab and a service: its configuration and its ready line
//! (docs/reference/process.md).

pub(crate) mod config;
pub(crate) mod ready;
