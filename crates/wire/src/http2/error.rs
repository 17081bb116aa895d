//! Connection errors: a broken rule, and the code that GOAWAY gives for it.

use super::frame::code;
use crate::ProtocolError;

/// The peer broke a rule in a way that ends the connection (RFC 9113 section 5.4.1).
///
/// Always boxed, so that the good result of every step fits in a register.
#[derive(Debug)]
pub(super) struct ConnectionError {
    pub(super) code: u32,
    pub(super) error: ProtocolError,
}

impl ConnectionError {
    #[cold]
    pub(super) fn new(
        code: u32,
        rule: &'static str,
        found: impl Into<String>,
    ) -> Box<ConnectionError> {
        let error = ProtocolError {
            rule,
            found: found.into(),
        };
        Box::new(ConnectionError { code, error })
    }

    #[cold]
    pub(super) fn protocol(rule: &'static str, found: impl Into<String>) -> Box<ConnectionError> {
        ConnectionError::new(code::PROTOCOL_ERROR, rule, found)
    }

    #[cold]
    pub(super) fn frame_size(rule: &'static str, found: impl Into<String>) -> Box<ConnectionError> {
        ConnectionError::new(code::FRAME_SIZE_ERROR, rule, found)
    }

    #[cold]
    pub(super) fn flood(rule: &'static str, found: impl Into<String>) -> Box<ConnectionError> {
        ConnectionError::new(code::ENHANCE_YOUR_CALM, rule, found)
    }
}
