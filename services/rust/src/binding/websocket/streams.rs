//! The streams on a connection: Feed, Push or Chat, one after the other. Each is a call.

use std::future::ready;

use axum::body::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio_tungstenite::tungstenite::Message;
use wirelab_contract::stream::{FeedRequest, Item, PushReply};
use wirelab_contract::streams::{Pushed, Taken};
use wirelab_contract::{ApplicationError, Operation};
use wirelab_stack::Codec;

use super::connection::{Connection, Ended};
use crate::codec::Representation as _;
use crate::connection::control::Command;
use crate::faults::{FaultAction, Wrong};
use crate::service::corruption::{Corruptor, corrupt, corrupt_text};
use crate::service::feed::{self, Feed};
use crate::service::state::{Arrival, ServiceState};

/// Serves the stream whose first message has come.
pub(super) async fn serve(
    state: &ServiceState,
    operation: Operation,
    connection: &mut Connection,
    first: Option<Bytes>,
) -> Result<(), Ended> {
    let call = Call::new(state, operation);
    call.commit_fault(connection).await?;
    match operation {
        // A FeedRequest has no end behind it.
        Operation::Feed => return answer_feed(&call, connection, first).await,
        Operation::Push => answer_push(&call, connection, first).await?,
        _ => answer_chat(&call, connection, first).await?,
    }
    // The call has its reply: what is left of a refused stream is not its part.
    drop(call);
    connection.skip_stream().await
}

/// Why a stream has an error in place of its reply.
#[derive(Debug)]
enum StreamError {
    /// The contract demands an error with this text.
    Application(String),
    /// A message was not what its codec says, or the service errs on purpose.
    Other(String),
}

impl From<ApplicationError> for StreamError {
    fn from(error: ApplicationError) -> Self {
        StreamError::Application(error.to_string())
    }
}

/// One stream on its way through the service.
struct Call<'a> {
    state: &'a ServiceState,
    /// None while nothing counts.
    arrival: Option<Arrival>,
    corruptor: Option<Corruptor>,
}

impl<'a> Call<'a> {
    fn new(state: &'a ServiceState, operation: Operation) -> Self {
        let arrival = state.arrive(operation);
        Call {
            state,
            corruptor: arrival.as_ref().and_then(Arrival::corruptor),
            arrival,
        }
    }

    fn action(&self) -> FaultAction {
        let arrival = self.arrival.as_ref();
        arrival.map_or(FaultAction::Serve, |arrival| arrival.action)
    }

    fn count_fault(&self) {
        if let Some(arrival) = &self.arrival {
            arrival.fault_injected();
        }
    }

    /// Commits a fault in whose place no reply comes.
    async fn commit_fault(&self, connection: &mut Connection) -> Result<(), Ended> {
        let command = match self.action() {
            FaultAction::Hang => {
                self.count_fault();
                // In flight until the connection ends.
                loop {
                    connection.next().await?;
                }
            }
            FaultAction::Reset => Command::Reset,
            FaultAction::Garbage => Command::Garbage,
            _ => return Ok(()),
        };
        self.count_fault();
        Err(Ended::Command(command))
    }

    /// An error in place of what was found, where that fault was chosen.
    fn replace<T>(&self, found: Result<T, StreamError>) -> Result<T, StreamError> {
        if self.action() != FaultAction::Wrong(Wrong::Status) {
            return found;
        }
        self.count_fault();
        Err(StreamError::Other("wrong on purpose".to_owned()))
    }

    /// After the work and before the first byte, like a slow backend.
    async fn delay(&self, connection: &mut Connection) -> Result<(), Ended> {
        match &self.arrival {
            Some(arrival) => {
                connection
                    .wait_for(self.state.delay(arrival.operation))
                    .await
            }
            None => Ok(()),
        }
    }

    fn read<M: wirelab_contract::Message>(&self, message: &[u8]) -> Result<M, StreamError> {
        let read = self.state.stack.codec.read::<M>(message);
        read.map_err(StreamError::Other)
    }

    fn write(&self, message: &impl wirelab_contract::Message) -> Message {
        to_message(self.state.stack.codec, message)
    }

    /// Sends a reply of `count` messages, the end among them, which is added here.
    async fn reply(
        &self,
        connection: &mut Connection,
        messages: impl Stream<Item = Message>,
        count: usize,
    ) -> Result<(), Ended> {
        match self.action() {
            FaultAction::Close => {
                self.count_fault();
                connection.send(messages.take(count / 2)).await?;
                Err(Ended::Command(Command::Close))
            }
            FaultAction::Endless => {
                self.count_fault();
                connection.send(messages.chain(stream::pending())).await
            }
            _ => {
                let end = stream::once(ready(Message::text("")));
                connection.send(messages.chain(end)).await
            }
        }
    }

