//! All messages, added up, and those that came longest after the one before.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::diagnosis::waits::Division;
use crate::flow::event::{Direction, FlowId};
use crate::protocol::exchange::{MessageFraming, StreamMessage};

/// The longest gap that is distinguished: a day, ns.
const NS_MAX: u64 = 86_400_000_000_000;

/// The messages of one framing and direction.
#[derive(Debug)]
pub struct MessageGroup {
    /// How many.
    pub count: u64,
    /// Of their content, bytes.
    pub bytes: u64,
    /// Those that are compressed by themselves.
    pub compressed: u64,
    /// Streams that they were in: first messages.
    pub streams: u64,
    /// Those with a time before them that is known.
    pub timed: u64,
    /// These times, added up, ns.
    pub elapsed_ns: u64,
    /// The same by part.
    pub parts: Division,
    /// Those that the capture has on both sides of a proxy.
    pub forwarded: u64,
    /// Of `elapsed_ns`, what a proxy took, ns.
    pub proxy_ns: u64,
    /// The times between messages of a stream, ns.
    pub gaps: Histogram<u64>,
    /// The shortest and the longest of them, ns.
    pub gap_ends: [u64; 2],
}

impl MessageGroup {
    fn new() -> MessageGroup {
        MessageGroup {
            count: 0,
            bytes: 0,
            streams: 0,
            timed: 0,
            elapsed_ns: 0,
            parts: Division::default(),
            compressed: 0,
            forwarded: 0,
            proxy_ns: 0,
            gaps: Histogram::new(3).expect("3 digits are legal"),
            gap_ends: [u64::MAX, 0],
        }
    }

    fn add(&mut self, message: &StreamMessage, times: Option<&(u64, Division)>) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(message.extent.message_bytes);
        self.streams += u64::from(message.number == 0);
        let Some((ns, parts)) = times else {
            return;
        };
        self.timed += 1;
        self.elapsed_ns = self.elapsed_ns.saturating_add(*ns);
        self.parts.add_all(parts);
        if message.number > 0 {
            let ns = (*ns).min(NS_MAX);
            self.gaps.record(ns).expect("the histogram grows to a day");
            let [least, most] = self.gap_ends;
            self.gap_ends = [least.min(ns), most.max(ns)];
        }
    }
}

/// A message, and what it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedMessage {
    /// From 1, in the order in which they could be read, over all connections.
    pub number: u64,
    /// Its connection.
    pub flow: FlowId,
    /// The exchange that it belongs to, from 0 on its connection.
    pub exchange: Option<u64>,
    /// The stream of HTTP/2, or 0.
    pub stream: u32,
    /// How it is framed.
    pub framing: MessageFraming,
    /// Its way.
    pub direction: Direction,
    /// When its first byte came and from when on it could be read, nanoseconds since the Unix
    /// epoch.
    pub at_ns: [u64; 2],
    /// Its first packet, and that from which on it could be read.
    pub packets: [u64; 2],
    /// Of its content, bytes.
    pub bytes: u64,
    /// Since the message before it could be read, or the stream was asked for, ns.
    pub elapsed_ns: u64,
    /// The same by part.
    pub parts: Division,
    /// What of it a proxy took, ns; None where the capture has not both of its sides.
    pub proxy_ns: Option<u64>,
}

/// The messages of a capture.
#[derive(Debug, Default)]
pub struct MessageSums {
    count: u64,
    groups: BTreeMap<(MessageFraming, Direction), MessageGroup>,
    slowest: Vec<TimedMessage>,
    slowest_max: usize,
}

impl MessageSums {
    /// Keeps that number of the slowest.
    pub(crate) fn new(slowest_max: usize) -> MessageSums {
        MessageSums {
            slowest_max,
            ..MessageSums::default()
        }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// By framing and direction.
    pub fn groups(&self) -> impl Iterator<Item = (MessageFraming, Direction, &MessageGroup)> {
        let groups = self.groups.iter();
        groups.map(|((framing, direction), group)| (*framing, *direction, group))
    }

    /// Those that came longest after the one before, the longest first.
    pub fn slowest(&self) -> &[TimedMessage] {
        &self.slowest
    }

    /// `times`: what the message waited for, where that is known; `proxy_ns`: in a proxy.
    pub(super) fn add(
        &mut self,
        message: &StreamMessage,
        times: Option<(u64, Division)>,
        proxy_ns: Option<u64>,
    ) {
        self.count += 1;
        let key = (message.framing, message.direction);
        let group = self.groups.entry(key).or_insert_with(MessageGroup::new);
        group.add(message, times.as_ref());
        group.compressed += u64::from(message.is_compressed);
        let Some((elapsed_ns, parts)) = times else {
            return;
        };
        // The time in a proxy may have begun before that of the connection behind it.
        let proxy_ns = proxy_ns.map(|ns| ns.min(elapsed_ns));
        group.forwarded += u64::from(proxy_ns.is_some());
        group.proxy_ns = group.proxy_ns.saturating_add(proxy_ns.unwrap_or(0));
        let is_longer = |other: &TimedMessage| other.elapsed_ns >= elapsed_ns;
        let place = self.slowest.partition_point(is_longer);
        if place >= self.slowest_max {
            return;
        }
        self.slowest.truncate(self.slowest_max - 1);
        let timed = TimedMessage {
            number: self.count,
            flow: message.flow,
            exchange: message.exchange,
            stream: message.stream,
            framing: message.framing,
            direction: message.direction,
            at_ns: [message.extent.first_at_ns, message.readable.1],
            packets: [message.extent.first_packet, message.readable.0],
            bytes: message.extent.message_bytes,
            elapsed_ns,
            parts,
            proxy_ns,
        };
        self.slowest.insert(place, timed);
    }
}
