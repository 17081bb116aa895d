//! What one thread records of one group: counts and HDR histograms.

use std::collections::BTreeMap;

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

use crate::call::error::{ErrorCode, ErrorKind};
use crate::call::reply::ReplyState;
use crate::call::result::{Sequences, TimePoint, Times};
use crate::record::over_time::{LONGEST_NS, OverTime, SERIES_NS};
use crate::record::replies::Replies;
use crate::record::streams::Streams;

/// The distributions that are kept; `as usize` is the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// done - intended.
    Response,
    /// done - sent.
    Service,
    /// sent - intended.
    Queueing,
    /// flushed - sent.
    Write,
    /// first byte - flushed.
    Wait,
    /// done - first byte.
    Read,
    /// Connection set-up.
    Connect,
    /// How late the engine took an arrival from its schedule.
    Lag,
    /// read by us - arrived in the kernel (sampled).
    Backlog,
    /// Each message of a stream - sent.
    Message,
    /// The first message of a stream - intended; of one that failed before, its end.
    FirstMessage,
    /// The same of the first token.
    FirstToken,
    /// A message of a stream - the one before; of a chat completion those with a token.
    Gap,
    /// The longest gap of a stream.
    Stall,
    /// The last byte of a message of a stream - its first.
    MessageRead,
    /// Between the first token of a stream and the last, per token after the first.
    PerToken,
    /// An item of a feed - when it was due; of one that was missing when its feed failed, that
    /// time.
    Lateness,
    /// When the service sent it - when it was due.
    ServiceLate,
    /// An item - when the service sent it.
    Delivery,
}

const NAMES: [&str; 19] = [
    "response",
    "service",
    "queueing",
    "write",
    "wait",
    "read",
    "connect",
    "lag",
    "backlog",
    "message",
    "ttfm",
    "ttft",
    "gap",
    "stall",
    "message_read",
    "tpot",
    "lateness",
    "service_late",
    "delivery",
];

/// How many different failures are kept in words.
const EXAMPLES_MAX: usize = 10;
/// How many failures of a kind are put into words at all, because that costs time.
const WORDED_MAX: u64 = 64;

/// Counts and histograms, mergeable over threads.
pub(crate) struct Recorder {
    // One takes about 270 KB, so only those that get a time are made.
    times: [Option<Box<Histogram<u64>>>; NAMES.len()],
    /// Response times of failed calls, which [`Time::Response`] holds too: those of good
    /// calls are the difference, so that a good call is recorded once.
    failed: Option<Box<Histogram<u64>>>,
    /// Calls of the window that went well.
    pub(crate) ok: u64,
    /// Calls of the window that were sent again, since a peer had not processed them.
    pub(crate) resent: u64,
    /// Calls of the window whose reply gave its length in two ways.
    pub(crate) framing: u64,
    /// Calls that ended within the window, whenever they were intended.
    pub(crate) ended: u64,
    /// Of those, the ones that went well.
    pub(crate) ended_ok: u64,
    pub(crate) errors: BTreeMap<ErrorKind, u64>,
    pub(crate) codes: BTreeMap<ErrorCode, u64>,
    pub(crate) examples: Vec<String>,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) messages: u64,
    /// What of all calls' service times lies within the window.
    pub(crate) under_way_ns: u128,
    pub(crate) series: Vec<u64>,
    /// Response times of all calls that ended within the window.
    pub(crate) over_time: OverTime,
    sequences: SequenceRecord,
    /// How good replies differed, where that is counted.
    pub(crate) replies: Option<Box<Replies>>,
    /// Replies that were streams of messages.
    pub(crate) streams: Option<Box<Streams>>,
}

/// Sequences that are over.
#[derive(Default)]
struct SequenceRecord {
    count: u64,
    errors: u64,
    response: Option<Box<Histogram<u64>>>,
    /// Of those that a failed call ended.
    failed: Option<Box<Histogram<u64>>>,
}

