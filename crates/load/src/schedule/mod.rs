//! When calls are made: arrivals, the demand of users, warm-up, and the quota of a window.

pub mod arrivals;
pub(crate) mod demand;
pub(crate) mod pauses;
pub(crate) mod quota;
pub mod stages;
pub mod think;
pub(crate) mod warmup;
