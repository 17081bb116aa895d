//! What segments alone show, where messages cannot be read: they are encrypted, of
//! an unknown protocol, or cut off by the capture.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::occurrence::Occurrence;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::diagnosis::{charge, nagle};
use crate::flow::event::FlowId;

/// Each stall is one occurrence, without an exchange.
pub(crate) fn occurrences<'a>(
    flow: FlowId,
    stalls: impl Iterator<Item = &'a Stall>,
    path: &Path,
) -> Vec<Occurrence> {
    stalls
        .filter(|stall| stall.cause.needs_no_message() && charge::matters_alone(stall))
        .filter(|stall| stall.cause != Cause::NagleDelayedAck || nagle::is_delayed(stall, path))
        .map(|stall| Occurrence {
            cause: stall.cause,
            flow,
            exchange: None,
            direction: stall.direction,
            packets: stall.named_packets().collect(),
            ns: stall.ns,
        })
        .collect()
}
