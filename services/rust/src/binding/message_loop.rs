//! Connections that the service itself reads and writes, whatever is spoken
//! on them: requests come in, are served, and their replies go out.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::connection::fault_io::FaultIo;
use crate::connection::listener::Listener;
use crate::connection::shutdown::Shutdown;
use crate::service::exchange::{Delivery, DeliveryMode, deliver};
use crate::service::state::Arrival;

/// Bytes of the first read on a connection, and of its largest.
// A page for small messages; a connection that carries large ones grows by doubling.
const READ_BYTES: usize = 4 << 10;
const READ_BYTES_MAX: usize = 256 << 10;

/// Requests of one connection that may wait to be served; then nothing more is read.
// Bounds what a peer can make the service hold by sending without reading.
const QUEUE_MAX: usize = 256;

/// Bytes of requests of one connection that may be held; then nothing more is
/// read until some are served. Two messages of the largest size fit.
const HELD_BYTES_MAX: usize = 256 << 20;

/// A request that is to be served.
pub(crate) struct PendingCall {
    /// Serves it.
    pub(crate) delivery: Pin<Box<dyn Future<Output = Delivery> + Send>>,
    /// What it holds.
    pub(crate) bytes: usize,
}

impl Future for PendingCall {
    type Output = (Delivery, usize);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(Delivery, usize)> {
        let bytes = self.bytes;
        let delivery = self.delivery.as_mut().poll(context);
        delivery.map(|delivery| (delivery, bytes))
    }
}

/// What came in.
pub(crate) enum Job {
    /// A request.
    Serve(PendingCall),
    /// Something that is answered at once.
    Write(Vec<u8>),
    /// Nothing more is wanted from here on.
    Close,
}

/// One connection's side of a protocol.
pub(crate) trait Protocol: Send {
    /// How many requests are served at a time; their replies are written as
    /// they come.
    const IN_FLIGHT_MAX: usize;

    /// Takes bytes that came in. After [`Job::Close`] nothing is read.
    fn receive(&mut self, input: &[u8], jobs: &mut VecDeque<Job>);

    /// How many of a message's first bytes are a send of their own, with split
    /// writes; 0 with joined ones.
    fn head(&self, message: &[u8]) -> usize;

    /// What is written before the service closes the connection by order.
    fn close_message(&self) -> Vec<u8>;

    /// A request has been served; `idle` when no input is waiting.
    fn note_served(&mut self, idle: bool);
}

/// Serves until `shutdown`, then until the calls in flight have ended. `protocol`
/// makes each connection's side.
pub(crate) async fn serve<P: Protocol + 'static>(
    listener: Listener,
    protocol: impl Fn(&FaultIo) -> P,
    shutdown: Shutdown,
) {
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    loop {
        let connection = tokio::select! {
            connection = listener.accept() => connection,
            () = shutdown.requested() => break,
        };
        // A task per connection: one that hangs or is slow never delays another.
        let connection_loop = ConnectionLoop::new(protocol(&connection), connection);
        let (shutdown, open) = (shutdown.clone(), open.clone());
        tokio::spawn(async move {
            // A connection that breaks is the caller's affair.
            let _broken = connection_loop.run(shutdown).await;
            drop(open);
        });
    }
    drop((listener, open));
    let _none = all_closed.recv().await;
}

struct ConnectionLoop<P> {
    protocol: P,
    connection: FaultIo,
    buffer: Vec<u8>,
    /// What waits to be served.
    jobs: VecDeque<Job>,
    in_flight: FuturesUnordered<PendingCall>,
    /// Calls that hang: they take the place of one that is served.
    hanging: Vec<Arrival>,
    /// Bytes of requests that are not yet served.
    held_bytes: usize,
    /// Nothing more is read.
    closing: bool,
}

/// What happens next on a connection.
enum Event {
    Served(Delivery, usize),
    Read(io::Result<usize>),
    Shutdown,
}

