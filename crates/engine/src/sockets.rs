//! The TCP sockets of a process, by their descriptors (pidfd_getfd(2)).

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, getsockname, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use wirelab_trace::output::Endpoints;

/// They are looked up again after so many times the duration of that.
const PAUSE: u32 = 4;
/// The SYN of a socket that was closed again may still wait to be dissected.
const KEPT: Duration = Duration::from_millis(500);

/// Those of a process that is watched, with what it listens at.
pub(crate) struct Sockets {
    pub(crate) pid: u32,
    /// Their local addresses; of all addresses the unspecified one stands. Sockets over IPv6 that
    /// hold IPv4 addresses are under those.
    pub(crate) chosen: Endpoints,
    /// By the inode.
    known: HashMap<u64, Known>,
    looked_up: Option<Instant>,
    /// From the end of a look-up to the next.
    pause: Duration,
}

struct Known {
    /// None: it is not TCP.
    address: Option<SocketAddr>,
    /// When it was there last.
    seen: Instant,
}

impl Sockets {
    /// Has looked nothing up yet.
    pub(crate) fn of(pid: u32) -> Sockets {
        Sockets {
            pid,
            chosen: Endpoints::default(),
            known: HashMap::new(),
            looked_up: None,
            pause: Duration::ZERO,
        }
    }

    /// From now to the next look-up.
    pub(crate) fn left(&self) -> Duration {
        let waited = self.looked_up.map(|at| at.elapsed());
        waited.map_or(Duration::ZERO, |waited| self.pause.saturating_sub(waited))
    }

    /// Looks them up, unless that was done just now.
    ///
    /// # Errors
    /// When there is no such process, or its descriptors may not be read.
    pub(crate) fn look_up(&mut self) -> io::Result<()> {
        if !self.left().is_zero() {
            return Ok(());
        }
        let began = Instant::now();
        let found = self.look(began);
        let ended = Instant::now();
        self.looked_up = Some(ended);
        self.pause = PAUSE * (ended - began);
        found
    }

    fn look(&mut self, now: Instant) -> io::Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::NotFound)?;
        let process = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| match error {
            Errno::SRCH => io::ErrorKind::NotFound.into(),
            other => io::Error::from(other),
        })?;
        for entry in fs::read_dir(format!("/proc/{}/fd", self.pid))?.flatten() {
            let Some(inode) = inode(&entry.path()) else {
                continue;
            };
            if let Some(known) = self.known.get_mut(&inode) {
                known.seen = now;
                continue;
            }
            let number = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let local =
                number.map_or(Ok(Local::Unknown), |number| local(process.as_fd(), number))?;
            let address = match local {
                Local::Address(address) => Some(address),
                Local::None => None,
                Local::Unknown => continue,
            };
            self.known.insert(inode, Known { address, seen: now });
        }
        self.known.retain(|_, known| now - known.seen < KEPT);
        let addresses = self.known.values().filter_map(|known| known.address);
        self.chosen.replace(addresses);
        Ok(())
    }
}

/// Of a socket; None for what is none, or was closed meanwhile.
fn inode(descriptor: &Path) -> Option<u64> {
    let target = fs::read_link(descriptor).ok()?;
    let text = target.to_str()?.strip_prefix("socket:[")?;
    text.strip_suffix(']')?.parse().ok()
}

enum Local {
    Address(SocketAddr),
    /// It is not TCP.
    None,
    /// It is not bound yet, or was closed meanwhile.
    Unknown,
}

fn local(process: BorrowedFd<'_>, descriptor: RawFd) -> io::Result<Local> {
    let socket = match pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty()) {
        Ok(socket) => socket,
        Err(Errno::PERM) => return Err(Errno::PERM.into()),
        Err(_) => return Ok(Local::Unknown),
    };
    let is_ip = matches!(
        sockopt::socket_domain(&socket),
        Ok(AddressFamily::INET | AddressFamily::INET6)
    );
    if !is_ip || sockopt::socket_type(&socket) != Ok(SocketType::STREAM) {
        return Ok(Local::None);
    }
    let address = getsockname(&socket).ok();
    let address = address.and_then(|address| SocketAddr::try_from(address).ok());
    Ok(match address {
        Some(address) if address.port() != 0 => {
            Local::Address(SocketAddr::new(address.ip().to_canonical(), address.port()))
        }
        _ => Local::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    fn found(sockets: &Sockets) -> Vec<SocketAddr> {
        let known = sockets.known.values();
        known.filter_map(|known| known.address).collect()
    }

    #[test]
    fn own_sockets_are_found() {
        let four = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let six = TcpListener::bind("[::1]:0").expect("a listener");
        let mut sockets = Sockets::of(std::process::id());
        sockets.look_up().expect("this process");
        let caller = TcpStream::connect(four.local_addr().expect("an address")).expect("a caller");
        let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        std::thread::sleep(sockets.left());
        sockets.look_up().expect("this process");
        let found = found(&sockets);
        for address in [four.local_addr(), six.local_addr(), caller.local_addr()] {
            let address = address.expect("an address");
            assert!(found.contains(&address), "{address}: {found:?}");
        }
        assert!(!found.contains(&datagrams.local_addr().expect("an address")));
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        for pid in [u32::MAX, 4_194_303] {
            let error = Sockets::of(pid).look_up().expect_err("no such process");
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }
}
