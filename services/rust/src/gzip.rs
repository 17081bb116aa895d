//! Compressed bodies in REST: gzip (RFC 1952) as the content coding of RFC 9110.

use std::io::{self, Read, Write};
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::negotiation::{Problem, accepts_gzip};
use crate::rest::{BODY_LIMIT, Store};

/// Level of compression, zlib's and most libraries' default.
pub(crate) const LEVEL: u32 = 6;

type Shared = State<Arc<Store>>;

/// Reads compressed requests, and compresses the replies to requests that allow it.
pub(crate) async fn apply(State(store): Shared, request: Request, next: Next) -> Response {
    let compress = accepts_gzip(request.headers());
    let request = match plain(&store, request).await {
        Ok(request) => request,
        Err(problem) => return problem.into_response(),
    };
    let reply = next.run(request).await;
    if compress {
        compressed(reply).await
    } else {
        reply
    }
}

/// The content coding of a message, if it has one.
pub(crate) fn coding(headers: &HeaderMap) -> Option<&HeaderValue> {
    headers
        .get(header::CONTENT_ENCODING)
        .filter(|coding| *coding != "identity")
}

fn unsupported(store: &Store, text: &str) -> Problem {
    Problem::new(store.codec(), StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
}

/// The request with its body decompressed.
async fn plain(store: &Store, request: Request) -> Result<Request, Problem> {
    let Some(coding) = coding(request.headers()) else {
        return Ok(request);
    };
    if !coding.as_bytes().eq_ignore_ascii_case(b"gzip") {
        return Err(unsupported(store, "the only content-encoding here is gzip"));
    }
    let problem = |status, text: String| Problem::new(store.codec(), status, text);
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, BODY_LIMIT)
        .await
        .map_err(|error| problem(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()))?;
    let body = decompress(&body)
        .map_err(|error| problem(StatusCode::BAD_REQUEST, format!("gzip: {error}")))?;
    if body.len() > BODY_LIMIT {
        let text = format!("more than {BODY_LIMIT} bytes when decompressed");
        return Err(problem(StatusCode::PAYLOAD_TOO_LARGE, text));
    }
    parts.headers.remove(header::CONTENT_ENCODING);
    parts
        .headers
        .insert(header::CONTENT_LENGTH, body.len().into());
    Ok(Request::from_parts(parts, body.into()))
}

/// Decompresses, but not further than just beyond the limit.
fn decompress(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    MultiGzDecoder::new(body)
        .take(BODY_LIMIT as u64 + 1)
        .read_to_end(&mut plain)?;
    Ok(plain)
}

/// The reply with its body compressed.
async fn compressed(reply: Response) -> Response {
    let (mut parts, body) = reply.into_parts();
    let plain = match to_bytes(body, usize::MAX).await {
        Ok(plain) => plain,
        Err(error) => {
            return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
        }
    };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    let packed = encoder.write_all(&plain).and_then(|()| encoder.finish());
    match packed {
        Ok(packed) => {
            parts
                .headers
                .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            parts
                .headers
                .insert(header::CONTENT_LENGTH, packed.len().into());
            Response::from_parts(parts, Body::from(packed))
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
