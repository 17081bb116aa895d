//! Calls on a connection that the service itself reads and writes: what
//! happens to each before and after its handler, as `calls` does it over HTTP.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use wirelab_contract::Operation;

use crate::desk::{Arrival, Desk};
use crate::faults::{Fate, Wrong};
use crate::orders::{Order, Orders};
use crate::spoil::Spoiler;

/// What an endless reply adds, and how often.
const DRIP: [u8; 1024] = [b'.'; 1024];
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
    /// What is written; nothing where an order stands in its place.
    pub(crate) message: Option<M>,
    /// What happens to it on its way.
    pub(crate) way: Way,
    /// A call that hangs: in flight until its connection ends.
    pub(crate) hangs: Option<Arrival>,
}

impl<M> Delivery<M> {
    /// A message on its way.
    pub(crate) fn new(message: Option<M>, way: Way) -> Self {
        Delivery {
            message,
            way,
            hangs: None,
        }
    }

    /// A message that arrives.
    pub(crate) fn whole(message: M) -> Self {
        Delivery::new(Some(message), Way::Whole)
    }

    /// The same with another form of the message.
    pub(crate) fn map<N>(self, form: impl FnOnce(M, Way) -> N) -> Delivery<N> {
        let way = self.way;
        Delivery {
            message: self.message.map(|message| form(message, way)),
            way,
            hangs: self.hangs,
        }
    }
}

/// What happens to a message on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It arrives.
    Whole,
    /// Half of it, then the connection closes.
    Half,
    /// Instead of it, an order to the connection.
    Instead(Order),
    /// Its end never comes.
    Endless,
    /// It arrives, and then the connection closes.
    Last,
}

/// What a binding makes of a call.
pub(crate) trait Handler {
    /// What answers are.
    type Message;
    /// The answer, wrong where a spoiler came with the call.
    fn answer(self, desk: &Desk, spoiler: Option<&Spoiler>) -> Answer<Self::Message>;
    /// An error of the service in place of a reply.
    fn wrong_status(&self) -> Self::Message;
}

/// Serves one call: counts it, lets it suffer its fate, and returns what is to
/// be written.
pub(crate) async fn serve<H: Handler>(
    desk: &Desk,
    operation: Operation,
    handler: H,
) -> Delivery<H::Message> {
    let Some(arrival) = desk.arrive(operation) else {
        return Delivery::whole(handler.answer(desk, None).message);
    };
    match arrival.fate {
        Fate::Hang => {
            arrival.committed();
            Delivery {
                hangs: Some(arrival),
                ..Delivery::new(None, Way::Whole)
            }
        }
        Fate::Reset => {
            arrival.committed();
            Delivery::new(None, Way::Instead(Order::Reset))
        }
        Fate::Garbage => {
            arrival.committed();
            Delivery::new(None, Way::Instead(Order::Garbage))
        }
        _ => answered(desk, &arrival, handler).await,
    }
}

async fn answered<H: Handler>(desk: &Desk, arrival: &Arrival, handler: H) -> Delivery<H::Message> {
    let instead = (arrival.fate == Fate::Wrong(Wrong::Status)).then(|| handler.wrong_status());
    let answer = handler.answer(desk, arrival.spoiler().as_ref());
    desk.delay(arrival.operation).await;
    if answer.refused {
        arrival.refused();
    }
    let way = match arrival.fate {
        Fate::Close => Way::Half,
        Fate::Endless => Way::Endless,
        _ => Way::Whole,
    };
    if way != Way::Whole || instead.is_some() {
        arrival.committed();
    }
    Delivery::new(Some(instead.unwrap_or(answer.message)), way)
}

/// Writes a delivery; `head` of its bytes are a send of their own, where that
/// is more than 0.
///
/// # Errors
/// When the connection is broken, on purpose or not; it must then be dropped.
pub(crate) async fn deliver(
    out: &mut (impl AsyncWrite + Unpin),
    orders: &Orders,
    delivery: Delivery,
    head: usize,
) -> io::Result<()> {
    let message = delivery.message.unwrap_or_default();
    match delivery.way {
        Way::Whole | Way::Last => send(out, &message, head).await,
        Way::Half => {
            send(out, &message[..message.len() / 2], head).await?;
            orders.give(Order::Close);
            out.flush().await
        }
        Way::Instead(order) => {
            orders.give(order);
            send(out, b"never sent", 0).await
        }
        Way::Endless => {
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
    if !head.is_empty() {
        out.write_all(head).await?;
        out.flush().await?;
    }
    out.write_all(body).await?;
    out.flush().await
}
