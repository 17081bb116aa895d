//! What the kernel does for a link: network namespaces, their interfaces and
//! settings, and the system calls that the rest of the crate makes.

pub(crate) mod capabilities;
pub(crate) mod clock;
pub(crate) mod eventfd;
pub(crate) mod interface;
pub(crate) mod iproute;
pub(crate) mod namespace;
pub(crate) mod netem;
pub(crate) mod offloads;
pub(crate) mod scheduling;
pub(crate) mod sysctl;
pub(crate) mod tun;
pub(crate) mod veth;
