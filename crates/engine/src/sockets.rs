//! The TCP and UDP sockets of a process and its children, by their descriptors (pidfd_getfd(2)),
//! and the packets that belong to them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, getpeername, getsockname, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use wirelab_trace::packet::Flags;
use wirelab_trace::packet::decode::{Decoded, decode};
use wirelab_trace::packet::file::Record;

/// Sockets are looked up again after this multiple of the time that a lookup takes.
const PAUSE: u32 = 4;
/// The SYN of a socket that was closed again may still wait to be dissected.
const KEPT: Duration = Duration::from_millis(500);
/// Connections that are kept to their end, when their sockets are closed already.
const FLOWS_MAX: usize = 1 << 16;
/// Addresses that are known to be of this machine, or not.
const ADDRESSES_MAX: usize = 1 << 14;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Transport {
    Tcp,
    Udp,
}

/// A connection: the lower address first.
type Flow = (Transport, SocketAddr, SocketAddr);

fn flow(transport: Transport, a: SocketAddr, b: SocketAddr) -> Flow {
    (transport, a.min(b), a.max(b))
}

/// Where a socket is. Sockets over IPv6 that hold IPv4 addresses are under those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ends {
    transport: Transport,
    local: SocketAddr,
    /// None: it is not connected.
    peer: Option<SocketAddr>,
    /// It keeps these addresses until it is closed.
    is_settled: bool,
}

/// Those of a process that is watched, and of its children.
pub(crate) struct Sockets {
    pub(crate) pid: u32,
    /// The process and its descendants, as long as they run.
    processes: HashMap<u32, OwnedFd>,
    owned: Owned,
    /// By the inode.
    known: HashMap<u64, Known>,
    looked_up: Option<Instant>,
    /// From the end of a look-up to the next.
    pause: Duration,
}

struct Known {
    /// None: it is neither TCP nor UDP.
    ends: Option<Ends>,
    /// When it was there last.
    seen: Instant,
}

impl Sockets {
    /// Has looked nothing up yet.
    pub(crate) fn of(pid: u32) -> Sockets {
        Sockets {
            pid,
            processes: HashMap::new(),
            owned: Owned::default(),
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

    /// Looks them up, unless that was done just now. What a process that has ended sent before is
    /// kept.
    ///
    /// # Errors
    /// When the process does not exist at the first look-up, or its descriptors may not be read.
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

    /// Whether a packet is of one of these sockets. A connection that was theirs is kept to its
    /// end.
    pub(crate) fn keeps(&mut self, frame: &Record<'_>) -> bool {
        match decode(frame) {
            Decoded::Tcp(packet) => {
                let is_new = packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::ACK);
                self.owned
                    .keeps(Transport::Tcp, packet.source, packet.destination, is_new)
            }
            // Ports of datagrams are used by one process after the other.
            Decoded::Udp(one) => {
                self.owned
                    .keeps(Transport::Udp, one.source, one.destination, true)
            }
            Decoded::Fragment(_) | Decoded::Other(_) => false,
        }
    }

    fn look(&mut self, now: Instant) -> io::Result<()> {
        if self.looked_up.is_none() {
            self.processes.insert(self.pid, open(self.pid)?);
        }
        self.follow_children();
        let root = self.pid;
        let Sockets {
            processes, known, ..
        } = self;
        for (pid, process) in processes.iter() {
            match look_at(*pid, process.as_fd(), known, now) {
                Ok(()) => {}
                Err(error) if *pid == root && !is_ended(process) => return Err(error),
                // A child that has other rights, or a process that has ended meanwhile.
                Err(_) => {}
            }
        }
        processes.retain(|_, process| !is_ended(process));
        known.retain(|_, known| now - known.seen < KEPT);
        self.owned
            .replace(self.known.values().filter_map(|known| known.ends));
        Ok(())
    }

    /// Adds the children of all processes, also of those that are found on the way.
    fn follow_children(&mut self) {
        let mut left: Vec<u32> = self.processes.keys().copied().collect();
        while let Some(pid) = left.pop() {
            for child in children(pid) {
                if self.processes.contains_key(&child) {
                    continue;
                }
                if let Ok(process) = open(child) {
                    self.processes.insert(child, process);
                    left.push(child);
                }
            }
        }
    }
}

fn open(pid: u32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::NotFound)?;
    pidfd_open(pid, PidfdFlags::empty()).map_err(|error| match error {
        Errno::SRCH => io::ErrorKind::NotFound.into(),
        other => io::Error::from(other),
    })
}

/// Its number may be another process's from then on.
fn is_ended(process: &OwnedFd) -> bool {
    let mut one = [PollFd::new(process, PollFlags::IN)];
    matches!(poll(&mut one, Some(&Timespec::default())), Ok(1..))
}

