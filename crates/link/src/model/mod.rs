//! The configuration of a link, and what it reports: documents and their checks,
//! without any I/O.

pub(crate) mod config;
pub(crate) mod distribution;
pub(crate) mod driver_choice;
pub(crate) mod profile;
pub(crate) mod profiles;
pub(crate) mod ready;
pub(crate) mod summary;
pub(crate) mod way;
