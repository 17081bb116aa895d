//! Connections: sockets, TLS, and the session of the protocol that each carries.

pub(crate) mod any_session;
mod certificates;
pub(crate) mod connections;
pub(crate) mod kernel_stamps;
pub(crate) mod report;
pub(crate) mod session_factory;
pub(crate) mod session_io;
pub(crate) mod socket;
pub(crate) mod tls;
pub(crate) mod tls_files;
pub(crate) mod tokens;
