//! Connections below the bindings: where they are accepted, TLS, socket options, and the faults
//! that need the bytes of a connection.

pub(crate) mod control;
pub(crate) mod fault_io;
mod header_split;
pub(crate) mod listener;
mod plain_socket;
pub(crate) mod shutdown;
mod socket;
pub(crate) mod tls;
