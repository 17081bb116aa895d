//! The packet socket, and the interface it is bound to (packet(7)).

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::error::CaptureError;
use crate::packet::link_layer::LinkType;

/// A packet socket that receives nothing yet: its protocol is 0 until it is bound.
pub(super) fn packet_socket() -> Result<OwnedFd, CaptureError> {
    // SAFETY: socket takes numbers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if fd >= 0 {
        // SAFETY: the kernel just created this descriptor, and nothing else owns it.
        return Ok(unsafe { OwnedFd::from_raw_fd(fd) });
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EPERM) => Err(CaptureError::NotPermitted),
        _ => Err(CaptureError::system("AF_PACKET")(error)),
    }
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
        let c_name = CString::new(name).map_err(|_| missing())?;
        // SAFETY: the name ends with NUL.
        let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
        if index == 0 {
            return Err(missing());
        }
        let hardware = hardware(&c_name, socket).map_err(CaptureError::system("SIOCGIFHWADDR"))?;
        let link_type = match hardware {
            libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => LinkType::ETHERNET,
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
        // SAFETY: all fields are numbers, for which zeros are a value.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = self.index;
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

fn hardware(name: &CStr, socket: BorrowedFd<'_>) -> io::Result<u16> {
    // SAFETY: all fields are numbers or arrays of them, for which zeros are a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    // SAFETY: the kernel reads and writes one ifreq.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: SIOCGIFHWADDR fills this member of the union.
    Ok(unsafe { request.ifr_ifru.ifru_hwaddr }.sa_family)
}

fn names() -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: the list ends with an index of 0; its names end with NUL; it is
    // freed once, after its last use.
    unsafe {
        let list = libc::if_nameindex();
        let mut entry = list;
        while !entry.is_null() && (*entry).if_index != 0 {
            let name = CStr::from_ptr((*entry).if_name);
            names.push(name.to_string_lossy().into_owned());
            entry = entry.add(1);
        }
        if !list.is_null() {
            libc::if_freenameindex(list);
        }
    }
    names
}
