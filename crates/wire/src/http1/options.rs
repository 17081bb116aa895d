//! How an HTTP/1.x connection is used.

use super::head::HeadLimits;

/// Version that requests carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    /// RFC 1945.
    Http10,
    /// RFC 9112.
    #[default]
    Http11,
}

/// How an HTTP/1.x connection is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Version that requests carry.
    pub version: Version,
    /// One call per connection: `Connection: close` in HTTP/1.1, no
    /// `Connection` field in HTTP/1.0, where that is the default. When false,
    /// HTTP/1.0 requests ask for `Connection: keep-alive` (RFC 9112 section C.2.2).
    pub close: bool,
    /// Calls in flight at most; more than 1 needs HTTP/1.1 without `close`.
    pub pipeline: u32,
    /// Head and body of a request in two sends.
    pub split_writes: bool,
    /// The largest head of a reply that is accepted.
    pub head_limits: HeadLimits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            version: Version::Http11,
            close: false,
            pipeline: 1,
            split_writes: false,
            head_limits: HeadLimits::default(),
        }
    }
}

/// Options that contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// No call could ever be made.
    #[error("pipeline = 0: no call could be made; use pipeline = 1 or more")]
    NoCalls,
    /// HTTP/1.0 has no pipelining.
    #[error("pipeline = {0}: HTTP/1.0 has no pipelining; use pipeline = 1 or HTTP/1.1")]
    PipelineInHttp10(u32),
    /// A connection that carries one call cannot carry several at a time.
    #[error("pipeline = {0} with one call per connection; use pipeline = 1 or keep the connection")]
    PipelineWithClose(u32),
}

impl Options {
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        match self.pipeline {
            0 => Err(OptionsError::NoCalls),
            1 => Ok(()),
            n if self.close => Err(OptionsError::PipelineWithClose(n)),
            // Even with keep-alive: RFC 9112 section 9.3.2 defines pipelining for
            // HTTP/1.1 alone.
            n if self.version == Version::Http10 => Err(OptionsError::PipelineInHttp10(n)),
            _ => Ok(()),
        }
    }
}
