//! UDP sockets at both ends of a link.

use std::io;
use std::mem;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use crate::interface::{CLIENT, SERVER};
use crate::namespace::{Namespace, Pair};

/// Headers of IPv4 and UDP, bytes.
pub(crate) const HEADER_BYTES: usize = 28;

/// Bytes of a probe as an IP packet: as ping(8) sends it.
pub(crate) const PROBE_BYTES: usize = 84;

/// What a socket may hold, bytes: bursts must not be lost at our own ends.
static BUFFER_BYTES: libc::c_int = 8 << 20;

/// A pair of sockets that talk to each other alone.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) client: UdpSocket,
    pub(crate) server: UdpSocket,
}

impl Ends {
    pub(crate) fn open(pair: &Pair) -> io::Result<Self> {
        let client = open(&pair.client, CLIENT)?;
        let server = open(&pair.server, SERVER)?;
        client.connect(server.local_addr()?)?;
        server.connect(client.local_addr()?)?;
        Ok(Ends { client, server })
    }
}

fn open(namespace: &Namespace, address: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = namespace.enter(|| UdpSocket::bind(SocketAddr::from((address, 0))))?;
    // SAFETY: the option is an int that lives; the kernel only reads it.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVBUFFORCE,
            (&raw const BUFFER_BYTES).cast(),
            mem::size_of_val(&BUFFER_BYTES) as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(socket),
        _ => Err(io::Error::last_os_error()),
    }
}
