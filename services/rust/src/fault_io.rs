//! A connection whose bytes the service has in its own hands: how many sends
//! a reply takes, and what calls order to be done to it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::Connected;
use wirelab_contract::texts::SplitMix64;

use crate::orders::{Order, Orders};
use crate::relabel;
use crate::socket::Socket;
use crate::split::Splitter;

/// Bytes of garbage that replace a reply.
const GARBAGE_BYTES: usize = 4096;

/// What a connection does besides carrying bytes.
#[derive(Debug, Default)]
pub(crate) struct Habits {
    /// `TCP_QUICKACK`, set again after every receive.
    pub(crate) quickack: Option<bool>,
    /// Where header and body are two sends.
    pub(crate) splitter: Option<Splitter>,
    /// Where the HTTP/1.0 of the reply is to be an HTTP/1.1.
    pub(crate) relabel: bool,
    /// How long a close waits.
    pub(crate) close_delay: Option<Duration>,
    /// What calls order to be done to it.
    pub(crate) orders: Orders,
}

/// A connection as the libraries see it.
#[derive(Debug)]
pub(crate) struct FaultIo {
    socket: Socket,
    habits: Habits,
    /// Garbage that is still to be written, once it was ordered.
    garbage: Option<Vec<u8>>,
    /// The wait before the close, once it has begun.
    closing: Option<Pin<Box<Sleep>>>,
}

impl FaultIo {
    /// A connection over `socket`.
    pub(crate) fn new(socket: Socket, habits: Habits) -> Self {
        FaultIo {
            socket,
            habits,
            garbage: None,
            closing: None,
        }
    }

    /// The peer's port; none on a Unix socket.
    pub(crate) fn peer_port(&self) -> Option<u16> {
        self.socket.peer_port()
    }

    /// Where calls leave their orders for this connection.
    pub(crate) fn orders(&self) -> Orders {
        self.habits.orders.clone()
    }

    /// Carries an order out that forbids any further byte of the library's.
    fn obey(&mut self, context: &mut Context<'_>, order: Order) -> Poll<io::Result<()>> {
        match order {
            Order::Carry | Order::Close => Poll::Ready(Ok(())),
            Order::Reset => {
                self.socket.reset_on_close()?;
                Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
            }
            Order::Garbage => self.write_garbage(context),
        }
    }

    /// Sends as much of `slices` as may go into one send.
    fn send(
        &mut self,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Some(splitter) = &mut self.habits.splitter else {
            return Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        };
        let allowed = one_send(splitter.clone(), slices);
        let written = ready!(Pin::new(&mut self.socket).poll_write_vectored(context, &allowed))?;
        follow(splitter, &allowed, written);
        Poll::Ready(Ok(written))
    }

    fn write_garbage(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let garbage = self.garbage.get_or_insert_with(garbage);
        while !garbage.is_empty() {
            let written = ready!(Pin::new(&mut self.socket).poll_write(context, garbage))?;
            garbage.drain(..written);
        }
        ready!(Pin::new(&mut self.socket).poll_shutdown(context))?;
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

/// The same bytes every time; no protocol's reply begins like them.
fn garbage() -> Vec<u8> {
    let mut generator = SplitMix64::new(0xBAD);
    let words = std::iter::repeat_with(|| generator.next_u64().to_le_bytes());
    words.flatten().take(GARBAGE_BYTES).collect()
}

/// The slices, or parts of them, that may go into the next send.
fn one_send<'a>(mut splitter: Splitter, slices: &'a [io::IoSlice<'_>]) -> Vec<io::IoSlice<'a>> {
    let mut allowed = Vec::with_capacity(slices.len());
    for slice in slices.iter().filter(|slice| !slice.is_empty()) {
        let reach = splitter.walk(slice);
        allowed.push(io::IoSlice::new(&slice[..reach.bytes]));
        if reach.last || reach.bytes < slice.len() {
            break;
        }
    }
    allowed
}

/// Tells the splitter which bytes of `slices` were sent.
fn follow(splitter: &mut Splitter, slices: &[io::IoSlice<'_>], mut written: usize) {
    for slice in slices {
        let sent = slice.len().min(written);
        splitter.walk(&slice[..sent]);
        written -= sent;
    }
}

impl AsyncRead for FaultIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let order = this.habits.orders.look(context);
        ready!(this.obey(context, order))?;
        ready!(Pin::new(&mut this.socket).poll_read(context, buffer))?;
        if let Some(on) = this.habits.quickack {
            this.socket.set_quickack(on)?;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for FaultIo {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let order = this.habits.orders.look(context);
        ready!(this.obey(context, order))?;
        let first = slices.first().filter(|_| this.habits.relabel);
        let Some(changed) = first.and_then(|first| relabel::changed(first)) else {
            return this.send(context, slices);
        };
        let changed = io::IoSlice::new(&changed);
        let slices: Vec<_> = std::iter::once(changed)
            .chain(slices[1..].iter().copied())
            .collect();
        let written = ready!(this.send(context, &slices))?;
        // The first send on a connection always takes the label as a whole:
        // the kernel's buffer is empty.
        this.habits.relabel = false;
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let order = this.habits.orders.look(context);
        ready!(this.obey(context, order))?;
        ready!(Pin::new(&mut this.socket).poll_flush(context))?;
        if order == Order::Close {
            ready!(Pin::new(&mut this.socket).poll_shutdown(context))?;
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Some(delay) = this.habits.close_delay {
            let closing = this.closing.get_or_insert_with(|| Box::pin(sleep(delay)));
            ready!(closing.as_mut().poll(context));
            this.habits.close_delay = None;
        }
        Pin::new(&mut this.socket).poll_shutdown(context)
    }
}

impl Connected for FaultIo {
    type ConnectInfo = Orders;

    fn connect_info(&self) -> Orders {
        self.orders()
    }
}