    /// Sends an error in place of a reply, or of the rest of one.
    async fn refuse(&self, connection: &mut Connection, error: StreamError) -> Result<(), Ended> {
        let text = match error {
            StreamError::Application(text) => {
                if let Some(arrival) = &self.arrival {
                    arrival.refused();
                }
                corrupt_text(text, self.corruptor.as_ref())
            }
            StreamError::Other(text) => text,
        };
        let error = to_json(&serde_json::json!({ "error": text }));
        self.reply(connection, stream::iter([Message::text(error)]), 2)
            .await
    }
}

/// A message of the contract as one of WebSocket.
pub(crate) fn to_message(codec: Codec, message: &impl wirelab_contract::Message) -> Message {
    match codec {
        // As a text from the start, so that its UTF-8 is not checked again.
        Codec::Json => Message::text(to_json(message)),
        codec => Message::binary(codec.write(message)),
    }
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("messages are maps with text keys")
}

async fn answer_feed(
    call: &Call<'_>,
    connection: &mut Connection,
    request: Option<Bytes>,
) -> Result<(), Ended> {
    let feed = read_feed(call, request);
    call.delay(connection).await?;
    let (items, count) = match feed {
        Ok(feed) => feed,
        Err(error) => return call.refuse(connection, error).await,
    };
    // Only the first item is corrupted: one wrong byte is enough to be found.
    let items = items.map(|item| match item.index {
        0 => call.write(&corrupt(item, call.corruptor.as_ref())),
        _ => call.write(&item),
    });
    call.reply(connection, items, count + 1).await
}

/// The items that a request asks for, and their number.
fn read_feed(call: &Call<'_>, request: Option<Bytes>) -> Result<(Feed, usize), StreamError> {
    let request = request.ok_or_else(|| StreamError::Other("no FeedRequest".to_owned()));
    let request = call.replace(request.and_then(|bytes| call.read::<FeedRequest>(&bytes)))?;
    let items = Feed::new(&request, &call.state.metrics)?;
    // The feed checked that it is positive.
    Ok((items, request.count as usize))
}

async fn answer_push(
    call: &Call<'_>,
    connection: &mut Connection,
    first: Option<Bytes>,
) -> Result<(), Ended> {
    let pushed = take_items(call, connection, first).await?;
    call.delay(connection).await?;
    match call.replace(pushed) {
        Ok(reply) => {
            let reply = call.write(&corrupt(reply, call.corruptor.as_ref()));
            call.reply(connection, stream::iter([reply]), 2).await
        }
        Err(error) => call.refuse(connection, error).await,
    }
}

/// Takes each item as it comes, up to the end or the first error.
async fn take_items(
    call: &Call<'_>,
    connection: &mut Connection,
    first: Option<Bytes>,
) -> Result<Result<PushReply, StreamError>, Ended> {
    let (mut pushed, mut next) = (Pushed::default(), first);
    while let Some(message) = next {
        let item = call.read::<Item>(&message);
        let taken = item.and_then(|item| Ok(pushed.take(&item)?));
        if let Err(error) = taken {
            return Ok(Err(error));
        }
        next = connection.next().await?;
    }
    Ok(Ok(pushed.reply()))
}

async fn answer_chat(
    call: &Call<'_>,
    connection: &mut Connection,
    first: Option<Bytes>,
) -> Result<(), Ended> {
    let mut chat = Chat {
        call,
        taken: Taken::default(),
        is_over: false,
    };
    call.delay(connection).await?;
    let answered = match call.replace(Ok(())) {
        Ok(()) => chat.answer_items(connection, first).await?,
        Err(error) => Err(error),
    };
    chat.is_over = true;
    match answered {
        // The answers are out, so half of what is left is nothing.
        Ok(()) => call.reply(connection, stream::empty(), 1).await,
        Err(error) => call.refuse(connection, error).await,
    }
}

/// A stream of items, each answered as it comes.
struct Chat<'a> {
    call: &'a Call<'a>,
    taken: Taken,
    is_over: bool,
}

impl Chat<'_> {
    /// Answers items up to the end or the first error.
    async fn answer_items(
        &mut self,
        connection: &mut Connection,
        first: Option<Bytes>,
    ) -> Result<Result<(), StreamError>, Ended> {
        let mut next = first;
        while let Some(message) = next {
            let answer = match self.answer(&message) {
                Ok(answer) => self.call.write(&answer),
                Err(error) => return Ok(Err(error)),
            };
            connection.send(stream::iter([answer])).await?;
            next = connection.next().await?;
        }
        Ok(Ok(()))
    }

    fn answer(&mut self, message: &[u8]) -> Result<Item, StreamError> {
        let received_ns = feed::now_ns();
        let item: Item = self.call.read(message)?;
        let is_first = self.taken.count() == 0;
        self.taken.take(&item)?;
        let answer = feed::answer(item, received_ns, &self.call.state.metrics);
        let corruptor = self.call.corruptor.as_ref();
        Ok(corrupt(answer, corruptor.filter(|_| is_first)))
    }
}

impl Drop for Chat<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.call.state.metrics.stream_cancelled();
        }
    }
}
