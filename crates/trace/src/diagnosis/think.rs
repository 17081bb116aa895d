//! server-think-time: the server had the request and sent nothing.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::exchange::Exchange;

/// Less is not told from a machine that was busy, ns.
const LEAST_NS: u64 = 3_500_000;
/// From here on the way between capture and server is a link, whose delay may vary, ns.
const LINK_NS: u64 = 1_000_000;
/// A wait of so many mean deviations is none by chance.
const DEVIATIONS: u64 = 4;

/// Whatever takes longer than a day counts as a day, ns.
const LONGEST_NS: u64 = 86_400_000_000_000;

/// How long replies of one flow took to begin, and how much that varied.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Beginnings {
    mean: u64,
    /// Mean deviation from it; None before the first.
    deviation: Option<u64>,
}

impl Beginnings {
    /// Weights as in RFC 6298 section 2.3, but slow in both, as replies are few. Until
    /// replies have shown better, a link is taken to vary by an eighth of its delay.
    fn take(&mut self, ns: u64, near: u64) {
        let ns = ns.min(LONGEST_NS);
        match &mut self.deviation {
            None => {
                self.mean = ns;
                self.deviation = Some(near / 8);
            }
            Some(deviation) => {
                *deviation = (*deviation * 7 + self.mean.abs_diff(ns)) / 8;
                self.mean = (self.mean * 7 + ns) / 8;
            }
        }
    }

    /// What a wait must last to be one, ns: on a link as long as the way, or as no
    /// delay of that link lasts by chance.
    fn least_ns(&self, near: u64) -> u64 {
        if near < LINK_NS {
            return LEAST_NS;
        }
        let chance = DEVIATIONS * self.deviation.unwrap_or(near / 8);
        chance.max(near / 4).min(near).max(LEAST_NS)
    }
}

/// From `asked` on to the first byte of the reply, less the way to the server and back.
/// None where it is too short to be told from the delay of the link.
pub(crate) fn stall(
    exchange: &Exchange,
    asked: u64,
    beginnings: &mut Beginnings,
    path: &Path,
) -> Option<Stall> {
    let reply = exchange.reply.as_ref()?;
    let direction = exchange.caller.opposite();
    let near = path.near(direction);
    let taken = reply.first_at_ns.checked_sub(asked)?;
    let least = beginnings.least_ns(near);
    beginnings.take(taken, near);
    let ns = taken.checked_sub(near).filter(|ns| *ns >= least)?;
    Some(Stall {
        cause: Cause::ServerThinkTime,
        direction,
        from: asked + near,
        released: reply.first_at_ns,
        to: reply.first_at_ns,
        ns,
        late: (reply.start, reply.end),
        stream: None,
        packets: [exchange.request.last_packet, 0, reply.first_packet],
    })
}
