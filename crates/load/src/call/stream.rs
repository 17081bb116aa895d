//! One reply that is a stream of messages: when they came, and what is under way.

use std::ops::AddAssign;

use wirelab_wire::stream::{Events, Lines, Unpacker};

/// Messages of streams and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MessageCounts {
    /// Messages that came whole.
    pub(crate) messages: u64,
    /// Of these, the ones with a token in a chat completion; all in other streams.
    pub(crate) items: u64,
    /// Bytes of the body, content coding undone, framing and a message under way included.
    pub(crate) bytes: u64,
}

impl AddAssign for MessageCounts {
    fn add_assign(&mut self, other: MessageCounts) {
        self.messages += other.messages;
        self.items += other.items;
        self.bytes += other.bytes;
    }
}

/// When the messages of one stream came, in nanoseconds of [`now_ns`](super::clock::now_ns);
/// 0: not yet. A message comes with its last byte.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stamps {
    pub(crate) counts: MessageCounts,
    pub(crate) first_item: u64,
    pub(crate) last_item: u64,
    last_message: u64,
    /// The first byte of the message under way.
    began: u64,
    /// The last bytes, whether or not they ended a message.
    pub(crate) last_read: u64,
    pub(crate) longest_gap_ns: u64,
    /// Tokens, as the server counted them.
    pub(crate) tokens: u64,
    /// Messages of the read that brought the last one.
    in_read: u64,
}

// What is kept of a stream does not grow with it.
const _: () = assert!(size_of::<Stamps>() <= 128);

/// Bytes of a stream that came at one time, and the messages that they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// When they came.
    pub(crate) at: u64,
    pub(crate) counts: MessageCounts,
    /// The first message of the stream is among them.
    pub(crate) is_first: bool,
    /// So is its first item.
    pub(crate) is_first_item: bool,
    /// Between the item before and the first of these; the others came with it.
    pub(crate) gap_ns: Option<u64>,
    /// Between the first byte and the last of the first of these messages.
    pub(crate) read_ns: u64,
    /// Messages of this read so far.
    pub(crate) in_read: u64,
}

impl Stamps {
    /// Takes what came at `at`; `is_within`: the last bytes are a part of a message.
    pub(crate) fn arrive(&mut self, at: u64, counts: MessageCounts, is_within: bool) -> Arrival {
        let mut arrival = Arrival {
            at,
            counts,
            is_first: self.counts.messages == 0 && counts.messages > 0,
            is_first_item: self.counts.items == 0 && counts.items > 0,
            ..Arrival::default()
        };
        if counts.messages > 0 {
            arrival.read_ns = if self.began == 0 { 0 } else { at - self.began };
            if self.last_message != at {
                self.in_read = 0;
            }
            self.in_read += counts.messages;
            arrival.in_read = self.in_read;
            self.last_message = at;
            self.began = 0;
        }
        if counts.items > 0 {
            if arrival.is_first_item {
                self.first_item = at;
            } else {
                let gap = at - self.last_item;
                arrival.gap_ns = Some(gap);
                self.longest_gap_ns = self.longest_gap_ns.max(gap);
            }
            self.last_item = at;
        }
        self.counts += counts;
        self.last_read = at;
        self.began = match (is_within, self.began) {
            (true, 0) => at,
            (true, began) => began,
            (false, _) => 0,
        };
        arrival
    }
}

#[cfg(test)]
impl Stamps {
    /// Takes messages, items and bytes that came at `at`.
    pub(crate) fn arrive_counts(&mut self, at: u64, counts: [u64; 3], is_within: bool) -> Arrival {
        let [messages, items, bytes] = counts;
        let counts = MessageCounts {
            messages,
            items,
            bytes,
        };
        self.arrive(at, counts, is_within)
    }
}

/// How messages are found.
#[derive(Debug)]
pub(crate) enum Parser {
    Events(Events),
    Lines(Lines),
    /// By the deframer of the reply.
    Grpc,
    /// By the session: each chunk is a message.
    Messages,
}

impl Parser {
    /// Whether a part of a message has come, and not its end; not of gRPC
    /// and WebSocket.
    pub(crate) fn is_within(&self) -> bool {
        match self {
            Parser::Events(events) => events.is_within(),
            Parser::Lines(lines) => lines.is_within(),
            Parser::Grpc | Parser::Messages => false,
        }
    }
}

/// What is known of one stream so far.
#[derive(Debug)]
pub(crate) struct StreamState {
    pub(crate) stamps: Stamps,
    pub(crate) parser: Parser,
    /// Of a body under a content coding, what undoes it.
    pub(crate) unpacker: Option<Box<Unpacker>>,
    /// The last bytes of its content, in which an expected text may begin.
    pub(crate) tail: Vec<u8>,
    /// The expected text has come.
    pub(crate) has_text: bool,
    /// `[DONE]` of a chat completion has come.
    pub(crate) is_done: bool,
    /// It is ended from our side: nothing more of it counts.
    pub(crate) is_stopped: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_between_last_bytes_and_what_one_read_brings_has_none() {
        let mut stamps = Stamps::default();
        let first = stamps.arrive_counts(1_000, [1, 1, 10], true);
        assert!(first.is_first && first.is_first_item);
        assert_eq!((first.gap_ns, first.read_ns, first.in_read), (None, 0, 1));
        assert_eq!(
            stamps.arrive_counts(1_500, [0, 0, 3], true).counts.messages,
            0
        );
        let second = stamps.arrive_counts(1_700, [1, 1, 10], false);
        assert_eq!((second.gap_ns, second.read_ns), (Some(700), 700));
        let same_read = stamps.arrive_counts(1_700, [2, 2, 10], false);
        assert_eq!((same_read.gap_ns, same_read.in_read), (Some(0), 3));
        assert_eq!(stamps.arrive_counts(1_800, [1, 1, 10], false).in_read, 1);
        assert_eq!((stamps.longest_gap_ns, stamps.counts.messages), (700, 5));
        assert_eq!(
            (stamps.first_item, stamps.last_item, stamps.counts.bytes),
            (1_000, 1_800, 43)
        );
    }

    #[test]
    fn messages_without_a_token_do_not_end_a_gap() {
        let mut stamps = Stamps::default();
        let role = stamps.arrive_counts(100, [1, 0, 1], false);
        assert!(role.is_first && !role.is_first_item);
        assert!(stamps.arrive_counts(300, [1, 1, 1], false).is_first_item);
        assert_eq!(stamps.arrive_counts(400, [1, 0, 1], false).gap_ns, None);
        assert_eq!(
            stamps.arrive_counts(900, [1, 1, 1], false).gap_ns,
            Some(600)
        );
    }
}