/// Of every thread of a process; empty for one that has ended.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let lists = threads.into_iter().flatten().flatten();
    lists
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| {
            let numbers = list.split_ascii_whitespace();
            numbers
                .filter_map(|number| number.parse().ok())
                .collect::<Vec<u32>>()
        })
        .collect()
}

fn look_at(
    pid: u32,
    process: BorrowedFd<'_>,
    known: &mut HashMap<u64, Known>,
    now: Instant,
) -> io::Result<()> {
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))?.flatten() {
        let Some(inode) = inode(&entry.path()) else {
            continue;
        };
        if let Some(known) = known.get_mut(&inode)
            && known.ends.is_none_or(|ends| ends.is_settled)
        {
            known.seen = now;
            continue;
        }
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let ends = match socket(process, number)? {
            Found::Ends(ends) => Some(ends),
            Found::Other => None,
            Found::Unknown => continue,
        };
        known.insert(inode, Known { ends, seen: now });
    }
    Ok(())
}

/// Of a socket; None for other files, and where it was closed meanwhile.
fn inode(descriptor: &Path) -> Option<u64> {
    let target = fs::read_link(descriptor).ok()?;
    let text = target.to_str()?.strip_prefix("socket:[")?;
    text.strip_suffix(']')?.parse().ok()
}

enum Found {
    Ends(Ends),
    /// It is neither TCP nor UDP.
    Other,
    /// It is not bound yet, or was closed meanwhile.
    Unknown,
}

fn socket(process: BorrowedFd<'_>, descriptor: RawFd) -> io::Result<Found> {
    let socket = match pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty()) {
        Ok(socket) => socket,
        Err(Errno::PERM) => return Err(Errno::PERM.into()),
        Err(_) => return Ok(Found::Unknown),
    };
    let is_ip = matches!(
        sockopt::socket_domain(&socket),
        Ok(AddressFamily::INET | AddressFamily::INET6)
    );
    let transport = match sockopt::socket_type(&socket) {
        Ok(SocketType::STREAM) if is_ip => Transport::Tcp,
        Ok(SocketType::DGRAM) if is_ip => Transport::Udp,
        _ => return Ok(Found::Other),
    };
    let Some(local) = getsockname(&socket).ok().and_then(canonical) else {
        return Ok(Found::Unknown);
    };
    let peer = match getpeername(&socket) {
        Ok(address) => address.and_then(canonical),
        Err(_) => None,
    };
    let is_listener = sockopt::socket_acceptconn(&socket) == Ok(true);
    Ok(Found::Ends(Ends {
        transport,
        local,
        peer,
        // A socket of datagrams may be connected to another peer.
        is_settled: transport == Transport::Tcp && (is_listener || peer.is_some()),
    }))
}

/// None for one that is not bound.
fn canonical(address: impl TryInto<SocketAddr>) -> Option<SocketAddr> {
    let address: SocketAddr = address.try_into().ok()?;
    (address.port() != 0).then(|| SocketAddr::new(address.ip().to_canonical(), address.port()))
}

/// What is theirs, apart from how it is found.
#[derive(Default)]
struct Owned {
    connected: HashSet<Flow>,
    /// Local addresses of listeners, and of sockets that are not connected; one of all addresses
    /// is unspecified.
    open: HashSet<(Transport, SocketAddr)>,
    /// Connections of which a packet was kept.
    flows: HashSet<Flow>,
    is_local: HashMap<IpAddr, bool>,
}

impl Owned {
    fn replace(&mut self, sockets: impl Iterator<Item = Ends>) {
        self.connected.clear();
        self.open.clear();
        for ends in sockets {
            match ends.peer {
                Some(peer) => {
                    self.connected
                        .insert(flow(ends.transport, ends.local, peer));
                }
                None => {
                    self.open.insert((ends.transport, ends.local));
                }
            }
        }
    }

    /// `is_new`: whoever had the connection before, from here on it is another.
    fn keeps(&mut self, transport: Transport, a: SocketAddr, b: SocketAddr, is_new: bool) -> bool {
        let flow = flow(transport, a, b);
        if !is_new && self.flows.contains(&flow) {
            return true;
        }
        let is_own = self.connected.contains(&flow)
            || self.is_open(transport, a)
            || self.is_open(transport, b);
        if !is_own {
            self.flows.remove(&flow);
        } else if transport == Transport::Tcp {
            if self.flows.len() >= FLOWS_MAX {
                // Those that are open are found by their sockets again.
                self.flows.clear();
            }
            self.flows.insert(flow);
        }
        is_own
    }

    fn is_open(&mut self, transport: Transport, address: SocketAddr) -> bool {
        if self.open.contains(&(transport, address)) {
            return true;
        }
        let everywhere = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
        let is_listening = everywhere.into_iter().any(|ip: IpAddr| {
            self.open
                .contains(&(transport, SocketAddr::new(ip, address.port())))
        });
        // The same port of another machine is not theirs.
        is_listening && self.is_local(address.ip())
    }

