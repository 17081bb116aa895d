//! How a connection of HTTP/1.1 becomes one of WebSocket (RFC 6455 section 4).

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest, Sha1};

use super::extension::{DeflateOffer, Negotiated};
use super::frame::violation;
use super::requests::is_list;
use crate::excerpt::excerpt;
use crate::http1::{self, HeadLimits, RequestError};
use crate::session::{Head, ProtocolError, Request};

/// The status of the reply that makes the connection one of WebSocket (RFC 9110 section 15.2.2).
pub const SWITCHING_PROTOCOLS: u16 = 101;

/// What a server joins to the key (RFC 6455 section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Fields that the session writes itself, besides those of HTTP/1.1.
const RESERVED_FIELDS: [&str; 5] = [
    "upgrade",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
    // A server answers with one of those that were offered, and none is supported.
    "sec-websocket-protocol",
];

/// The `Sec-WebSocket-Accept` that belongs to a `Sec-WebSocket-Key`.
#[must_use]
pub fn accept_of(key: &str) -> String {
    BASE64_STANDARD.encode(Sha1::digest(format!("{key}{GUID}")))
}

/// Checks that a request can begin a connection; [`super::WebSocket`] expects that of each.
///
/// # Errors
/// Names the first part that is at fault.
pub fn check_request(request: &Request) -> Result<(), RequestError> {
    http1::check_request(request)?;
    debug_assert!(is_list(&request.body), "a body of messages");
    let mut names = request.fields.iter().map(|(name, _)| name);
    let is_reserved = |name: &&String| {
        let mut reserved = RESERVED_FIELDS.iter();
        reserved.any(|own| name.eq_ignore_ascii_case(own))
    };
    match names.find(is_reserved) {
        Some(name) => Err(RequestError::ReservedField(name.clone())),
        None => Ok(()),
    }
}

/// A handshake under way.
#[derive(Debug)]
pub(super) struct Handshake {
    key: String,
    offer: Option<DeflateOffer>,
    /// The head of the reply, as far as it has come.
    reply: Vec<u8>,
}

/// How the server answers a handshake.
#[derive(Debug)]
pub(super) enum Answer {
    /// The head is not whole yet.
    Incomplete,
    /// Its head, and how many of the bytes lie behind it. With status 101 they are frames.
    Complete {
        head: Head,
        rest: usize,
        /// With status 101, where an extension was offered.
        negotiated: Option<Negotiated>,
    },
}

impl Handshake {
    /// With 16 random bytes.
    pub(super) fn new(random: [u8; 16], offer: Option<DeflateOffer>) -> Handshake {
        Handshake {
            key: BASE64_STANDARD.encode(random),
            offer,
            reply: Vec::new(),
        }
    }

    /// The head that asks for it.
    pub(super) fn write(&self, request: &Request, out: &mut Vec<u8>) {
        let mut asking = Request {
            method: "GET".into(),
            path: request.path.clone(),
            authority: request.authority.clone(),
            fields: request.fields.clone(),
            ..Request::default()
        };
        for (name, value) in [
            ("connection", "Upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-key", self.key.as_str()),
            ("sec-websocket-version", "13"),
        ] {
            asking.fields.push((name.to_owned(), value.to_owned()));
        }
        if let Some(offer) = self.offer {
            let name = "sec-websocket-extensions".to_owned();
            asking.fields.push((name, offer.to_string()));
        }
        out.extend(http1::write_head(&asking, &http1::Options::default()));
    }

    /// Takes what the server sent.
    pub(super) fn take(
        &mut self,
        input: &[u8],
        limits: HeadLimits,
    ) -> Result<Answer, ProtocolError> {
        let before = self.reply.len();
        self.reply.extend_from_slice(input);
        // Parsed only when it can be whole, or a head that comes byte by byte would cost the
        // square of its length.
        let is_short = self.reply.len() <= limits.bytes as usize;
        if is_short && !http1::has_empty_line(&self.reply, before) {
            return Ok(Answer::Incomplete);
        }
        let (head, bytes) = loop {
            let Some((head, bytes)) = http1::parse_upgrade(&self.reply, limits)? else {
                return Ok(Answer::Incomplete);
            };
            // RFC 9110 section 15.2: any number of 1xx may precede the final reply.
            if head.status >= 200 || head.status == SWITCHING_PROTOCOLS {
                break (head, bytes);
            }
            self.reply.drain(..bytes);
        };
        let negotiated = match head.status {
            SWITCHING_PROTOCOLS => self.check(&self.reply[..bytes], limits)?,
            _ => None,
        };
        Ok(Answer::Complete {
            head,
            rest: self.reply.len() - bytes,
            negotiated,
        })
    }

    /// RFC 6455 section 4.1, on the server's response.
    fn check(&self, head: &[u8], limits: HeadLimits) -> Result<Option<Negotiated>, ProtocolError> {
        let mut found = Fields::default();
        http1::each_field(head, limits, |name, value| found.take(name, value));
        let options = found.connection.to_ascii_lowercase();
        let mut options = options.split(',');
        let is_upgraded = found.upgrade.eq_ignore_ascii_case("websocket")
            && options.any(|option| option.trim() == "upgrade");
        if !is_upgraded {
            return Err(violation(
                "101 names the upgrade to websocket (RFC 6455 section 4.1)",
                format!(
                    "upgrade {:?}, connection {:?}",
                    found.upgrade, found.connection
                ),
            ));
        }
        if found.accept != accept_of(&self.key) {
            return Err(violation(
                "Sec-WebSocket-Accept is made from the key (RFC 6455 section 4.1)",
                excerpt(found.accept.as_bytes()),
            ));
        }
        let unasked = match self.offer {
            None if !found.extensions.is_empty() => &found.extensions,
            _ => &found.protocol,
        };
        if !unasked.is_empty() {
            return Err(violation(
                "a server takes only an extension or subprotocol that was offered (RFC 6455 section 4.1)",
                excerpt(unasked.as_bytes()),
            ));
        }
        let offer = self.offer.as_ref();
        offer
            .map(|offer| offer.answered_by(&found.extensions))
            .transpose()
    }
}

/// The fields of the reply that the standard has rules for.
#[derive(Debug, Default)]
struct Fields {
    upgrade: String,
    connection: String,
    accept: String,
    extensions: String,
    protocol: String,
}

impl Fields {
    fn take(&mut self, name: &str, value: &[u8]) {
        let field = match name.to_ascii_lowercase().as_str() {
            "upgrade" => &mut self.upgrade,
            "connection" => &mut self.connection,
            "sec-websocket-accept" => &mut self.accept,
            "sec-websocket-extensions" => &mut self.extensions,
            "sec-websocket-protocol" => &mut self.protocol,
            _ => return,
        };
        // A field that comes twice is one list (RFC 9110 section 5.3).
        if !field.is_empty() {
            field.push(',');
        }
        field.push_str(String::from_utf8_lossy(value).trim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accept_of_the_example_in_the_standard_is_right() {
        // RFC 6455 section 1.3.
        let accept = accept_of("dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
