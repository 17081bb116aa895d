//! messages-coalesced by the messages' own times: those that were made apart came together, the
//! last of them just made. Of a history that is sent again the last one is old, or all were made
//! before it was asked for. Server-sent events have a finding of their own (events-in-bursts).

use std::collections::BTreeMap;

use crate::diagnosis::cause::Cause;
use crate::diagnosis::finding::Occurrence;
use crate::flow::event::{Direction, FlowId};
use crate::protocol::exchange::{MessageFraming, StreamMessage};

/// Messages that come within this time come together, ns.
const TOGETHER_NS: u64 = 1_000_000;
/// A message that waits less may wait for a busy machine, ns.
const HELD_MIN_NS: u64 = 20_000_000;
/// Streams and directions of a connection that are looked at, the first.
const STREAMS_MAX: usize = 64;
/// Clumps of a stream that are remembered, the first.
const CLUMPS_MAX: usize = 256;

/// Messages that came together.
#[derive(Debug, Clone, Copy)]
struct Clump {
    messages: u32,
    /// When the first and the last were made, ns of their maker's clock.
    made_ns: [u64; 2],
    /// When the message in front of the first could be read, or the stream was asked for.
    since_ns: u64,
    readable: [(u64, u64); 2],
    is_in_order: bool,
}

impl Clump {
    fn new(message: &StreamMessage, made_ns: u64, since_ns: u64) -> Clump {
        Clump {
            messages: 1,
            made_ns: [made_ns; 2],
            since_ns,
            readable: [message.readable; 2],
            is_in_order: true,
        }
    }

    /// From when the last was made to when it could be read, by two clocks, ns.
    fn delay(&self) -> i128 {
        i128::from(self.readable[1].1) - i128::from(self.made_ns[1])
    }

    fn made_apart_ns(&self) -> u64 {
        self.made_ns[1].saturating_sub(self.made_ns[0])
    }

    /// Since when its first message waited, if it did. `delay`: the shortest of other messages.
    fn hold_start_ns(&self, delay: i128) -> Option<u64> {
        let apart = self.made_apart_ns();
        if self.messages < 2 || !self.is_in_order || apart < HELD_MIN_NS {
            return None;
        }
        let interval = i128::from(apart / u64::from(self.messages - 1));
        let is_fresh = self.delay() - delay <= 2 * interval + i128::from(HELD_MIN_NS / 2);
        let made = u64::try_from(i128::from(self.made_ns[0]) + delay).unwrap_or(0);
        let since = made.max(self.since_ns);
        let held = self.readable[0].1.checked_sub(since)?;
        (is_fresh && held >= HELD_MIN_NS).then_some(since)
    }
}

/// Of one stream and direction.
#[derive(Debug, Default)]
struct Stream {
    under_way: Option<Clump>,
    /// Those of several messages.
    clumps: Vec<Clump>,
    /// The shortest delays of two clumps or single messages.
    shortest: [Option<i128>; 2],
}

impl Stream {
    fn take(&mut self, message: &StreamMessage, made_ns: u64) {
        let (_, at_ns) = message.readable;
        if let Some(clump) = &mut self.under_way
            && at_ns.saturating_sub(clump.readable[1].1) < TOGETHER_NS
        {
            clump.messages += 1;
            clump.is_in_order &= made_ns >= clump.made_ns[1];
            clump.made_ns[1] = made_ns;
            clump.readable[1] = message.readable;
            return;
        }
        let before = self.under_way.map(|clump| clump.readable[1].1);
        self.end();
        if let Some(since_ns) = before.or(message.since_ns) {
            self.under_way = Some(Clump::new(message, made_ns, since_ns));
        }
    }

    fn end(&mut self) {
        let Some(clump) = self.under_way.take() else {
            return;
        };
        let delay = clump.delay();
        let [first, second] = self.shortest;
        self.shortest = match first {
            Some(first) if first <= delay => [
                Some(first),
                Some(second.map_or(delay, |second| second.min(delay))),
            ],
            first => [Some(delay), first],
        };
        if clump.messages > 1 && self.clumps.len() < CLUMPS_MAX {
            self.clumps.push(clump);
        }
    }

    /// The shortest delay of messages outside of a clump.
    fn delay_without(&self, clump: &Clump) -> Option<i128> {
        let [first, second] = self.shortest;
        if first == Some(clump.delay()) {
            second
        } else {
            first
        }
    }
}

/// Of one connection.
#[derive(Debug, Default)]
pub(super) struct Clumps {
    streams: BTreeMap<(u32, Direction), Stream>,
}

impl Clumps {
    pub(super) fn take(&mut self, message: &StreamMessage) {
        let Some(made_ns) = message
            .made_ns
            .filter(|_| message.framing != MessageFraming::Sse)
        else {
            return;
        };
        let key = (message.stream, message.direction);
        if self.streams.len() < STREAMS_MAX || self.streams.contains_key(&key) {
            self.streams.entry(key).or_default().take(message, made_ns);
        }
    }

    pub(super) fn finish(self, flow: FlowId, found: &mut Vec<Occurrence>) {
        for ((_, direction), mut stream) in self.streams {
            stream.end();
            let held = stream.clumps.iter().filter_map(|clump| {
                let since = clump.hold_start_ns(stream.delay_without(clump)?)?;
                Some(Occurrence {
                    cause: Cause::MessagesCoalesced,
                    flow,
                    exchange: None,
                    direction,
                    packets: vec![clump.readable[0].0, clump.readable[1].0],
                    ns: clump.readable[0].1 - since,
                })
            });
            found.extend(held);
        }
    }
}
