//! The TCP sockets of a process, by their descriptors (pidfd_getfd(2)).

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, RawFd};

use rustix::net::{SocketType, getsockname, sockopt};
use rustix::process::{ForeignRawFd, Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// Local addresses of its sockets, those that it listens at among them; of all addresses the
/// unspecified one stands. Sockets over IPv6 that hold IPv4 addresses are under those.
///
/// # Errors
/// When there is no such process, or its descriptors may not be read.
pub(crate) fn of_process(pid: u32) -> io::Result<HashSet<SocketAddr>> {
    let known = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let known = known.ok_or(io::ErrorKind::NotFound)?;
    let process = pidfd_open(known, PidfdFlags::empty()).map_err(|error| match error {
        rustix::io::Errno::SRCH => io::ErrorKind::NotFound.into(),
        other => io::Error::from(other),
    })?;
    let mut found = HashSet::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))?.flatten() {
        // A descriptor may be closed meanwhile.
        let is_socket = fs::read_link(entry.path())
            .is_ok_and(|target| target.to_string_lossy().starts_with("socket:["));
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        if let Some(number) = number.filter(|_| is_socket) {
            found.extend(local(process.as_fd(), number)?);
        }
    }
    Ok(found)
}

/// None for what is not TCP, has no address, or was closed.
fn local(process: BorrowedFd<'_>, descriptor: RawFd) -> io::Result<Option<SocketAddr>> {
    let flags = PidfdGetfdFlags::empty();
    let socket = match pidfd_getfd(process, descriptor as ForeignRawFd, flags) {
        Ok(socket) => socket,
        Err(rustix::io::Errno::PERM) => return Err(rustix::io::Errno::PERM.into()),
        Err(_) => return Ok(None),
    };
    if sockopt::socket_type(&socket) != Ok(SocketType::STREAM) {
        return Ok(None);
    }
    let address = getsockname(&socket).ok();
    let address = address.and_then(|address| SocketAddr::try_from(address).ok());
    Ok(address
        .map(|address| SocketAddr::new(address.ip().to_canonical(), address.port()))
        .filter(|address| address.port() != 0))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    #[test]
    fn own_sockets_are_found() {
        let four = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let six = TcpListener::bind("[::1]:0").expect("a listener");
        let caller = TcpStream::connect(four.local_addr().expect("an address")).expect("a caller");
        let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let found = of_process(std::process::id()).expect("this process");
        for address in [four.local_addr(), six.local_addr(), caller.local_addr()] {
            let address = address.expect("an address");
            assert!(found.contains(&address), "{address}: {found:?}");
        }
        assert!(!found.contains(&datagrams.local_addr().expect("an address")));
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        assert!(of_process(u32::MAX).is_err());
    }
}
