//! Compressed bodies in HTTP: a content coding (RFC 9110 section 8.4) in both
//! directions.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use hyper::body::Frame;

use crate::binding::http::BODY_LIMIT;
use crate::codec::compression::{Compressor as _, DecompressError, StreamCompressor};
use crate::service::state::ServiceState;
use wirelab_stack::Compression;

/// Marks a response whose body comes over time, in frames of one item each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IsStreamed;

/// Makes an answer that is not a reply, in the form of the binding.
pub(crate) type Refuse = fn(&ServiceState, StatusCode, String) -> Response;

/// Makes `routes` read compressed requests, and compress the replies to
/// requests that allow it, where the stack has compression.
pub(crate) fn layer(
    routes: Router<Arc<ServiceState>>,
    state: &Arc<ServiceState>,
    refuse: Refuse,
) -> Router<Arc<ServiceState>> {
    if state.stack.compression == Compression::None {
        return routes;
    }
    let state = (Arc::clone(state), refuse);
    routes.layer(middleware::from_fn_with_state(state, apply))
}

async fn apply(
    State((state, refuse)): State<(Arc<ServiceState>, Refuse)>,
    request: Request,
    next: Next,
) -> Response {
    let coding = state.stack.compression.coding();
    // Read before the request is consumed; the reply must not be compressed for a caller that did
    // not ask (RFC 9110 section 12.5.3).
    let compress = coding.is_some_and(|coding| accepts_coding(request.headers(), coding));
    let request = match plain(&state, request).await {
        Ok(request) => request,
        Err((status, text)) => return refuse(&state, status, text),
    };
    let reply = next.run(request).await;
    match coding {
        Some(coding) if compress => compress_reply(&state, coding, reply).await,
        _ => reply,
    }
}

/// The request with its body decompressed.
async fn plain(state: &ServiceState, request: Request) -> Result<Request, (StatusCode, String)> {
    // A plain request is read too: compression is an offer to the client (RFC 9110 section
    // 12.5.3).
    let Some(sent) = content_coding(request.headers()) else {
        return Ok(request);
    };
    let coding = state.stack.compression.coding().unwrap_or("identity");
    if !sent.as_bytes().eq_ignore_ascii_case(coding.as_bytes()) {
        let text = format!("the only content-encoding here is {coding}");
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, BODY_LIMIT)
        .await
        .map_err(|error| (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()))?;
    let body = state.stack.compression.decompress(&body, BODY_LIMIT);
    let body = body.map_err(|error| match error {
        // A bomb is too large, not malformed: 413 shows the client that less would pass.
        DecompressError::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
        DecompressError::Broken { .. } => (StatusCode::BAD_REQUEST, error.to_string()),
    })?;
    // Handlers see the request as if it had been sent plain.
    parts.headers.remove(header::CONTENT_ENCODING);
    parts
        .headers
        .insert(header::CONTENT_LENGTH, body.len().into());
    Ok(Request::from_parts(parts, body.into()))
}

/// The reply with its body compressed.
async fn compress_reply(state: &ServiceState, coding: &'static str, reply: Response) -> Response {
    let (mut parts, body) = reply.into_parts();
    if parts.extensions.get::<IsStreamed>().is_some() {
        let fields = &mut parts.headers;
        fields.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        let packed = PackedItems::new(body, state.stack.compression);
        return Response::from_parts(parts, Body::new(packed));
    }
    // Replies are made in memory and bounded by the contract, so no limit is needed here.
    let plain = match to_bytes(body, usize::MAX).await {
        Ok(plain) => plain,
        Err(error) => {
            return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
        }
    };
    // 204 and 404 of petclinic have no content, which therefore has no coding either.
    if plain.is_empty() && parts.status != StatusCode::OK {
        return Response::from_parts(parts, Body::empty());
    }
    match state.stack.compression.compress(&plain) {
        Ok(packed) => {
            let fields = &mut parts.headers;
            fields.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
            fields.insert(header::CONTENT_LENGTH, packed.len().into());
            Response::from_parts(parts, Body::from(packed))
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// A body whose frames are compressed as they come: the client can read each when it has it.
struct PackedItems {
    plain: Body,
    /// None: the end of the compressed body was given.
    packer: Option<StreamCompressor>,
}

impl PackedItems {
    fn new(plain: Body, compression: Compression) -> Self {
        PackedItems {
            plain,
            packer: Some(StreamCompressor::new(compression)),
        }
    }

    /// What the next frame of the plain body makes of the compressed one.
    fn pack(&mut self, plain: Option<Bytes>) -> Option<io::Result<Frame<Bytes>>> {
        let packed = match plain {
            Some(plain) => self.packer.as_mut()?.push(&plain),
            None => self.packer.take()?.finish(),
        };
        Some(packed.map(|packed| Frame::data(packed.into())))
    }
}

impl HttpBody for PackedItems {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let plain = match ready!(Pin::new(&mut self.plain).poll_frame(context)) {
            Some(Ok(frame)) => frame.into_data().ok(),
            Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
            None => None,
        };
        let packed = self.pack(plain);
        Poll::Ready(packed.map(|packed| packed.map_err(Into::into)))
    }
}

/// The members of a comma-separated field, over all its lines.
pub(crate) fn members(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
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
pub(crate) fn parse_member(member: &str) -> (&str, bool) {
    let mut parts = member.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    // Without a weight a member counts as 1 (RFC 9110 section 12.4.2).
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

/// The content coding of a message, if it has one.
pub(crate) fn content_coding(headers: &HeaderMap) -> Option<&HeaderValue> {
    headers
        .get(header::CONTENT_ENCODING)
        // identity is not a coding, and clients may name it (RFC 9110 section 8.4.1).
        .filter(|coding| *coding != "identity")
}

/// Whether `Accept-Encoding` allows `coding` (RFC 9110 section 12.5.3).
pub(crate) fn accepts_coding(headers: &HeaderMap, coding: &str) -> bool {
    let named = |coding: &str| {
        members(headers, header::ACCEPT_ENCODING)
            .map(parse_member)
            .find(|(name, _)| name.eq_ignore_ascii_case(coding))
            .map(|(_, allowed)| allowed)
    };
    // An explicit entry outranks the wildcard (RFC 9110 section 12.5.3).
    named(coding).or_else(|| named("*")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
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
