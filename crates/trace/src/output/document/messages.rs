//! Messages inside streams, as the document has them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Elapsed, Way};
use crate::diagnosis::messages::{MessageGroup, MessageSums, TimedMessage};
use crate::output::quantiles::Quantiles;
use crate::protocol::exchange::MessageFraming;

/// Messages inside streams: server-sent events, messages of WebSocket, gRPC and Connect, lines of
/// JSON.
///
/// A message is there when its receiver could read it: when its last byte and all bytes before it
/// had come. The time before it is that since the message before it in its stream and direction;
/// of the first one that since the request was complete, or since the change to WebSocket.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Messages {
    /// How many.
    pub count: u64,
    /// By framing and direction.
    pub groups: Vec<MessageGroupSum>,
    /// Those with the longest times before them, the longest first; at most the number that was
    /// asked for.
    pub slowest: Vec<SlowMessage>,
}

/// The messages of one framing and direction.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MessageGroupSum {
    /// How they are framed.
    pub framing: MessageFraming,
    /// Which way they went.
    pub direction: Way,
    /// How many.
    pub count: u64,
    /// Streams whose first message was seen.
    pub streams: u64,
    /// Bytes of their content, compressed ones as they were on the wire.
    pub bytes: u64,
    /// Those that are compressed by themselves (permessage-deflate, gRPC, Connect); their content
    /// is not read.
    #[serde(default)]
    pub compressed: u64,
    /// The times between two messages of a stream; null where no stream had two.
    pub gap_us: Option<Quantiles>,
    /// The times before all of them, added up, divided as the account of their connections has
    /// it: of `count` messages with such a time.
    pub time: Elapsed,
    /// Messages that the capture has on both sides of a proxy, there counted behind it.
    pub forwarded: u64,
    /// Of `time`, what these waited in the proxy, with nothing but the proxy in their way,
    /// milliseconds.
    pub proxy_ms: f64,
}

/// A message with a long time before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SlowMessage {
    /// Its number over all connections, from 1 in the order in which messages were there.
    pub number: u64,
    /// Its connection.
    pub flow: u32,
    /// The number of its exchange there, from 0; null in WebSocket.
    pub exchange: Option<u64>,
    /// The stream of HTTP/2; 0 in other protocols.
    pub stream: u32,
    /// How it is framed.
    pub framing: MessageFraming,
    /// Which way it went.
    pub direction: Way,
    /// When its first byte came, since the capture's first packet, milliseconds.
    pub first_byte_ms: f64,
    /// When it was there, since the capture's first packet, milliseconds.
    pub at_ms: f64,
    /// The packet of its first byte, and that from which on it was there.
    pub packets: [u64; 2],
    /// Bytes of its content, as they were on the wire.
    pub bytes: u64,
    /// The time before it, divided.
    pub time: Elapsed,
    /// Of that time, what it waited in a proxy, milliseconds; null where the capture does not have
    /// it on both sides of one.
    pub proxy_ms: Option<f64>,
}

const NS_PER_MS: f64 = 1e6;

impl Messages {
    /// `first_at_ns`: when the first packet was captured.
    pub(super) fn new(sums: &MessageSums, first_at_ns: u64) -> Messages {
        let groups = sums.groups().map(|(framing, direction, group)| {
            MessageGroupSum::new(framing, direction.into(), group)
        });
        let slowest = sums.slowest().iter();
        Messages {
            count: sums.count(),
            groups: groups.collect(),
            slowest: slowest.map(|one| slow_message(one, first_at_ns)).collect(),
        }
    }
}

impl MessageGroupSum {
    fn new(framing: MessageFraming, direction: Way, group: &MessageGroup) -> Self {
        MessageGroupSum {
            framing,
            direction,
            count: group.count,
            streams: group.streams,
            bytes: group.bytes,
            compressed: group.compressed,
            gap_us: gaps(group),
            time: Elapsed::new(group.timed, group.elapsed_ns, &group.parts),
            forwarded: group.forwarded,
            proxy_ms: group.proxy_ns as f64 / NS_PER_MS,
        }
    }
}

fn gaps(group: &MessageGroup) -> Option<Quantiles> {
    let [least, most] = group.gap_ends;
    let us = |ns: u64| ns as f64 / 1e3;
    // Bins have a width: no quantile lies outside of what was seen.
    let at = |part| us(group.gaps.value_at_quantile(part).clamp(least, most));
    (!group.gaps.is_empty()).then(|| Quantiles {
        min: us(least),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        max: us(most),
        n: group.gaps.len(),
    })
}

fn slow_message(one: &TimedMessage, first_at_ns: u64) -> SlowMessage {
    let [first_byte_ms, at_ms] = one
        .at_ns
        .map(|at| at.saturating_sub(first_at_ns) as f64 / NS_PER_MS);
    SlowMessage {
        number: one.number,
        flow: one.flow,
        exchange: one.exchange,
        stream: one.stream,
        framing: one.framing,
        direction: one.direction.into(),
        first_byte_ms,
        at_ms,
        packets: one.packets,
        bytes: one.bytes,
        time: Elapsed::new(1, one.elapsed_ns, &one.parts),
        proxy_ms: one.proxy_ns.map(|ns| ns as f64 / NS_PER_MS),
    }
}
