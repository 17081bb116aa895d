//! Two namespaces joined by a pair of virtual Ethernet devices (veth(4)).

use crate::error::LinkError;
use crate::kernel::interface::{CLIENT, INTERFACE, SERVER};
use crate::kernel::iproute;
use crate::kernel::namespace::{Namespace, Pair};

/// Locally administered addresses (IEEE 802, the second bit).
const CLIENT_MAC: &str = "02:00:c6:12:00:01";
const SERVER_MAC: &str = "02:00:c6:12:00:02";

pub(crate) fn join(pair: &Pair) -> Result<(), LinkError> {
    let words = format!(
        "link add {INTERFACE} netns {} address {CLIENT_MAC} type veth \
         peer name {INTERFACE} netns {} address {SERVER_MAC}",
        pair.client, pair.server
    );
    iproute::ip(&words.split(' ').collect::<Vec<_>>())
}

/// Gives both ends the other's address for good: ARP would cross the
/// slow link, and be lost or captured there.
pub(crate) fn set_neighbours(pair: &Pair) -> Result<(), LinkError> {
    let neighbour = |namespace: &Namespace, address: &str, mac: &str| {
        let words = ["neigh", "replace", address, "lladdr", mac, "dev", INTERFACE];
        iproute::ip_in(
            namespace.name(),
            &[&words[..], &["nud", "permanent"]].concat(),
        )
    };
    neighbour(&pair.client, &SERVER.to_string(), SERVER_MAC)?;
    neighbour(&pair.server, &CLIENT.to_string(), CLIENT_MAC)
}
