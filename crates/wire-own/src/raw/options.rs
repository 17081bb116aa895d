//! How a raw connection is used, and what it can carry.

use super::CONTENT_BYTES_MAX;
use crate::session::Request;

/// How a raw connection is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// One call, then the connection is closed.
    pub close: bool,
    /// No replies: [`super::Raw::processed`] ends the calls.
    pub one_way: bool,
    /// Calls in flight at most; replies come in the order of the requests.
    pub pipeline: u32,
    /// Length and content in two sends.
    pub split_writes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            close: false,
            one_way: false,
            pipeline: 1,
            split_writes: false,
        }
    }
}

/// Options that contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// No call could ever be made.
    #[error("pipeline = 0: no call could be made; use pipeline = 1 or more")]
    NoCalls,
    /// A connection that carries one call cannot carry several at a time.
    #[error("pipeline = {0} with one call per connection; use pipeline = 1 or keep the connection")]
    PipelineWithClose(u32),
}

impl Options {
    // Refused instead of adjusted: a measurement must not run with other options than
    // it reports.
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        match self.pipeline {
            0 => Err(OptionsError::NoCalls),
            n if n > 1 && self.close => Err(OptionsError::PipelineWithClose(n)),
            _ => Ok(()),
        }
    }
}

/// A request that cannot be sent raw.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// More than a peer of this kind accepts.
    #[error("{0} bytes of content; {CONTENT_BYTES_MAX} at most")]
    TooLong(usize),
}

/// Checks that a request can be sent as it is; [`super::Raw`] expects that of
/// every request it is given.
///
/// # Errors
/// When its content is too long.
pub fn check_request(request: &Request) -> Result<(), RequestError> {
    match request.body.len() {
        length if length > CONTENT_BYTES_MAX => Err(RequestError::TooLong(length)),
        _ => Ok(()),
    }
}
