//! What happens to every call before and after its handler: it is counted,
//! delayed, and suffers the fault that was chosen for it.

use std::convert::Infallible;
use std::fmt::Debug;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use tower_service::Service;
use wirelab_contract::Operation;

use crate::delay::Pauses;
use crate::faults::{Fate, FaultSwitches, Wrong};
use crate::metrics::Metrics;
use crate::orders::{Gate, Order, Orders};
use crate::reply_body::ReplyBody;
use crate::spoil::Spoiler;

/// Exit code of a fault that ends the process.
pub(crate) const FAULT_EXIT: i32 = 70;

/// What the calls of one service process share.
#[derive(Debug)]
pub(crate) struct Desk {
    /// Counters.
    pub(crate) metrics: Arc<Metrics>,
    /// Faults to commit.
    pub(crate) faults: FaultSwitches,
    /// Injected delays.
    pub(crate) pauses: Pauses,
    /// Shut while the service is frozen.
    pub(crate) gate: Arc<Gate>,
    /// Tells operations from what else is asked for.
    pub(crate) operation: fn(method: &str, path: &str) -> Option<Operation>,
    /// True when replies are gRPC's.
    pub(crate) grpc: bool,
}

/// Counts a call as in flight until it is dropped.
#[derive(Debug)]
pub(crate) struct CallGuard(Arc<Metrics>);

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Wraps the service that has the handlers.
#[derive(Debug, Clone)]
pub(crate) struct Calls<S> {
    inner: S,
    desk: Arc<Desk>,
}

impl<S> Calls<S> {
    /// Wraps `inner`.
    pub(crate) fn new(inner: S, desk: Arc<Desk>) -> Self {
        Calls { inner, desk }
    }
}

impl<S, RequestBody, B> Service<Request<RequestBody>> for Calls<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send,
    RequestBody: Send + 'static,
    B: HttpBody<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Debug,
{
    type Response = Response<ReplyBody<B>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let desk = Arc::clone(&self.desk);
        let operation = (desk.operation)(request.method().as_str(), request.uri().path());
        let number = operation.and_then(|operation| desk.metrics.begin(operation));
        let (Some(operation), Some(number)) = (operation, number) else {
            let reply = self.inner.call(request);
            return Box::pin(async move { Ok(reply.await?.map(ReplyBody::pass)) });
        };
        let guard = CallGuard(Arc::clone(&desk.metrics));
        let inner = self.inner.clone();
        Box::pin(async move { Ok(desk.answer(inner, request, operation, number, guard).await) })
    }
}

impl Desk {
    async fn answer<S, RequestBody, B>(
        &self,
        mut inner: S,
        mut request: Request<RequestBody>,
        operation: Operation,
        number: u64,
        guard: CallGuard,
    ) -> Response<ReplyBody<B>>
    where
        S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
        B: HttpBody<Data = Bytes> + Unpin,
        B::Error: Debug,
    {
        self.freeze(number);
        let fate = self.faults.fate(number);
        let orders = request
            .extensions()
            .get::<Orders>()
            .cloned()
            .unwrap_or_default();
        match fate {
            Fate::Exit => std::process::exit(FAULT_EXIT),
            Fate::Hang => {
                self.count(fate);
                return pending().await;
            }
            Fate::Reset => return self.cut(fate, &orders, Order::Reset),
            Fate::Garbage => return self.cut(fate, &orders, Order::Garbage),
            Fate::Wrong(wrong @ (Wrong::Content | Wrong::Length)) => {
                request
                    .extensions_mut()
                    .insert(Spoiler::new(wrong, &self.metrics));
            }
            Fate::Served | Fate::Endless | Fate::Close | Fate::Wrong(_) => {}
        }
        let Ok(response) = inner.call(request).await;
        self.delay().await;
        if self.is_application_error(&response) {
            self.metrics.error(operation);
        }
        let response = self.spoil(fate, response, orders).await;
        if operation == Operation::Download {
            response.map(|body| body.until_its_end(guard))
        } else {
            response
        }
    }

    /// Stops the whole service when the call chosen for it arrives.
    fn freeze(&self, number: u64) {
        if let Some(freeze) = self.faults.freeze
            && freeze.at_call.get() == number
        {
            self.metrics.fault(Fate::FREEZE);
            self.gate.shut(Duration::from_millis(freeze.ms));
        }
    }

    async fn delay(&self) {
        if let Some(us) = self.faults.delay_us {
            let real = self.pauses.pause(Duration::from_micros(us)).await;
            self.metrics.delay(real);
        }
    }

    fn count(&self, fate: Fate) {
        if let Some(fault) = fate.index() {
            self.metrics.fault(fault);
        }
    }

    /// Leaves an order for the connection. The reply only makes the library
    /// write; its bytes never leave the process.
    fn cut<B>(&self, fate: Fate, orders: &Orders, order: Order) -> Response<ReplyBody<B>> {
        self.count(fate);
        orders.give(order);
        Response::new(ReplyBody::empty())
    }

    fn is_application_error<B>(&self, response: &Response<B>) -> bool {
        if self.grpc {
            response
                .headers()
                .get(GRPC_STATUS)
                .is_some_and(|status| status == "3")
        } else {
            response.status() == StatusCode::BAD_REQUEST
        }
    }

    /// Makes a correct reply wrong where its fate is to be wrong as a whole.
    async fn spoil<B>(
        &self,
        fate: Fate,
        response: Response<B>,
        orders: Orders,
    ) -> Response<ReplyBody<B>>
    where
        B: HttpBody<Data = Bytes> + Unpin,
        B::Error: Debug,
    {
        match fate {
            Fate::Wrong(Wrong::Status) => {
                self.count(fate);
                self.wrong_status(response)
            }
            Fate::Wrong(Wrong::Trailers) => {
                self.count(fate);
                without_status(response)
            }
            Fate::Close => {
                self.count(fate);
                half(response, orders).await
            }
            Fate::Endless => {
                self.count(fate);
                endless(response)
            }
            _ => response.map(ReplyBody::pass),
        }
    }

    fn wrong_status<B>(&self, response: Response<B>) -> Response<ReplyBody<B>> {
        if !self.grpc {
            let mut response = response.map(ReplyBody::pass);
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            return response;
        }
        let mut response = Response::new(ReplyBody::empty());
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/grpc"),
        );
        headers.insert(GRPC_STATUS, HeaderValue::from_static("2"));
        headers.insert("grpc-message", HeaderValue::from_static("wrong on purpose"));
        response
    }
}

const GRPC_STATUS: &str = "grpc-status";

/// The reply without its grpc-status, wherever that stands.
fn without_status<B>(mut response: Response<B>) -> Response<ReplyBody<B>> {
    response.headers_mut().remove(GRPC_STATUS);
    response.map(ReplyBody::without_trailers)
}

/// The header of the reply, half of its body, and then a closed connection.
async fn half<B>(response: Response<B>, orders: Orders) -> Response<ReplyBody<B>>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Debug,
{
    let (parts, body) = response.into_parts();
    let size = body.size_hint();
    let whole = body
        .collect()
        .await
        .expect("replies are made in memory")
        .to_bytes();
    let first = whole.slice(..whole.len() / 2);
    Response::from_parts(parts, ReplyBody::half(first, size, orders))
}

/// The reply without an end; its length can then not be told beforehand.
fn endless<B>(mut response: Response<B>) -> Response<ReplyBody<B>> {
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.map(ReplyBody::endless)
}
