//! Counts of messages of replies that are streams.

use crate::call::result::StreamsOutcome;

/// Counts of messages, mergeable over threads.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    pub(super) messages: u64,
    pub(super) items: u64,
    pub(super) bytes: u64,
    pub(super) reads: u64,
    pub(super) read_messages_max: u64,
    pub(super) empty: u64,
    pub(super) stopped: u64,
    pub(super) tokens: u64,
    pub(super) counted: u64,
    /// What came within the window, whenever its stream began.
    pub(super) window: WindowCounts,
}

#[derive(Debug, Default)]
pub(super) struct WindowCounts {
    pub(super) messages: u64,
    pub(super) items: u64,
    pub(super) bytes: u64,
    pub(super) tokens: u64,
}

impl Streams {
    pub(crate) fn merge(&mut self, other: &Streams) {
        self.messages += other.messages;
        self.items += other.items;
        self.bytes += other.bytes;
        self.reads += other.reads;
        self.read_messages_max = self.read_messages_max.max(other.read_messages_max);
        self.empty += other.empty;
        self.stopped += other.stopped;
        self.tokens += other.tokens;
        self.counted += other.counted;
        self.window.messages += other.window.messages;
        self.window.items += other.window.items;
        self.window.bytes += other.window.bytes;
        self.window.tokens += other.window.tokens;
    }

    pub(crate) fn outcome(&self, window_s: f64) -> StreamsOutcome {
        let per_s = |count: u64| match window_s > 0.0 {
            true => count as f64 / window_s,
            false => 0.0,
        };
        StreamsOutcome {
            messages: self.messages,
            items: self.items,
            bytes: self.bytes,
            reads: self.reads,
            read_messages_max: self.read_messages_max,
            empty: self.empty,
            stopped: self.stopped,
            tokens: self.tokens,
            counted: self.counted,
            messages_per_s: per_s(self.window.messages),
            items_per_s: per_s(self.window.items),
            bytes_per_s: per_s(self.window.bytes),
            tokens_per_s: per_s(self.window.tokens),
        }
    }
}
