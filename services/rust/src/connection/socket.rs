//! An accepted connection, whatever its address family.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::sockopt::set_tcp_quickack;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::connection::plain_socket::PlainSocket;
use crate::connection::tls::TlsSocket;

/// An accepted connection.
#[derive(Debug)]
pub(crate) enum Socket {
    /// As it is.
    Plain(PlainSocket),
    /// Under TLS.
    Tls(TlsSocket),
}

impl Socket {
    fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Socket::Plain(socket) => socket.tcp(),
            Socket::Tls(socket) => socket.tcp(),
        }
    }

    /// The peer's port; none on a Unix socket.
    pub(crate) fn peer_port(&self) -> Option<u16> {
        Some(self.tcp()?.peer_addr().ok()?.port())
    }

    /// Makes the close that follows a reset (RST instead of FIN).
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        // A Unix socket has no RST; validation refuses that fault there.
        self.tcp().map_or(Ok(()), TcpStream::set_zero_linger)
    }

    /// Sets `TCP_QUICKACK`, which the kernel forgets after a while (tcp(7)).
    pub(crate) fn set_quickack(&self, on: bool) -> io::Result<()> {
        let Some(stream) = self.tcp() else {
            return Ok(());
        };
        Ok(set_tcp_quickack(stream, on)?)
    }
}

/// Calls one method on the stream inside; under TLS after its handshake.
macro_rules! inside {
    ($socket:expr, $context:expr, $stream:ident => $call:expr) => {
        match $socket.get_mut() {
            Socket::Plain(socket) => {
                let $stream = Pin::new(socket);
                $call
            }
            Socket::Tls(socket) => {
                let $stream = ready!(socket.poll_open($context))?;
                $call
            }
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        inside!(self, context, stream => stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        inside!(self, context, stream => stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        inside!(self, context, stream => stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, context, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self, context, stream => stream.poll_shutdown(context))
    }
}
