//! One non-blocking stream socket, every system call of it ours.

use std::io;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use wirelab_stack::Stack;

use crate::target::Target;

/// Options that a stack asks for on the client's sockets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SocketOptions {
    pub(crate) nagle: bool,
    pub(crate) quickack: Option<bool>,
    pub(crate) receive_buffer: Option<u32>,
}

impl SocketOptions {
    pub(crate) fn of(stack: &Stack) -> SocketOptions {
        SocketOptions {
            nagle: stack.client.nagle,
            quickack: stack.client.quickack,
            receive_buffer: stack.client.tcp_window,
        }
    }
}

/// A connected or connecting stream socket.
#[derive(Debug)]
pub(crate) struct Socket {
    fd: OwnedFd,
    quickack: Option<bool>,
}

/// What a read gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// That many bytes; 0 is the end of the stream.
    Bytes(usize),
    /// Nothing now.
    Empty,
}

impl Socket {
    /// Starts to connect. The connection may be complete at once (loopback),
    /// which the first write finds out.
    pub(crate) fn connect(target: &Target, options: SocketOptions) -> io::Result<Socket> {
        let family = match target {
            Target::Tcp(SocketAddr::V4(_)) => libc::AF_INET,
            Target::Tcp(SocketAddr::V6(_)) => libc::AF_INET6,
            Target::Unix(_) => libc::AF_UNIX,
        };
        let socket = Socket::new(family, options.quickack)?;
        if matches!(target, Target::Tcp(_)) {
            socket.set_options(options)?;
        }
        socket.start(target)?;
        Ok(socket)
    }

    fn new(family: i32, quickack: Option<bool>) -> io::Result<Socket> {
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointers; a valid descriptor or -1 comes back.
        let fd = unsafe { libc::socket(family, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just opened and is owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Socket { fd, quickack })
    }

    fn set_options(&self, options: SocketOptions) -> io::Result<()> {
        if !options.nagle {
            self.set(libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
        }
        if let Some(bytes) = options.receive_buffer {
            self.set(libc::SOL_SOCKET, libc::SO_RCVBUF, bytes as i32)?;
        }
        self.rearm_quickack()
    }

    /// Sets TCP_QUICKACK as the plan says; the kernel forgets it (tcp(7)).
    pub(crate) fn rearm_quickack(&self) -> io::Result<()> {
        match self.quickack {
            Some(on) => self.set(libc::IPPROTO_TCP, libc::TCP_QUICKACK, i32::from(on)),
            None => Ok(()),
        }
    }

    /// One that never carries anything: it asks the kernel for something.
    pub(crate) fn unconnected() -> io::Result<Socket> {
        Socket::new(libc::AF_INET, None)
    }

    /// Asks the kernel to stamp what arrives, on whatever socket.
    pub(crate) fn ask_for_stamps(&self, wanted: bool) -> io::Result<()> {
        let flags = match wanted {
            true => libc::SOF_TIMESTAMPING_RX_SOFTWARE,
            false => 0,
        };
        self.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags as i32)
    }

    /// Has [`Socket::read_stamped`] show the stamps while some socket
    /// [asks](Socket::ask_for_stamps) for them.
    pub(crate) fn show_stamps(&self) -> io::Result<()> {
        let flags = libc::SOF_TIMESTAMPING_SOFTWARE;
        self.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags as i32)
    }

