//! A complete account of time: what every moment of a connection passed with.
//!
//! Each packet that could end a wait (payload, SYN, FIN, RST, a probe) divides the time
//! since the one before it into parts. Whose turn it was follows from the direction of the
//! payload before and behind, so that no protocol need be known; where messages are
//! read, calls under way correct it. The parts of a connection follow each other without
//! a gap, so that their sum is its elapsed time. Stalls with a known reason then replace
//! what turns alone showed.
//!
//! After RFC 6349 (phases of a transfer), Zhang, Breslau, Paxson and Shenker 2002 (T-RAT:
//! which limit held a sender) and tcptrace (Ostermann; idle times, window limits).

mod dead_ends;
mod part;
mod pending;
mod race;
mod ring;
mod sums;
mod tail;
mod tls;
mod turns;

pub use part::Part;
pub use sums::{Division, FlowTimes, LongWait, WaitSums};
pub use tail::{ExchangeSum, Tail, TimedExchange};

pub(crate) use pending::SendLimits;
pub(crate) use ring::{Wait, WaitRing};
pub(crate) use sums::{FlowAccount, LONG_PATH_MIN_NS, Sink};
pub(crate) use tail::ExchangeTime;
pub(crate) use turns::Turns;
