//! Live capture: frames of an interface from a ring that the kernel fills
//! (AF_PACKET with TPACKET_V3, packet_mmap.rst of the Linux documentation).
//!
//! TCP of one port is taken, or all of TCP and DNS over UDP: the kernel's filter
//! sees to it. On the loopback interface, where every packet passes twice, one of them
//! is kept. Timestamps are the kernel's, in nanoseconds.

mod error;
mod filter;
mod recording;
mod ring;
mod socket;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

pub use error::CaptureError;
pub use recording::{Recorded, Recording};
use ring::Ring;
use socket::{Interface, packet_socket, set_option};

use crate::packet::file::Record;
use crate::packet::link_layer::LinkType;

/// What is to be captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Its name, e.g. `lo`.
    pub interface: String,
    /// Longer frames are cut to this length, bytes.
    pub snap_bytes: u32,
    /// TCP from or to this port; None for all of TCP, and DNS over UDP.
    pub port: Option<u16>,
    /// Size of the ring, MiB: how long the reader may be late.
    pub ring_mib: u32,
    /// Packets are handed over after so long, milliseconds, where no block of the ring is full.
    pub retire_ms: u32,
}

impl Options {
    /// Frames are kept whole: what libpcap and its users take for that.
    pub const SNAP_BYTES: u32 = 262_144;
    /// More than a second of a busy core.
    pub const RING_MIB: u32 = 64;
    /// Few wakeups, and a user at a terminal sees no delay.
    pub const RETIRE_MS: u32 = 20;

    /// All of TCP on an interface, frames whole.
    pub fn of(interface: &str) -> Options {
        Options {
            interface: interface.to_owned(),
            snap_bytes: Options::SNAP_BYTES,
            port: None,
            ring_mib: Options::RING_MIB,
            retire_ms: Options::RETIRE_MS,
        }
    }
}

/// What the kernel counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelTotals {
    /// Packets that passed the filter, those dropped among them.
    pub received: u64,
    /// Packets for which the ring had no room.
    pub drops: u64,
    /// How often it was full.
    pub freezes: u64,
}

/// A capture under way.
pub struct Capture {
    // Unmapped before the socket is closed.
    ring: Ring,
    socket: OwnedFd,
    link_type: LinkType,
    retire: Duration,
    totals: KernelTotals,
    frames: u64,
}

impl Capture {
    /// Begins to capture.
    ///
    /// # Errors
    /// When the options cannot be honoured or the process may not capture.
    pub fn open(options: &Options) -> Result<Capture, CaptureError> {
        options.check()?;
        // The order matters. Filter before bind, so that no other packet enters the
        // ring; ring before bind, so that none is lost in between.
        let socket = packet_socket()?;
        let interface = Interface::find(&options.interface, socket.as_fd())?;
        let program = filter::accept_tcp(interface.link_type, options.port, options.snap_bytes);
        filter::attach(socket.as_fd(), &program).map_err(CaptureError::system("filter"))?;
        if interface.is_loopback {
            // Available since Linux 4.20; an outgoing packet on loopback is seen again as incoming.
            let on: libc::c_int = 1;
            set_option(socket.as_fd(), libc::PACKET_IGNORE_OUTGOING, &on)
                .map_err(CaptureError::system("PACKET_IGNORE_OUTGOING"))?;
        }
        let ring = Ring::map(socket.as_fd(), options.ring_mib, options.retire_ms)
            .map_err(CaptureError::Ring)?;
        interface.bind(socket.as_fd())?;
        let mut capture = Capture {
            ring,
            socket,
            link_type: interface.link_type,
            retire: Duration::from_millis(u64::from(options.retire_ms)),
            totals: KernelTotals::default(),
            frames: 0,
        };
        // What was counted before the interface was bound is not of it.
        capture
            .totals()
            .map_err(CaptureError::system("PACKET_STATISTICS"))?;
        capture.totals = KernelTotals::default();
        Ok(capture)
    }

    /// How the frames begin.
    pub fn link_type(&self) -> LinkType {
        self.link_type
    }

    /// Hands on the frames of the next full block of the ring, in order; false
    /// when there is none yet.
    ///
    /// # Errors
    /// The first that `take` has; the rest of the block is lost then.
    pub fn block<E>(
        &mut self,
        mut take: impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let (link_type, frames) = (self.link_type, &mut self.frames);
        self.ring.block(|frame| {
            *frames += 1;
            take(&Record {
                number: *frames,
                at_ns: frame.at_ns,
                wire_bytes: frame.wire_bytes,
                link_type,
                data: frame.data,
            })
        })
    }

    /// How many blocks the kernel has handed over.
    pub fn ready(&self) -> usize {
        self.ring.ready()
    }

    /// Lets nothing more into the ring. What is in it can still be read: the
    /// last block after [`Capture::settling`].
    ///
    /// # Errors
    /// The errors of the kernel.
    pub fn stop(&self) -> io::Result<()> {
        // A filter that drops everything keeps the ring mapped. Closing the socket
        // would lose the block that is being filled.
        filter::attach(self.socket.as_fd(), &filter::reject_all())
    }

    /// After so long the last block of a stopped capture has been handed over.
    pub fn settling(&self) -> Duration {
        2 * self.retire
    }

    /// What the kernel counted since the beginning.
    ///
    /// # Errors
    /// The errors of the kernel.
    pub fn totals(&mut self) -> io::Result<KernelTotals> {
        // Version 3 adds the freeze count. The kernel chooses the structure by the
        // socket's packet version (packet_getsockopt in net/packet/af_packet.c).
        let mut new = libc::tpacket_stats_v3 {
            tp_packets: 0,
            tp_drops: 0,
            tp_freeze_q_cnt: 0,
        };
        let mut length = size_of_val(&new) as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes to a struct of that size.
        let done = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut new).cast(),
                &raw mut length,
            )
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
        // Reading sets them to zero.
        // tp_packets includes tp_drops: the kernel adds them before it copies the
        // structure.
        self.totals.received += u64::from(new.tp_packets);
        self.totals.drops += u64::from(new.tp_drops);
        self.totals.freezes += u64::from(new.tp_freeze_q_cnt);
        Ok(self.totals)
    }
}

impl AsFd for Capture {
    /// Readable when a block is full.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Options {
    fn check(&self) -> Result<(), CaptureError> {
        // The header of TCP over IPv6 with options, on Ethernet.
        // 14 + 40 + 60 bytes.
        const SNAP_BYTES_MIN: u32 = 114;
        check_range(
            "snaplen",
            self.snap_bytes,
            SNAP_BYTES_MIN,
            Options::SNAP_BYTES,
        )?;
        check_range("ring_mib", self.ring_mib, 1, ring::MIB_MAX)?;
        // No connection has port 0 (RFC 6335 section 6): nothing would be captured.
        self.port.map_or(Ok(()), |port| {
            check_range("port", u32::from(port), 1, u32::from(u16::MAX))
        })
    }
}

fn check_range(option: &'static str, value: u32, low: u32, high: u32) -> Result<(), CaptureError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(CaptureError::OutOfRange {
        option,
        value,
        low,
        high,
    })
}