    fn set(&self, level: i32, name: i32, value: i32) -> io::Result<()> {
        // SAFETY: `value` is a valid int for the duration of the call.
        let done = unsafe {
            libc::setsockopt(
                self.raw(),
                level,
                name,
                (&raw const value).cast(),
                mem::size_of::<i32>() as libc::socklen_t,
            )
        };
        if done == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    fn start(&self, target: &Target) -> io::Result<()> {
        let done = match target {
            Target::Tcp(SocketAddr::V4(address)) => self.connect_to(&in4(address)),
            Target::Tcp(SocketAddr::V6(address)) => self.connect_to(&in6(address)),
            Target::Unix(path) => self.connect_to(&un(path.as_os_str().as_bytes())),
        };
        match done {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
            other => other,
        }
    }

    fn connect_to<T>(&self, address: &T) -> io::Result<()> {
        let length = mem::size_of::<T>() as libc::socklen_t;
        // SAFETY: `address` is a socket address of `length` bytes, of our making.
        let done = unsafe { libc::connect(self.raw(), (&raw const *address).cast(), length) };
        if done == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    pub(crate) fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// The TCP port of our end (getsockname(2)).
    pub(crate) fn local_port(&self) -> io::Result<u16> {
        // SAFETY: an all-zero sockaddr_in6 is valid, and large enough for IPv4 too.
        let mut address: libc::sockaddr_in6 = unsafe { mem::zeroed() };
        let mut length = mem::size_of_val(&address) as libc::socklen_t;
        // SAFETY: address and length are valid for writing.
        let done = unsafe { libc::getsockname(self.raw(), (&raw mut address).cast(), &mut length) };
        match done {
            // The port is in the same place in both families.
            0 => Ok(u16::from_be(address.sin6_port)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The pending error of a connection attempt (SO_ERROR), if any.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        let mut value: i32 = 0;
        let mut length = mem::size_of::<i32>() as libc::socklen_t;
        // SAFETY: value and length are valid for writing.
        unsafe {
            libc::getsockopt(
                self.raw(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut value).cast(),
                &mut length,
            )
        };
        (value != 0).then(|| io::Error::from_raw_os_error(value))
    }

    /// One send. `Ok(0)`: no room now, or not yet connected.
    #[inline]
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the slice is valid for reading.
        let sent = unsafe {
            libc::send(
                self.raw(),
                bytes.as_ptr().cast(),
                bytes.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        if sent >= 0 {
            return Ok(sent as usize);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(0),
            _ => Err(error),
        }
    }

    /// One receive.
    #[inline]
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<Read> {
        // SAFETY: the slice is valid for writing.
        let got = unsafe { libc::recv(self.raw(), into.as_mut_ptr().cast(), into.len(), 0) };
        read_result(got)
    }

    /// One receive with the kernel's stamp of the newest packet in it,
    /// nanoseconds of CLOCK_REALTIME.
    pub(crate) fn read_stamped(&self, into: &mut [u8]) -> io::Result<(Read, Option<u64>)> {
        let mut part = libc::iovec {
            iov_base: into.as_mut_ptr().cast(),
            iov_len: into.len(),
        };
        let mut control = [0u64; 16];
        // SAFETY: an all-zero msghdr is valid; its pointers are set next.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = mem::size_of_val(&control);
        // SAFETY: the message points to live buffers of the stated lengths.
        let got = unsafe { libc::recvmsg(self.raw(), &mut message, 0) };
        let read = read_result(got)?;
        let stamp = match read {
            Read::Bytes(1..) => arrival(&message),
            _ => None,
        };
        Ok((read, stamp))
    }
}

fn read_result(got: isize) -> io::Result<Read> {
    if got >= 0 {
        return Ok(Read::Bytes(got as usize));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(Read::Empty),
        _ => Err(error),
    }
}

/// The software stamp: the first of the three in SCM_TIMESTAMPING.
fn arrival(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled the control buffer; CMSG_* walk inside it.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET
                && (*header).cmsg_type == libc::SCM_TIMESTAMPING
            {
                let stamp: libc::timespec = libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .read_unaligned();
                return Some(stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64);
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

fn in4(address: &std::net::SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address.ip().octets()),
        },
        sin_zero: [0; 8],
    }
}

fn in6(address: &std::net::SocketAddrV6) -> libc::sockaddr_in6 {
    libc::sockaddr_in6 {
        sin6_family: libc::AF_INET6 as libc::sa_family_t,
        sin6_port: address.port().to_be(),
        sin6_flowinfo: address.flowinfo(),
        sin6_addr: libc::in6_addr {
            s6_addr: address.ip().octets(),
        },
        sin6_scope_id: address.scope_id(),
    }
}

fn un(path: &[u8]) -> libc::sockaddr_un {
    let mut address = libc::sockaddr_un {
        sun_family: libc::AF_UNIX as libc::sa_family_t,
        sun_path: [0; 108],
    };
    for (to, from) in address.sun_path.iter_mut().zip(path) {
        *to = *from as libc::c_char;
    }
    address
}
