//! `connect@rust`: every contract over the Connect protocol, on connectrpc, axum and hyper.
//!
//! The library's generated code finds a handler by the name of its method, and hands it bytes. The
//! dispatcher here does the same for the table of operations, whose messages are those of prost.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use connectrpc::dispatcher::{RequestStream, StreamingResult, UnaryResult};
use connectrpc::{
    CodecFormat, CompressionRegistry, ConnectError, ConnectRpcService, Dispatcher, EncodedBody,
    EncodedResponse, EncodedStream, GzipProvider, Limits, MethodDescriptor, Payload,
    RequestContext,
};
use futures_util::{Stream, StreamExt, stream};
use tower_service::Service;
use wirelab_contract::stream::{FeedRequest, Item};
use wirelab_contract::streams::{Pushed, Taken};
use wirelab_contract::{ApplicationError, DATABASE_UNAVAILABLE, Operation};
use wirelab_stack::{Codec, Compression};

use crate::binding::http::BODY_LIMIT;
use crate::binding::http::calls::{IsApplicationError, RequestTarget};
use crate::codec::Representation as _;
use crate::service::CallError;
use crate::service::any_operation::AnyOperation;
use crate::service::corruption::{Corruptor, corrupt, corrupt_text};
use crate::service::feed::{self, Feed};
use crate::service::state::ServiceState;

/// The operation that a request asks for, if any: its path is that of gRPC.
pub(crate) fn operation(target: RequestTarget<'_>) -> Option<Operation> {
    let found = super::grpc::operation(target);
    found.filter(|operation| is_served(*operation))
}

/// The streams of transfer exist in gRPC only (contracts/README.md, Connect).
fn is_served(operation: Operation) -> bool {
    !operation.streaming() || operation.has_items()
}

/// The content type of an operation's requests and replies.
pub(crate) fn content_type(codec: Codec, operation: Operation) -> &'static str {
    match (codec, operation.streaming()) {
        (Codec::Json, false) => "application/json",
        (Codec::Json, true) => "application/connect+json",
        (_, false) => "application/proto",
        (_, true) => "application/connect+proto",
    }
}

/// What the handler of requests needs.
struct Endpoint {
    state: Arc<ServiceState>,
    service: ConnectRpcService<Operations>,
}

/// The handler of the contract that is served.
pub(crate) fn router(state: &Arc<ServiceState>) -> Router {
    let compression = match state.stack.compression {
        Compression::None => CompressionRegistry::new(),
        _ => CompressionRegistry::new().register(GzipProvider::default()),
    };
    let limits = Limits::default()
        .with_max_request_body_size(BODY_LIMIT)
        .with_max_message_size(BODY_LIMIT);
    let dispatcher = Operations {
        state: Arc::clone(state),
    };
    let service = ConnectRpcService::new(dispatcher)
        .with_limits(limits)
        .with_compression(compression);
    let endpoint = Endpoint {
        state: Arc::clone(state),
        service,
    };
    Router::new()
        .fallback(answer)
        .with_state(Arc::new(endpoint))
}

/// Answers a request. The library would also answer gRPC, gRPC-Web and the other codec.
async fn answer(State(endpoint): State<Arc<Endpoint>>, mut request: Request) -> Response {
    let target = RequestTarget {
        contract: endpoint.state.contract,
        method: request.method().as_str(),
        path: request.uri().path(),
        fields: request.headers(),
    };
    if let Some(operation) = operation(target) {
        let own = content_type(endpoint.state.stack.codec, operation);
        if !has_type(request.headers(), own) {
            let accepts = [("accept-post", own)];
            return (StatusCode::UNSUPPORTED_MEDIA_TYPE, accepts).into_response();
        }
    }
    let refused = Refused::default();
    request.extensions_mut().insert(refused.clone());
    let Ok(response) = endpoint.service.clone().call(request).await;
    let mut response = response.map(Body::new);
    if refused.0.load(Relaxed) {
        response.extensions_mut().insert(IsApplicationError);
    }
    response
}

/// Whether a body is of that media type, parameters aside.
fn has_type(fields: &HeaderMap, own: &str) -> bool {
    let declared = fields.get(header::CONTENT_TYPE);
    let declared = declared.and_then(|value| value.to_str().ok());
    declared.is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case(own)
    })
}

/// Travels with a request: whether the contract refused it, which its response does not tell.
#[derive(Debug, Clone, Default)]
struct Refused(Arc<AtomicBool>);

/// An error of the contract, which is counted as one.
fn refusal(context: &RequestContext, error: CallError) -> ConnectError {
    let refused = match error {
        CallError::Application(text) => ConnectError::invalid_argument(text),
        CallError::NotFound(text) => ConnectError::not_found(text),
        CallError::Unavailable => return ConnectError::unavailable(DATABASE_UNAVAILABLE),
    };
    if let Some(mark) = context.extensions().get::<Refused>() {
        mark.0.store(true, Relaxed);
    }
    refused
}

/// The same for the text of an error that may be wrong.
fn refuse(context: &RequestContext, error: ApplicationError) -> ConnectError {
    let text = corrupt_text(error.to_string(), context.extensions().get());
    refusal(context, CallError::Application(text))
}

/// The operations of the contract, by the names of their methods.
struct Operations {
    state: Arc<ServiceState>,
}