/// Entries of the series at most: an hour.
const SERIES_MAX: usize = 36_000;

impl Recorder {
    pub(crate) fn new() -> Recorder {
        Recorder {
            times: Default::default(),
            failed: None,
            ok: 0,
            resent: 0,
            framing: 0,
            ended: 0,
            ended_ok: 0,
            errors: BTreeMap::new(),
            codes: BTreeMap::new(),
            examples: Vec::new(),
            bytes_sent: 0,
            bytes_received: 0,
            messages: 0,
            under_way_ns: 0,
            series: Vec::new(),
            over_time: OverTime::default(),
            sequences: SequenceRecord::default(),
            replies: None,
            streams: None,
        }
    }

    #[inline]
    pub(crate) fn time(&mut self, which: Time, ns: u64) {
        let histogram = self.times[which as usize].get_or_insert_with(new_histogram);
        histogram.saturating_record(ns);
    }

    /// The same time that often.
    pub(crate) fn time_n(&mut self, which: Time, ns: u64, times: u64) {
        if times > 0 {
            let histogram = self.times[which as usize].get_or_insert_with(new_histogram);
            histogram.saturating_record_n(ns, times);
        }
    }

    /// One good reply, where they are counted by their content.
    pub(crate) fn reply(&mut self, reply: &ReplyState) {
        let replies = self.replies.get_or_insert_default();
        replies.add(reply.head.status, reply.length, reply.hash);
    }

    /// One sequence of calls, from the arrival of its first to the end of its last.
    #[inline]
    pub(crate) fn sequence(&mut self, response_ns: u64, failed: bool) {
        let sequences = &mut self.sequences;
        sequences.count += 1;
        sequences.errors += u64::from(failed);
        let histogram = sequences.response.get_or_insert_with(new_histogram);
        histogram.saturating_record(response_ns);
        if failed {
            let histogram = sequences.failed.get_or_insert_with(new_histogram);
            histogram.saturating_record(response_ns);
        }
    }

    /// One call that ended within the window, at that offset from its start.
    #[inline]
    pub(crate) fn add_ended(&mut self, offset_ns: u64, well: bool) {
        self.ended += 1;
        if !well {
            return;
        }
        self.ended_ok += 1;
        let index = (offset_ns / SERIES_NS) as usize;
        if index >= self.series.len() {
            self.series.resize((index + 1).min(SERIES_MAX), 0);
        }
        if let Some(entry) = self.series.get_mut(index) {
            *entry += 1;
        }
    }

    /// One failed call: the time until it failed or was given up, which is less than its
    /// reply would have taken (censored), and a few different ones in words.
    #[cold]
    pub(crate) fn failure(
        &mut self,
        (kind, code): (ErrorKind, ErrorCode),
        response_ns: u64,
        reason: impl FnOnce() -> String,
    ) {
        self.time(Time::Response, response_ns);
        let histogram = self.failed.get_or_insert_with(new_histogram);
        histogram.saturating_record(response_ns);
        *self.codes.entry(code).or_default() += 1;
        let count = self.errors.entry(kind).or_default();
        // Counted before it is put into words: only the words are limited.
        *count += 1;
        if *count <= WORDED_MAX && self.examples.len() < EXAMPLES_MAX {
            self.example(format!("{}: {}", kind.name(), reason()));
        }
    }

    fn example(&mut self, example: String) {
        if self.examples.len() < EXAMPLES_MAX && !self.examples.contains(&example) {
            self.examples.push(example);
        }
    }

