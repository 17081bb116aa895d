//! A profile as commands for the kernel's netem (tc-netem(8)).
//!
//! netem is not available on the machines this was developed on: what is written
//! here follows its manual and source. The commands are tested; their effect is
//! not verified.

use crate::error::LinkError;
use crate::kernel::interface::INTERFACE;
use crate::kernel::iproute;
use crate::kernel::namespace::{Namespace, Pair};
use crate::model::distribution::Distribution;
use crate::model::profile::{Direction, LossModel, Profile};
use crate::model::way::Way;

/// Packets that netem may hold: never the limit, which is the queue's.
const LIMIT: &str = "1000000";

/// A rate that takes 0.4 us per packet. With a rate netem calculates from the
/// packet before, and so never reorders by jitter.
const RATE_THAT_KEEPS_ORDER: &str = "32gbit";

/// Bytes that tbf may send at once: one Ethernet frame.
const BURST: &str = "1600";

/// Whether the kernel has netem: found by trying, on the loopback interface of
/// a namespace made for the link.
pub(crate) fn works_in(namespace: &Namespace) -> bool {
    let qdisc = |verb: &str| {
        ["qdisc", verb, "dev", "lo", "root", "netem", "delay", "1ms"].map(str::to_owned)
    };
    let tried = |arguments: [String; 8]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        iproute::tc_in(namespace.name(), &arguments).is_ok()
    };
    tried(qdisc("add")) && tried(qdisc("delete"))
}

/// Applies the profile to both ends of a veth: each shapes what it sends.
pub(crate) fn apply_profile(pair: &Pair, profile: &Profile) -> Result<(), LinkError> {
    for (namespace, way) in [(&pair.client, Way::Forward), (&pair.server, Way::Backward)] {
        for arguments in qdiscs(profile.direction(way)) {
            let arguments: Vec<&str> = arguments.split(' ').collect();
            iproute::tc_in(namespace.name(), &arguments)?;
        }
    }
    Ok(())
}

/// The `tc` commands of a direction. A rate with a queue in bytes is a tbf
/// behind netem, because netem's own limit counts packets, the delayed ones included.
fn qdiscs(direction: &Direction) -> Vec<String> {
    let mut root = format!("qdisc add dev {INTERFACE} root handle 1: netem limit {LIMIT}");
    root.push_str(&delay(direction));
    root.push_str(&loss(direction.loss));
    for (word, percent) in [
        ("duplicate", direction.duplicate_percent),
        ("corrupt", direction.corrupt_percent),
        ("reorder", direction.reorder_percent),
    ] {
        if percent > 0.0 {
            root.push_str(&format!(" {word} {percent}%"));
        }
    }
    match (direction.rate_kbit, direction.queue_bytes) {
        (Some(kbit), None) => root.push_str(&format!(" rate {kbit}kbit")),
        _ => root.push_str(&format!(" rate {RATE_THAT_KEEPS_ORDER}")),
    }
    // 1:1 is netem's only class.
    let queue = direction
        .rate_kbit
        .zip(direction.queue_bytes)
        .map(|(kbit, bytes)| {
            format!(
                "qdisc add dev {INTERFACE} parent 1:1 handle 10: tbf \
             rate {kbit}kbit burst {BURST} limit {bytes}"
            )
        });
    std::iter::once(root).chain(queue).collect()
}

fn delay(direction: &Direction) -> String {
    let (delay, jitter) = (direction.delay_ms * 1e3, direction.jitter_ms * 1e3);
    match direction.distribution {
        // Without a delay there is no jitter: the profile's check refuses it.
        _ if delay == 0.0 => String::new(),
        Distribution::None => format!(" delay {delay:.3}us"),
        // Uniform is what netem does without a table.
        Distribution::Uniform => format!(" delay {delay:.3}us {jitter:.3}us"),
        Distribution::Normal => format!(" delay {delay:.3}us {jitter:.3}us distribution normal"),
        Distribution::Pareto => format!(" delay {delay:.3}us {jitter:.3}us distribution pareto"),
    }
}

fn loss(model: Option<LossModel>) -> String {
    match model {
        None => String::new(),
        Some(LossModel::Random { percent }) => format!(" loss random {percent}%"),
        // p, r, then the loss in the bad and in the good state.
        Some(LossModel::GilbertElliott {
            p_percent: p,
            r_percent: r,
            loss_bad_percent: bad,
            loss_good_percent: good,
        }) => format!(" loss gemodel {p}% {r}% {bad}% {good}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_netem_option() {
        let direction = Direction {
            delay_ms: 6.9,
            jitter_ms: 0.5,
            distribution: Distribution::Pareto,
            loss: Some(LossModel::GilbertElliott {
                p_percent: 1.0,
                r_percent: 30.0,
                loss_bad_percent: 100.0,
                loss_good_percent: 0.5,
            }),
            rate_kbit: Some(26.8),
            queue_bytes: Some(10_050),
            reorder_percent: 2.0,
            duplicate_percent: 0.1,
            corrupt_percent: 0.2,
            ..Direction::default()
        };
        assert_eq!(
            qdiscs(&direction),
            [
                "qdisc add dev wl0 root handle 1: netem limit 1000000 \
                 delay 6900.000us 500.000us distribution pareto loss gemodel 1% 30% 100% 0.5% \
                 duplicate 0.1% corrupt 0.2% reorder 2% rate 32gbit",
                "qdisc add dev wl0 parent 1:1 handle 10: tbf rate 26.8kbit burst 1600 limit 10050",
            ]
        );
    }

    #[test]
    fn an_endless_queue_is_netems_own_rate() {
        let direction = Direction {
            rate_kbit: Some(1_000.0),
            loss: Some(LossModel::Random { percent: 3.0 }),
            ..Direction::default()
        };
        assert_eq!(
            qdiscs(&direction),
            ["qdisc add dev wl0 root handle 1: netem limit 1000000 loss random 3% rate 1000kbit"]
        );
    }
}