impl Operations {
    /// `path` is without its first slash.
    fn find(&self, path: &str) -> Option<Operation> {
        let (service, name) = path.split_once('/')?;
        let mut own = Operation::all_of(self.state.contract).filter(|one| is_served(*one));
        let found = own.find(|one| one.name() == name)?;
        let expected = found.grpc_path();
        (expected[1..].split_once('/')?.0 == service).then_some(found)
    }

    fn codec(&self) -> Codec {
        self.state.stack.codec
    }
}

/// A message of a stream or a request.
fn read<M: wirelab_contract::Message>(codec: Codec, bytes: &[u8]) -> Result<M, ConnectError> {
    codec.read(bytes).map_err(ConnectError::invalid_argument)
}

fn write<M: wirelab_contract::Message>(codec: Codec, message: &M) -> EncodedBody {
    make_body(codec.write(message))
}

fn make_body(message: Vec<u8>) -> EncodedBody {
    EncodedBody::from(Bytes::from(message))
}

/// The items of a stream, which have been written.
fn stream_of(
    items: impl Stream<Item = Result<EncodedBody, ConnectError>> + Send + 'static,
) -> connectrpc::Response<EncodedStream> {
    connectrpc::Response::stream(items)
}

fn no_operation(path: &str) -> ConnectError {
    ConnectError::unimplemented(format!("there is no operation {path}"))
}

impl Dispatcher for Operations {
    fn lookup(&self, path: &str) -> Option<MethodDescriptor> {
        Some(match self.find(path)? {
            Operation::Feed => MethodDescriptor::server_streaming(),
            Operation::Push => MethodDescriptor::client_streaming(),
            Operation::Chat => MethodDescriptor::bidi_streaming(),
            _ => MethodDescriptor::unary(false),
        })
    }

    fn call_unary(
        &self,
        path: &str,
        context: RequestContext,
        request: Payload,
        _: CodecFormat,
    ) -> UnaryResult {
        let Some(operation) = self.find(path).and_then(AnyOperation::of) else {
            return Box::pin(ready(Err(no_operation(path))));
        };
        let (state, codec) = (Arc::clone(&self.state), self.codec());
        Box::pin(async move {
            let body = request.encoded()?;
            let read = (operation.request.read)(codec, &body);
            let message = read.map_err(ConnectError::invalid_argument)?;
            let corruptor = context.extensions().get::<Corruptor>();
            let reply = state.answer_any(operation, message, corruptor).await;
            let reply = reply.map_err(|error| refusal(&context, error))?;
            let body = (operation.reply.write)(codec, &reply);
            Ok(EncodedResponse::new(make_body(body)))
        })
    }

    fn call_server_streaming(
        &self,
        _: &str,
        context: RequestContext,
        request: Bytes,
        _: CodecFormat,
    ) -> StreamingResult {
        let (state, codec) = (Arc::clone(&self.state), self.codec());
        Box::pin(async move {
            let request: FeedRequest = read(codec, &request)?;
            let items = Feed::new(&request, &state.metrics);
            let items = items.map_err(|error| refuse(&context, error))?;
            let fault = context.extensions().get::<Corruptor>().cloned();
            // Only the first item is corrupted: one wrong byte is enough to be found.
            Ok(stream_of(items.map(move |item| {
                Ok(match item.index {
                    0 => write(codec, &corrupt(item, fault.as_ref())),
                    _ => write(codec, &item),
                })
            })))
        })
    }

    fn call_client_streaming(
        &self,
        _: &str,
        context: RequestContext,
        mut requests: RequestStream,
        _: CodecFormat,
    ) -> UnaryResult {
        let codec = self.codec();
        Box::pin(async move {
            let mut pushed = Pushed::default();
            while let Some(item) = requests.next().await {
                let taken = pushed.take(&read(codec, &item?)?);
                taken.map_err(|error| refuse(&context, error))?;
            }
            let reply = corrupt(pushed.reply(), context.extensions().get());
            Ok(EncodedResponse::new(write(codec, &reply)))
        })
    }

    fn call_bidi_streaming(
        &self,
        _: &str,
        context: RequestContext,
        requests: RequestStream,
        _: CodecFormat,
    ) -> StreamingResult {
        let chat = Chat {
            state: Arc::clone(&self.state),
            context,
            requests,
            taken: Taken::default(),
            is_over: false,
        };
        let replies = stream::unfold(chat, |mut chat| async {
            let reply = chat.next().await?;
            chat.is_over = reply.is_err();
            Some((reply, chat))
        });
        Box::pin(ready(Ok(stream_of(replies))))
    }
}

/// One stream of items, each answered as it comes.
struct Chat {
    state: Arc<ServiceState>,
    context: RequestContext,
    requests: RequestStream,
    taken: Taken,
    is_over: bool,
}

impl Chat {
    /// The answer to the next item; None at the end.
    async fn next(&mut self) -> Option<Result<EncodedBody, ConnectError>> {
        if self.is_over {
            return None;
        }
        let received = self.requests.next().await?;
        let received_ns = feed::now_ns();
        Some(received.and_then(|item| self.answer(&item, received_ns)))
    }

    fn answer(&mut self, item: &[u8], received_ns: u64) -> Result<EncodedBody, ConnectError> {
        let codec = self.state.stack.codec;
        let item: Item = read(codec, item)?;
        let is_first = self.taken.count() == 0;
        let taken = self.taken.take(&item);
        taken.map_err(|error| refuse(&self.context, error))?;
        let fault = self.context.extensions().get().filter(|_| is_first);
        let reply = feed::answer(item, received_ns, &self.state.metrics);
        Ok(write(codec, &corrupt(reply, fault)))
    }
}