    pub(crate) fn merge(&mut self, other: Recorder) {
        for (mine, theirs) in self.times.iter_mut().zip(other.times) {
            add(mine, theirs);
        }
        add(&mut self.failed, other.failed);
        self.sequences.merge(other.sequences);
        self.ok += other.ok;
        self.resent += other.resent;
        self.framing += other.framing;
        self.ended += other.ended;
        self.ended_ok += other.ended_ok;
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
        for (code, count) in other.codes {
            *self.codes.entry(code).or_default() += count;
        }
        for example in other.examples {
            self.example(example);
        }
        match (&mut self.replies, other.replies) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (None, theirs) => self.replies = theirs,
            (_, None) => {}
        }
        match (&mut self.streams, other.streams) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (None, theirs) => self.streams = theirs,
            (_, None) => {}
        }
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.messages += other.messages;
        self.under_way_ns += other.under_way_ns;
        self.over_time.merge(other.over_time);
        let length = self.series.len().max(other.series.len());
        self.series.resize(length, 0);
        for (mine, theirs) in self.series.iter_mut().zip(other.series) {
            *mine += theirs;
        }
    }

    /// The series of a window of that length: tenths of a second in
    /// which nothing ended are part of it, at its end too. What ended past it,
    /// while nobody knew yet that it was over, is not.
    pub(crate) fn series_of(&self, window_ns: u64) -> Vec<u64> {
        let length = window_ns.div_ceil(SERIES_NS).min(SERIES_MAX as u64) as usize;
        let mut series = self.series.clone();
        series.resize(length, 0);
        series
    }

    /// The p50 and p99 of response times over a window of that length.
    pub(crate) fn response_over_time(&self, window_ns: u64) -> BTreeMap<String, Vec<TimePoint>> {
        [("p50", 0.5), ("p99", 0.99)]
            .map(|(name, quantile)| (name.to_owned(), self.over_time.points(quantile, window_ns)))
            .into()
    }

    /// None where no sequence was recorded.
    pub(crate) fn sequences(&self) -> Option<Sequences> {
        let record = &self.sequences;
        let response = record.response.as_ref()?;
        Some(Sequences {
            count: record.count,
            errors: record.errors,
            response: summary(response),
            response_good: good(response, record.failed.as_deref()).map(|good| summary(&good)),
        })
    }

    /// Failed calls.
    pub(crate) fn failures(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Failed calls by the names of their kinds.
    pub(crate) fn errors_by_kind(&self) -> BTreeMap<String, u64> {
        let errors = self.errors.iter();
        errors
            .map(|(kind, count)| (kind.name().to_owned(), *count))
            .collect()
    }

    pub(crate) fn times(&self) -> BTreeMap<String, Times> {
        let mut times: BTreeMap<String, Times> = NAMES
            .iter()
            .zip(&self.times)
            .filter_map(|(name, times)| Some(((*name).to_owned(), summary(times.as_ref()?))))
            .collect();
        if let (Some(all), Some(failed)) = (&self.times[Time::Response as usize], &self.failed) {
            times.insert("response_failed".to_owned(), summary(failed));
            let good =
                good(all, Some(failed)).map(|good| ("response_good".to_owned(), summary(&good)));
            times.extend(good);
        }
        times
    }
}

impl SequenceRecord {
    fn merge(&mut self, other: SequenceRecord) {
        self.count += other.count;
        self.errors += other.errors;
        add(&mut self.response, other.response);
        add(&mut self.failed, other.failed);
    }
}

/// What is left of all when those that failed are taken away, which is exact: both have the
/// same buckets. None where none failed, and where nothing is left.
fn good(all: &Histogram<u64>, failed: Option<&Histogram<u64>>) -> Option<Histogram<u64>> {
    let mut good = all.clone();
    good.subtract(failed?)
        .expect("what failed was recorded among all");
    (!good.is_empty()).then_some(good)
}

fn add(mine: &mut Option<Box<Histogram<u64>>>, theirs: Option<Box<Histogram<u64>>>) {
    match (mine.as_mut(), theirs) {
        (Some(mine), Some(theirs)) => mine
            .add(*theirs)
            .expect("histograms of the same bounds add up"),
        (None, theirs) => *mine = theirs,
        (_, None) => {}
    }
}

