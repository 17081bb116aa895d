//! An accepted connection without security, over TCP or a Unix socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// An accepted connection without security.
#[derive(Debug)]
pub(crate) enum PlainSocket {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    Unix(UnixStream),
}

impl PlainSocket {
    /// The TCP connection, if it is one.
    pub(crate) fn tcp(&self) -> Option<&TcpStream> {
        match self {
            PlainSocket::Tcp(stream) => Some(stream),
            PlainSocket::Unix(_) => None,
        }
    }
}

/// Calls one method on the stream inside, whichever it is.
// A match and no trait object: reads and writes are on the path of every call.
macro_rules! plain {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket.get_mut() {
            PlainSocket::Tcp(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
            PlainSocket::Unix(stream) => {
                let $stream = Pin::new(stream);
                $call
            }
        }
    };
}

impl AsyncRead for PlainSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        plain!(self, stream => stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for PlainSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        plain!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        plain!(self, stream => stream.poll_write_vectored(context, slices))
    }

    // Both stream types pass slices on by writev(2): header and body leave in one send.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        plain!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        plain!(self, stream => stream.poll_shutdown(context))
    }
}
