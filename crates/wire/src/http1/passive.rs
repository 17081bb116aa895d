//! Heads and bodies for a passive reader, which sees both directions of a
//! connection and is party to neither.

use std::mem::MaybeUninit;

use super::head::{
    FIELDS_MAX, Fields, HeadLimits, find_violated_rule, parse_unsolicited, violation,
};
use crate::session::{ContentType, ProtocolError};

pub use super::chunked::{Chunked, Step};
pub use super::head::{Framing, HEAD_BYTES_MAX, has_empty_line};

/// The head of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHead<'a> {
    /// `GET`, `POST`, …
    pub method: &'a str,
    /// As written: a path and query, a whole URI, an authority, or `*`.
    pub target: &'a str,
    /// `soapaction` as written, quotes included.
    pub soap_action: Option<&'a [u8]>,
    /// `content-type`.
    pub content_type: ContentType,
    /// How the end of its body is found; never [`Framing::UntilClose`].
    pub framing: Framing,
    /// The connection ends after it (RFC 9112 section 9.3).
    pub closes: bool,
    /// Bytes of the head, its empty line included.
    pub bytes: usize,
}

/// The head of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHead {
    /// Status code.
    pub status: u16,
    /// `content-type`.
    pub content_type: ContentType,
    /// How the end of its body is found.
    pub framing: Framing,
    /// The connection ends after it (RFC 9112 section 9.3).
    pub closes: bool,
    /// Bytes of the head, its empty line included.
    pub bytes: usize,
}

/// Parses the head of the request that `input` begins with; `None` when it is
/// not whole yet.
///
/// # Errors
/// When it is none (RFC 9112 section 3), or larger than [`HEAD_BYTES_MAX`].
pub fn request(input: &[u8]) -> Result<Option<RequestHead<'_>>, ProtocolError> {
    // On the stack and not initialized: heads are parsed for every message of a
    // capture.
    let mut storage = [MaybeUninit::<httparse::Header>::uninit(); FIELDS_MAX];
    let mut request = httparse::Request::new(&mut []);
    let parsed = httparse::ParserConfig::default()
        .parse_request_with_uninit_headers(&mut request, input, &mut storage)
        .map_err(|error| violation(find_violated_rule(error), input))?;
    // A head in pieces is parsed again from its beginning, so its size must be bounded also
    // while it is incomplete.
    let bytes = match parsed {
        httparse::Status::Complete(bytes) if bytes <= HEAD_BYTES_MAX => bytes,
        httparse::Status::Partial if input.len() <= HEAD_BYTES_MAX => return Ok(None),
        _ => return Err(violation("a head within the limit of this reader", input)),
    };
    let mut fields = Fields::default();
    let mut soap_action = None;
    for field in request.headers.iter() {
        fields.take(field.name, field.value)?;
        // The length first: most names differ in it, and the comparison without case is
        // slower.
        if field.name.len() == 10 && field.name.eq_ignore_ascii_case("soapaction") {
            soap_action = Some(field.value);
        }
    }
    // RFC 9112 section 6.3, rules 4, 6 and 7: a request never ends with the connection.
    let framing = match (fields.chunked, fields.length) {
        (true, _) => Framing::Chunked,
        (false, Some(length)) => Framing::Length(length),
        (false, None) => Framing::Absent,
    };
    Ok(Some(RequestHead {
        method: request.method.unwrap_or_default(),
        target: request.path.unwrap_or_default(),
        soap_action,
        content_type: fields.content_type,
        framing,
        closes: !fields.persistent(request.version == Some(1)),
        bytes,
    }))
}

/// Parses the head of the reply that `input` begins with; `None` when it is
/// not whole yet. With `head_only` it answers a request of method HEAD.
///
/// # Errors
/// When it is none (RFC 9112 section 4), or larger than [`HEAD_BYTES_MAX`].
pub fn reply(input: &[u8], head_only: bool) -> Result<Option<ReplyHead>, ProtocolError> {
    Ok(
        parse_unsolicited(input, head_only, HeadLimits::default())?.map(|parsed| ReplyHead {
            status: parsed.head.status,
            content_type: parsed.head.content_type,
            framing: parsed.framing,
            closes: !parsed.persistent,
            bytes: parsed.bytes,
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_head_gives_the_framing_of_its_body() {
        let whole = b"POST /a HTTP/1.1\r\nSOAPAction: \"x\"\r\nContent-Length: 3\r\n\r\nabc";
        let head = request(whole).unwrap().unwrap();
        assert_eq!((head.method, head.target), ("POST", "/a"));
        assert_eq!(head.framing, Framing::Length(3));
        assert_eq!(head.soap_action, Some(&b"\"x\""[..]));
        assert_eq!(head.bytes, whole.len() - 3);
        assert_eq!(request(&whole[..20]), Ok(None));
        let absent = request(b"GET / HTTP/1.0\r\n\r\n").unwrap().unwrap();
        assert_eq!(absent.framing, Framing::Absent);
        assert!(request(b"no request\r\n\r\n").is_err());
    }

    #[test]
    fn a_head_shows_whether_the_connection_ends_after_it() {
        for (fields, closes) in [
            ("HTTP/1.1\r\n", false),
            ("HTTP/1.1\r\nConnection: close\r\n", true),
            ("HTTP/1.0\r\n", true),
            ("HTTP/1.0\r\nConnection: keep-alive\r\n", false),
        ] {
            let head = format!("GET / {fields}\r\n");
            assert_eq!(request(head.as_bytes()).unwrap().unwrap().closes, closes);
        }
        let kept = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        assert!(!reply(kept, false).unwrap().unwrap().closes);
        assert!(
            reply(b"HTTP/1.1 200 OK\r\n\r\n", false)
                .unwrap()
                .unwrap()
                .closes
        );
    }

    #[test]
    fn a_passive_reader_accepts_a_change_of_protocol() {
        let switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n";
        assert_eq!(reply(switched, false).unwrap().unwrap().status, 101);
    }
}
