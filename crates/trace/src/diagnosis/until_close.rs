//! read-until-close: nothing but the end of the connection ended the reply.

use crate::diagnosis::cause::Cause;
use crate::diagnosis::handshake::At;
use crate::diagnosis::stall::Stall;
use crate::exchange::{Ending, Exchange};

/// From the last byte of the reply to the FIN behind it (RFC 9112 section 6.3).
pub(crate) fn stall(exchange: &Exchange, end: Option<At>) -> Option<Stall> {
    let reply = exchange.reply.as_ref()?;
    let (at, packet) = end.filter(|_| exchange.ending == Ending::UntilClose)?;
    Some(Stall {
        cause: Cause::ReadUntilClose,
        direction: exchange.caller.opposite(),
        from: reply.last_at_ns.min(at),
        released: at,
        to: at,
        ns: at.saturating_sub(reply.last_at_ns),
        late: (reply.start, reply.end),
        stream: None,
        packets: [reply.last_packet, 0, packet],
    })
}
