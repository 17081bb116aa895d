//! Fault switches: what a service does wrong on purpose, and to which call.

pub(crate) mod delay;

use std::num::NonZeroU64;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fault switches, all off by default. A call that several switches choose
/// suffers the first of: exit, hang, reset, garbage, endless, close, wrong.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FaultSwitches {
    /// Added to every call, in microseconds.
    pub delay_us: Option<u64>,
    /// The only operation whose calls are delayed, by its name in the contract;
    /// all are without it.
    pub delay_operation: Option<String>,
    /// The whole service stops for a while.
    pub freeze: Option<Freeze>,
    /// Replies that are wrong.
    pub wrong: Option<WrongReplies>,
    /// The connection is closed after half of the reply.
    pub close_mid_reply: Option<Every>,
    /// The connection is reset instead of a reply.
    pub reset: Option<Every>,
    /// No reply, ever.
    pub hang: Option<Every>,
    /// The reply begins and never ends.
    pub endless: Option<Every>,
    /// Random bytes instead of a reply.
    pub garbage: Option<Every>,
    /// The process exits with code 70 when this call arrives.
    pub exit_at_call: Option<NonZeroU64>,
    /// The process exits with code 70 before it is ready.
    pub fail_start: bool,
    /// Hello spins that number of nanoseconds per 1,000 bytes of its text.
    pub text_check_ns_per_kb: Option<u64>,
    /// Name of a mutant: a mistake that `wirelab verify` must find.
    pub mutant: Option<String>,
}

/// The N-th, 2N-th, … call to reach the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Every {
    /// N.
    pub every: NonZeroU64,
}

/// When one call arrives, the whole service stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Freeze {
    /// The number of the call, from 1.
    pub at_call: NonZeroU64,
    /// For how many milliseconds.
    pub ms: u64,
}

/// Replies that are wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WrongReplies {
    /// The N-th, 2N-th, … call.
    pub every: NonZeroU64,
    /// In which way.
    pub what: Wrong,
}

/// In which way a reply is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Wrong {
    /// One letter changed.
    Content,
    /// Shorter by one byte, consistent in its framing.
    Length,
    /// HTTP status 500 (REST, SOAP), grpc-status 2, or a fault where a reply
    /// belongs (IIOP, raw).
    Status,
    /// No grpc-status (gRPC only).
    Trailers,
}

/// What happens to one call apart from delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultAction {
    /// A correct reply.
    Serve,
    /// The process exits.
    Exit,
    /// No reply.
    Hang,
    /// A reset connection.
    Reset,
    /// Random bytes.
    Garbage,
    /// A reply without an end.
    Endless,
    /// Half a reply.
    Close,
    /// A wrong reply.
    Wrong(Wrong),
}

impl FaultAction {
    /// Fates that a call can suffer, as metrics name them.
    pub(crate) const NAMES: [&str; 10] = [
        "hang",
        "reset",
        "garbage",
        "endless",
        "close_mid_reply",
        "wrong_content",
        "wrong_length",
        "wrong_status",
        "wrong_trailers",
        "freeze",
    ];

    /// Place in [`FaultAction::NAMES`]; none for what cannot be counted.
    pub(crate) fn index(self) -> Option<usize> {
        match self {
            // A process that exits has no metrics page left to show its count.
            FaultAction::Serve | FaultAction::Exit => None,
            FaultAction::Hang => Some(0),
            FaultAction::Reset => Some(1),
            FaultAction::Garbage => Some(2),
            FaultAction::Endless => Some(3),
            FaultAction::Close => Some(4),
            FaultAction::Wrong(Wrong::Content) => Some(5),
            FaultAction::Wrong(Wrong::Length) => Some(6),
            FaultAction::Wrong(Wrong::Status) => Some(7),
            FaultAction::Wrong(Wrong::Trailers) => Some(8),
        }
    }

    /// Place of a freeze in [`FaultAction::NAMES`].
    // Not in `index`: a freeze stops the whole service and not one call.
    pub(crate) const FREEZE: usize = 9;
}

impl FaultSwitches {
    /// What happens to the call with that number, counted from 1.
    pub(crate) fn action(&self, call: u64) -> FaultAction {
        // By number and not at random: which call fails is the same in every run of a plan.
        let chosen = |switch: Option<Every>| switch.is_some_and(|s| call % s.every == 0);
        // The order of this chain is that of the documentation: exit, hang, reset, garbage, endless,
        // close, wrong.
        if self.exit_at_call.is_some_and(|n| n.get() == call) {
            FaultAction::Exit
        } else if chosen(self.hang) {
            FaultAction::Hang
        } else if chosen(self.reset) {
            FaultAction::Reset
        } else if chosen(self.garbage) {
            FaultAction::Garbage
        } else if chosen(self.endless) {
            FaultAction::Endless
        } else if chosen(self.close_mid_reply) {
            FaultAction::Close
        } else {
            match self.wrong {
                Some(wrong) if call % wrong.every == 0 => FaultAction::Wrong(wrong.what),
                _ => FaultAction::Serve,
            }
        }
    }

    /// True when a fault needs power over the bytes or the time of a connection.
    pub(crate) fn touch_connections(&self) -> bool {
        // The others act on messages; only these need a Control, which costs each read and write a lock.
        self.freeze.is_some()
            || self.reset.is_some()
            || self.garbage.is_some()
            || self.close_mid_reply.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(n: u64) -> Option<Every> {
        NonZeroU64::new(n).map(|every| Every { every })
    }

    #[test]
    fn every_nth_call_is_chosen_counted_from_one() {
        let switches = FaultSwitches {
            reset: every(3),
            ..FaultSwitches::default()
        };
        let chosen: Vec<u64> = (1..10)
            .filter(|&n| switches.action(n) == FaultAction::Reset)
            .collect();
        assert_eq!(chosen, [3, 6, 9]);
    }

    #[test]
    fn a_call_suffers_the_first_of_several_fates() {
        let switches = FaultSwitches {
            hang: every(6),
            garbage: every(2),
            ..FaultSwitches::default()
        };
        let actions: Vec<FaultAction> = (1..=6).map(|n| switches.action(n)).collect();
        let (ok, garbage) = (FaultAction::Serve, FaultAction::Garbage);
        assert_eq!(actions, [ok, garbage, ok, garbage, ok, FaultAction::Hang]);
    }
}
