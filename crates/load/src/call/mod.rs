//! One call, whatever makes it: its stamps, its reply, its end, and what is reported of it.

pub(crate) mod calls;
pub(crate) mod clock;
pub(crate) mod error;
pub(crate) mod fault;
pub(crate) mod items;
pub(crate) mod rejection;
pub(crate) mod reply;
pub mod result;
pub(crate) mod span;
pub(crate) mod stream;
pub(crate) mod waiting;
