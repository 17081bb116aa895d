//! Captures that hold one direction of their connections: what they cannot tell.

use super::document::FlowSums;
use crate::text::counted;

/// What to say of it, where most connections show one side only.
pub(super) fn words(flows: &FlowSums) -> Option<String> {
    let sides = flows.one_sided;
    let one_sided = sides.requests + sides.replies;
    let whose = match (sides.requests, sides.replies) {
        (_, 0) => "the client",
        (0, _) => "the server",
        _ => "either the client or the server",
    };
    (2 * one_sided > flows.count).then(|| {
        format!(
            "of {one_sided} of {} only the packets of {whose} were captured: latency, round-trip \
             times, and all findings that need both a request and its reply cannot be told; packets, \
             bytes and retransmissions are those of that side. To have both, capture at one of the \
             two ends, or where both directions pass (a mirror port for both, or the captures of \
             both ways joined by mergecap), without a filter on source or destination",
            counted(flows.count, "connection")
        )
    })
}
