//! Where calls go: an address on this machine.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// A parsed and permitted target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}

/// Why a target was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Neither an address with a port nor `unix:/path`.
    #[error("target {0:?} is neither ADDRESS:PORT nor unix:/PATH")]
    Syntax(String),
    /// Load on a machine that is not this one.
    #[error("target {0} is not a loopback address, nor one of a link (198.18.0.0/15)")]
    NotLocal(SocketAddr),
    /// `sun_path` holds 107 bytes (unix(7)).
    #[error("the Unix path has {0} bytes; at most 107 fit")]
    PathTooLong(usize),
}

impl Target {
    /// Parses `text`; addresses other than loopback and those of links only with `any`.
    ///
    /// # Errors
    /// [`TargetError`], naming what was refused.
    pub fn parse(text: &str, any: bool) -> Result<Target, TargetError> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path.len() {
                0 => Err(TargetError::Syntax(text.into())),
                // The kernel would stop reading at a NUL, or take it for an abstract name.
                _ if path.contains('\0') => Err(TargetError::Syntax(text.into())),
                1..=107 => Ok(Target::Unix(path.into())),
                length => Err(TargetError::PathTooLong(length)),
            };
        }
        // No resolver is asked: it could answer ::1, where a service on 127.0.0.1 does
        // not listen.
        let numeric = text.replacen("localhost:", "127.0.0.1:", 1);
        let address: SocketAddr = numeric
            .parse()
            .map_err(|_| TargetError::Syntax(text.into()))?;
        // ::ffff:a.b.c.d is the IPv4 address (RFC 4291 section 2.5.5.2).
        match any || is_local(address.ip().to_canonical()) {
            true => Ok(Target::Tcp(address)),
            false => Err(TargetError::NotLocal(address)),
        }
    }

    /// What `Host` and `:authority` say unless the plan says otherwise.
    #[must_use]
    pub fn authority(&self) -> String {
        match self {
            Target::Tcp(address) => address.to_string(),
            Target::Unix(_) => "localhost".into(),
        }
    }
}

/// Loopback, or 198.18.0.0/15: the network of the lab's links, which nothing
/// routes (RFC 2544, RFC 6890).
fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_loopback() || matches!(four.octets(), [198, 18 | 19, ..]),
        IpAddr::V6(six) => six.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_in_both_families_and_links_are_accepted() {
        for text in [
            "127.0.0.1:80",
            "127.8.9.1:80",
            "[::1]:80",
            "localhost:80",
            "198.18.0.0:80",
            "198.19.255.255:80",
            "[::ffff:198.18.0.2]:80",
            "unix:/tmp/a",
        ] {
            assert!(Target::parse(text, false).is_ok(), "{text}");
        }
    }

    #[test]
    fn other_machines_need_the_explicit_flag() {
        for text in [
            "10.0.0.1:80",
            "198.17.255.255:80",
            "198.20.0.0:80",
            "[2001:db8::1]:80",
            // Linux connects it to this machine, but it is not a loopback address.
            "0.0.0.0:80",
        ] {
            assert!(matches!(
                Target::parse(text, false),
                Err(TargetError::NotLocal(_))
            ));
            assert!(Target::parse(text, true).is_ok());
        }
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for text in [
            "",
            "127.0.0.1",
            "host:80",
            "unix:",
            "127.0.0.1:99999",
            "unix:/tmp/a\0b",
        ] {
            assert!(
                matches!(Target::parse(text, true), Err(TargetError::Syntax(_))),
                "{text}"
            );
        }
        let long = format!("unix:/{}", "a".repeat(107));
        assert_eq!(
            Target::parse(&long, true),
            Err(TargetError::PathTooLong(108))
        );
    }
}
