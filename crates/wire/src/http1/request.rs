//! The header section of a request (RFC 9112 sections 3 and 5), written once and kept.

use std::sync::Arc;

use super::options::{Options, Version};
use crate::session::Request;

const USER_AGENT: &str = concat!("wirelab/", env!("CARGO_PKG_VERSION"));

/// Fields that the session writes itself.
const RESERVED_FIELDS: [&str; 4] = ["host", "content-length", "connection", "transfer-encoding"];

/// A request that cannot be written without breaking HTTP/1.1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Not a token, or `CONNECT`, which asks for a tunnel.
    #[error("method {0:?}: must be a token of RFC 9110 section 5.6.2 and not CONNECT")]
    Method(String),
    /// Not in origin form.
    #[error("path {0:?}: must start with / and hold visible ASCII only (RFC 9112 section 3.2.1)")]
    Path(String),
    /// Not a host with an optional port.
    #[error("authority {0:?}: must be host or host:port in visible ASCII (RFC 9110 section 7.2)")]
    Authority(String),
    /// The session writes this field.
    #[error("field {0:?}: is written by the session itself; leave it out")]
    ReservedField(String),
    /// Not a token.
    #[error("field {0:?}: its name must be a token (RFC 9110 section 5.1)")]
    FieldName(String),
    /// Could end the line or the head.
    #[error("field {0:?}: its value must not hold CR, LF or NUL (RFC 9110 section 5.5)")]
    FieldValue(String),
}

/// Checks that a request can be written as HTTP/1.x; [`super::Http1`] expects
/// that of every request it is given.
///
/// # Errors
/// Names the first part that is at fault.
pub fn check_request(request: &Request) -> Result<(), RequestError> {
    // After CONNECT the connection is a tunnel and carries no further reply.
    if !is_token(&request.method) || request.method == "CONNECT" {
        return Err(RequestError::Method(request.method.clone()));
    }
    // Also guards against request splitting: a space or CR in a path would end the request
    // line.
    if !request.path.starts_with('/') || !is_visible(&request.path) {
        return Err(RequestError::Path(request.path.clone()));
    }
    if !is_visible(&request.authority) {
        return Err(RequestError::Authority(request.authority.clone()));
    }
    for (name, value) in &request.fields {
        if RESERVED_FIELDS
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own))
        {
            return Err(RequestError::ReservedField(name.clone()));
        }
        if !is_token(name) {
            return Err(RequestError::FieldName(name.clone()));
        }
        // These bytes would end the line and inject fields (RFC 9110 section 5.5).
        if value.contains(['\r', '\n', '\0']) {
            return Err(RequestError::FieldValue(name.clone()));
        }
    }
    Ok(())
}

fn is_visible(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// RFC 9110 section 5.6.2.
fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}

/// The head of `request`, up to and with the empty line.
pub(crate) fn write_head(request: &Request, options: &Options) -> Vec<u8> {
    let version = match options.version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
    };
    // Host first, as RFC 9110 section 7.2 recommends.
    let mut head = format!(
        "{} {} {version}\r\nHost: {}\r\n",
        request.method, request.path, request.authority
    );
    let mut field = |name: &str, value: &str| {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    };
    if !request
        .fields
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("user-agent"))
    {
        field("User-Agent", USER_AGENT);
    }
    // RFC 9112 section 9.3: only the non-default persistence of each version is announced.
    match (options.version, options.close) {
        (Version::Http11, true) => field("Connection", "close"),
        (Version::Http10, false) => field("Connection", "keep-alive"),
        (Version::Http11, false) | (Version::Http10, true) => {}
    }
    for (name, value) in &request.fields {
        field(name, value);
    }
    if sends_content_length(request) {
        field("Content-Length", &request.body.len().to_string());
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// RFC 9110 section 8.6: also without a body where the method expects one.
fn sends_content_length(request: &Request) -> bool {
    !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH")
}

/// Different requests whose heads are remembered: more than the operations of any contract,
/// which a mix calls in turn.
const CACHED_HEADERS_MAX: usize = 64;

/// The heads of one session's requests by [`Request::id`].
#[derive(Debug, Default)]
pub(super) struct HeaderCache {
    known: Vec<(u64, Arc<[u8]>)>,
}

impl HeaderCache {
    pub(super) fn of(&mut self, request: &Request, options: &Options) -> Arc<[u8]> {
        if let Some((_, head)) = self.known.iter().find(|(id, _)| *id == request.id) {
            return Arc::clone(head);
        }
        let head: Arc<[u8]> = write_head(request, options).into();
        // The oldest goes first.
        if self.known.len() == CACHED_HEADERS_MAX {
            // Lengths of bodies that carry numbers move on as these grow.
            self.known.remove(0);
        }
        self.known.push((request.id, Arc::clone(&head)));
        head
    }
}
