//! Why calls fail: a kind for counting, and a code for whoever decides by the cause.

use std::io;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds in which calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ErrorKind {
    /// The connection could not be made.
    Refused,
    /// The connection or the stream was reset.
    Reset,
    /// The connection ended too early.
    Closed,
    /// No complete reply in time.
    Timeout,
    /// The reply broke the protocol.
    Protocol,
    /// The reply is well-formed and not what the contract says.
    Wrong,
    /// The service answered with an error.
    Application,
    /// Still under way when the drain ended.
    Unfinished,
}

impl ErrorKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ErrorKind::Refused => "refused",
            ErrorKind::Reset => "reset",
            ErrorKind::Closed => "closed",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Protocol => "protocol",
            ErrorKind::Wrong => "wrong",
            ErrorKind::Application => "application",
            ErrorKind::Unfinished => "unfinished",
        }
    }

    /// The code of a failure whose cause is not known more closely.
    pub(crate) fn code(self) -> ErrorCode {
        match self {
            ErrorKind::Refused => ErrorCode::ConnectFailed,
            ErrorKind::Reset => ErrorCode::Reset,
            ErrorKind::Closed => ErrorCode::ConnectionClosed,
            ErrorKind::Timeout => ErrorCode::Timeout,
            ErrorKind::Protocol => ErrorCode::ProtocolError,
            ErrorKind::Wrong => ErrorCode::WrongReply,
            ErrorKind::Application => ErrorCode::ApplicationError,
            ErrorKind::Unfinished => ErrorCode::Unfinished,
        }
    }
}

/// The cause of a failed call. Programs decide by it; the texts in
/// `error_examples` are for people and may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The port was closed (ECONNREFUSED).
    ConnectionRefused,
    /// The connection could not be made for another reason.
    ConnectFailed,
    /// The connection or the stream was reset (ECONNRESET, EPIPE, RST_STREAM).
    Reset,
    /// The connection ended before the reply was complete.
    ConnectionClosed,
    /// The server ended the connection and did not process the call (GOAWAY,
    /// RFC 9113 section 6.8; CloseConnection of GIOP): it is safe to repeat.
    NotProcessed,
    /// No complete reply in time.
    Timeout,
    /// TLS was wanted, and the server answered without it.
    PeerWithoutTls,
    /// No TLS was wanted, and the server answered with a TLS record, or with
    /// an HTTP error that names HTTPS.
    PeerWantsTls,
    /// The certificate of the server is not signed by a known authority.
    CertificateUnknownIssuer,
    /// The certificate of the server is that of an authority (CA), not of a server.
    CertificateCaAsEndEntity,
    /// TLS failed for another reason.
    TlsFailed,
    /// HTTP/2 was spoken, and the server answered in HTTP/1 or with a page.
    PeerSpeaksHttp1,
    /// HTTP/1 was spoken, and the server answered in HTTP/2.
    PeerSpeaksHttp2,
    /// The reply broke the protocol in another way.
    ProtocolError,
    /// The reply is well-formed and not what the contract says.
    WrongReply,
    /// The service answered with an error.
    ApplicationError,
    /// Still under way when the drain ended.
    Unfinished,
}

/// A failure of the socket or of TLS that carries its code; the source of an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CodedError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl CodedError {
    pub(crate) fn io(kind: io::ErrorKind, code: ErrorCode, message: String) -> io::Error {
        io::Error::new(kind, CodedError { code, message })
    }
}

/// The code of a call that failed with `kind` because of `cause`.
pub(crate) fn code_of(kind: ErrorKind, cause: &io::Error) -> ErrorCode {
    let source = cause.get_ref();
    // By types and never by texts, which libraries change.
    if let Some(coded) = source.and_then(|source| source.downcast_ref::<CodedError>()) {
        return coded.code;
    }
    match source.and_then(|source| source.downcast_ref::<rustls::Error>()) {
        Some(error) => tls_code(error),
        None if cause.kind() == io::ErrorKind::ConnectionRefused => ErrorCode::ConnectionRefused,
        None => kind.code(),
    }
}

fn tls_code(error: &rustls::Error) -> ErrorCode {
    use rustls::CertificateError::{Other, UnknownIssuer};
    match error {
        rustls::Error::InvalidCertificate(UnknownIssuer) => ErrorCode::CertificateUnknownIssuer,
        // rustls has no variant for it: the cause is the error of its verifier.
        rustls::Error::InvalidCertificate(Other(other)) => {
            match other.0.downcast_ref::<webpki::Error>() {
                Some(webpki::Error::CaUsedAsEndEntity) => ErrorCode::CertificateCaAsEndEntity,
                _ => ErrorCode::TlsFailed,
            }
        }
        _ => ErrorCode::TlsFailed,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::{CertificateError, OtherError};

    use super::*;

    fn tls(error: CertificateError) -> ErrorCode {
        let error = rustls::Error::InvalidCertificate(error);
        let error = io::Error::new(io::ErrorKind::InvalidData, error);
        code_of(ErrorKind::Refused, &error)
    }

    #[test]
    fn a_cause_is_known_by_its_type_and_not_by_its_words() {
        let closed_port = io::Error::from_raw_os_error(libc::ECONNREFUSED);
        let code = code_of(ErrorKind::Refused, &closed_port);
        assert_eq!(code, ErrorCode::ConnectionRefused);
        let other = io::Error::other("Connection refused");
        let code = code_of(ErrorKind::Refused, &other);
        assert_eq!(code, ErrorCode::ConnectFailed);
        let coded = CodedError::io(
            io::ErrorKind::Unsupported,
            ErrorCode::PeerWithoutTls,
            String::new(),
        );
        let code = code_of(ErrorKind::Protocol, &coded);
        assert_eq!(code, ErrorCode::PeerWithoutTls);
    }

    #[test]
    fn certificates_are_refused_with_the_reason_of_the_verifier() {
        let unknown = tls(CertificateError::UnknownIssuer);
        assert_eq!(unknown, ErrorCode::CertificateUnknownIssuer);
        let other = OtherError(Arc::new(webpki::Error::CaUsedAsEndEntity));
        let authority = tls(CertificateError::Other(other));
        assert_eq!(authority, ErrorCode::CertificateCaAsEndEntity);
        let expired = tls(CertificateError::Expired);
        assert_eq!(expired, ErrorCode::TlsFailed);
    }
}
