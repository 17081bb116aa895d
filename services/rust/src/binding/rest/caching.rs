//! What caches of HTTP may keep of Hello's replies (RFC 9111), by an entity tag of its text.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use wirelab_contract::model::entity_tag;
use wirelab_stack::HttpCache;

use crate::binding::http::content_coding::members;
use crate::service::state::ServiceState;

/// Fields of a reply that caches read.
#[derive(Debug)]
struct Freshness {
    tag: HeaderValue,
    /// `Cache-Control` (RFC 9111 section 5.2.2).
    control: HeaderValue,
}

impl Freshness {
    fn add_to(&self, fields: &mut HeaderMap) {
        fields.insert(header::ETAG, self.tag.clone());
        fields.insert(header::CACHE_CONTROL, self.control.clone());
    }
}

/// Lets caches keep the replies of these routes, as the stack states.
pub(crate) fn layer(
    routes: Router<Arc<ServiceState>>,
    state: &ServiceState,
) -> Router<Arc<ServiceState>> {
    let control = match state.stack.http_cache {
        HttpCache::None => return routes,
        // A cache may keep it, and asks before each use.
        HttpCache::Revalidate => "no-cache",
        HttpCache::Proxy => "public, max-age=3600",
    };
    let freshness = Arc::new(Freshness {
        tag: HeaderValue::try_from(entity_tag(state.model.text())).expect("a tag is ASCII"),
        control: HeaderValue::from_static(control),
    });
    routes.layer(middleware::from_fn_with_state(freshness, apply))
}

async fn apply(State(freshness): State<Arc<Freshness>>, request: Request, next: Next) -> Response {
    if request.method() != Method::GET {
        return next.run(request).await;
    }
    let mut reply = match is_known(request.headers(), &freshness.tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => next.run(request).await,
    };
    if matches!(reply.status(), StatusCode::OK | StatusCode::NOT_MODIFIED) {
        freshness.add_to(reply.headers_mut());
    }
    reply
}

/// Whether the caller has the reply of that tag (RFC 9110 section 13.1.2, weak comparison).
fn is_known(fields: &HeaderMap, tag: &HeaderValue) -> bool {
    let opaque = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let own = tag.to_str().map(opaque).expect("a tag is ASCII");
    members(fields, header::IF_NONE_MATCH).any(|known| known == "*" || opaque(known) == own)
}
