//! REST and SOAP over HTTP, on axum and hyper.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tower_service::Service;

use super::codec::media_types;
use super::compression::{Coding, DecompressError};
use super::contract::{ACTION, write_fault};
use super::exchange::{Exchange, Failure};
use super::options::Options;

/// Largest request body, in bytes, as received and decompressed.
pub const BODY_LIMIT: usize = 128 << 20;

/// What all calls share.
struct Shared {
    exchange: Exchange,
    media_types: &'static [&'static str],
    content_type: HeaderValue,
    coding: Option<Coding>,
    is_soap: bool,
}

/// The handlers.
pub fn router(options: &Options, exchange: Exchange) -> Router {
    let is_soap = options.binding == "soap";
    let media_types = media_types(&options.codec);
    let content_type = if is_soap {
        "text/xml; charset=utf-8"
    } else {
        media_types[0]
    };
    let shared = Arc::new(Shared {
        exchange,
        media_types,
        content_type: HeaderValue::from_static(content_type),
        coding: options.compression,
        is_soap,
    });
    let path = if is_soap { "/soap" } else { "/call" };
    let routes = Router::new()
        .route(path, post(call))
        .fallback(|| async { (StatusCode::NOT_FOUND, "no such path") })
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT));
    // Outermost, so that errors of the router are compressed like replies.
    let routes = match options.compression {
        None => routes,
        Some(coding) => routes.layer(middleware::from_fn_with_state(coding, code)),
    };
    routes.with_state(shared)
}

async fn wrong_method() -> Response {
    let allow = [(header::ALLOW, "POST")];
    (StatusCode::METHOD_NOT_ALLOWED, allow, "call with POST").into_response()
}

async fn call(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let fields = request.headers();
    if let Err(refusal) = shared.negotiate(fields) {
        return refusal;
    }
    let is_action = !shared.is_soap || is_action(fields);
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    if !is_action {
        return shared.fail(Failure::Malformed(format!("the action is not {ACTION}")));
    }
    match (shared.exchange)(&body) {
        Ok(reply) => shared.represent(StatusCode::OK, reply),
        Err(failure) => shared.fail(failure),
    }
}

impl Shared {
    /// Refuses what is not read or not wanted here (RFC 9110 sections 8.3 and 12.5).
    fn negotiate(&self, fields: &HeaderMap) -> Result<(), Response> {
        if !accepts(fields, self.media_types[0]) {
            let text = format!("only {} is served here", self.media_types[0]);
            return Err((StatusCode::NOT_ACCEPTABLE, text).into_response());
        }
        let sent = fields.get(header::CONTENT_TYPE);
        let essence = sent.and_then(|value| value.to_str().ok()?.split(';').next());
        let reads = |text: &str| {
            let mut types = self.media_types.iter();
            types.any(|of| of.eq_ignore_ascii_case(text.trim()))
        };
        // With compression the layer has removed the field already.
        let is_coded = self.coding.is_none() && content_coding(fields).is_some();
        if is_coded || !essence.is_some_and(reads) {
            let text = format!("only {} is read here", self.media_types[0]);
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, text).into_response());
        }
        Ok(())
    }

    fn represent(&self, status: StatusCode, body: Vec<u8>) -> Response {
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let content_type = self.content_type.clone();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, content_type);
        response
    }

    fn fail(&self, failure: Failure) -> Response {
        let (code, status, text) = match failure {
            Failure::Malformed(text) => ("Client", StatusCode::BAD_REQUEST, text),
            Failure::Fault(code, text) => (code, StatusCode::BAD_REQUEST, text),
            Failure::Internal(text) => ("Server", StatusCode::INTERNAL_SERVER_ERROR, text),
        };
        if self.is_soap {
            // SOAP 1.1 section 6.2.
            let fault = write_fault(code, &text);
            return self.represent(StatusCode::INTERNAL_SERVER_ERROR, fault);
        }
        (status, text).into_response()
    }
}

/// Whether the action is the operation's; none at all is not another one.
fn is_action(fields: &HeaderMap) -> bool {
    let named = fields.get("soapaction").map(HeaderValue::to_str);
    match named {
        None => true,
        Some(Ok(action)) => matches!(action.trim().trim_matches('"'), "" | ACTION),
        Some(Err(_)) => false,
    }
}

/// Undoes the content coding of a request, and codes the replies to requests that allow it.
async fn code(State(coding): State<Coding>, request: Request, next: Next) -> Response {
    // Read before the request is consumed; the reply must not be compressed for a caller that did
    // not ask (RFC 9110 section 12.5.3).
    let compress = accepts_coding(request.headers(), coding.name());
    let request = match plain(coding, request).await {
        Ok(request) => request,
        Err(refusal) => return refusal.into_response(),
    };
    let reply = next.run(request).await;
    if compress {
        pack(coding, reply).await
    } else {
        reply
    }
}

