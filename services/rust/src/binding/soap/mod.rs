//! `soap@rust`: every contract in SOAP 1.1 and 1.2 over HTTP, on axum and hyper, with
//! envelopes by quick-xml.

mod encoded;
pub(crate) mod envelopes;
mod head;
mod header_blocks;
mod references;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod writer;
mod wsdl;

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use wirelab_contract::{Contract, Operation};
use wirelab_wire_own::soap::{ContentType, Fault, Version, action_of_field};

use crate::binding::http::BODY_LIMIT;
use crate::binding::http::calls::{IsApplicationError, RequestTarget};
use crate::binding::http::content_coding::{self, Refuse, content_coding as content_coding_of};
use crate::documents::config::ServiceConfig;
use crate::service::corruption::Corruptor;
use crate::service::state::ServiceState;
use wirelab_stack::{Compression, Security};

use envelopes::{Envelopes, Incoming, Refused, Written};

type Shared = State<Arc<ServiceState>>;

/// The path at which a contract is served.
pub(crate) fn path(contract: Contract) -> &'static str {
    match contract {
        Contract::Transfer => "/transfer/soap",
        Contract::Charging => "/charging/soap",
        Contract::Calendar => "/calendar/soap",
        Contract::Records => "/records/soap",
        Contract::Petclinic => "/petclinic/soap",
        Contract::Stream => "/stream/soap",
    }
}

/// The operation that a request asks for by its action, if any.
pub(crate) fn operation(target: RequestTarget<'_>) -> Option<Operation> {
    if target.method != "POST" || target.path != path(target.contract) {
        return None;
    }
    let content_type = content_type(target.fields)?;
    find_operation(target.contract, target.fields, &content_type)
}

fn content_type(fields: &HeaderMap) -> Option<ContentType> {
    ContentType::parse(fields.get(header::CONTENT_TYPE)?.to_str().ok()?)
}

/// The operation that the action names.
fn find_operation(
    contract: Contract,
    fields: &HeaderMap,
    content_type: &ContentType,
) -> Option<Operation> {
    let action = match content_type.version {
        // A field of its own in SOAP 1.1 (section 6.1.1), a parameter of the media type in SOAP 1.2
        // (RFC 3902).
        Version::V11 => action_of_field(fields.get("soapaction")?.to_str().ok()?),
        Version::V12 => content_type.action.as_deref()?,
    };
    let name = action
        .strip_prefix(contract.namespace())?
        .strip_prefix('#')?;
    Operation::all_of(contract).find(|operation| !operation.streaming() && operation.name() == name)
}

/// The handlers of the contract that is served.
pub(crate) fn router(state: &Arc<ServiceState>, config: &ServiceConfig) -> Router {
    let envelopes = Arc::new(Envelopes::new(config));
    let refuse: Refuse = |_, status, text| (status, text).into_response();
    let service = post(call).get(description).head(wrong_method);
    let routes = Router::new()
        .route(path(state.contract), service)
        .fallback(|| async { (StatusCode::NOT_FOUND, "no such path") })
        .method_not_allowed_fallback(wrong_method);
    // Faults are compressed like replies: both are bodies to HTTP.
    content_coding::layer(routes, state, refuse)
        .layer(Extension(envelopes))
        .with_state(Arc::clone(state))
}

async fn wrong_method() -> Response {
    let text = "call with POST; GET ?wsdl returns the description";
    let allow = [(header::ALLOW, "GET, POST")];
    (StatusCode::METHOD_NOT_ALLOWED, allow, text).into_response()
}

/// The contract's WSDL, with the address at which it was asked for.
async fn description(
    State(state): Shared,
    RawQuery(query): RawQuery,
    uri: Uri,
    fields: HeaderMap,
) -> Response {
    // `?wsdl` is a convention of the toolkits, in either case.
    if !query.is_some_and(|query| query.eq_ignore_ascii_case("wsdl")) {
        return wrong_method().await;
    }
    let scheme = match state.stack.security {
        Security::None => "http",
        Security::Tls | Security::Mtls => "https",
    };
    // Clients generate their endpoint from it, so it must be the address that they reached.
    // In HTTP/2 it is part of the target, and Host is absent (RFC 9113, section 8.3.1).
    let named = fields.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = uri
        .authority()
        .map_or(named, |authority| Some(authority.as_str()));
    let text = wsdl::describe(state.contract, state.stack.codec, scheme, host);
    ([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], text).into_response()
}

async fn call(
    State(state): Shared,
    Extension(envelopes): Extension<Arc<Envelopes>>,
    fault: Option<Extension<Corruptor>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let Some(content_type) = content_type(&parts.headers) else {
        let text = format!(
            "only {} is read here",
            envelopes.form.version().reply_type()
        );
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, text).into_response();
    };
    // With compression the layer has removed the field already.
    let plain = state.stack.compression == Compression::None;
    if plain && content_coding_of(&parts.headers).is_some() {
        let text = "content-encoding is not used here";
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, text).into_response();
    }
    let body = match to_bytes(body, BODY_LIMIT).await {
        Ok(body) => body,
        Err(error) => return (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()).into_response(),
    };
    // Not yet an error where it names nothing: the envelope may have the more telling fault.
    let action = find_operation(state.contract, &parts.headers, &content_type);
    let found = answer(&state, &envelopes, &body, action, fault.as_deref());
    found.await.map_or_else(
        |refused| refusal(&state, &envelopes, &refused),
        |reply| document(&envelopes, StatusCode::OK, reply),
    )
}

/// The reply to a request, as a document.
async fn answer(
    state: &ServiceState,
    envelopes: &Envelopes,
    body: &[u8],
    action: Option<Operation>,
    corruptor: Option<&Corruptor>,
) -> Result<Written, Refused> {
    // In this order: a version mismatch also explains an action that cannot be read.
    let envelope = Incoming::text(body)?;
    envelopes.admit(&envelope)?;
    let Some(operation) = action else {
        let text = "the action is that of no operation here".to_owned();
        return Err(Fault::client(text).into());
    };
    envelopes
        .answer(state, envelope, operation, corruptor)
        .await
}

fn refusal(state: &ServiceState, envelopes: &Envelopes, refused: &Refused) -> Response {
    let status = refused.fault.status(envelopes.form.version());
    let status = StatusCode::from_u16(status).expect("a fault's status is one of HTTP");
    let mut response = document(envelopes, status, envelopes.refuse(state, refused));
    if refused.application {
        response.extensions_mut().insert(IsApplicationError);
    }
    response
}

fn document(envelopes: &Envelopes, status: StatusCode, written: Written) -> Response {
    let Written::Text(text) = written else {
        unreachable!("only raw carries tokens");
    };
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let content_type = envelopes.form.version().reply_type();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