pub(crate) fn new_histogram() -> Box<Histogram<u64>> {
    let mut histogram =
        // Three significant digits: a value is recorded to within 0.1 %, at any size.
        Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("constant bounds are valid");
    // Every page is touched now, so that memory does not grow when a rare,
    // long time is first recorded late in a run.
    histogram.reset();
    Box::new(histogram)
}

/// Percentiles with at least ten samples above, and the whole histogram.
pub(crate) fn summary(histogram: &Histogram<u64>) -> Times {
    let count = histogram.len();
    let percentiles_ns = [
        ("p50", 0.5),
        ("p90", 0.9),
        ("p99", 0.99),
        ("p99.9", 0.999),
        ("p99.99", 0.9999),
    ]
    .iter()
    // 1 - 0.99 is not exact in binary: 1,000 samples must be enough.
    .filter(|(_, quantile)| count as f64 * (1.0 - quantile) >= 10.0 - 1e-9)
    .map(|(name, quantile)| ((*name).to_owned(), histogram.value_at_quantile(*quantile)))
    .collect();
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to memory does not fail");
    Times {
        count,
        mean_ns: histogram.mean(),
        min_ns: histogram.min(),
        max_ns: histogram.max(),
        percentiles_ns,
        hdr: base64::engine::general_purpose::STANDARD.encode(bytes),
    }
}

