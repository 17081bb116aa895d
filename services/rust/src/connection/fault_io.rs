//! A connection whose bytes the service has in its own hands: how many sends
//! a reply takes, and what calls command it to do.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::Connected;
use wirelab_contract::texts::SplitMix64;

use crate::connection::control::{Command, Control};
use crate::connection::header_split::Splitter;
use crate::connection::socket::Socket;

/// Bytes of garbage that replace a reply.
// More than the largest frame header and HTTP status line, less than a socket buffer.
const GARBAGE_BYTES: usize = 4096;

/// What a connection does in addition to carrying bytes.
#[derive(Debug, Default)]
pub(crate) struct IoOptions {
    /// `TCP_QUICKACK`, set again after every receive.
    pub(crate) quickack: Option<bool>,
    /// Where header and body are two sends.
    pub(crate) splitter: Option<Splitter>,
    /// Where the HTTP/1.0 of the reply is to be an HTTP/1.1.
    pub(crate) relabel: bool,
    /// How long a close waits.
    pub(crate) close_delay: Option<Duration>,
    /// What calls command it to do.
    pub(crate) control: Control,
}

/// A connection as the libraries see it.
#[derive(Debug)]
pub(crate) struct FaultIo {
    socket: Socket,
    io_options: IoOptions,
    /// Garbage that is still to be written, once it was commanded.
    garbage: Option<Vec<u8>>,
    /// The wait before the close, once it has begun.
    closing: Option<Pin<Box<Sleep>>>,
}

impl FaultIo {
    /// A connection over `socket`.
    pub(crate) fn new(socket: Socket, io_options: IoOptions) -> Self {
        FaultIo {
            socket,
            io_options,
            garbage: None,
            closing: None,
        }
    }

    /// The peer's port; none on a Unix socket.
    pub(crate) fn peer_port(&self) -> Option<u16> {
        self.socket.peer_port()
    }

    /// Where calls leave commands for this connection.
    pub(crate) fn control(&self) -> Control {
        self.io_options.control.clone()
    }

    /// Carries out a command that forbids any further byte of the library's.
    fn execute(&mut self, context: &mut Context<'_>, command: Command) -> Poll<io::Result<()>> {
        match command {
            // A close waits for the flush: bytes under way must arrive first.
            Command::Carry | Command::Close => Poll::Ready(Ok(())),
            Command::Reset => {
                // SO_LINGER 0: the close that follows the error sends RST and no FIN (tcp(7)).
                self.socket.reset_on_close()?;
                Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
            }
            Command::Garbage => self.write_garbage(context),
        }
    }

    /// Sends as much of `slices` as may go into one send.
    fn send(
        &mut self,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Some(splitter) = &mut self.io_options.splitter else {
            return Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        };
        // A clone, because the kernel may take fewer bytes than offered: the splitter itself follows
        // only those that were sent.
        let allowed = one_send(splitter.clone(), slices);
        let written = ready!(Pin::new(&mut self.socket).poll_write_vectored(context, &allowed))?;
        follow(splitter, &allowed, written);
        Poll::Ready(Ok(written))
    }

