//! The two ends of every link: their names, addresses and settings.

use std::net::Ipv4Addr;

use serde::Deserialize;

use crate::command;
use crate::config::LinkConfig;
use crate::error::LinkError;
use crate::namespace::Namespace;
use crate::refusal::Refusal;

/// The interface's name in both namespaces.
pub(crate) const INTERFACE: &str = "wl0";

/// Largest IP packet, bytes: Ethernet's.
pub(crate) const MTU: u32 = 1_500;

/// Addresses of 198.18.0.0/15, which are for measuring and never routed
/// (RFC 2544, RFC 6890). Every link has namespaces of its own, so that the
/// same two serve all.
pub(crate) const CLIENT: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
const NETWORK: &str = "198.18.0.0/30";

/// Packets that may wait in the device for the driver: more than the widest
/// window of TCP brings at once, or bursts would be lost unasked.
const DEVICE_QUEUE: &str = "16384";

/// Gives the interface of a namespace its address and route, and takes it up.
/// No IPv6 address: its own chatter would be packets of the trial.
pub(crate) fn configure(
    namespace: &Namespace,
    address: Ipv4Addr,
    config: &LinkConfig,
) -> Result<(), LinkError> {
    let ip = |words: &[&str]| command::ip_in(namespace, words);
    let mtu = MTU.to_string();
    ip(&["link", "set", "lo", "up"])?;
    ip(&[
        "link",
        "set",
        INTERFACE,
        "addrgenmode",
        "none",
        "mtu",
        &mtu,
        "txqueuelen",
        DEVICE_QUEUE,
    ])?;
    ip(&["addr", "add", &format!("{address}/30"), "dev", INTERFACE])?;
    ip(&["link", "set", INTERFACE, "up"])?;
    ip(&route(address, config)
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>())
    .map_err(|error| congestion_refused(error, config))
}

fn route(address: Ipv4Addr, config: &LinkConfig) -> Vec<String> {
    let words = format!(
        "route replace {NETWORK} dev {INTERFACE} proto kernel scope link src {address} congctl {}",
        config.congestion.name()
    );
    let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    if config.quickack {
        words.extend(["quickack".into(), "1".into()]);
    }
    if let Some(segments) = config.initcwnd {
        words.extend(["initcwnd".into(), segments.to_string()]);
    }
    words
}

fn congestion_refused(error: LinkError, config: &LinkConfig) -> LinkError {
    match error {
        LinkError::Machine { error, .. } => Refusal::new(
            "congestion",
            format!(
                "the route with congctl {} was refused: {error}",
                config.congestion.name()
            ),
            "use one of net.ipv4.tcp_available_congestion_control",
        )
        .into(),
        refused => refused,
    }
}

/// What the kernel says of an interface (`ip -j -s link show`).
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Shown {
    pub(crate) mtu: u32,
    stats64: Statistics,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Statistics {
    tx: Sent,
    rx: Sent,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Sent {
    packets: u64,
    bytes: u64,
    dropped: u64,
}

/// Cumulative figures of an interface.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traffic {
    /// Packets sent into the link.
    pub(crate) packets: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Packets that the device did not send.
    pub(crate) unsent: u64,
    /// Packets that the device did not deliver.
    pub(crate) undelivered: u64,
}

impl Shown {
    pub(crate) fn of(namespace: &Namespace) -> Result<Shown, LinkError> {
        let text =
            command::ip_in_reads(namespace, &["-j", "-s", "link", "show", "dev", INTERFACE])?;
        first(&text).map_err(LinkError::while_(format!(
            "reading {INTERFACE} in {namespace}"
        )))
    }

    pub(crate) fn traffic(&self) -> Traffic {
        Traffic {
            packets: self.stats64.tx.packets,
            bytes: self.stats64.tx.bytes,
            unsent: self.stats64.tx.dropped,
            undelivered: self.stats64.rx.dropped,
        }
    }
}

fn first(text: &str) -> std::io::Result<Shown> {
    let shown: Vec<Shown> = serde_json::from_str(text)?;
    shown
        .into_iter()
        .next()
        .ok_or_else(|| std::io::Error::other("no such interface"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProfileChoice;

    #[test]
    fn a_route_says_all_that_was_asked() {
        let mut config = LinkConfig::new(ProfileChoice::Named("lan".into()));
        config.quickack = true;
        config.initcwnd = Some(4);
        assert_eq!(
            route(CLIENT, &config).join(" "),
            "route replace 198.18.0.0/30 dev wl0 proto kernel scope link src 198.18.0.1 \
             congctl cubic quickack 1 initcwnd 4"
        );
    }

    #[test]
    fn what_ip_shows_is_read() {
        let text = r#"[{"ifname":"wl0","mtu":1500,"stats64":{
            "rx":{"bytes":1,"packets":2,"errors":0,"dropped":3},
            "tx":{"bytes":10,"packets":20,"errors":0,"dropped":4}}}]"#;
        let traffic = first(text).unwrap().traffic();
        assert_eq!((traffic.packets, traffic.bytes), (20, 10));
        assert_eq!((traffic.unsent, traffic.undelivered), (4, 3));
        assert!(first("[]").is_err());
    }
}
