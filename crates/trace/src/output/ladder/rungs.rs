//! Ladders as text.

use super::log::{Ladder, Step};
use crate::flow::event::{Direction, SegmentKind};
use crate::output::document::timeline::{LayerBytes, Phase, Rung};
use crate::packet::Flags;
use crate::text::duration;

/// An acknowledgment that comes this much later than a round trip after what it
/// acknowledges was delayed on purpose: a receiver that is quick takes much
/// less, timers of delayed acknowledgments 40 ms and more (RFC 1122 section 4.2.3.2).
const DELAYED_NS: u64 = 20_000_000;

pub(super) fn rungs(ladder: &Ladder) -> Vec<Rung> {
    let phases = [
        (Phase::SetUp, &ladder.set_up),
        (Phase::Exchange, &ladder.exchange),
        (Phase::TearDown, &ladder.tear_down),
    ];
    let steps = phases
        .into_iter()
        .flat_map(|(phase, steps)| steps.iter().map(move |step| (phase, step)));
    let steps: Vec<(Phase, &Step)> = steps.collect();
    let began = steps.first().map_or(0, |(_, step)| step.at_ns);
    let round_trip_ns = round_trip(&ladder.set_up);
    let rung = |place: usize| {
        let (phase, step) = steps[place];
        let before = place.checked_sub(1).map_or(began, |at| steps[at].1.at_ns);
        Rung {
            packet: step.packet,
            at_us: micros(step.at_ns, began),
            gap_us: micros(step.at_ns, before),
            direction: step.direction.into(),
            phase,
            flags: flag_names(step.flags),
            bytes: step.bytes,
            header_bytes: step.header_bytes,
            layers: step.layers().map(layer_bytes).collect(),
            note: note(step, &steps[..place], round_trip_ns),
        }
    };
    (0..steps.len()).map(rung).collect()
}

fn micros(at_ns: u64, since_ns: u64) -> f64 {
    // Signed: packets of merged captures are not in order of time.
    let ns = i128::from(at_ns) - i128::from(since_ns);
    ns as f64 / 1e3
}

fn layer_bytes((layer, bytes): (crate::protocol::layer::Layer, u32)) -> LayerBytes {
    LayerBytes {
        layer: layer.text().to_owned(),
        bytes,
    }
}

/// From the SYN to the client's next packet, nanoseconds; 0 where it was not seen.
fn round_trip(set_up: &[Step]) -> u64 {
    let mut requested = set_up
        .iter()
        .filter(|step| step.direction == Direction::Request);
    match (requested.next(), requested.next()) {
        (Some(syn), Some(next)) if syn.flags.has(Flags::SYN) => {
            next.at_ns.saturating_sub(syn.at_ns)
        }
        _ => 0,
    }
}

fn note(step: &Step, before: &[(Phase, &Step)], round_trip_ns: u64) -> String {
    let kind = match step.kind {
        SegmentKind::Retransmission => "retransmission",
        SegmentKind::KeepAlive => "probe",
        SegmentKind::OutOfOrder => "out of order",
        SegmentKind::Ahead => "packets missing before",
        _ => "",
    };
    let window = if step.is_closed_window {
        "zero window"
    } else {
        ""
    };
    let delayed = match delay(step, before) {
        Some(ns) if ns >= DELAYED_NS.saturating_add(round_trip_ns) => {
            format!("delayed ACK, {}", duration(ns as f64 / 1e6))
        }
        _ => String::new(),
    };
    let words = [kind, window, &delayed];
    let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    words.join("; ")
}

/// For nothing but an acknowledgment: how long after the last payload the other way.
fn delay(step: &Step, before: &[(Phase, &Step)]) -> Option<u64> {
    if step.kind != SegmentKind::Acknowledgment {
        return None;
    }
    let (_, last) = before
        .iter()
        // Each packet of its own side acknowledges, too: only payload after the last of
        // them still waits for an acknowledgment.
        .rfind(|(_, earlier)| earlier.direction == step.direction || earlier.bytes > 0)?;
    let is_payload = last.direction != step.direction;
    is_payload.then(|| step.at_ns.saturating_sub(last.at_ns))
}

pub(super) fn flag_names(flags: Flags) -> String {
    let names = [
        (Flags::SYN, "SYN"),
        (Flags::FIN, "FIN"),
        (Flags::RST, "RST"),
        (Flags::PSH, "PSH"),
        (Flags::ACK, "ACK"),
    ];
    let set = names.into_iter().filter(|(flag, _)| flags.has(*flag));
    let words: Vec<&str> = set.map(|(_, name)| name).collect();
    words.join(" ")
}
