//! The two ends of every link: their names, addresses and settings.

use std::io;
use std::net::Ipv4Addr;

use serde::Deserialize;
use wirelab_contract::refusal::Refusal;

use crate::error::LinkError;
use crate::kernel::iproute;
use crate::kernel::namespace::Namespace;
use crate::model::config::LinkConfig;
use crate::model::profile::MTU;

pub(crate) const INTERFACE: &str = "wl0";

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
    let ip = |arguments: &[&str]| iproute::ip_in(namespace.name(), arguments);
    let mtu = MTU.to_string();
    // Down in a new namespace, where a process could then not reach its own address.
    ip(&["link", "set", "lo", "up"])?;
    ip(&[
        "link",
        "set",
        INTERFACE,
        // Else the kernel makes a link-local address, detects duplicates of it and joins its
        // groups (RFC 4862, RFC 3810).
        "addrgenmode",
        "none",
        "mtu",
        &mtu,
        "txqueuelen",
        DEVICE_QUEUE,
    ])?;
    ip(&["addr", "add", &format!("{address}/30"), "dev", INTERFACE])?;
    ip(&["link", "set", INTERFACE, "up"])?;
    // Replaces the route that came with the address: initcwnd, quickack and congctl are
    // attributes of routes (ip-route(8)), and so hold for every program at this end.
    ip(&route(address, config)
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>())
    .map_err(|error| congestion_refused(error, config))
}

fn route(address: Ipv4Addr, config: &LinkConfig) -> Vec<String> {
    let arguments = format!(
        "route replace {NETWORK} dev {INTERFACE} proto kernel scope link src {address} congctl {}",
        config.congestion.name()
    );
    let mut arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    if config.quickack {
        arguments.extend(["quickack".into(), "1".into()]);
    }
    if let Some(segments) = config.initcwnd {
        arguments.extend(["initcwnd".into(), segments.to_string()]);
    }
    arguments
}

fn congestion_refused(error: LinkError, config: &LinkConfig) -> LinkError {
    match error {
        // Congestion controls are modules: of the route's attributes this is the one that a
        // kernel may not have.
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

/// An interface as `ip -j -s link show` prints it.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct InterfaceStatus {
    pub(crate) mtu: u32,
    stats64: Statistics,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Statistics {
    tx: Counters,
    rx: Counters,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Counters {
    packets: u64,
    bytes: u64,
    dropped: u64,
}

/// Cumulative figures of an interface.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traffic {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Packets that the device did not send.
    pub(crate) unsent: u64,
    /// Packets that the device did not deliver.
    pub(crate) undelivered: u64,
}

impl Traffic {
    pub(crate) fn difference(&self, earlier: &Traffic) -> Traffic {
        Traffic {
            // Counters of a device only rise.
            packets: self.packets - earlier.packets,
            bytes: self.bytes - earlier.bytes,
            unsent: self.unsent - earlier.unsent,
            undelivered: self.undelivered - earlier.undelivered,
        }
    }
}

impl InterfaceStatus {
    pub(crate) fn of(namespace: &Namespace) -> Result<InterfaceStatus, LinkError> {
        let text = iproute::ip_output(
            namespace.name(),
            &["-j", "-s", "link", "show", "dev", INTERFACE],
        )?;
        parse(&text).map_err(LinkError::during(format!(
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

fn parse(text: &str) -> io::Result<InterfaceStatus> {
    let interfaces: Vec<InterfaceStatus> = serde_json::from_str(text)?;
    interfaces
        .into_iter()
        .next()
        .ok_or_else(|| io::Error::other("no such interface"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::config::ProfileChoice;

    #[test]
    fn a_route_has_every_setting_of_the_configuration() {
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
    fn the_output_of_ip_link_show_is_parsed() {
        let text = r#"[{"ifname":"wl0","mtu":1500,"stats64":{
            "rx":{"bytes":1,"packets":2,"errors":0,"dropped":3},
            "tx":{"bytes":10,"packets":20,"errors":0,"dropped":4}}}]"#;
        let traffic = parse(text).unwrap().traffic();
        assert_eq!((traffic.packets, traffic.bytes), (20, 10));
        assert_eq!((traffic.unsent, traffic.undelivered), (4, 3));
        assert!(parse("[]").is_err());
    }
}
