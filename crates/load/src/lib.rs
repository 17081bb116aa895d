//! Runs a plan over sockets: arrivals, reactor, sessions, recorder.

pub mod plan;
pub mod result;
