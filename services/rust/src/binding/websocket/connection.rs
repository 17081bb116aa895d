//! One connection: messages of a client one by one, messages to it, and how it ends.

use std::future::{Future, pending};
use std::pin::pin;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, Stream, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncWriteExt, copy, sink};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use wirelab_stack::Codec;

use crate::connection::control::{Command, Control};
use crate::service::feed::ITEM_BYTES_MAX;

/// Bytes that one read takes at most, which is what an idle connection holds, and bytes of
/// messages that may wait for others to leave together with them.
const BUFFER_BYTES: usize = 16 << 10;

/// Bytes that wait to be written at most, answers to pings included, which the library queues
/// without end for a client that reads none of them: an item fits, and one behind it.
const WAITING_BYTES_MAX: usize = BUFFER_BYTES + 2 * ITEM_BYTES_MAX;

/// How long a closed connection waits for its client to close too. Less than the grace of a
/// service that is to stop.
pub(super) const LINGER: Duration = Duration::from_millis(250);

/// Why a connection ends.
#[derive(Debug)]
pub(super) enum Ended {
    /// With this status and reason.
    Close(CloseCode, &'static str),
    /// By a fault.
    Command(Command),
    /// The client has closed it, or has gone.
    Gone,
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        match error {
            Error::Capacity(_) => {
                Ended::Close(CloseCode::Size, "a message of more than 394240 bytes")
            }
            Error::Utf8(_) => Ended::Close(CloseCode::Invalid, "text that is not UTF-8"),
            // The connection ended, which the library counts among the violations.
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ended::Gone,
            Error::Protocol(_) => Ended::Close(CloseCode::Protocol, "not a frame of RFC 6455"),
            _ => Ended::Gone,
        }
    }
}

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// One connection.
pub(super) struct Connection {
    requests: Requests,
    replies: SplitSink<Socket, Message>,
    control: Control,
}

/// What comes from the client.
struct Requests {
    messages: SplitStream<Socket>,
    codec: Codec,
    /// One that came while another stream was answered.
    held: Option<Option<Bytes>>,
    /// The client has begun a stream of messages and not ended it.
    is_within: bool,
}

impl Connection {
    /// A connection whose handshake is over.
    pub(super) async fn new(upgraded: Upgraded, control: Control, codec: Codec) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(BUFFER_BYTES)
            .max_write_buffer_size(WAITING_BYTES_MAX)
            .max_frame_size(Some(ITEM_BYTES_MAX))
            .max_message_size(Some(ITEM_BYTES_MAX));
        let io = TokioIo::new(upgraded);
        let socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
        let (replies, messages) = socket.split();
        Connection {
            requests: Requests {
                messages,
                codec,
                held: None,
                is_within: false,
            },
            replies,
            control,
        }
    }

    /// The next message; None for the end of a stream of messages.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Ended> {
        self.requests.next().await
    }

    /// Drops what the client still sends of its stream, up to its end.
    pub(super) async fn skip_stream(&mut self) -> Result<(), Ended> {
        while self.requests.is_within {
            self.requests.next().await?;
        }
        Ok(())
    }

    /// Waits for `work` while the connection lasts.
    pub(super) async fn wait_for<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Ended> {
        tokio::select! {
            biased;
            ended = self.requests.watch() => Err(ended),
            done = work => Ok(done),
        }
    }

    /// Sends messages as they come, and all of them before it returns. Those that are there
    /// together may leave together.
    pub(super) async fn send(
        &mut self,
        messages: impl Stream<Item = Message>,
    ) -> Result<(), Ended> {
        let mut messages = pin!(messages.map(Ok));
        tokio::select! {
            // Looked at first: a client that closes ends a stream that is never out of items.
            biased;
            ended = self.requests.watch() => Err(ended),
            sent = self.replies.send_all(&mut messages) => Ok(sent?),
        }
    }

    /// Ends the connection. The client has a moment to close its side: the kernel resets a
    /// connection that is closed with unread input (RFC 1122 section 4.2.2.13), and that could
    /// overtake the status.
    pub(super) async fn close(self, ended: Ended) {
        let messages = self.requests.messages;
        let mut socket = self
            .replies
            .reunite(messages)
            .expect("halves of one socket");
        let closing = async {
            match ended {
                Ended::Close(code, reason) => {
                    let reason = reason.into();
                    let frame = Message::Close(Some(CloseFrame { code, reason }));
                    socket.send(frame).await?;
                }
                Ended::Command(command) => {
                    self.control.send(command);
                    // The flush makes the connection look at its command.
                    return socket.flush().await;
                }
                // The answer to a close, where one came.
                Ended::Gone => socket.flush().await?,
            }
            let mut stream = socket.into_inner();
            stream.shutdown().await?;
            copy(&mut stream, &mut sink()).await?;
            Ok::<(), Error>(())
        };
        // What fails here has no reader any more.
        let _cut = timeout(LINGER, closing).await;
    }
}

impl Requests {
    async fn next(&mut self) -> Result<Option<Bytes>, Ended> {
        let message = match self.held.take() {
            Some(held) => held,
            None => self.receive().await?,
        };
        self.is_within = message.is_some();
        Ok(message)
    }

    /// Returns when the connection ends. One message that comes meanwhile is held until it is
    /// asked for, and nothing is read behind it.
    async fn watch(&mut self) -> Ended {
        if self.held.is_none() {
            match self.receive().await {
                Ok(message) => self.held = Some(message),
                Err(ended) => return ended,
            }
        }
        pending().await
    }

    async fn receive(&mut self) -> Result<Option<Bytes>, Ended> {
        loop {
            let message = self.messages.next().await.ok_or(Ended::Gone)??;
            return match message {
                Message::Text(text) if text.is_empty() => Ok(None),
                Message::Text(text) if self.codec == Codec::Json => Ok(Some(text.into())),
                Message::Binary(bytes) if self.codec != Codec::Json => Ok(Some(bytes)),
                Message::Text(_) => Err(refuse_kind("messages are binary here")),
                Message::Binary(_) => Err(refuse_kind("messages are text here")),
                Message::Close(_) => Err(Ended::Gone),
                // The library answers pings.
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            };
        }
    }
}

fn refuse_kind(reason: &'static str) -> Ended {
    Ended::Close(CloseCode::Unsupported, reason)
}
