//! What is recorded of replies that are streams of messages.

use crate::call::calls::Call;
use crate::call::stream::{Arrival, Stamps};
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
        let window = &mut self.streams.get_or_insert_default().window;
        window.messages += arrival.messages;
        window.items += arrival.items;
        window.bytes += arrival.bytes;
    }

    /// A good stream ended within the window, with so many tokens.
    pub(crate) fn tokens_in_window(&mut self, tokens: u64) {
        self.streams.get_or_insert_default().window.tokens += tokens;
    }

    /// Messages of a stream of the window came, so long after it was intended.
    pub(crate) fn messages_arrived(
        &mut self,
        arrival: &Arrival,
        since_intended: u64,
        is_chat: bool,
    ) {
        let streams = self.streams.get_or_insert_default();
        streams.messages += arrival.messages;
        streams.items += arrival.items;
        streams.bytes += arrival.bytes;
        streams.reads += u64::from(arrival.messages > 0 && arrival.in_read == arrival.messages);
        streams.read_messages_max = streams.read_messages_max.max(arrival.in_read);
        self.messages += arrival.messages;
        if arrival.is_first {
            self.time(Time::FirstMessage, since_intended);
        }
        if arrival.is_first_item && is_chat {
            self.time(Time::FirstToken, since_intended);
        }
        if arrival.messages > 0 {
            self.time(Time::MessageRead, arrival.read_ns);
            self.time_n(Time::MessageRead, 0, arrival.messages - 1);
        }
        if let Some(gap) = arrival.gap_ns {
            self.time(Time::Gap, gap);
        }
        // What comes with the item before has no gap to it.
        self.time_n(Time::Gap, 0, arrival.items.saturating_sub(1));
    }

    /// A stream of the window is over.
    pub(crate) fn stream_ended(&mut self, stamps: &Stamps, end: StreamEnd) {
        let streams = self.streams.get_or_insert_default();
        if !end.failed {
            streams.empty += u64::from(stamps.messages == 0);
            streams.stopped += u64::from(end.is_stopped);
            streams.tokens += stamps.tokens;
            streams.counted += u64::from(stamps.tokens > 0);
        }
        let until_end = end.done.saturating_sub(end.intended);
        if end.failed && stamps.messages == 0 {
            self.time(Time::FirstMessage, until_end);
        }
        if end.failed && end.is_chat && stamps.items == 0 {
            self.time(Time::FirstToken, until_end);
        }
        let since_last = match end.failed && stamps.items > 0 {
            true => end.done.saturating_sub(stamps.last_item),
            false => 0,
        };
        if stamps.items > 1 || since_last > 0 {
            self.time(Time::Stall, stamps.longest_gap_ns.max(since_last));
        }
        if !end.failed && stamps.tokens > 1 && stamps.items > 1 {
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
        let first = stamps.arrive(2_000_000, (1, 1), 10, false);
        recorder.messages_arrived(&first, 1_999_000, true);
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
        for (at, ended) in [(10, (1, 1)), (20, (3, 3)), (20, (2, 2)), (30, (0, 0))] {
            let arrival = stamps.arrive(at * 1_000_000, ended, 5, false);
            recorder.messages_arrived(&arrival, at, false);
        }
        let times = recorder.times();
        assert_eq!((times["gap"].count, times["ttfm"].count), (5, 1));
        assert!(!times.contains_key("ttft"));
        let outcome = recorder.streams.as_ref().unwrap().outcome(1.0);
        assert_eq!((outcome.messages, outcome.reads), (6, 2));
        assert_eq!((outcome.read_messages_max, outcome.bytes), (5, 20));
    }
}
