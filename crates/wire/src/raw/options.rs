//! How a raw connection is used, and what it can carry.

use super::CONTENT_BYTES_MAX;
use super::tokens::Tokens;
use crate::session::Request;
use crate::token_xml::Document;

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
    /// Contents are tokens, which depend on all that the connection carried
    /// before; None: contents are [`Request::body`] as it is.
    pub tokens: Option<Tokens>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            close: false,
            one_way: false,
            pipeline: 1,
            split_writes: false,
            tokens: None,
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
    /// Tokens are made of a document.
    #[error("tokens are made of a document, and the request has none; set its document")]
    NoDocument,
    /// Tokens by way of text are made of an XML text.
    #[error("tokens by way of text are made of an XML text, and the body is none: {0}")]
    NotXml(String),
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

/// Checks that a request can be sent as tokens; [`super::Raw`] expects that of
/// every request when [`Options::tokens`] are asked for.
///
/// # Errors
/// When it lacks what its tokens are made of.
pub fn check_tokens(request: &Request, tokens: Tokens) -> Result<(), RequestError> {
    match tokens {
        Tokens::Direct if request.document.is_some() => Ok(()),
        Tokens::Direct => Err(RequestError::NoDocument),
        Tokens::ByWayOfText => match Document::parse(&request.body) {
            Ok(_) => Ok(()),
            Err(error) => Err(RequestError::NotXml(error.to_string())),
        },
    }
}
