//! Which representations a request allows and sends (RFC 9110 sections 8.3 and 12.5).

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};

use crate::binding::http::content_coding::{content_coding, members, parse_member};
use crate::binding::rest::error_response::ErrorResponse;
use crate::codec::Representation as _;
use crate::service::any_operation::MessageForm;
use crate::service::rows::AnyMessage;
use crate::service::state::ServiceState;
use wirelab_stack::Compression;

/// Proof that the request accepts what the service speaks.
#[derive(Debug)]
pub(crate) struct Acceptable;

impl FromRequestParts<Arc<ServiceState>> for Acceptable {
    type Rejection = ErrorResponse;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &Arc<ServiceState>,
    ) -> Result<Self, ErrorResponse> {
        let served = state.stack.codec.media_type();
        if accepts(&parts.headers, served) {
            return Ok(Acceptable);
        }
        let text = format!("only {served} is served here");
        Err(ErrorResponse::new(state, StatusCode::NOT_ACCEPTABLE, text))
    }
}

/// The content of a request; none in a GET or DELETE.
#[derive(Debug)]
pub(crate) struct Content(Option<Bytes>);

impl FromRequest<Arc<ServiceState>> for Content {
    type Rejection = ErrorResponse;

    async fn from_request(
        request: Request,
        state: &Arc<ServiceState>,
    ) -> Result<Self, ErrorResponse> {
        if matches!(*request.method(), Method::GET | Method::DELETE) {
            // Content has no meaning there (RFC 9110 sections 9.3.1 and 9.3.5): the fields of the
            // request message, where it has any, are in the path.
            return Ok(Content(None));
        }
        let unsupported = |text| {
            Err(ErrorResponse::new(
                state,
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                text,
            ))
        };
        let codec = state.stack.codec;
        if !is_content(request.headers(), |media_type| codec.reads(media_type)) {
            return unsupported(format!("only {} is read here", codec.media_type()));
        }
        let plain = state.stack.compression == Compression::None;
        if plain && content_coding(request.headers()).is_some() {
            return unsupported("content-encoding is not used here".to_owned());
        }
        let body = Bytes::from_request(request, state)
            .await
            .map_err(|error| ErrorResponse::new(state, error.status(), error.body_text()))?;
        Ok(Content(Some(body)))
    }
}

impl Content {
    /// The bytes, if there is content.
    pub(crate) fn body(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    /// The bytes; empty where there is none.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The request's message: the content, or the empty message where there is none.
    ///
    /// # Errors
    /// The answer to content that is not the message.
    pub(crate) fn read(
        &self,
        state: &ServiceState,
        form: &MessageForm,
    ) -> Result<AnyMessage, ErrorResponse> {
        match &self.0 {
            None => Ok((form.empty)()),
            Some(body) => {
                let read = (form.read)(state.stack.codec, body);
                read.map_err(|error| ErrorResponse::malformed(state, error))
            }
        }
    }
}

/// Whether the content of a message has a media type that `is_read` takes, parameters aside.
pub(super) fn is_content(headers: &HeaderMap, is_read: impl Fn(&str) -> bool) -> bool {
    let sent = headers.get(header::CONTENT_TYPE);
    let essence = sent.and_then(|value| value.to_str().ok()?.split(';').next());
    essence.is_some_and(|text| is_read(text.trim()))
}

/// Whether `Accept` allows `served`; the most specific range decides (RFC 9110 section 12.5.1).
pub(super) fn accepts(headers: &HeaderMap, served: &str) -> bool {
    if !headers.contains_key(header::ACCEPT) {
        return true;
    }
    let group = served.split_once('/').map_or("", |(group, _)| group);
    let specific = |range: &str| {
        if range.eq_ignore_ascii_case(served) {
            Some(2)
        } else if range == "*/*" {
            Some(0)
        } else {
            let of_group = range.strip_suffix("/*")?;
            of_group.eq_ignore_ascii_case(group).then_some(1)
        }
    };
    members(headers, header::ACCEPT)
        .map(parse_member)
        .filter_map(|(range, allowed)| Some((specific(range)?, allowed)))
        // Tuples compare by specificity first; among equals an allowed range wins.
        .max()
        .is_some_and(|(_, allowed)| allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn the_most_specific_range_decides() {
        for (accept, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("*/*", true),
            ("application/*;q=0.1", true),
            ("text/html, application/json;q=0.9", true),
            ("text/html", false),
            ("application/xml, text/*", false),
            ("*/*, application/json;q=0", false),
            ("application/*;q=0, application/json", true),
            ("", false),
        ] {
            let found = accepts(&headers(header::ACCEPT, accept), "application/json");
            assert_eq!(found, expected, "{accept}");
        }
        assert!(accepts(&HeaderMap::new(), "application/json"));
    }
}
