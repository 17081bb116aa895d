//! Two namespaces joined by a pair of virtual Ethernet devices (veth(4)).

use crate::error::LinkError;
use crate::kernel::interface::{CLIENT, INTERFACE, SERVER};
use crate::kernel::iproute;
use crate::kernel::namespace::{Namespace, Pair};

/// Locally administered addresses (IEEE 802, the second bit).
// Fixed, so that captures of different trials can be compared. The last four bytes are
// the IP address.
const CLIENT_MAC: &str = "02:00:c6:12:00:01";
const SERVER_MAC: &str = "02:00:c6:12:00:02";

pub(crate) fn join(pair: &Pair) -> Result<(), LinkError> {
    let arguments = format!(
        "link add {INTERFACE} netns {} address {CLIENT_MAC} type veth \
         peer name {INTERFACE} netns {} address {SERVER_MAC}",
        pair.client, pair.server
    );
    iproute::ip(&arguments.split(' ').collect::<Vec<_>>())
}

/// Gives both ends the other's address for good: ARP would cross the
/// slow link, and be lost or captured there.
pub(crate) fn set_neighbours(pair: &Pair) -> Result<(), LinkError> {
    let neighbour = |namespace: &Namespace, address: &str, mac: &str| {
        let arguments = ["neigh", "replace", address, "lladdr", mac, "dev", INTERFACE];
        iproute::ip_in(
            namespace.name(),
            &[&arguments[..], &["nud", "permanent"]].concat(),
        )
    };
    neighbour(&pair.client, &SERVER.to_string(), SERVER_MAC)?;
    neighbour(&pair.server, &CLIENT.to_string(), CLIENT_MAC)
}
