//! The event loop of a load thread: epoll, how it waits, and whose turn it is.

pub(crate) mod poll;
pub(crate) mod poller;
pub(crate) mod shared;
pub(crate) mod slices;
pub(crate) mod spin_policy;
pub(crate) mod thread;
pub(crate) mod turn;
pub(crate) mod wakeup;
pub(crate) mod worker;
