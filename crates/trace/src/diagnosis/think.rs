//! server-think-time: the server had the request and sent nothing.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::path::Path;
use crate::diagnosis::stall::Stall;
use crate::exchange::Exchange;

/// Less is not told from a machine that was busy, ns.
const LEAST_NS: u64 = 3_500_000;

/// From the last byte of the request, or of the reply before it where they come
/// one after the other, to the first byte of the reply, less the way to the server
/// and back. None where it is too short to be told from the delay of the link.
pub(crate) fn stall(exchange: &Exchange, reply_before: Option<u64>, path: &Path) -> Option<Stall> {
    let reply = exchange.reply.as_ref()?;
    let direction = exchange.caller.opposite();
    let near = path.near(direction);
    let asked = exchange.request.last_at_ns.max(reply_before.unwrap_or(0));
    let from = asked.saturating_add(near);
    let ns = reply.first_at_ns.checked_sub(from)?;
    (ns >= LEAST_NS.max(near / 4)).then_some(Stall {
        cause: Cause::ServerThinkTime,
        direction,
        from,
        released: reply.first_at_ns,
        to: reply.first_at_ns,
        ns,
        late: (reply.start, reply.end),
        stream: None,
        packets: [exchange.request.last_packet, 0, reply.first_packet],
    })
}
