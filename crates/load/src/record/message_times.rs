//! What is recorded of replies that are streams of messages.

use crate::call::calls::Call;
use crate::call::items::ItemTimes;
use crate::call::stream::{Arrival, MessageCounts, Stamps};
use crate::record::recorder::{Recorder, Time};

/// How a stream ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamEnd {
    pub(crate) intended: u64,
    pub(crate) done: u64,
    pub(crate) failed: bool,
    pub(crate) is_chat: bool,
    /// From our side.
    pub(crate) is_stopped: bool,
}

impl StreamEnd {
    pub(crate) fn of(call: &Call, done: u64, failed: bool, is_chat: bool) -> StreamEnd {
        let stream = call.reply.stream.as_ref();
        StreamEnd {
            intended: call.waiting.intended,
            done,
            failed,
            is_chat,
            is_stopped: stream.is_some_and(|stream| stream.is_stopped),
        }
    }
}

impl Recorder {
    /// Messages came within the window, whenever their stream began.
    pub(crate) fn messages_in_window(&mut self, arrival: &Arrival) {
        self.streams.get_or_insert_default().window_counts += arrival.counts;
    }

    /// A good stream with that number of tokens ended within the window.
    pub(crate) fn tokens_in_window(&mut self, tokens: u64) {
        self.streams.get_or_insert_default().window_tokens += tokens;
    }

    /// Messages came of a stream of the window that was due at `intended`.
    pub(crate) fn messages_arrived(&mut self, arrival: &Arrival, intended: u64, is_chat: bool) {
        let MessageCounts {
            messages, items, ..
        } = arrival.counts;
        let since_intended = arrival.at.saturating_sub(intended);
        let streams = self.streams.get_or_insert_default();
        streams.counts += arrival.counts;
        streams.reads += u64::from(messages > 0 && arrival.in_read == messages);
        streams.read_messages_max = streams.read_messages_max.max(arrival.in_read);
        self.messages += messages;
        if arrival.is_first {
            self.time(Time::FirstMessage, since_intended);
        }
        if arrival.is_first_item && is_chat {
            self.time(Time::FirstToken, since_intended);
        }
        if messages > 0 {
            self.time(Time::MessageRead, arrival.read_ns);
            self.time_n(Time::MessageRead, 0, messages - 1);
        }
        if let Some(gap) = arrival.gap_ns {
            self.time(Time::Gap, gap);
        }
        // The other items came together with the one before them.
        self.time_n(Time::Gap, 0, items.saturating_sub(1));
    }

    /// Items of a feed came.
    pub(crate) fn items_arrived(&mut self, items: &[ItemTimes]) {
        for times in items {
            self.time(Time::Lateness, times.lateness);
            self.time(Time::ServiceLate, times.service_late);
            self.time(Time::Delivery, times.delivery);
        }
    }

    /// A stream of the window is over.
    pub(crate) fn stream_ended(&mut self, stamps: &Stamps, end: StreamEnd) {
        let streams = self.streams.get_or_insert_default();
        if !end.failed {
            streams.empty += u64::from(stamps.counts.messages == 0);
            streams.stopped += u64::from(end.is_stopped);
            streams.tokens += stamps.tokens;
            streams.counted += u64::from(stamps.tokens > 0);
        }
        let until_end = end.done.saturating_sub(end.intended);
        if end.failed && stamps.counts.messages == 0 {
            self.time(Time::FirstMessage, until_end);
        }
        if end.failed && end.is_chat && stamps.counts.items == 0 {
            self.time(Time::FirstToken, until_end);
        }
        let since_last = match end.failed && stamps.counts.items > 0 {
            true => end.done.saturating_sub(stamps.last_item),
            false => 0,
        };
        if stamps.counts.items > 1 || since_last > 0 {
            self.time(Time::Stall, stamps.longest_gap_ns.max(since_last));
        }
        if !end.failed && stamps.tokens > 1 && stamps.counts.items > 1 {
            let lasted = stamps.last_item - stamps.first_item;
            self.time(Time::PerToken, lasted / (stamps.tokens - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(done: u64, failed: bool) -> StreamEnd {
        StreamEnd {
            intended: 1_000,
            done,
            failed,
            is_chat: true,
            is_stopped: false,
        }
    }

    #[test]
    fn a_stream_that_fails_counts_with_the_time_until_then() {
        let mut recorder = Recorder::new();
        recorder.stream_ended(&Stamps::default(), end(5_000_000, true));
        let times = recorder.times();
        assert_eq!(times["ttfm"].min_ns >> 20, 4);
        assert_eq!(times["ttft"].count, 1);
        assert!(!times.contains_key("stall"));
        let mut stamps = Stamps::default();
        let first = stamps.arrive_counts(2_000_000, [1, 1, 10], false);
        recorder.messages_arrived(&first, 1_000, true);
        recorder.stream_ended(&stamps, end(9_000_000, true));
        let times = recorder.times();
        assert_eq!((times["ttfm"].count, times["stall"].count), (2, 1));
        assert!(
            times["stall"].max_ns >= 7_000_000,
            "{}",
            times["stall"].max_ns
        );
    }

    #[test]
    fn every_item_but_the_first_has_a_gap_and_reads_are_counted_once() {
        let (mut recorder, mut stamps) = (Recorder::new(), Stamps::default());
        for (at, ended) in [(10, 1), (20, 3), (20, 2), (30, 0)] {
            let arrival = stamps.arrive_counts(at * 1_000_000, [ended, ended, 5], false);
            recorder.messages_arrived(&arrival, 0, false);
        }
        let times = recorder.times();
        assert_eq!((times["gap"].count, times["ttfm"].count), (5, 1));
        assert!(!times.contains_key("ttft"));
        let outcome = recorder.streams.as_ref().unwrap().outcome(1.0);
        assert_eq!((outcome.messages, outcome.reads), (6, 2));
        assert_eq!((outcome.read_messages_max, outcome.bytes), (5, 20));
    }
}
