//! How a GIOP connection is used, and what it can carry.

use super::message::MESSAGE_BYTES_MAX;
use crate::cdr::ByteOrder;
use crate::session::Request;

/// How a GIOP connection is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Names the object at its server, as in its reference.
    pub object_key: Vec<u8>,
    /// The order of numbers in requests.
    pub byte_order: ByteOrder,
    /// Calls in flight at most; replies may come in any order.
    pub in_flight: u32,
    /// Header and body of a request in two sends.
    pub split_writes: bool,
    /// One call, then the connection is closed.
    pub close: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            object_key: Vec::new(),
            // The native order of x86-64 and AArch64: in GIOP the sender chooses and
            // the receiver converts, so that such peers have nothing to swap.
            byte_order: ByteOrder::Little,
            in_flight: 1,
            split_writes: false,
            close: false,
        }
    }
}

/// Options that no session can be made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// No call could ever be made.
    #[error("in_flight = 0: no call could be made; use in_flight = 1 or more")]
    NoCalls,
    /// A connection that carries one call cannot carry several at a time.
    #[error("in_flight = {0} with one call per connection; use in_flight = 1 or keep it")]
    InFlightWithClose(u32),
    /// No object has an empty key.
    #[error("object_key is empty; take the one of the service's IOR")]
    NoKey,
    /// A key that is longer than any ORB makes.
    #[error("object_key has {0} bytes; {KEY_BYTES_MAX} at most")]
    LongKey(usize),
}

/// Longer keys are refused.
// Not a limit of GIOP. Keys of common ORBs have less than 200 bytes; the bound leaves
// the header within the message size that `check_request` calculates with.
pub(super) const KEY_BYTES_MAX: usize = 16 << 10;

/// Longer operation names are refused.
pub(super) const OPERATION_BYTES_MAX: usize = 1 << 10;

impl Options {
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        match (self.in_flight, self.object_key.len()) {
            (0, _) => Err(OptionsError::NoCalls),
            (2.., _) if self.close => Err(OptionsError::InFlightWithClose(self.in_flight)),
            (_, 0) => Err(OptionsError::NoKey),
            (_, length) if length > KEY_BYTES_MAX => Err(OptionsError::LongKey(length)),
            _ => Ok(()),
        }
    }
}

/// A request that has no form in GIOP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Not an IDL identifier.
    #[error("operation {0:?}: must be an IDL identifier, as directDebit")]
    Operation(String),
    /// Longer than peers of this kind accept.
    #[error("{0} bytes of arguments; {MESSAGE_BYTES_MAX} at most, their header included")]
    TooLong(usize),
}

/// Checks that a request can be sent; [`super::Giop`] expects that of every
/// request it is given.
///
/// # Errors
/// Names the first part that is at fault.
pub fn check_request(request: &Request) -> Result<(), RequestError> {
    if !is_operation(&request.path) {
        return Err(RequestError::Operation(request.path.clone()));
    }
    let body = request.body.len();
    // 256 bytes are for the fixed fields, the code sets and padding.
    if body > MESSAGE_BYTES_MAX - KEY_BYTES_MAX - OPERATION_BYTES_MAX - 256 {
        return Err(RequestError::TooLong(body));
    }
    Ok(())
}

/// An IDL identifier, or the name of an attribute's accessor (`_get_size`).
fn is_operation(name: &str) -> bool {
    // CORBA 3.3 part 1, section 7.2.3. An escaped identifier goes on the wire without
    // its underscore; a leading one here belongs to `_get_size`, `_is_a` and the like.
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let first = name.bytes().next();
    first.is_some_and(|byte| !byte.is_ascii_digit())
        && name.len() < OPERATION_BYTES_MAX
        && name.bytes().all(legal)
}
