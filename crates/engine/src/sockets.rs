//! The TCP sockets of a process, by /proc (proc(5)).

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Local addresses of its sockets, those that it listens at among them; of all addresses the
/// unspecified one stands. Sockets over IPv6 that hold IPv4 addresses are also under those.
///
/// # Errors
/// When there is no such process, or its files may not be read.
pub(crate) fn of_process(pid: u32) -> io::Result<HashSet<SocketAddr>> {
    let own = inodes(pid)?;
    let mut found = HashSet::new();
    for name in ["tcp", "tcp6"] {
        // Its own network namespace. Absent where the kernel has no IPv6.
        let Ok(table) = fs::read_to_string(format!("/proc/{pid}/net/{name}")) else {
            continue;
        };
        let rows = table.lines().skip(1).filter_map(row);
        let of_it = rows.filter(|(_, inode)| own.contains(inode));
        found.extend(of_it.map(|(address, _)| canonical(address)));
    }
    Ok(found)
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn inodes(pid: u32) -> io::Result<HashSet<u64>> {
    let mut found = HashSet::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))?.flatten() {
        // A descriptor may be closed meanwhile.
        let Ok(target) = fs::read_link(entry.path()) else {
            continue;
        };
        let text = target.to_string_lossy();
        let inode = text
            .strip_prefix("socket:[")
            .and_then(|rest| rest.strip_suffix(']'));
        found.extend(inode.and_then(|inode| inode.parse::<u64>().ok()));
    }
    Ok(found)
}

/// Local address and inode of a line: `sl local_address rem_address st … inode`.
fn row(line: &str) -> Option<(SocketAddr, u64)> {
    let mut fields = line.split_whitespace();
    let local = fields.nth(1)?;
    let inode = fields.nth(7)?.parse().ok()?;
    let (address, port) = local.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    Some((SocketAddr::new(ip(address)?, port), inode))
}

/// Words of 32 bits in the order of the host, hexadecimal.
fn ip(text: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = text.get(8 * at..8 * at + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    if text.len() == 8 {
        return Some(Ipv4Addr::from(word(0)?).into());
    }
    let mut octets = [0; 16];
    for at in 0..4 {
        octets[4 * at..4 * at + 4].copy_from_slice(&word(at)?);
    }
    Some(Ipv6Addr::from(octets).into())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn own_sockets_are_found() {
        let four = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let six = TcpListener::bind("[::1]:0").expect("a listener");
        let found = of_process(std::process::id()).expect("this process");
        for listener in [four, six] {
            let address = listener.local_addr().expect("an address");
            assert!(found.contains(&address), "{address}: {found:?}");
        }
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        assert!(of_process(u32::MAX).is_err());
    }
}
