//! One non-blocking stream socket, every system call of it ours.

use std::io;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::sockopt::{
    set_socket_recv_buffer_size, set_tcp_nodelay, set_tcp_quickack, socket_error,
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, getsockname,
    recv, send, socket_with,
};
use wirelab_stack::Stack;

use crate::plan::target::Target;

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
            Target::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
            Target::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
            Target::Unix(_) => AddressFamily::UNIX,
        };
        let socket = Socket::new(family, options.quickack)?;
        if matches!(target, Target::Tcp(_)) {
            socket.set_options(options)?;
        }
        socket.start(target)?;
        Ok(socket)
    }

    fn new(family: AddressFamily, quickack: Option<bool>) -> io::Result<Socket> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = socket_with(family, SocketType::STREAM, flags, None)?;
        Ok(Socket { fd, quickack })
    }

    fn set_options(&self, options: SocketOptions) -> io::Result<()> {
        // Nagle's algorithm (RFC 1122 section 4.2.3.4) holds a small write back until the one
        // before is acknowledged, which a delayed acknowledgement makes 40 ms on Linux. Hence
        // off by default, as in most clients of HTTP and gRPC.
        if !options.nagle {
            set_tcp_nodelay(&self.fd, true)?;
        }
        if let Some(bytes) = options.receive_buffer {
            // Before connect(2): the window scale is fixed by the handshake (tcp(7)).
            set_socket_recv_buffer_size(&self.fd, bytes as usize)?;
        }
        self.rearm_quickack()
    }

    /// Sets TCP_QUICKACK as the plan says; the kernel forgets it (tcp(7)).
    pub(crate) fn rearm_quickack(&self) -> io::Result<()> {
        match self.quickack {
            Some(on) => Ok(set_tcp_quickack(&self.fd, on)?),
            None => Ok(()),
        }
    }

    /// One that never carries anything: it asks the kernel for something.
    pub(crate) fn unconnected() -> io::Result<Socket> {
        Socket::new(AddressFamily::INET, None)
    }

    /// Asks the kernel to stamp what arrives, on whatever socket.
    pub(crate) fn request_stamps(&self, enable: bool) -> io::Result<()> {
        let flags = match enable {
            // The kernel stamps all packets of the machine while any socket has this flag, and
            // reports the stamps on sockets with SOF_TIMESTAMPING_SOFTWARE
            // (Documentation/networking/timestamping.rst, 1.3.1 and 1.3.2). So one socket can
            // switch stamps on and off for all connections.
            true => libc::SOF_TIMESTAMPING_RX_SOFTWARE,
            false => 0,
        };
        self.set_timestamping(flags)
    }

    /// Has [`Socket::read_stamped`] show the stamps while some socket
    /// [requests](Socket::request_stamps) for them.
    pub(crate) fn show_stamps(&self) -> io::Result<()> {
        self.set_timestamping(libc::SOF_TIMESTAMPING_SOFTWARE)
    }

    /// SO_TIMESTAMPING, which rustix does not have.
    fn set_timestamping(&self, flags: u32) -> io::Result<()> {
        // SAFETY: `flags` is a valid int for the duration of the call.
        let done = unsafe {
            libc::setsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_TIMESTAMPING,
                (&raw const flags).cast(),
                mem::size_of::<u32>() as libc::socklen_t,
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
            // No bind before: the kernel picks the port, and looks for a free one per
            // destination.
            Target::Tcp(address) => rustix::net::connect(&self.fd, address),
            Target::Unix(path) => {
                SocketAddrUnix::new(path).and_then(|path| rustix::net::connect(&self.fd, &path))
            }
        };
        match done {
            // Its end is seen by epoll as room to write.
            Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The TCP port of our end (getsockname(2)).
    pub(crate) fn local_port(&self) -> io::Result<u16> {
        let address = SocketAddr::try_from(getsockname(&self.fd)?)?;
        Ok(address.port())
    }

    /// The pending error of a connection attempt (SO_ERROR), if any.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        // Reading it clears it, so that a later send reports an error of its own.
        socket_error(&self.fd).ok()?.err().map(io::Error::from)
    }

    /// One send. `Ok(0)`: no room now, or not yet connected.
    #[inline]
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        // A peer that closed is an error of the call, not a SIGPIPE.
        match send(&self.fd, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// One receive.
    #[inline]
    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<Read> {
        match recv(&self.fd, into, RecvFlags::empty()) {
            Ok((got, _)) => Ok(Read::Bytes(got)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Read::Empty),
            Err(error) => Err(error.into()),
        }
    }

    /// One receive with the kernel's stamp of the newest packet in it,
    /// nanoseconds of CLOCK_REALTIME.
    pub(crate) fn read_stamped(&self, into: &mut [u8]) -> io::Result<(Read, Option<u64>)> {
        let mut part = libc::iovec {
            iov_base: into.as_mut_ptr().cast(),
            iov_len: into.len(),
        };
        // Words, because a cmsghdr must be aligned as size_t (cmsg(3)). SCM_TIMESTAMPING needs
        // 64 of the 128 bytes: a header of 16 and three timespecs.
        let mut control = [0u64; 16];
        // SAFETY: an all-zero msghdr is valid; its pointers are set next.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = mem::size_of_val(&control);
        // rustix skips SCM_TIMESTAMPING when it reads control messages.
        // SAFETY: the message points to live buffers of the stated lengths.
        let got = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &mut message, 0) };
        let read = read_result(got)?;
        let stamp = match read {
            Read::Bytes(1..) => arrival(&message),
            _ => None,
        };
        Ok((read, stamp))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
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
                // CMSG_DATA is not aligned for every type (cmsg(3)).
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