impl<P: Protocol> ConnectionLoop<P> {
    fn new(protocol: P, connection: FaultIo) -> Self {
        ConnectionLoop {
            protocol,
            connection,
            buffer: vec![0; READ_BYTES],
            jobs: VecDeque::new(),
            in_flight: FuturesUnordered::new(),
            hanging: Vec::new(),
            held_bytes: 0,
            closing: false,
        }
    }

    async fn run(mut self, shutdown: Shutdown) -> io::Result<()> {
        let mut stopped = pin!(shutdown.requested());
        let mut by_order = false;
        loop {
            // Before every wait: a served call may have freed a place in IN_FLIGHT_MAX.
            self.begin().await?;
            // Calls that hang are not waited for: their connection ends with them.
            if self.closing && self.in_flight.is_empty() {
                break;
            }
            // The TCP window then closes and the peer waits: memory per connection stays bounded.
            let room = self.jobs.len() < QUEUE_MAX && self.held_bytes < HELD_BYTES_MAX;
            let reads = !self.closing && room;
            let event = tokio::select! {
                // Replies first: finished work must not wait behind a peer that keeps sending.
                biased;
                Some((delivery, bytes)) = self.in_flight.next() => Event::Served(delivery, bytes),
                read = self.connection.read(&mut self.buffer), if reads => Event::Read(read),
                () = &mut stopped, if !self.closing => Event::Shutdown,
            };
            match event {
                Event::Served(delivery, bytes) => {
                    self.held_bytes -= bytes;
                    self.end(delivery).await?;
                }
                Event::Read(read) => self.receive(read?),
                Event::Shutdown => (by_order, self.closing) = (true, true),
            }
        }
        if by_order {
            self.write(&self.protocol.close_message()).await?;
        }
        // FIN after the last byte. Where input was left unread, the kernel sends RST all the same
        // (RFC 1122 section 4.2.2.13).
        self.connection.shutdown().await
    }

    /// Begins what may begin now.
    async fn begin(&mut self) -> io::Result<()> {
        while self.in_flight.len() + self.hanging.len() < P::IN_FLIGHT_MAX {
            match self.jobs.pop_front() {
                None => return Ok(()),
                Some(Job::Serve(serving)) => self.in_flight.push(serving),
                Some(Job::Write(message)) => self.write(&message).await?,
                // Calls before it are still served; nothing after it is read.
                Some(Job::Close) => self.closing = true,
            }
        }
        Ok(())
    }

    async fn end(&mut self, mut delivery: Delivery) -> io::Result<()> {
        if let Some(call) = delivery.hangs.take() {
            // It keeps its place in IN_FLIGHT_MAX, as a thread that never returns would.
            self.hanging.push(call);
            return Ok(());
        }
        let head = delivery.message.as_deref();
        let head = head.map_or(0, |message| self.protocol.head(message));
        if delivery.mode == DeliveryMode::Last {
            // The state that both sides share is lost, so later requests could only be
            // misread.
            self.jobs.clear();
            self.closing = true;
        }
        let control = self.connection.control();
        deliver(&mut self.connection, &control, delivery, head).await?;
        // One-way progress is reported when idle, so that the last message never waits for more.
        let idle = self.jobs.is_empty() && self.in_flight.is_empty();
        self.protocol.note_served(idle);
        Ok(())
    }

    fn receive(&mut self, read: usize) {
        // The peer has finished sending. What it has sent is still answered (TCP
        // half-close).
        if read == 0 {
            self.closing = true;
            return;
        }
        // Only new jobs are added up: the older ones are counted already.
        let known = self.jobs.len();
        self.protocol.receive(&self.buffer[..read], &mut self.jobs);
        for job in self.jobs.iter().skip(known) {
            if let Job::Serve(serving) = job {
                self.held_bytes += serving.bytes;
            }
        }
        // A full read suggests that more is waiting: large messages need fewer system calls.
        if read == self.buffer.len() && read < READ_BYTES_MAX {
            self.buffer.resize(read * 2, 0);
        }
    }

    async fn write(&mut self, message: &[u8]) -> io::Result<()> {
        self.connection.write_all(message).await?;
        self.connection.flush().await
    }
}
