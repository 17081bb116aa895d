//! What is recorded: times, counts, the log of calls, and what the process used.

pub(crate) mod call_log;
pub mod caller;
pub(crate) mod events;
pub(crate) mod first_calls;
pub(crate) mod merge;
pub(crate) mod message_times;
pub(crate) mod over_time;
pub(crate) mod pauses;
pub(crate) mod periods;
pub(crate) mod process;
pub(crate) mod recorder;
pub(crate) mod replies;
pub(crate) mod slow_calls;
pub(crate) mod streams;
