//! Codecs and sessions that the engine and the services share.

mod cdr;
mod giop;
mod raw;
mod session_support;
