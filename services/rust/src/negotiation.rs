//! Which representations a request allows and sends (RFC 9110 sections 8.3 and 12.5).

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use wirelab_contract::Message;

use crate::desk::Desk;
use crate::problem::Problem;
use crate::representation::Representation as _;
use wirelab_stack::Compression;

/// Proof that the request accepts what the service speaks.
#[derive(Debug)]
pub(crate) struct Acceptable;

impl FromRequestParts<Arc<Desk>> for Acceptable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, desk: &Arc<Desk>) -> Result<Self, Problem> {
        let served = desk.stack.codec.media_type();
        if accepts(&parts.headers, served) {
            return Ok(Acceptable);
        }
        let text = format!("only {served} is served here");
        Err(Problem::new(desk, StatusCode::NOT_ACCEPTABLE, text))
    }
}

/// A request's message: its body, or the empty message of a GET.
#[derive(Debug)]
pub(crate) struct Sent<M>(pub(crate) M);

impl<M: Message> FromRequest<Arc<Desk>> for Sent<M> {
    type Rejection = Problem;

    async fn from_request(request: Request, desk: &Arc<Desk>) -> Result<Self, Problem> {
        if request.method() == Method::GET {
            return Ok(Sent(M::default()));
        }
        let codec = desk.stack.codec;
        let sent = request.headers().get(header::CONTENT_TYPE);
        let essence = sent.and_then(|value| value.to_str().ok()?.split(';').next());
        if !essence.is_some_and(|text| codec.reads(text.trim())) {
            let text = format!("only {} is read here", codec.media_type());
            return Err(Problem::new(desk, StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
        }
        let plain = desk.stack.compression == Compression::None;
        if plain && content_coding(request.headers()).is_some() {
            let text = "content-encoding is not used here";
            return Err(Problem::new(desk, StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
        }
        let body = Bytes::from_request(request, desk)
            .await
            .map_err(|error| Problem::new(desk, error.status(), error.body_text()))?;
        codec
            .read(&body)
            .map(Sent)
            .map_err(|error| Problem::new(desk, StatusCode::BAD_REQUEST, error))
    }
}

/// The members of a comma-separated field, over all its lines.
fn members(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers
        .get_all(name)
        .into_iter()
        .filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .filter(|member| !member.is_empty())
}

/// A member without parameters, and whether its weight is above 0.
fn weighed(member: &str) -> (&str, bool) {
    let mut parts = member.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let weight = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        if key.trim().eq_ignore_ascii_case("q") {
            value.trim().parse::<f32>().ok()
        } else {
            None
        }
    });
    (name, weight.is_none_or(|weight| weight > 0.0))
}

/// Whether `Accept` allows `served`; the most specific range decides (RFC 9110 section 12.5.1).
fn accepts(headers: &HeaderMap, served: &str) -> bool {
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
        .map(weighed)
        .filter_map(|(range, allowed)| Some((specific(range)?, allowed)))
        .max()
        .is_some_and(|(_, allowed)| allowed)
}

/// The content coding of a message, if it has one.
pub(crate) fn content_coding(headers: &HeaderMap) -> Option<&HeaderValue> {
    headers
        .get(header::CONTENT_ENCODING)
        .filter(|coding| *coding != "identity")
}

/// Whether `Accept-Encoding` allows `coding` (RFC 9110 section 12.5.3).
pub(crate) fn accepts_coding(headers: &HeaderMap, coding: &str) -> bool {
    let named = |wanted: &str| {
        members(headers, header::ACCEPT_ENCODING)
            .map(weighed)
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, allowed)| allowed)
    };
    named(coding).or_else(|| named("*")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

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

    #[test]
    fn a_coding_is_used_only_where_it_is_allowed() {
        for (accept, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("*", true),
            ("identity", false),
            ("gzip;q=0, *", false),
            ("*;q=0", false),
        ] {
            let found = accepts_coding(&headers(header::ACCEPT_ENCODING, accept), "gzip");
            assert_eq!(found, expected, "{accept}");
        }
        assert!(!accepts_coding(&HeaderMap::new(), "gzip"));
    }
}
