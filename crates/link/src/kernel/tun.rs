//! TUN devices: packets of a namespace, read and written as bytes.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::{io, mem};

use wirelab_contract::refusal::Refusal;

use crate::error::LinkError;
use crate::kernel::capabilities::REMEDY;
use crate::kernel::interface::INTERFACE;
use crate::kernel::namespace::Namespace;

/// Its pseudo-device (Documentation/networking/tuntap.rst of Linux).
const DEVICE: &str = "/dev/net/tun";

pub(crate) fn check() -> Result<(), Refusal> {
    // Opening alone makes no interface; TUNSETIFF does.
    let opened = OpenOptions::new().read(true).write(true).open(DEVICE);
    opened
        .map(drop)
        .map_err(|error| Refusal::new("driver", format!("{DEVICE}: {error}"), REMEDY))
}

/// Makes the interface of a namespace a TUN device, which ends with the file.
///
/// Without IFF_VNET_HDR: the kernel segments and checksums before we read, so
/// that every read is one packet as a wire would carry it, never a super-packet.
pub(crate) fn create(namespace: &Namespace) -> Result<File, LinkError> {
    namespace
        .enter(open)
        .map_err(LinkError::during(format!("a TUN device in {namespace}")))
}

fn open() -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        // An empty device must not stop the lane: the other direction may be on the
        // same thread.
        .custom_flags(libc::O_NONBLOCK)
        .open(DEVICE)?;
    // SAFETY: an all-zero ifreq is valid; the name is shorter than its field.
    // IFF_NO_PI: no 4-byte header before each packet (Documentation/networking/tuntap.rst).
    let done = unsafe {
        let mut request: libc::ifreq = mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(INTERFACE.bytes()) {
            *to = from as libc::c_char;
        }
        // TUN and not TAP: IP packets, without Ethernet and its ARP.
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &mut request)
    };
    match done {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}
