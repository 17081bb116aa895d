//! One call's response time, part by part.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::log::Call;
use crate::diagnosis::{Attribution, Cause};

/// The parts of a call's response time. Each is measured by its own two stamps;
/// none is what the others leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", schemars(rename = "CallPhase"))]
pub enum Phase {
    /// From when the call was intended to its first write: both are the engine's.
    Queueing,
    /// From the first write to the request's first packet: the send call and the
    /// kernel; where the capture is not at the client's end, the way there too.
    ClientWrite,
    /// From the request's first packet to its last, less stalls.
    RequestOnWire,
    /// From the request's last packet to the reply's first, less stalls. Where the
    /// capture is not at the server's end, the way there and back is in it.
    Server,
    /// What the diagnosis charges to the exchange within the call: waits of the
    /// transport and for the end of the connection, neither the server's time nor patterns of writing.
    Stalls,
    /// From the reply's first packet to its last, less stalls.
    ReplyOnWire,
    /// From the reply's last packet until the engine has read and judged it; where
    /// the capture is not at the client's end, the way there too.
    ClientRead,
    /// Of a call without a reply: from the request's last packet until the report
    /// that the service has processed it.
    Report,
}

pub(super) const PHASES: usize = 8;

impl Phase {
    /// In the order in which they pass.
    pub const ALL: [Phase; PHASES] = [
        Phase::Queueing,
        Phase::ClientWrite,
        Phase::RequestOnWire,
        Phase::Server,
        Phase::Stalls,
        Phase::ReplyOnWire,
        Phase::ClientRead,
        Phase::Report,
    ];
}

/// When the first and the last packet of a message were captured, ns since the Unix epoch.
pub(super) type Interval = (u64, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    /// From when it was intended to its end, ns.
    pub(super) response_ns: u64,
    /// By phase, ns; None where the call has none.
    pub(super) ns: [Option<u64>; PHASES],
    /// What the parts lack of the response time, ns; where stamps contradict each
    /// other the parts are more than that.
    pub(super) residual_ns: i64,
}

/// What a wait of the exchange takes from the phases that it lies in. The server's
/// time is a phase, and what a pattern costs is spent in the phases.
pub(super) fn is_stall(cause: Cause) -> bool {
    match cause {
        Cause::ReadUntilClose => true,
        Cause::ServerThinkTime => false,
        cause => !cause.is_pattern(),
    }
}

/// The part of an attribution that lies within a call.
pub(super) fn clip_to_call(call: &Call, attribution: &Attribution) -> Option<Interval> {
    let from = attribution.from_ns.max(call.intended);
    let to = attribution.to_ns.min(call.done);
    (from < to).then_some((from, to))
}

impl Parts {
    pub(super) fn new(
        call: &Call,
        request: Interval,
        reply: Option<Interval>,
        attributions: &[Attribution],
    ) -> Parts {
        let within: Vec<Interval> = attributions
            .iter()
            .filter(|attribution| is_stall(attribution.cause))
            .filter_map(|attribution| clip_to_call(call, attribution))
            .collect();
        let mut ns = [None; PHASES];
        let mut behind = 0;
        for (phase, from, to) in phase_intervals(call, request, reply) {
            // `behind` keeps a stall from being subtracted twice where stamps
            // contradict each other and phases overlap.
            let stalled = overlap(&within, from.max(behind), to);
            ns[phase as usize] = Some(to.saturating_sub(from) - stalled);
            behind = behind.max(to);
        }
        ns[Phase::Stalls as usize] = Some(within.iter().map(|(from, to)| to - from).sum());
        let response_ns = call.done - call.intended;
        let explained: u64 = ns.iter().flatten().sum();
        Parts {
            response_ns,
            ns,
            // Negative where phases overlap: clocks of engine and capture differ.
            residual_ns: response_ns as i64 - explained as i64,
        }
    }
}

/// Each phase but stalls, from when to when, as its stamps say.
fn phase_intervals(
    call: &Call,
    request: Interval,
    reply: Option<Interval>,
) -> Vec<(Phase, u64, u64)> {
    let mut phase_intervals = vec![
        (Phase::Queueing, call.intended, call.sent),
        (Phase::ClientWrite, call.sent, request.0),
        (Phase::RequestOnWire, request.0, request.1),
    ];
    match reply {
        Some((first, last)) => phase_intervals.extend([
            (Phase::Server, request.1, first),
            (Phase::ReplyOnWire, first, last),
            (Phase::ClientRead, last, call.done),
        ]),
        None => phase_intervals.push((Phase::Report, request.1, call.done)),
    }
    phase_intervals
}

