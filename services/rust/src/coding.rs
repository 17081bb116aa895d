//! Compressed bodies in HTTP: a content coding (RFC 9110 section 8.4) in both
//! directions.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use crate::compression::Compressor as _;
use crate::compression::UnpackError;
use crate::desk::Desk;
use crate::http::BODY_LIMIT;
use crate::negotiation::{accepts_coding, content_coding};
use wirelab_stack::Compression;

/// Makes an answer that is no reply, in the form of the binding.
pub(crate) type Refuse = fn(&Desk, StatusCode, String) -> Response;

/// Makes `routes` read compressed requests, and compress the replies to
/// requests that allow it, where the stack has compression.
pub(crate) fn layer(
    routes: Router<Arc<Desk>>,
    desk: &Arc<Desk>,
    refuse: Refuse,
) -> Router<Arc<Desk>> {
    if desk.stack.compression == Compression::None {
        return routes;
    }
    let state = (Arc::clone(desk), refuse);
    routes.layer(middleware::from_fn_with_state(state, apply))
}

async fn apply(
    State((desk, refuse)): State<(Arc<Desk>, Refuse)>,
    request: Request,
    next: Next,
) -> Response {
    let coding = desk.stack.compression.coding();
    let compress = coding.is_some_and(|coding| accepts_coding(request.headers(), coding));
    let request = match plain(&desk, request).await {
        Ok(request) => request,
        Err((status, text)) => return refuse(&desk, status, text),
    };
    let reply = next.run(request).await;
    match coding {
        Some(coding) if compress => compressed(&desk, coding, reply).await,
        _ => reply,
    }
}

/// The request with its body decompressed.
async fn plain(desk: &Desk, request: Request) -> Result<Request, (StatusCode, String)> {
    let Some(sent) = content_coding(request.headers()) else {
        return Ok(request);
    };
    let coding = desk.stack.compression.coding().unwrap_or("identity");
    if !sent.as_bytes().eq_ignore_ascii_case(coding.as_bytes()) {
        let text = format!("the only content-encoding here is {coding}");
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, BODY_LIMIT)
        .await
        .map_err(|error| (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()))?;
    let body = desk.stack.compression.unpack(&body, BODY_LIMIT);
    let body = body.map_err(|error| match error {
        UnpackError::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
        UnpackError::Broken { .. } => (StatusCode::BAD_REQUEST, error.to_string()),
    })?;
    parts.headers.remove(header::CONTENT_ENCODING);
    parts
        .headers
        .insert(header::CONTENT_LENGTH, body.len().into());
    Ok(Request::from_parts(parts, body.into()))
}

/// The reply with its body compressed.
async fn compressed(desk: &Desk, coding: &'static str, reply: Response) -> Response {
    let (mut parts, body) = reply.into_parts();
    let plain = match to_bytes(body, usize::MAX).await {
        Ok(plain) => plain,
        Err(error) => {
            return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response();
        }
    };
    match desk.stack.compression.pack(&plain) {
        Ok(packed) => {
            let fields = &mut parts.headers;
            fields.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
            fields.insert(header::CONTENT_LENGTH, packed.len().into());
            Response::from_parts(parts, Body::from(packed))
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