/// Counters of a whole run, warm-up and drain included.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Totals {
    pub(crate) sent: u64,
    pub(crate) ended: u64,
    pub(crate) errors: u64,
    pub(crate) warmup: u64,
    pub(crate) opened: u64,
    /// Connections whose handshake of TLS resumed an earlier session.
    pub(crate) resumed: u64,
    pub(crate) peak: usize,
    pub(crate) last_done: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: (ErrorKind, ErrorCode) = (ErrorKind::Timeout, ErrorCode::Timeout);

    #[test]
    fn percentiles_need_ten_samples_above() {
        let mut recorder = Recorder::new();
        (1..=999).for_each(|i| recorder.time(Time::Response, i * 1000));
        let names: Vec<_> = recorder.times()["response"]
            .percentiles_ns
            .keys()
            .cloned()
            .collect();
        assert_eq!(names, ["p50", "p90"]);
        recorder.time(Time::Response, 1);
        assert!(
            recorder.times()["response"]
                .percentiles_ns
                .contains_key("p99")
        );
    }

    #[test]
    fn a_silent_end_is_part_of_the_series() {
        let mut recorder = Recorder::new();
        recorder.add_ended(150_000_000, true);
        recorder.add_ended(250_000_000, false);
        assert_eq!((recorder.ended, recorder.ended_ok), (2, 1));
        assert_eq!(recorder.series_of(410_000_000), [0, 1, 0, 0, 0]);
        assert_eq!(recorder.series_of(100_000_000), [0]);
        assert_eq!(recorder.series_of(u64::MAX).len(), SERIES_MAX);
    }

    #[test]
    fn merging_threads_equals_recording_in_one() {
        let (mut one, mut left, mut right) = (Recorder::new(), Recorder::new(), Recorder::new());
        for i in 0..10_000u64 {
            let part = if i % 3 == 0 { &mut left } else { &mut right };
            for recorder in [part, &mut one] {
                recorder.time(Time::Service, i * i);
                recorder.add_ended(i * 1_000_000, i % 7 > 0);
            }
        }
        right.failure(TIMEOUT, 1, || "slow".into());
        left.merge(right);
        assert_eq!(left.times()["service"].hdr, one.times()["service"].hdr);
        assert_eq!((left.ended, left.ended_ok), (one.ended, one.ended_ok));
        assert_eq!(left.series, one.series);
        assert_eq!(left.errors[&ErrorKind::Timeout], 1);
        assert_eq!(left.codes[&ErrorCode::Timeout], 1);
    }

    /// Good calls of 1 to 1,000 us, every tenth of which failed after 10 s instead.
    fn a_tenth_timed_out(count: u64) -> Recorder {
        let mut recorder = Recorder::new();
        for i in 1..=count {
            match i % 10 {
                0 => recorder.failure(TIMEOUT, 10_000_000_000, || "slow".into()),
                _ => recorder.time(Time::Response, i * 1000),
            }
        }
        recorder
    }

    #[test]
    fn times_of_good_calls_are_those_of_a_recorder_that_saw_no_other() {
        let mut alone = Recorder::new();
        (1..=1000u64)
            .filter(|i| i % 10 > 0)
            .for_each(|i| alone.time(Time::Response, i * 1000));
        let times = a_tenth_timed_out(1000).times();
        let (good, alone) = (&times["response_good"], &alone.times()["response"]);
        assert_eq!(good.percentiles_ns, alone.percentiles_ns);
        assert_eq!((good.count, good.mean_ns), (alone.count, alone.mean_ns));
        assert_eq!(times["response"].count, 1000);
        assert!(times["response"].percentiles_ns["p99"] >= 10_000_000_000);
        let failed = &times["response_failed"];
        // 10 s to within 0.1 %: a little more than 2^33 ns.
        assert_eq!((failed.count, failed.percentiles_ns["p50"] >> 33), (100, 1));
    }

    #[test]
    fn one_distribution_without_failures_and_no_good_one_if_all_fail() {
        let mut recorder = Recorder::new();
        recorder.time(Time::Response, 1000);
        assert_eq!(
            recorder.times().into_keys().collect::<Vec<_>>(),
            ["response"]
        );
        let mut recorder = Recorder::new();
        recorder.failure(
            (ErrorKind::Refused, ErrorCode::ConnectionRefused),
            1000,
            || "nobody".into(),
        );
        let names: Vec<_> = recorder.times().into_keys().collect();
        assert_eq!(names, ["response", "response_failed"]);
    }

    #[test]
    fn times_of_good_calls_survive_the_merging_of_threads() {
        let mut merged = a_tenth_timed_out(500);
        merged.merge(a_tenth_timed_out(500));
        let once = a_tenth_timed_out(500).times()["response_good"].count;
        assert_eq!(merged.times()["response_good"].count, 2 * once);
    }

    #[test]
    fn sequences_that_a_failed_call_ended_are_left_out_of_the_good_ones() {
        let mut recorder = Recorder::new();
        recorder.sequence(1_000_000, false);
        assert!(recorder.sequences().unwrap().response_good.is_none());
        recorder.sequence(9_000_000_000, true);
        let sequences = recorder.sequences().unwrap();
        assert_eq!((sequences.response.count, sequences.errors), (2, 1));
        let good = sequences.response_good.unwrap();
        assert_eq!((good.count, good.max_ns < 2_000_000), (1, true));
    }

    #[test]
    fn only_a_few_failures_are_kept_in_words_and_all_are_counted() {
        let mut recorder = Recorder::new();
        (0..1000).for_each(|i| {
            recorder.failure((ErrorKind::Wrong, ErrorCode::WrongReply), 1, || {
                format!("{i}")
            })
        });
        assert_eq!(recorder.examples.len(), EXAMPLES_MAX);
        assert_eq!(recorder.errors[&ErrorKind::Wrong], 1000);
    }

    #[test]
    fn the_same_failure_is_an_example_once_and_leaves_room_for_others() {
        let (mut one, mut other) = (Recorder::new(), Recorder::new());
        for recorder in [&mut one, &mut other] {
            (0..100).for_each(|_| {
                recorder.failure(
                    (ErrorKind::Refused, ErrorCode::ConnectionRefused),
                    1,
                    || "nobody".into(),
                )
            });
            recorder.failure(TIMEOUT, 1, || "slow".into());
        }
        one.merge(other);
        assert_eq!(one.examples, ["refused: nobody", "timeout: slow"]);
        assert_eq!(one.errors[&ErrorKind::Refused], 200);
    }
}
