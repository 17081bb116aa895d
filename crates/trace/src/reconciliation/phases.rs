//! One call's response time, part by part.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::log::Call;
use crate::diagnosis::{Cause, Charge};

/// The parts of a call's response time. Each is measured by its own two stamps;
/// none is what the others leave.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CallPhase")]
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

/// How many there are.
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
pub(super) type Seen = (u64, u64);

/// The parts of one call.
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

/// What of a charge lies within a call.
pub(super) fn within(call: &Call, charge: &Charge) -> Option<Seen> {
    let from = charge.from_ns.max(call.intended);
    let to = charge.to_ns.min(call.done);
    (from < to).then_some((from, to))
}

impl Parts {
    /// Lays a call beside its packets.
    pub(super) fn new(
        call: &Call,
        request: Seen,
        reply: Option<Seen>,
        charges: &[Charge],
    ) -> Parts {
        let within: Vec<Seen> = charges
            .iter()
            .filter(|charge| is_stall(charge.cause))
            .filter_map(|charge| within(call, charge))
            .collect();
        let mut ns = [None; PHASES];
        let mut behind = 0;
        for (phase, from, to) in stretches(call, request, reply) {
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
            residual_ns: response_ns as i64 - explained as i64,
        }
    }
}

/// Each phase but stalls, from when to when, as its stamps say.
fn stretches(call: &Call, request: Seen, reply: Option<Seen>) -> Vec<(Phase, u64, u64)> {
    let mut stretches = vec![
        (Phase::Queueing, call.intended, call.sent),
        (Phase::ClientWrite, call.sent, request.0),
        (Phase::RequestOnWire, request.0, request.1),
    ];
    match reply {
        Some((first, last)) => stretches.extend([
            (Phase::Server, request.1, first),
            (Phase::ReplyOnWire, first, last),
            (Phase::ClientRead, last, call.done),
        ]),
        None => stretches.push((Phase::Report, request.1, call.done)),
    }
    stretches
}

/// How much of a time lies in times that do not overlap each other.
fn overlap(times: &[Seen], from: u64, to: u64) -> u64 {
    let shared = |&(start, end): &Seen| end.min(to).saturating_sub(start.max(from));
    times.iter().map(shared).sum()
}
