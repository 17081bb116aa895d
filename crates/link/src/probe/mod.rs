//! What a link really does, measured by packets sent over it before it is ready.

pub(crate) mod measure;
mod ping;
mod rate;
mod sockets;
pub(crate) mod stop;
pub(crate) mod tcp;
