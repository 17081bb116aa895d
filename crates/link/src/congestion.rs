//! Which congestion control connections over the link really have.

use std::ffi::CStr;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::config::Congestion;
use crate::error::LinkError;
use crate::interface::{CLIENT, SERVER};
use crate::namespace::Pair;
use crate::ready::CongestionSeen;

/// TCP_CA_NAME_MAX of linux/tcp.h.
const NAME_MAX: usize = 16;

/// Bounds a connection over a link that has no profile yet.
const CONNECT: Duration = Duration::from_secs(10);

/// Connects over the link and asks both sockets.
pub(crate) fn verify(pair: &Pair, asked: Congestion) -> Result<CongestionSeen, LinkError> {
    let doing = || LinkError::while_("verifying congestion control by a connection");
    let seen = see(pair).map_err(doing())?;
    match seen.client == asked.name() && seen.server == asked.name() {
        true => Ok(seen),
        false => Err(doing()(io::Error::other(format!(
            "{} was set by route, but the sockets have {} and {}",
            asked.name(),
            seen.client,
            seen.server
        )))),
    }
}

fn see(pair: &Pair) -> io::Result<CongestionSeen> {
    let listener = pair
        .server
        .enter(|| TcpListener::bind(SocketAddr::from((SERVER, 0))))?;
    let address = listener.local_addr()?;
    let client = pair
        .client
        .enter(|| TcpStream::connect_timeout(&address, CONNECT))?;
    let (server, peer) = listener.accept()?;
    debug_assert_eq!(peer.ip(), CLIENT);
    Ok(CongestionSeen {
        client: name(&client)?,
        server: name(&server)?,
    })
}

/// TCP_CONGESTION of a socket (tcp(7)).
fn name(socket: &TcpStream) -> io::Result<String> {
    let mut bytes = [0u8; NAME_MAX + 1];
    let mut length = NAME_MAX as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, one less than there are.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            bytes.as_mut_ptr().cast(),
            &mut length,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    let name = CStr::from_bytes_until_nul(&bytes).map_err(io::Error::other)?;
    Ok(name.to_string_lossy().into_owned())
}
