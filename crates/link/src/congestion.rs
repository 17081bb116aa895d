//! What connections over the link really have: congestion control, the windows
//! they begin with, and what a pause does to them.

use std::ffi::CStr;
use std::io;
use std::mem;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

use crate::config::LinkConfig;
use crate::error::LinkError;
use crate::interface::{CLIENT, SERVER};
use crate::namespace::{Namespace, Pair};
use crate::ready::{CongestionSeen, TcpEnd, TcpSeen};
use crate::sysctl;

/// TCP_CA_NAME_MAX of linux/tcp.h.
const NAME_MAX: usize = 16;

/// Bounds a connection over a link that has no profile yet.
const CONNECT: Duration = Duration::from_secs(10);

/// What the two sockets of a connection told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) congestion: CongestionSeen,
    pub(crate) tcp: TcpSeen,
}

/// Connects over the link and asks both sockets.
pub(crate) fn verify(pair: &Pair, config: &LinkConfig) -> Result<Seen, LinkError> {
    let doing = || LinkError::while_("verifying congestion control by a connection");
    let seen = see(pair).map_err(doing())?;
    match complaint(&seen, config) {
        None => Ok(seen),
        Some(words) => Err(doing()(io::Error::other(words))),
    }
}

/// What is not as it was asked for.
fn complaint(seen: &Seen, config: &LinkConfig) -> Option<String> {
    let (name, ends) = (config.congestion.name(), &seen.tcp);
    let CongestionSeen { client, server } = &seen.congestion;
    if client != name || server != name {
        return Some(format!(
            "{name} was set by route, but the sockets have {client} and {server}"
        ));
    }
    let windows = [ends.client.initial_window, ends.server.initial_window];
    if let Some(segments) = config.initcwnd
        && windows != [segments; 2]
    {
        let [client, server] = windows;
        return Some(format!(
            "initcwnd {segments} was set by route, but the sockets begin with {client} and {server}"
        ));
    }
    let pauses = [ends.client.after_idle, ends.server.after_idle];
    (pauses != [config.after_idle; 2]).then(|| {
        format!(
            "after_idle {:?} was set, but the namespaces have {pauses:?}",
            config.after_idle
        )
    })
}

fn see(pair: &Pair) -> io::Result<Seen> {
    let listener = pair
        .server
        .enter(|| TcpListener::bind(SocketAddr::from((SERVER, 0))))?;
    let address = listener.local_addr()?;
    let client = pair
        .client
        .enter(|| TcpStream::connect_timeout(&address, CONNECT))?;
    let (server, peer) = listener.accept()?;
    debug_assert_eq!(peer.ip(), CLIENT);
    Ok(Seen {
        congestion: CongestionSeen {
            client: name(&client)?,
            server: name(&server)?,
        },
        tcp: TcpSeen {
            client: end(&client, &pair.client)?,
            server: end(&server, &pair.server)?,
        },
    })
}

fn end(socket: &TcpStream, namespace: &Namespace) -> io::Result<TcpEnd> {
    let info = info(socket)?;
    Ok(TcpEnd {
        initial_window: info.tcpi_snd_cwnd,
        receive_window: info.tcpi_rcv_ssthresh,
        after_idle: sysctl::after_idle(namespace)?,
    })
}

/// TCP_INFO of a socket (tcp(7)).
fn info(socket: &TcpStream) -> io::Result<libc::tcp_info> {
    // SAFETY: all of its fields are integers, for which zero is a value.
    let mut info: libc::tcp_info = unsafe { mem::zeroed() };
    let mut length = mem::size_of_val(&info) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, which is its size.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &mut length,
        )
    };
    match done {
        0 => Ok(info),
        _ => Err(io::Error::last_os_error()),
    }
}

/// TCP_CONGESTION of a socket (tcp(7)).
fn name(socket: &TcpStream) -> io::Result<String> {
    let mut bytes = [0u8; NAME_MAX + 1];
    let mut length = NAME_MAX as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, one less than there are.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            bytes.as_mut_ptr().cast(),
            &mut length,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    let name = CStr::from_bytes_until_nul(&bytes).map_err(io::Error::other)?;
    Ok(name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AfterIdle, ProfileChoice};

    fn seen(name: &str, initial_window: u32, after_idle: AfterIdle) -> Seen {
        let end = TcpEnd {
            initial_window,
            receive_window: 65_535,
            after_idle,
        };
        Seen {
            congestion: CongestionSeen {
                client: "cubic".into(),
                server: name.into(),
            },
            tcp: TcpSeen {
                client: end.clone(),
                server: end,
            },
        }
    }

    #[test]
    fn what_was_not_set_is_told() {
        let mut config = LinkConfig::new(ProfileChoice::Named("lan".into()));
        config.initcwnd = Some(64);
        let rows = [
            (seen("cubic", 64, AfterIdle::Restart), None),
            (seen("bbr", 64, AfterIdle::Restart), Some("cubic and bbr")),
            (seen("cubic", 10, AfterIdle::Restart), Some("10 and 10")),
            (seen("cubic", 64, AfterIdle::Keep), Some("[Keep, Keep]")),
        ];
        for (seen, words) in rows {
            let complaint = complaint(&seen, &config);
            match words {
                None => assert_eq!(complaint, None),
                Some(words) => assert!(complaint.is_some_and(|told| told.contains(words))),
            }
        }
        config.initcwnd = None;
        let kernels = seen("cubic", 10, AfterIdle::Restart);
        assert_eq!(complaint(&kernels, &config), None);
    }
}
