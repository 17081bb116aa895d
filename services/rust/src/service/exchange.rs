//! Calls on a connection that the service itself reads and writes: what
//! happens to each before and after its handler, as `calls` does it over HTTP.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use wirelab_contract::Operation;

use crate::connection::control::{Command, Control};
use crate::faults::{FaultAction, Wrong};
use crate::service::corruption::Corruptor;
use crate::service::state::{Arrival, ServiceState};

/// What an endless reply adds, and how often.
const DRIP: [u8; 1024] = [b'.'; 1024];
// The same rate as over HTTP (binding/http/reply_body.rs).
const DRIP_EVERY: Duration = Duration::from_millis(10);

/// A handler's answer.
#[derive(Debug)]
pub(crate) struct Answer<M> {
    /// The reply, or the error in its place.
    pub(crate) message: M,
    /// It is an application error.
    pub(crate) refused: bool,
}

/// A message that is to be written, and how.
#[derive(Debug)]
pub(crate) struct Delivery<M = Vec<u8>> {
    /// What is written; nothing where a command takes its place.
    pub(crate) message: Option<M>,
    /// What happens to it on its way.
    pub(crate) mode: DeliveryMode,
    /// A call that hangs: in flight until its connection ends.
    pub(crate) hangs: Option<Arrival>,
}

impl<M> Delivery<M> {
    /// A message on its way.
    pub(crate) fn new(message: Option<M>, mode: DeliveryMode) -> Self {
        Delivery {
            message,
            mode,
            hangs: None,
        }
    }

    /// A message that arrives.
    pub(crate) fn whole(message: M) -> Self {
        Delivery::new(Some(message), DeliveryMode::Whole)
    }

    /// The same with another form of the message.
    pub(crate) fn map<N>(self, form: impl FnOnce(M, DeliveryMode) -> N) -> Delivery<N> {
        let mode = self.mode;
        Delivery {
            message: self.message.map(|message| form(message, mode)),
            mode,
            hangs: self.hangs,
        }
    }
}

/// What happens to a message on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeliveryMode {
    /// It arrives.
    Whole,
    /// Half of it, then the connection closes.
    Half,
    /// Instead of it, a command to the connection.
    Command(Command),
    /// Its end never comes.
    Endless,
    /// It arrives, and then the connection closes.
    Last,
}

/// What a binding makes of a call.
pub(crate) trait Handler {
    /// What answers are.
    type Message;
    /// The answer, wrong where a corruptor came with the call.
    fn answer(
        self,
        state: &ServiceState,
        corruptor: Option<&Corruptor>,
    ) -> impl Future<Output = Answer<Self::Message>> + Send;
    /// An error of the service in place of a reply.
    fn wrong_status(&self) -> Self::Message;
}

/// Serves one call: counts it, applies its fault, and returns what is to
/// be written.
pub(crate) async fn serve<H: Handler>(
    state: &ServiceState,
    operation: Operation,
    handler: H,
) -> Delivery<H::Message> {
    // Before the service is open its own self-call must neither count nor fail.
    let Some(arrival) = state.arrive(operation) else {
        return Delivery::whole(handler.answer(state, None).await.message);
    };
    match arrival.action {
        FaultAction::Hang => {
            arrival.fault_injected();
            // The arrival travels along: in flight until the connection drops it.
            Delivery {
                hangs: Some(arrival),
                ..Delivery::new(None, DeliveryMode::Whole)
            }
        }
        FaultAction::Reset => {
            arrival.fault_injected();
            Delivery::new(None, DeliveryMode::Command(Command::Reset))
        }
        FaultAction::Garbage => {
            arrival.fault_injected();
            Delivery::new(None, DeliveryMode::Command(Command::Garbage))
        }
        _ => answer_call(state, &arrival, handler).await,
    }
}

async fn answer_call<H: Handler>(
    state: &ServiceState,
    arrival: &Arrival,
    handler: H,
) -> Delivery<H::Message> {
    // Made before the handler consumes itself.
    let instead =
        (arrival.action == FaultAction::Wrong(Wrong::Status)).then(|| handler.wrong_status());
    let answer = handler.answer(state, arrival.corruptor().as_ref()).await;
    // After the work and before the first byte, like a slow backend.
    state.delay(arrival.operation).await;
    if answer.refused {
        arrival.refused();
    }
    let mode = match arrival.action {
        FaultAction::Close => DeliveryMode::Half,
        FaultAction::Endless => DeliveryMode::Endless,
        _ => DeliveryMode::Whole,
    };
    if mode != DeliveryMode::Whole || instead.is_some() {
        arrival.fault_injected();
    }
    Delivery::new(Some(instead.unwrap_or(answer.message)), mode)
}

/// Writes a delivery; `head` of its bytes are a send of their own, where that
/// is more than 0.
///
/// # Errors
/// When the connection is broken, on purpose or not; it must then be dropped.
pub(crate) async fn deliver(
    out: &mut (impl AsyncWrite + Unpin),
    control: &Control,
    delivery: Delivery,
    head: usize,
) -> io::Result<()> {
    let message = delivery.message.unwrap_or_default();
    match delivery.mode {
        DeliveryMode::Whole | DeliveryMode::Last => send(out, &message, head).await,
        DeliveryMode::Half => {
            // Half of the framed message: its announced length never arrives.
            send(out, &message[..message.len() / 2], head).await?;
            control.send(Command::Close);
            out.flush().await
        }
        DeliveryMode::Command(command) => {
            control.send(command);
            // The write makes the connection look at its command; these bytes never leave.
            send(out, b"never sent", 0).await
        }
        // Ends when the caller closes the connection and the write fails.
        DeliveryMode::Endless => {
            send(out, &message, head).await?;
            loop {
                tokio::time::sleep(DRIP_EVERY).await;
                send(out, &DRIP, 0).await?;
            }
        }
    }
}

async fn send(out: &mut (impl AsyncWrite + Unpin), message: &[u8], head: usize) -> io::Result<()> {
    let (head, body) = message.split_at(head.min(message.len()));
    // The flush between the two makes them two segments, with Nagle off.
    if !head.is_empty() {
        out.write_all(head).await?;
        out.flush().await?;
    }
    out.write_all(body).await?;
    out.flush().await
}