/// How much of a time lies in times that do not overlap each other.
fn overlap(times: &[Interval], from: u64, to: u64) -> u64 {
    let shared = |&(start, end): &Interval| end.min(to).saturating_sub(start.max(from));
    times.iter().map(shared).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::output::reconciliation::log::ConnectionKey;

    fn call(intended: u64, sent: u64, done: u64) -> Call {
        Call {
            key: ConnectionKey {
                group: 0,
                thread: 0,
                connection: 0,
            },
            port: 1,
            ordinal: 0,
            operation: 0,
            intended,
            sent,
            first_byte: None,
            done,
            ok: true,
        }
    }

    fn attribution(cause: Cause, from_ns: u64, to_ns: u64) -> Attribution {
        Attribution {
            cause,
            from_ns,
            to_ns,
        }
    }

    fn some(ns: [u64; 7]) -> [Option<u64>; PHASES] {
        let mut all = [None; PHASES];
        all.iter_mut()
            .zip(ns)
            .for_each(|(phase, ns)| *phase = Some(ns));
        all
    }

    #[test]
    fn every_part_is_the_time_between_its_own_stamps() {
        let parts = Parts::new(&call(100, 107, 200), (110, 115), Some((160, 180)), &[]);
        assert_eq!(parts.ns, some([7, 3, 5, 45, 0, 20, 20]));
        assert_eq!((parts.response_ns, parts.residual_ns), (100, 0));
    }

    #[test]
    fn a_call_without_a_reply_ends_with_its_report() {
        let parts = Parts::new(&call(100, 107, 200), (110, 115), None, &[]);
        let mut expected = some([7, 3, 5, 0, 0, 0, 0]);
        for phase in [Phase::Server, Phase::ReplyOnWire, Phase::ClientRead] {
            expected[phase as usize] = None;
        }
        expected[Phase::Report as usize] = Some(85);
        assert_eq!((parts.ns, parts.residual_ns), (expected, 0));
    }

    #[test]
    fn stalls_are_taken_from_the_phases_they_lie_in() {
        let attributions = [
            attribution(Cause::NagleDelayedAck, 112, 150),
            attribution(Cause::TcpWindowExhausted, 165, 175),
            attribution(Cause::ServerThinkTime, 150, 160),
            attribution(Cause::SplitWrites, 110, 112),
        ];
        let parts = Parts::new(
            &call(100, 107, 200),
            (110, 115),
            Some((160, 180)),
            &attributions,
        );
        assert_eq!(parts.ns, some([7, 3, 2, 10, 48, 10, 20]));
        assert_eq!(parts.residual_ns, 0);
    }

    #[test]
    fn the_wait_for_the_end_of_the_connection_is_behind_the_reply() {
        let attributions = [attribution(Cause::ReadUntilClose, 180, 195)];
        let parts = Parts::new(
            &call(100, 107, 200),
            (110, 115),
            Some((160, 180)),
            &attributions,
        );
        assert_eq!(parts.ns, some([7, 3, 5, 45, 15, 20, 5]));
    }

    #[test]
    fn a_stall_before_the_call_is_not_its_stall() {
        let attributions = [attribution(Cause::SynRetransmission, 10, 104)];
        let parts = Parts::new(
            &call(100, 107, 200),
            (110, 115),
            Some((160, 180)),
            &attributions,
        );
        assert_eq!(parts.ns, some([3, 3, 5, 45, 4, 20, 20]));
    }

    #[test]
    fn stamps_that_contradict_each_other_are_residual() {
        // Captured 9 before it was written; answered 5 before it was whole.
        let parts = Parts::new(&call(100, 107, 200), (98, 115), Some((110, 180)), &[]);
        assert_eq!(parts.ns, some([7, 0, 17, 0, 0, 70, 20]));
        assert_eq!(parts.residual_ns, 100 - 114);
        // The clock of packets is ahead of the engine's.
        let parts = Parts::new(&call(100, 107, 200), (150, 155), Some((210, 230)), &[]);
        assert_eq!(parts.ns, some([7, 43, 5, 55, 0, 20, 0]));
        assert_eq!(parts.residual_ns, -30);
    }

    proptest! {
        /// Whatever the stamps are: the parts and the residual are the response time,
        /// and where the stamps are in order there is no residual.
        #[test]
        fn nothing_is_lost_or_counted_twice(
            stamps in proptest::array::uniform7(0u64..1_000),
            in_order in any::<bool>(),
            has_reply in any::<bool>(),
            edges in proptest::collection::btree_set(0u64..1_000, 0..10),
        ) {
            let mut stamps = stamps;
            if in_order {
                stamps.sort_unstable();
            } else {
                let mut own = [stamps[0], stamps[1], stamps[6]];
                own.sort_unstable();
                [stamps[0], stamps[1], stamps[6]] = own;
            }
            let edges: Vec<u64> = edges.into_iter().collect();
            let attributions: Vec<Attribution> = edges
                .chunks_exact(2)
                .map(|pair| attribution(Cause::SlowStart, pair[0], pair[1]))
                .collect();
            let [intended, sent, p1, p2, q1, q2, done] = stamps;
            let reply = has_reply.then_some((q1, q2));
            let parts = Parts::new(&call(intended, sent, done), (p1, p2), reply, &attributions);
            let sum: u64 = parts.ns.iter().flatten().sum();
            prop_assert_eq!(parts.response_ns, done - intended);
            prop_assert_eq!(sum as i64 + parts.residual_ns, parts.response_ns as i64);
            prop_assert!(!in_order || parts.residual_ns == 0);
        }
    }
}
