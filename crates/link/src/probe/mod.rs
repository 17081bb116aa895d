//! What a link really does, measured by packets of its own before it is ready.

pub(crate) mod measure;
mod ping;
mod rate;
mod sockets;
pub(crate) mod stop;
pub(crate) mod tcp;
