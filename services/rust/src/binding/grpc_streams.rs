//! The operations of the contract stream over gRPC, on tonic.

use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;

use axum::http;
use futures_util::{Stream, StreamExt, stream};
use tonic::body::Body;
use tonic::server::{ClientStreamingService, ServerStreamingService, StreamingService};
use tonic::{Request, Response, Status, Streaming};
use wirelab_contract::Operation;
use wirelab_contract::stream::{FeedRequest, Item, PushReply};
use wirelab_contract::streams::{Pushed, Taken};

use super::grpc_codec::{Protobuf, corruptor, grpc, refusal};
use crate::service::any_operation::MessageForm;
use crate::service::corruption::{Corruptor, corrupt};
use crate::service::feed::{self, Feed};
use crate::service::rows::{AnyMessage, erase, take};
use crate::service::state::ServiceState;

const FEED_REQUEST: MessageForm = MessageForm::of::<FeedRequest>();
const ITEM: MessageForm = MessageForm::of::<Item>();
const PUSH_REPLY: MessageForm = MessageForm::of::<PushReply>();

/// Answers a request for one of the contract's operations.
pub(super) async fn answer(
    state: Arc<ServiceState>,
    operation: Operation,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, Infallible> {
    let compression = state.stack.compression;
    Ok(match operation {
        Operation::Push => {
            let mut grpc = grpc(Protobuf::new(ITEM, PUSH_REPLY), compression);
            grpc.client_streaming(PushHandler, request).await
        }
        Operation::Chat => {
            let mut grpc = grpc(Protobuf::new(ITEM, ITEM), compression);
            grpc.streaming(ChatHandler(state), request).await
        }
        _ => {
            let mut grpc = grpc(Protobuf::new(FEED_REQUEST, ITEM), compression);
            grpc.server_streaming(FeedHandler(state), request).await
        }
    })
}

type Items = Pin<Box<dyn Stream<Item = Result<AnyMessage, Status>> + Send>>;

struct FeedHandler(Arc<ServiceState>);

impl ServerStreamingService<AnyMessage> for FeedHandler {
    type Response = AnyMessage;
    type ResponseStream = Items;
    type Future = Ready<Result<Response<Items>, Status>>;

    fn call(&mut self, request: Request<AnyMessage>) -> Self::Future {
        let fault = corruptor(&request).cloned();
        let request: FeedRequest = take(request.into_inner());
        let items = Feed::new(&request, &self.0.metrics);
        ready(match items {
            Ok(items) => Ok(Response::new(with_fault(items, fault))),
            Err(error) => Err(refusal(error, fault.as_ref())),
        })
    }
}

/// Items with the first one corrupted where that was asked for: one wrong byte is enough to be
/// found.
fn with_fault(items: impl Stream<Item = Item> + Send + 'static, fault: Option<Corruptor>) -> Items {
    Box::pin(items.map(move |item| {
        Ok(erase(match item.index {
            0 => corrupt(item, fault.as_ref()),
            _ => item,
        }))
    }))
}

struct PushHandler;

impl ClientStreamingService<AnyMessage> for PushHandler {
    type Response = AnyMessage;
    type Future = Pin<Box<dyn Future<Output = Result<Response<AnyMessage>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<AnyMessage>>) -> Self::Future {
        Box::pin(push(request))
    }
}

async fn push(mut request: Request<Streaming<AnyMessage>>) -> Result<Response<AnyMessage>, Status> {
    let mut pushed = Pushed::default();
    while let Some(item) = request.get_mut().message().await? {
        let taken = pushed.take(&take::<Item>(item));
        taken.map_err(|error| refusal(error, corruptor(&request)))?;
    }
    let reply = corrupt(pushed.reply(), corruptor(&request));
    Ok(Response::new(erase(reply)))
}

struct ChatHandler(Arc<ServiceState>);

impl StreamingService<AnyMessage> for ChatHandler {
    type Response = AnyMessage;
    type ResponseStream = Items;
    type Future = Ready<Result<Response<Items>, Status>>;

    fn call(&mut self, request: Request<Streaming<AnyMessage>>) -> Self::Future {
        let fault = corruptor(&request).cloned();
        let chat = Chat {
            items: request.into_inner(),
            taken: Taken::default(),
            state: Arc::clone(&self.0),
            fault,
            is_over: false,
        };
        let replies = stream::unfold(chat, |mut chat| async {
            let reply = chat.next().await?;
            chat.is_over = reply.is_err();
            Some((reply, chat))
        });
        ready(Ok(Response::new(Box::pin(replies))))
    }
}

/// One stream of items, each answered as it comes.
struct Chat {
    items: Streaming<AnyMessage>,
    taken: Taken,
    state: Arc<ServiceState>,
    fault: Option<Corruptor>,
    is_over: bool,
}

impl Chat {
    /// The answer to the next item; None at the end.
    async fn next(&mut self) -> Option<Result<AnyMessage, Status>> {
        if self.is_over {
            return None;
        }
        let received = self.items.message().await.transpose()?;
        let received_ns = feed::now_ns();
        let fault = self.fault.as_ref().filter(|_| self.taken.count() == 0);
        Some(received.and_then(|item| {
            let item: Item = take(item);
            let taken = self.taken.take(&item);
            taken.map_err(|error| refusal(error, fault))?;
            let reply = feed::answer(item, received_ns, &self.state.metrics);
            Ok(erase(corrupt(reply, fault)))
        }))
    }
}
