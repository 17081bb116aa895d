//! What connections over the link really have: congestion control, the windows
//! they begin with, and what a pause does to them.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;
use std::{io, mem};

use rustix::net::sockopt::tcp_congestion;

use crate::error::LinkError;
use crate::kernel::interface::{CLIENT, SERVER};
use crate::kernel::namespace::{Namespace, Pair};
use crate::kernel::sysctl;
use crate::model::config::LinkConfig;
use crate::model::ready::{CongestionSeen, TcpEnd, TcpSeen};

/// Bounds a connection over a link that has no profile yet.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TcpState {
    pub(crate) congestion: CongestionSeen,
    pub(crate) tcp: TcpSeen,
}

pub(crate) fn verify(pair: &Pair, config: &LinkConfig) -> Result<TcpState, LinkError> {
    let doing = || LinkError::during("verifying congestion control by a connection");
    // By a connection and not by reading the route: its sockets determine the result.
    let seen = connect(pair).map_err(doing())?;
    match mismatch(&seen, config) {
        None => Ok(seen),
        Some(difference) => Err(doing()(io::Error::other(difference))),
    }
}

fn mismatch(seen: &TcpState, config: &LinkConfig) -> Option<String> {
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

fn connect(pair: &Pair) -> io::Result<TcpState> {
    let listener = pair
        .server
        .enter(|| TcpListener::bind(SocketAddr::from((SERVER, 0))))?;
    let address = listener.local_addr()?;
    let client = pair
        .client
        .enter(|| TcpStream::connect_timeout(&address, CONNECT_TIMEOUT))?;
    let (server, peer) = listener.accept()?;
    debug_assert_eq!(peer.ip(), CLIENT);
    Ok(TcpState {
        congestion: CongestionSeen {
            client: tcp_congestion(&client)?,
            server: tcp_congestion(&server)?,
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
        // No data has been sent, so that both windows are still the first ones.
        initial_window: info.tcpi_snd_cwnd,
        receive_window: info.tcpi_rcv_ssthresh,
        after_idle: sysctl::read_after_idle(namespace)?,
    })
}

/// TCP_INFO of a socket (tcp(7)).
fn info(socket: &TcpStream) -> io::Result<libc::tcp_info> {
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: zero is a value of all fields, which are integers; the kernel writes at
    // most `length` bytes, which is the size.
    let (done, info) = unsafe {
        let mut info: libc::tcp_info = mem::zeroed();
        let done = libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &mut length,
        );
        (done, info)
    };
    match done {
        0 => Ok(info),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::{AfterIdle, ProfileChoice};

    fn make_state(name: &str, initial_window: u32, after_idle: AfterIdle) -> TcpState {
        let end = TcpEnd {
            initial_window,
            receive_window: 65_535,
            after_idle,
        };
        TcpState {
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
    fn what_differs_from_the_configuration_is_reported() {
        let mut config = LinkConfig::new(ProfileChoice::Named("lan".into()));
        config.initcwnd = Some(64);
        let rows = [
            (make_state("cubic", 64, AfterIdle::Restart), None),
            (
                make_state("bbr", 64, AfterIdle::Restart),
                Some("cubic and bbr"),
            ),
            (
                make_state("cubic", 10, AfterIdle::Restart),
                Some("10 and 10"),
            ),
            (
                make_state("cubic", 64, AfterIdle::Keep),
                Some("[Keep, Keep]"),
            ),
        ];
        for (seen, difference) in rows {
            let mismatch = mismatch(&seen, &config);
            match difference {
                None => assert_eq!(mismatch, None),
                Some(difference) => assert!(mismatch.is_some_and(|text| text.contains(difference))),
            }
        }
        config.initcwnd = None;
        let kernels = make_state("cubic", 10, AfterIdle::Restart);
        assert_eq!(mismatch(&kernels, &config), None);
    }
}