    fn write_garbage(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let garbage = self.garbage.get_or_insert_with(garbage);
        while !garbage.is_empty() {
            let written = ready!(Pin::new(&mut self.socket).poll_write(context, garbage))?;
            // The socket may take only a part. Progress must survive the next poll.
            garbage.drain(..written);
        }
        ready!(Pin::new(&mut self.socket).poll_shutdown(context))?;
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

/// The same bytes every time; no protocol's reply begins like them.
fn garbage() -> Vec<u8> {
    // A fixed seed: two runs with the same fault receive the same bytes.
    let mut generator = SplitMix64::new(0xBAD);
    let words = std::iter::repeat_with(|| generator.next_u64().to_le_bytes());
    words.flatten().take(GARBAGE_BYTES).collect()
}

/// The slices, or parts of them, that may go into the next send.
fn one_send<'a>(mut splitter: Splitter, slices: &'a [io::IoSlice<'_>]) -> Vec<io::IoSlice<'a>> {
    let mut allowed = Vec::with_capacity(slices.len());
    // The send ends with the slice in which the splitter ends it; what follows waits for the next.
    for slice in slices.iter().filter(|slice| !slice.is_empty()) {
        let reach = splitter.walk(slice);
        allowed.push(io::IoSlice::new(&slice[..reach.bytes]));
        if reach.last || reach.bytes < slice.len() {
            break;
        }
    }
    allowed
}

/// Shows the splitter which bytes of `slices` were sent.
fn follow(splitter: &mut Splitter, slices: &[io::IoSlice<'_>], mut written: usize) {
    // `written` bytes fill the slices from the first on (writev(2)).
    for slice in slices {
        let sent = slice.len().min(written);
        splitter.walk(&slice[..sent]);
        written -= sent;
    }
}

/// What may precede the reply (RFC 9110 section 15.2.1).
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// How a reply begins that is to be relabelled.
const LABEL: &[u8] = b"HTTP/1.0 ";

/// Place of the minor version in [`LABEL`].
const MINOR: usize = 7;

/// A copy of `bytes`, the first of a connection, with the HTTP/1.0 of the reply made an
/// HTTP/1.1; none where the reply does not begin in them.
///
/// hyper ends a reply by the end of the connection only when the reply is HTTP/1.0; RFC 9112
/// section 6.3 allows it in HTTP/1.1 as well, and `end_of_message=until-close` asks for that.
fn relabel(bytes: &[u8]) -> Option<Vec<u8>> {
    let at = if bytes.starts_with(CONTINUE) {
        CONTINUE.len()
    } else {
        0
    };
    if !bytes[at..].starts_with(LABEL) {
        return None;
    }
    let mut copy = bytes.to_vec();
    // Same length, so that no offset that hyper keeps becomes wrong.
    copy[at + MINOR] = b'1';
    Some(copy)
}

impl AsyncRead for FaultIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let command = this.io_options.control.poll_command(context);
        ready!(this.execute(context, command))?;
        ready!(Pin::new(&mut this.socket).poll_read(context, buffer))?;
        // The kernel leaves quickack mode on its own (tcp(7)), so once is not enough.
        if let Some(on) = this.io_options.quickack {
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
        let command = this.io_options.control.poll_command(context);
        ready!(this.execute(context, command))?;
        // hyper writes the status line at the begin of the first slice.
        let first = slices.first().filter(|_| this.io_options.relabel);
        let Some(changed) = first.and_then(|first| relabel(first)) else {
            return this.send(context, slices);
        };
        let changed = io::IoSlice::new(&changed);
        let slices: Vec<_> = std::iter::once(changed)
            .chain(slices[1..].iter().copied())
            .collect();
        let written = ready!(this.send(context, &slices))?;
        // The first send on a connection always takes the label as a whole:
        // the kernel's buffer is empty.
        this.io_options.relabel = false;
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let command = this.io_options.control.poll_command(context);
        ready!(this.execute(context, command))?;
        // All bytes of the library first: half of a reply must arrive before the FIN.
        ready!(Pin::new(&mut this.socket).poll_flush(context))?;
        if command == Command::Close {
            ready!(Pin::new(&mut this.socket).poll_shutdown(context))?;
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        // The wait is between the last byte and the FIN, where slow servers have it.
        if let Some(delay) = this.io_options.close_delay {
            let closing = this.closing.get_or_insert_with(|| Box::pin(sleep(delay)));
            ready!(closing.as_mut().poll(context));
            this.io_options.close_delay = None;
        }
        Pin::new(&mut this.socket).poll_shutdown(context)
    }
}

impl Connected for FaultIo {
    type ConnectInfo = Control;

    fn connect_info(&self) -> Control {
        self.control()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reply_is_relabelled_and_no_other_byte_is_touched() {
        assert_eq!(relabel(CONTINUE), None);
        let reply = b"HTTP/1.0 200 OK\r\ndate: today\r\n\r\nHTTP/1.0 ";
        let changed = relabel(reply).expect("a label");
        assert_eq!(changed, b"HTTP/1.1 200 OK\r\ndate: today\r\n\r\nHTTP/1.0 ");
        let both = relabel(&[CONTINUE, &reply[..]].concat());
        assert_eq!(both, Some([CONTINUE, &changed[..]].concat()));
    }
}
