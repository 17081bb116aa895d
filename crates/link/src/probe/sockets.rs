//! UDP sockets at both ends of a link.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use rustix::net::sockopt::set_socket_recv_buffer_size_force;

use crate::kernel::interface::{CLIENT, SERVER};
use crate::kernel::namespace::{Namespace, Pair};

// IPv4 without options (20) and UDP (8).
pub(crate) const HEADER_BYTES: usize = 28;

/// What a socket may hold, bytes: bursts must not be lost in the sockets.
const BUFFER_BYTES: usize = 8 << 20;

#[derive(Debug)]
pub(crate) struct UdpEnds {
    pub(crate) client: UdpSocket,
    pub(crate) server: UdpSocket,
}

impl UdpEnds {
    pub(crate) fn open(pair: &Pair) -> io::Result<Self> {
        let client = open(&pair.client, CLIENT)?;
        let server = open(&pair.server, SERVER)?;
        client.connect(server.local_addr()?)?;
        server.connect(client.local_addr()?)?;
        Ok(UdpEnds { client, server })
    }
}

fn open(namespace: &Namespace, address: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = namespace.enter(|| UdpSocket::bind(SocketAddr::from((address, 0))))?;
    // Past net.core.rmem_max, which CAP_NET_ADMIN allows (socket(7)).
    set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES)?;
    Ok(socket)
}
