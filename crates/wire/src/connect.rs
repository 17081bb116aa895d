//! The Connect protocol (connectrpc.com/docs/protocol): its errors, and the message that ends a
//! stream. Its messages are framed like those of gRPC ([`crate::grpc::Deframer::of_connect`]).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use wirelab_contract::json::Object;

use crate::ProtocolError;
use crate::excerpt::excerpt;

/// Bytes of the message that ends a stream, at most. It has an error and trailing metadata, which
/// other protocols carry in the fields of a head.
pub const END_BYTES_MAX: u32 = 1 << 20;

/// Why a call has failed (Connect protocol, Error Codes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The caller gave up.
    Canceled,
    /// No other code fits.
    Unknown,
    /// The request is wrong, whatever the service's state.
    InvalidArgument,
    /// The deadline of the call is over.
    DeadlineExceeded,
    /// What was asked for does not exist.
    NotFound,
    /// What was to be made exists.
    AlreadyExists,
    /// The caller may not do this.
    PermissionDenied,
    /// A resource or quota is used up.
    ResourceExhausted,
    /// The service is not in the state that the call needs.
    FailedPrecondition,
    /// Aborted, mostly by a concurrent call.
    Aborted,
    /// Beyond a range that depends on the service's state.
    OutOfRange,
    /// The service does not have the operation, or does not support a part of the protocol.
    Unimplemented,
    /// The service broke.
    Internal,
    /// The service cannot answer now.
    Unavailable,
    /// Data was lost.
    DataLoss,
    /// The caller is not known.
    Unauthenticated,
}

impl Code {
    /// Every code, in the order of gRPC's numbers, which begin with 1.
    pub const ALL: [Code; 16] = [
        Code::Canceled,
        Code::Unknown,
        Code::InvalidArgument,
        Code::DeadlineExceeded,
        Code::NotFound,
        Code::AlreadyExists,
        Code::PermissionDenied,
        Code::ResourceExhausted,
        Code::FailedPrecondition,
        Code::Aborted,
        Code::OutOfRange,
        Code::Unimplemented,
        Code::Internal,
        Code::Unavailable,
        Code::DataLoss,
        Code::Unauthenticated,
    ];

    const fn row(self) -> (&'static str, u16) {
        match self {
            Code::Canceled => ("canceled", 499),
            Code::Unknown => ("unknown", 500),
            Code::InvalidArgument => ("invalid_argument", 400),
            Code::DeadlineExceeded => ("deadline_exceeded", 504),
            Code::NotFound => ("not_found", 404),
            Code::AlreadyExists => ("already_exists", 409),
            Code::PermissionDenied => ("permission_denied", 403),
            Code::ResourceExhausted => ("resource_exhausted", 429),
            Code::FailedPrecondition => ("failed_precondition", 400),
            Code::Aborted => ("aborted", 409),
            Code::OutOfRange => ("out_of_range", 400),
            Code::Unimplemented => ("unimplemented", 501),
            Code::Internal => ("internal", 500),
            Code::Unavailable => ("unavailable", 503),
            Code::DataLoss => ("data_loss", 500),
            Code::Unauthenticated => ("unauthenticated", 401),
        }
    }

    /// Its name on the wire: `invalid_argument`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The status in HTTP of a unary call that failed with it.
    #[must_use]
    pub const fn status(self) -> u16 {
        self.row().1
    }

    /// The same error's status in gRPC.
    #[must_use]
    pub const fn grpc_status(self) -> u32 {
        self as u32 + 1
    }

    fn named(name: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What kind.
    pub code: Code,
    /// Its text; empty where it has none.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => write!(f, "{}", self.code),
            text => write!(f, "{}: {text}", self.code),
        }
    }
}

/// Error on the wire.
#[derive(Deserialize)]
struct WireError {
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default, rename = "details")]
    _details: Vec<IgnoredAny>,
}

/// EndStreamResponse on the wire.
#[derive(Deserialize)]
struct WireEnd {
    #[serde(default, deserialize_with = "read_present")]
    error: Option<Object<WireError>>,
    #[serde(default, rename = "metadata")]
    _metadata: BTreeMap<String, Vec<String>>,
}

/// What is there, which must not be `null`.
fn read_present<'de, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(input).map(Some)
}

const ERROR_RULE: &str = "a call fails with an Error in JSON (Connect protocol, Error)";
const END_RULE: &str = "a stream ends with an EndStreamResponse in JSON (Connect protocol, \
                        EndStreamResponse)";

/// Reads the body of a unary reply whose status is not 200.
///
/// # Errors
/// When it is not an Error, as where a proxy answered.
pub fn read_error(body: &[u8]) -> Result<Error, ProtocolError> {
    let error = parse::<WireError>(ERROR_RULE, body)?;
    of_wire(error, ERROR_RULE)
}

/// Reads the message that ends a stream: the error with which the call has failed, if it has.
///
/// # Errors
/// When it is not an EndStreamResponse.
pub fn read_end(message: &[u8]) -> Result<Option<Error>, ProtocolError> {
    let end = parse::<WireEnd>(END_RULE, message)?;
    let error = end.error.map(|error| of_wire(error.0, END_RULE));
    error.transpose()
}

fn parse<'a, T: Deserialize<'a>>(rule: &'static str, body: &'a [u8]) -> Result<T, ProtocolError> {
    let parsed = serde_json::from_slice::<Object<T>>(body);
    parsed
        .map(|object| object.0)
        .map_err(|error| ProtocolError {
            rule,
            found: format!("{error}: {}", excerpt(body)),
        })
}

fn of_wire(error: WireError, rule: &'static str) -> Result<Error, ProtocolError> {
    match Code::named(&error.code) {
        Some(code) => Ok(Error {
            code,
            message: error.message,
        }),
        None => Err(ProtocolError {
            rule,
            found: format!("code {}", excerpt(error.code.as_bytes())),
        }),
    }
}
