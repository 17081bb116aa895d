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

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Router};
use wirelab_contract::{Contract, Operation};
use wirelab_wire_own::soap::{ContentType, Fault, Version, action_of_field};

use crate::calls::{ApplicationRefusal, Asked};
use crate::coding::{self, Refuse};
use crate::config::ServiceConfig;
use crate::desk::Desk;
use crate::http::BODY_LIMIT;
use crate::negotiation::content_coding;
use crate::spoil::Spoiler;
use crate::wsdl;
use wirelab_stack::{Compression, Security};

use envelopes::{Envelopes, Incoming, Refused, Written};

type Shared = State<Arc<Desk>>;

/// The path at which a contract is served.
pub(crate) fn path(contract: Contract) -> &'static str {
    match contract {
        Contract::Transfer => "/transfer/soap",
        Contract::Charging => "/charging/soap",
        Contract::Calendar => "/calendar/soap",
        Contract::Records => "/records/soap",
    }
}

/// The operation that a request asks for by its action, if any.
pub(crate) fn operation(asked: Asked<'_>) -> Option<Operation> {
    if asked.method != "POST" || asked.path != path(asked.contract) {
        return None;
    }
    let content_type = content_type(asked.fields)?;
    named(asked.contract, asked.fields, &content_type)
}

fn content_type(fields: &HeaderMap) -> Option<ContentType> {
    ContentType::parse(fields.get(header::CONTENT_TYPE)?.to_str().ok()?)
}

/// The operation that the action names.
fn named(contract: Contract, fields: &HeaderMap, content_type: &ContentType) -> Option<Operation> {
    let action = match content_type.version {
        Version::V11 => action_of_field(fields.get("soapaction")?.to_str().ok()?),
        Version::V12 => content_type.action.as_deref()?,
    };
    let name = action
        .strip_prefix(contract.namespace())?
        .strip_prefix('#')?;
    Operation::all_of(contract).find(|operation| !operation.streaming() && operation.name() == name)
}

/// The handlers of the contract that is served.
pub(crate) fn router(desk: &Arc<Desk>, config: &ServiceConfig) -> Router {
    let envelopes = Arc::new(Envelopes::new(config));
    let refuse: Refuse = |_, status, text| (status, text).into_response();
    let service = post(call).get(description).head(wrong_method);
    let routes = Router::new()
        .route(path(desk.contract), service)
        .fallback(|| async { (StatusCode::NOT_FOUND, "no such path") })
        .method_not_allowed_fallback(wrong_method);
    coding::layer(routes, desk, refuse)
        .layer(Extension(envelopes))
        .with_state(Arc::clone(desk))
}

async fn wrong_method() -> Response {
    let text = "call with POST; GET ?wsdl tells how";
    let allow = [(header::ALLOW, "GET, POST")];
    (StatusCode::METHOD_NOT_ALLOWED, allow, text).into_response()
}

/// The contract's WSDL, with the address at which it was asked for.
async fn description(
    State(desk): Shared,
    RawQuery(query): RawQuery,
    fields: HeaderMap,
) -> Response {
    if !query.is_some_and(|query| query.eq_ignore_ascii_case("wsdl")) {
        return wrong_method().await;
    }
    let scheme = match desk.stack.security {
        Security::None => "http",
        Security::Tls | Security::Mtls => "https",
    };
    let host = fields.get(header::HOST).and_then(|host| host.to_str().ok());
    let text = wsdl::described(desk.contract, desk.stack.codec, scheme, host);
    ([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], text).into_response()
}

async fn call(
    State(desk): Shared,
    Extension(envelopes): Extension<Arc<Envelopes>>,
    fault: Option<Extension<Spoiler>>,
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
    let plain = desk.stack.compression == Compression::None;
    if plain && content_coding(&parts.headers).is_some() {
        let text = "content-encoding is not used here";
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, text).into_response();
    }
    let body = match to_bytes(body, BODY_LIMIT).await {
        Ok(body) => body,
        Err(error) => return (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()).into_response(),
    };
    let action = named(desk.contract, &parts.headers, &content_type);
    let found = answer(&desk, &envelopes, &body, action, fault.as_deref());
    found.map_or_else(
        |refused| refusal(&desk, &envelopes, &refused),
        |reply| document(&envelopes, StatusCode::OK, reply),
    )
}

/// The reply to a request, as a document.
fn answer(
    desk: &Desk,
    envelopes: &Envelopes,
    body: &[u8],
    action: Option<Operation>,
    spoiler: Option<&Spoiler>,
) -> Result<Written, Refused> {
    let envelope = Incoming::text(body)?;
    envelopes.admit(&envelope)?;
    let Some(operation) = action else {
        let text = "the action is that of no operation here".to_owned();
        return Err(Fault::client(text).into());
    };
    envelopes.answer(desk, envelope, operation, spoiler)
}

fn refusal(desk: &Desk, envelopes: &Envelopes, refused: &Refused) -> Response {
    let status = refused.fault.status(envelopes.form.version());
    let status = StatusCode::from_u16(status).expect("a fault's status is one of HTTP");
    let mut response = document(envelopes, status, envelopes.refuse(desk, refused));
    if refused.application {
        response.extensions_mut().insert(ApplicationRefusal);
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
