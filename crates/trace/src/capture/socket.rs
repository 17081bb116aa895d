//! The packet socket, and the interface it is bound to (packet(7)).

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::{fs, io};

use rustix::io::Errno;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::error::CaptureError;
use crate::packet::link_layer::LinkType;

/// A packet socket that receives nothing yet: its protocol is 0 until it is bound.
pub(super) fn packet_socket() -> Result<OwnedFd, CaptureError> {
    // SOCK_RAW below delivers the link header; SOCK_DGRAM would strip it (packet(7)).
    let (family, flags) = (AddressFamily::PACKET, SocketFlags::CLOEXEC);
    socket_with(family, SocketType::RAW, flags, None).map_err(|error| match error {
        Errno::PERM => CaptureError::NotPermitted,
        error => CaptureError::system("AF_PACKET")(error.into()),
    })
}

pub(super) fn set_option<T>(
    socket: BorrowedFd<'_>,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes of a T.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// An interface of the network namespace of this process.
pub(super) struct Interface {
    index: libc::c_int,
    pub(super) link_type: LinkType,
    pub(super) is_loopback: bool,
}

impl Interface {
    pub(super) fn find(name: &str, socket: BorrowedFd<'_>) -> Result<Interface, CaptureError> {
        let missing = || CaptureError::NoInterface {
            name: name.to_owned(),
            present: names(),
        };
        let index = name_to_index(socket, name).map_err(|_| missing())?;
        let hardware = hardware(name, socket).map_err(CaptureError::system("SIOCGIFHWADDR"))?;
        let link_type = match hardware {
            libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => LinkType::ETHERNET,
            // TUN and WireGuard interfaces have no link header at all.
            libc::ARPHRD_NONE => LinkType::RAW,
            hardware => {
                return Err(CaptureError::Hardware {
                    name: name.to_owned(),
                    hardware,
                });
            }
        };
        Ok(Interface {
            index: index as libc::c_int,
            link_type,
            is_loopback: hardware == libc::ARPHRD_LOOPBACK,
        })
    }

    /// From now on the socket gets this interface's packets.
    pub(super) fn bind(&self, socket: BorrowedFd<'_>) -> Result<(), CaptureError> {
        // bind(2) uses no more than these three (packet(7)).
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            // In network byte order. ETH_P_ALL also sees outgoing packets; ETH_P_IP
            // would see received ones only.
            sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
            sll_ifindex: self.index,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        // SAFETY: the address is a sockaddr_ll of the length given.
        let done = unsafe {
            libc::bind(
                socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of_val(&address) as libc::socklen_t,
            )
        };
        if done == 0 {
            Ok(())
        } else {
            Err(CaptureError::system("bind")(io::Error::last_os_error()))
        }
    }
}

fn hardware(name: &str, socket: BorrowedFd<'_>) -> io::Result<u16> {
    let mut request = libc::ifreq {
        ifr_name: [0; libc::IFNAMSIZ],
        ifr_ifru: libc::__c_anonymous_ifr_ifru {
            ifru_hwaddr: libc::sockaddr {
                sa_family: 0,
                sa_data: [0; 14],
            },
        },
    };
    // The interface exists, so its name is shorter than the field.
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: the kernel reads and writes one ifreq.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: SIOCGIFHWADDR fills this member of the union.
    Ok(unsafe { request.ifr_ifru.ifru_hwaddr }.sa_family)
}

/// Interfaces of this thread's network namespace (proc(5)); none without /proc.
fn names() -> Vec<String> {
    // Two lines of headings; then the name, a colon and the counters of each.
    // Not /proc/self: this thread may have entered another network namespace than the
    // process started in.
    let devices = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let named = |line: &str| Some(line.split_once(':')?.0.trim().to_owned());
    devices.lines().skip(2).filter_map(named).collect()
}
