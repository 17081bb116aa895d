//! Streams of items over HTTP without gRPC: lines of JSON (`rest`) and events (`sse`)
//! (contracts/README.md, stream).

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response, Sse};
use axum::routing::post;
use futures_util::{Stream, StreamExt};
use wirelab_contract::stream::{FeedRequest, Item};
use wirelab_contract::streams::Pushed;
use wirelab_stack::Binding;

use super::error_response::ErrorResponse;
use super::negotiation::{Content, accepts, is_content};
use super::{Fault, represent};
use crate::binding::http::content_coding::IsStreamed;
use crate::codec::Representation as _;
use crate::service::CallError;
use crate::service::corruption::{Corruptor, corrupt};
use crate::service::feed::{Feed, ITEM_BYTES_MAX, SentItems};
use crate::service::state::ServiceState;

const LINES: &str = "application/x-ndjson";
const EVENTS: &str = "text/event-stream";

/// The routes of the contract.
pub(super) fn routes(binding: Binding) -> Router<Arc<ServiceState>> {
    match binding {
        Binding::Sse => Router::new().route("/stream/feed", post(feed_events)),
        _ => Router::new()
            .route("/stream/feed", post(feed_lines))
            .route("/stream/push", post(push)),
    }
}

async fn feed_lines(
    State(state): State<Arc<ServiceState>>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    let items = SentItems::new(feed(&state, request, LINES).await?, state.stack.flush);
    let lines = items.map(|item| Ok::<_, Infallible>(line(&item)));
    let mut response = Body::from_stream(lines).into_response();
    let media_type = HeaderValue::from_static(LINES);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, media_type);
    response.extensions_mut().insert(IsStreamed);
    Ok(response)
}

fn line(item: &Item) -> Bytes {
    let mut line = serde_json::to_vec(item).expect("an item can be written");
    line.push(b'\n');
    line.into()
}

async fn feed_events(
    State(state): State<Arc<ServiceState>>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    let items = SentItems::new(feed(&state, request, EVENTS).await?, state.stack.flush);
    let events = items.map(|item| {
        let event = Event::default().id(item.index.to_string());
        Ok::<_, Infallible>(event.json_data(&item).expect("an item can be written"))
    });
    let mut response = Sse::new(events).into_response();
    response.extensions_mut().insert(IsStreamed);
    Ok(response)
}

/// The items that a request asks for.
async fn feed(
    state: &Arc<ServiceState>,
    mut request: Request,
    served: &str,
) -> Result<impl Stream<Item = Item> + use<>, ErrorResponse> {
    require_accepted(state, request.headers(), served)?;
    let fault: Option<Corruptor> = request.extensions_mut().remove();
    let content = Content::from_request(request, state).await?;
    let read = state.stack.codec.read::<FeedRequest>(content.bytes());
    let request = read.map_err(|error| ErrorResponse::malformed(state, error))?;
    let items = Feed::new(&request, &state.metrics);
    let items = items.map_err(|error| ErrorResponse::of_call(state, error.into()))?;
    // Only the first item is corrupted: one wrong byte is enough to be found.
    Ok(items.map(move |item| match item.index {
        0 => corrupt(item, fault.as_ref()),
        _ => item,
    }))
}

fn require_accepted(
    state: &ServiceState,
    headers: &HeaderMap,
    served: &str,
) -> Result<(), ErrorResponse> {
    match accepts(headers, served) {
        true => Ok(()),
        false => {
            let text = format!("only {served} is served here");
            Err(ErrorResponse::new(state, StatusCode::NOT_ACCEPTABLE, text))
        }
    }
}

async fn push(
    State(state): State<Arc<ServiceState>>,
    fault: Fault,
    request: Request,
) -> Result<Response, ErrorResponse> {
    let codec = state.stack.codec;
    require_accepted(&state, request.headers(), codec.media_type())?;
    if !is_content(request.headers(), |media_type| {
        media_type.eq_ignore_ascii_case(LINES)
    }) {
        let text = format!("only {LINES} is read here");
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(ErrorResponse::new(&state, status, text));
    }
    let reply = take_lines(&state, request.into_body()).await?.reply();
    let reply = corrupt(reply, fault.as_deref());
    Ok(represent(&state, codec.write(&reply)))
}

/// Takes each line as it comes; of the body only the line under way is kept.
async fn take_lines(state: &ServiceState, body: Body) -> Result<Pushed, ErrorResponse> {
    let (mut pushed, mut kept) = (Pushed::default(), Vec::new());
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| ErrorResponse::malformed(state, error.to_string()))?;
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            kept.extend_from_slice(piece);
            if kept.len() > ITEM_BYTES_MAX {
                let text = format!("a line has at most {ITEM_BYTES_MAX} bytes");
                let status = StatusCode::PAYLOAD_TOO_LARGE;
                return Err(ErrorResponse::new(state, status, text));
            }
            if piece.ends_with(b"\n") {
                take_line(state, &mut pushed, &kept)?;
                kept.clear();
            }
        }
    }
    // The last line may lack its end.
    if !kept.is_empty() {
        take_line(state, &mut pushed, &kept)?;
    }
    Ok(pushed)
}

fn take_line(state: &ServiceState, pushed: &mut Pushed, line: &[u8]) -> Result<(), ErrorResponse> {
    let item = state.stack.codec.read::<Item>(line);
    let item = item.map_err(|error| ErrorResponse::malformed(state, error))?;
    let taken = pushed.take(&item);
    taken.map_err(|error| ErrorResponse::of_call(state, CallError::from(error)))
}