    fn is_local(&mut self, ip: IpAddr) -> bool {
        if self.is_local.len() >= ADDRESSES_MAX {
            self.is_local.clear();
        }
        let is_local = self.is_local.entry(ip);
        *is_local.or_insert_with(|| UdpSocket::bind((ip, 0)).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Command, Stdio};

    use super::*;

    fn list_found(sockets: &Sockets) -> Vec<SocketAddr> {
        let known = sockets.known.values().filter_map(|known| known.ends);
        known.map(|ends| ends.local).collect()
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    fn tcp(local: &str, peer: Option<&str>) -> Ends {
        Ends {
            transport: Transport::Tcp,
            local: address(local),
            peer: peer.map(address),
            is_settled: true,
        }
    }

    fn keeps(owned: &mut Owned, a: &str, b: &str, is_new: bool) -> bool {
        owned.keeps(Transport::Tcp, address(a), address(b), is_new)
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
        let found = list_found(&sockets);
        for address in [
            four.local_addr(),
            six.local_addr(),
            caller.local_addr(),
            datagrams.local_addr(),
        ] {
            let address = address.expect("an address");
            assert!(found.contains(&address), "{address}: {found:?}");
        }
    }

    #[test]
    fn a_process_that_does_not_exist_is_an_error() {
        for pid in [u32::MAX, 4_194_303] {
            let error = Sockets::of(pid).look_up().expect_err("no such process");
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn a_process_that_ended_while_it_was_watched_is_not_an_error() {
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .expect("sleep");
        let mut sockets = Sockets::of(child.id());
        sockets.look_up().expect("the child");
        child.kill().expect("a child");
        child.wait().expect("a child");
        std::thread::sleep(sockets.left());
        sockets.look_up().expect("a process that was there");
        assert!(sockets.processes.is_empty());
    }

    #[test]
    fn children_are_followed() {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 60 & wait"])
            .stdin(Stdio::null())
            .spawn()
            .expect("sh");
        let mut sockets = Sockets::of(child.id());
        let began = Instant::now();
        while sockets.processes.len() < 2 && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(sockets.left().max(Duration::from_millis(5)));
            sockets.look_up().expect("the child");
        }
        let count = sockets.processes.len();
        for pid in sockets.processes.keys() {
            let _ = Command::new("kill").arg(pid.to_string()).status();
        }
        child.wait().expect("a child");
        assert_eq!(count, 2);
    }

    #[test]
    fn a_connection_to_another_peer_from_the_same_port_is_not_kept() {
        let mut owned = Owned::default();
        owned.replace([tcp("10.0.0.1:5000", Some("10.0.0.2:80"))].into_iter());
        assert!(keeps(&mut owned, "10.0.0.1:5000", "10.0.0.2:80", true));
        assert!(keeps(&mut owned, "10.0.0.2:80", "10.0.0.1:5000", false));
        assert!(!keeps(&mut owned, "10.0.0.1:5000", "10.0.0.3:80", true));
        assert!(!keeps(&mut owned, "10.0.0.1:5001", "10.0.0.2:80", true));
        let datagram = (
            Transport::Udp,
            address("10.0.0.1:5000"),
            address("10.0.0.2:80"),
        );
        assert!(!owned.keeps(datagram.0, datagram.1, datagram.2, true));
    }

    #[test]
    fn accepted_connections_belong_to_the_listener() {
        let mut owned = Owned::default();
        owned.replace([tcp("0.0.0.0:8080", None)].into_iter());
        assert!(keeps(&mut owned, "127.0.0.1:40000", "127.0.0.1:8080", true));
        // The port of another machine (TEST-NET-1, RFC 5737), which another process calls.
        assert!(!keeps(
            &mut owned,
            "127.0.0.1:40000",
            "192.0.2.1:8080",
            true
        ));
    }

    #[test]
    fn the_end_of_a_connection_is_kept_after_its_socket_was_closed() {
        let mut owned = Owned::default();
        let (a, b) = ("10.0.0.1:5000", "10.0.0.2:80");
        owned.replace([tcp(a, Some(b))].into_iter());
        assert!(keeps(&mut owned, a, b, true));
        owned.replace(std::iter::empty());
        assert!(keeps(&mut owned, b, a, false));
        // Another process opens the same one.
        assert!(!keeps(&mut owned, a, b, true));
        assert!(!keeps(&mut owned, b, a, false));
    }

    #[test]
    fn kept_connections_are_bounded() {
        let mut owned = Owned::default();
        owned.replace([tcp("127.0.0.1:80", None)].into_iter());
        for n in 0..=FLOWS_MAX as u32 {
            let peer = SocketAddr::new(Ipv4Addr::from(0x0a00_0000 + n).into(), 5000);
            assert!(owned.keeps(Transport::Tcp, peer, address("127.0.0.1:80"), true));
        }
        assert!(owned.flows.len() <= FLOWS_MAX);
    }
}
