//! Counts of messages of replies that are streams.

use crate::call::result::StreamsOutcome;
use crate::call::stream::MessageCounts;

/// Counts of messages, mergeable over threads.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    pub(super) counts: MessageCounts,
    pub(super) reads: u64,
    pub(super) read_messages_max: u64,
    pub(super) empty: u64,
    pub(super) stopped: u64,
    pub(super) tokens: u64,
    pub(super) counted: u64,
    /// Of all that came within the window, whenever its stream began.
    pub(super) window_counts: MessageCounts,
    /// Of good streams that ended within the window.
    pub(super) window_tokens: u64,
}

impl Streams {
    pub(crate) fn merge(&mut self, other: &Streams) {
        self.counts += other.counts;
        self.reads += other.reads;
        self.read_messages_max = self.read_messages_max.max(other.read_messages_max);
        self.empty += other.empty;
        self.stopped += other.stopped;
        self.tokens += other.tokens;
        self.counted += other.counted;
        self.window_counts += other.window_counts;
        self.window_tokens += other.window_tokens;
    }

    pub(crate) fn outcome(&self, window_s: f64) -> StreamsOutcome {
        let per_s = |count: u64| match window_s > 0.0 {
            true => count as f64 / window_s,
            false => 0.0,
        };
        StreamsOutcome {
            messages: self.counts.messages,
            items: self.counts.items,
            bytes: self.counts.bytes,
            reads: self.reads,
            read_messages_max: self.read_messages_max,
            empty: self.empty,
            stopped: self.stopped,
            tokens: self.tokens,
            counted: self.counted,
            messages_per_s: per_s(self.window_counts.messages),
            items_per_s: per_s(self.window_counts.items),
            bytes_per_s: per_s(self.window_counts.bytes),
            tokens_per_s: per_s(self.window_tokens),
        }
    }
}
