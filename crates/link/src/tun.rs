//! TUN devices: packets of a namespace, read and written as bytes.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use crate::error::LinkError;
use crate::interface::INTERFACE;
use crate::namespace::Namespace;

/// Makes the interface of a namespace a TUN device, which ends with the file.
///
/// Without IFF_VNET_HDR: the kernel segments and checksums before we read, so
/// that every read is one packet as a wire would carry it, never a super-packet.
pub(crate) fn create(namespace: &Namespace) -> Result<File, LinkError> {
    namespace
        .enter(open)
        .map_err(LinkError::while_(format!("a TUN device in {namespace}")))
}

fn open() -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun")?;
    // SAFETY: an all-zero ifreq is valid; the name is shorter than its field.
    let done = unsafe {
        let mut request: libc::ifreq = mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(INTERFACE.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &mut request)
    };
    match done {
        0 => Ok(file),
        _ => Err(io::Error::last_os_error()),
    }
}
