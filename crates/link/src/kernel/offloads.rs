//! Offloads off, so that every packet is one that a wire could carry.

use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::{io, mem};

use crate::error::LinkError;
use crate::kernel::interface::INTERFACE;
use crate::kernel::namespace::Namespace;

/// linux/sockios.h
// By ioctl, because ethtool(8) is a package of its own.
const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// An offload: its name, and its get and set commands (linux/ethtool.h).
const OFFLOADS: [(&str, u32, u32); 3] = [
    ("tso", 0x1e, 0x1f),
    ("gso", 0x23, 0x24),
    ("gro", 0x2b, 0x2c),
];

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Switches the offloads of a namespace's interface off and reads them back.
pub(crate) fn switch_off(namespace: &Namespace) -> Result<(), LinkError> {
    namespace
        .enter(|| {
            OFFLOADS
                .iter()
                .try_for_each(|offload| switch_one_off(*offload))
        })
        .map_err(LinkError::during(format!("offloads of {namespace}")))
}

fn switch_one_off((name, get, set): (&str, u32, u32)) -> io::Result<()> {
    // Any socket will do: it names the namespace to the ioctl (netdevice(7)).
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    if ethtool(&socket, get, 0)? == 0 {
        return Ok(());
    }
    ethtool(&socket, set, 0)?;
    // Read back: a device may take the request and keep the offload.
    match ethtool(&socket, get, 0)? {
        0 => Ok(()),
        _ => Err(io::Error::other(format!("{name} stays on"))),
    }
}

fn ethtool(socket: &UdpSocket, command: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { command, data };
    // SAFETY: an all-zero ifreq is valid; the name is shorter than its field,
    // and the value outlives the call that reads and writes it.
    let done = unsafe {
        let mut request: libc::ifreq = mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(INTERFACE.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // `as _`, since glibc and musl give the request different types.
        libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &mut request)
    };
    match done {
        0 => Ok(value.data),
        _ => Err(io::Error::last_os_error()),
    }
}