/// The request with its body decompressed.
async fn plain(coding: Coding, request: Request) -> Result<Request, (StatusCode, String)> {
    let Some(sent) = content_coding(request.headers()) else {
        return Ok(request);
    };
    if !sent
        .as_bytes()
        .eq_ignore_ascii_case(coding.name().as_bytes())
    {
        let text = format!("the only content-encoding here is {}", coding.name());
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    let (mut parts, body) = request.into_parts();
    let too_large = |text| (StatusCode::PAYLOAD_TOO_LARGE, text);
    let body = to_bytes(body, BODY_LIMIT).await;
    let body = body.map_err(|error| too_large(error.to_string()))?;
    let body = coding
        .decompress(&body, BODY_LIMIT)
        .map_err(|error| match error {
            DecompressError::TooLarge => too_large(format!("more than {BODY_LIMIT} bytes")),
            DecompressError::Broken(error) => (StatusCode::BAD_REQUEST, error.to_string()),
        })?;
    // The handler sees the request as if it had been sent plain.
    parts.headers.remove(header::CONTENT_ENCODING);
    parts
        .headers
        .insert(header::CONTENT_LENGTH, body.len().into());
    Ok(Request::from_parts(parts, body.into()))
}

/// The reply with its body compressed.
async fn pack(coding: Coding, reply: Response) -> Response {
    let (mut parts, body) = reply.into_parts();
    let broken = |error: String| (StatusCode::INTERNAL_SERVER_ERROR, error).into_response();
    let plain = match to_bytes(body, usize::MAX).await {
        Ok(plain) => plain,
        Err(error) => return broken(error.to_string()),
    };
    match coding.compress(&plain) {
        Ok(packed) => {
            let fields = &mut parts.headers;
            let name = HeaderValue::from_static(coding.name());
            fields.insert(header::CONTENT_ENCODING, name);
            fields.insert(header::CONTENT_LENGTH, packed.len().into());
            Response::from_parts(parts, Body::from(packed))
        }
        Err(error) => broken(error.to_string()),
    }
}

/// The members of a comma-separated field, over all its lines, without parameters, and whether
/// their weight is above 0.
fn members(fields: &HeaderMap, name: HeaderName) -> impl Iterator<Item = (&str, bool)> {
    let lines = fields
        .get_all(name)
        .into_iter()
        .filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .filter(|member| !member.is_empty())
        .map(parse_member)
}

fn parse_member(member: &str) -> (&str, bool) {
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
fn content_coding(fields: &HeaderMap) -> Option<&HeaderValue> {
    fields
        .get(header::CONTENT_ENCODING)
        // identity is not a coding, and clients may name it (RFC 9110 section 8.4.1).
        .filter(|coding| *coding != "identity")
}

/// Whether `Accept-Encoding` allows `coding` (RFC 9110 section 12.5.3).
fn accepts_coding(fields: &HeaderMap, coding: &str) -> bool {
    let named = |coding: &str| {
        members(fields, header::ACCEPT_ENCODING)
            .find(|(name, _)| name.eq_ignore_ascii_case(coding))
            .map(|(_, allowed)| allowed)
    };
    // An explicit entry outranks the wildcard.
    named(coding).or_else(|| named("*")).unwrap_or(false)
}

/// Whether `Accept` allows `served`; the most specific range decides (RFC 9110 section 12.5.1).
fn accepts(fields: &HeaderMap, served: &str) -> bool {
    if !fields.contains_key(header::ACCEPT) {
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
    members(fields, header::ACCEPT)
        .filter_map(|(range, allowed)| Some((specific(range)?, allowed)))
        // Tuples compare by specificity first; among equals an allowed range wins.
        .max()
        .is_some_and(|(_, allowed)| allowed)
}

/// Serves until `stop`, then until the calls in flight have ended.
///
/// # Errors
/// When the listener breaks.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    http2: bool,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    // Nothing is ever sent: each connection holds a sender, and the receiver ends when the last of
    // them is dropped.
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    let (stopping, stopped) = watch::channel(false);
    let mut stop = pin!(stop);
    loop {
        let connection = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            () = &mut stop => break,
        };
        connection.set_nodelay(true)?;
        let (router, stopped, open) = (router.clone(), stopped.clone(), open.clone());
        tokio::spawn(async move {
            serve_connection(connection, router, http2, stopped).await;
            drop(open);
        });
    }
    // The listener goes first, so that the kernel refuses new connections during the grace period.
    drop((listener, open));
    let _waiting = stopping.send(true);
    let _none = all_closed.recv().await;
    Ok(())
}

/// Answers the requests of one connection. One that breaks is the caller's affair.
async fn serve_connection(
    connection: TcpStream,
    router: Router,
    http2: bool,
    mut stopped: watch::Receiver<bool>,
) {
    let handler = service_fn(move |request: Request<Incoming>| {
        let reply = router.clone().call(request);
        async move { Ok::<_, Infallible>(reply.await.unwrap_or_else(|never| match never {})) }
    });
    let io = TokioIo::new(connection);
    macro_rules! serve {
        ($builder:expr) => {{
            let mut serving = pin!($builder.serve_connection(io, handler));
            tokio::select! {
                ended = &mut serving => drop(ended),
                _ = stopped.changed() => {
                    serving.as_mut().graceful_shutdown();
                    drop(serving.await);
                }
            }
        }};
    }
    if http2 {
        serve!(http2::Builder::new(TokioExecutor::new()));
    } else {
        serve!(http1::Builder::new());
    }
}
