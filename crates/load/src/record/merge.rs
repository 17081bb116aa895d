//! Adds up what several processes measured that made one load together.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use crate::call::fault;
use crate::call::result::{
    CallLogOutcome, Fault, GroupOutcome, OperationOutcome, Outcome, Pauses, PeriodOutcome, Process,
    RepliesOutcome, Sequences, StreamsOutcome, Times, WarmupOutcome,
};
use crate::record::recorder::{new_histogram, summary};
use crate::record::replies::Replies;

/// Examples of failures that a result has.
const EXAMPLES_MAX: usize = 10;

/// Adds up the outcomes of all parts of one load. Counts and histograms add up, and rates are those
/// over the longest window, so that percentiles are those of one process that had made all calls. What was planned is planned for
/// the whole in each part. `response_over_time`, `first_calls_ns` and `slowest` are left out, since
/// parts do not hold what they are made of.
///
/// # Errors
/// A [`Fault`] where none is given, or where they are not of one plan and one engine.
pub fn merge(outcomes: Vec<Outcome>) -> Result<Outcome, Fault> {
    let mut parts = outcomes.into_iter();
    let mut sum = parts.next().ok_or_else(|| refused("none was given"))?;
    for group in &mut sum.groups {
        name_good(&mut group.times);
        let operations = group.operations.iter_mut();
        operations.for_each(|operation| name_good(&mut operation.times));
        group.response_over_time = BTreeMap::new();
        group.first_calls_ns = None;
        group.slowest = None;
    }
    for part in parts {
        if (&sum.engine, &sum.profile) != (&part.engine, &part.profile) {
            let (one, other) = (&sum.engine, &part.engine);
            return Err(refused(format!("engines differ: {one} and {other}")));
        }
        if sum.groups.len() != part.groups.len() {
            return Err(refused("the numbers of groups differ"));
        }
        sum.interrupted |= part.interrupted;
        sum.late_s = largest(sum.late_s, part.late_s);
        sum.call_log = both(sum.call_log, part.call_log, add_logs);
        add_process(&mut sum.process, part.process);
        for (mine, theirs) in sum.groups.iter_mut().zip(part.groups) {
            add_group(mine, theirs)?;
        }
    }
    sum.slices = None;
    for group in &mut sum.groups {
        drop_good(&mut group.times);
        let operations = group.operations.iter_mut();
        operations.for_each(|operation| drop_good(&mut operation.times));
    }
    Ok(sum)
}

fn refused(message: impl Into<String>) -> Fault {
    fault::plan(
        format!("outcomes to add up: {}", message.into()),
        "give one outcome of each part of one plan",
    )
}

fn largest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    both(one, other, f64::max)
}

/// The sum of two of which either may be absent.
pub(crate) fn both<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// Of two where one that lacks it makes the sum unknown.
fn add_known<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    Some(add(one?, other?))
}

pub(crate) fn add_logs(one: CallLogOutcome, other: CallLogOutcome) -> CallLogOutcome {
    CallLogOutcome {
        calls: one.calls + other.calls,
        error: one.error.or(other.error),
    }
}

fn add_process(mine: &mut Process, theirs: Process) {
    mine.cpu_user_s += theirs.cpu_user_s;
    mine.cpu_system_s += theirs.cpu_system_s;
    mine.spin_s += theirs.spin_s;
    mine.rss_max_bytes += theirs.rss_max_bytes;
    mine.switches_involuntary += theirs.switches_involuntary;
    // Of the machine, which processes may share.
    mine.steal_s = mine.steal_s.max(theirs.steal_s);
    mine.run_delay_s = add_known(mine.run_delay_s, theirs.run_delay_s, |a, b| a + b);
    mine.pauses = add_known(mine.pauses, theirs.pauses, add_pauses);
    mine.cores.extend(theirs.cores);
    mine.file_tables = mine.file_tables.take().or(theirs.file_tables);
}

fn add_pauses(one: Pauses, other: Pauses) -> Pauses {
    let longest = match one.longest_s >= other.longest_s {
        true => one,
        false => other,
    };
    Pauses {
        count: one.count + other.count,
        total_s: one.total_s + other.total_s,
        ..longest
    }
}

fn add_group(mine: &mut GroupOutcome, mut theirs: GroupOutcome) -> Result<(), Fault> {
    if (&mine.name, &mine.load) != (&theirs.name, &theirs.load) {
        let (one, other) = (&mine.name, &theirs.name);
        return Err(refused(format!("groups differ: {one} and {other}")));
    }
    let window_s = mine.window_s.max(theirs.window_s);
    // Windows that calls end are not equally long: each part counts by its own.
    let over_all = |mine_per_s: f64, theirs_per_s: f64| match window_s > 0.0 {
        true => (mine_per_s * mine.window_s + theirs_per_s * theirs.window_s) / window_s,
        false => 0.0,
    };
    (mine.rate_per_s, mine.concurrency) = (
        over_all(mine.rate_per_s, theirs.rate_per_s),
        over_all(mine.concurrency, theirs.concurrency),
    );
    mine.streams = both(mine.streams.take(), theirs.streams, |one, other| {
        add_streams(&one, &other, over_all)
    });
    mine.window_s = window_s;
    mine.calls += theirs.calls;
    mine.ok += theirs.ok;
    mine.errors += theirs.errors;
    mine.resent += theirs.resent;
    mine.framing += theirs.framing;
    mine.ended += theirs.ended;
    add_counts(&mut mine.errors_by_kind, theirs.errors_by_kind);
    add_counts(&mut mine.errors_by_code, theirs.errors_by_code);
    add_examples(&mut mine.error_examples, theirs.error_examples);
    mine.queue_max += theirs.queue_max;
    mine.connections_opened += theirs.connections_opened;
    mine.connections_peak += theirs.connections_peak;
    mine.connections_resumed += theirs.connections_resumed;
    add_counts(&mut mine.websocket_extensions, theirs.websocket_extensions);
    mine.connections_failed += theirs.connections_failed;
    mine.reconnect_pause_s += theirs.reconnect_pause_s;
    mine.bytes_sent += theirs.bytes_sent;
    mine.bytes_received += theirs.bytes_received;
    mine.messages += theirs.messages;
    mine.calls_whole_run += theirs.calls_whole_run;
    mine.warmup = WarmupOutcome {
        seconds: mine.warmup.seconds.max(theirs.warmup.seconds),
        calls: mine.warmup.calls + theirs.warmup.calls,
        stationary: mine.warmup.stationary && theirs.warmup.stationary,
    };
    name_good(&mut theirs.times);
    add_all_times(&mut mine.times, theirs.times)?;
    add_series(&mut mine.series, &theirs.series);
    mine.cpu_s += theirs.cpu_s;
    for operation in theirs.operations {
        add_operation(&mut mine.operations, operation)?;
    }
    mine.sequences = match (mine.sequences.take(), theirs.sequences) {
        (Some(one), Some(other)) => Some(add_sequences(one, other)?),
        (one, other) => one.or(other),
    };
    add_periods(&mut mine.periods, theirs.periods)?;
    mine.replies = match (mine.replies.take(), theirs.replies) {
        (Some(one), Some(other)) => {
            let sum = add_replies(&one, &other);
            Some(sum.ok_or_else(|| refused("the hash of a reply is not hexadecimal"))?)
        }
        (one, other) => one.or(other),
    };
    Ok(())
}

pub(crate) fn add_counts<K: Ord>(mine: &mut BTreeMap<K, u64>, theirs: BTreeMap<K, u64>) {
    for (name, count) in theirs {
        *mine.entry(name).or_default() += count;
    }
}

fn add_examples(mine: &mut Vec<String>, theirs: Vec<String>) {
    for example in theirs {
        if mine.len() < EXAMPLES_MAX && !mine.contains(&example) {
            mine.push(example);
        }
    }
}

fn add_series(mine: &mut Vec<u64>, theirs: &[u64]) {
    mine.resize(mine.len().max(theirs.len()), 0);
    mine.iter_mut()
        .zip(theirs)
        .for_each(|(mine, theirs)| *mine += theirs);
}

/// Where no call of a part failed, its good calls have no histogram of their own. They get one,
/// since calls of another part may have failed; [`drop_good`] drops it where none did.
fn name_good(times: &mut BTreeMap<String, Times>) {
    if times.contains_key("response_failed") {
        return;
    }
    if let Some(all) = times.get("response").cloned() {
        times.insert("response_good".to_owned(), all);
    }
}

fn drop_good(times: &mut BTreeMap<String, Times>) {
    if !times.contains_key("response_failed") {
        times.remove("response_good");
    }
}

fn add_all_times(
    mine: &mut BTreeMap<String, Times>,
    theirs: BTreeMap<String, Times>,
) -> Result<(), Fault> {
    for (name, times) in theirs {
        match mine.entry(name) {
            Entry::Vacant(place) => {
                place.insert(times);
            }
            Entry::Occupied(mut place) => {
                let sum = add_times(place.get(), &times)?;
                place.insert(sum);
            }
        }
    }
    Ok(())
}

fn add_times(one: &Times, other: &Times) -> Result<Times, Fault> {
    let mut sum = new_histogram();
    for times in [one, other] {
        let added = sum.add(read(times)?);
        added.map_err(|error| refused(format!("a histogram of other bounds: {error}")))?;
    }
    Ok(summary(&sum))
}

fn read(times: &Times) -> Result<Histogram<u64>, Fault> {
    let broken = |error: String| refused(format!("a histogram cannot be read: {error}"));
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(&times.hdr)
        .map_err(|error| broken(error.to_string()))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| broken(error.to_string()))
}

fn add_operation(
    mine: &mut Vec<OperationOutcome>,
    mut theirs: OperationOutcome,
) -> Result<(), Fault> {
    name_good(&mut theirs.times);
    let Some(own) = mine
        .iter_mut()
        .find(|own| own.operation == theirs.operation)
    else {
        mine.push(theirs);
        return Ok(());
    };
    own.calls += theirs.calls;
    own.ok += theirs.ok;
    own.errors += theirs.errors;
    add_counts(&mut own.errors_by_kind, theirs.errors_by_kind);
    add_counts(&mut own.errors_by_code, theirs.errors_by_code);
    add_all_times(&mut own.times, theirs.times)
}

fn add_sequences(one: Sequences, other: Sequences) -> Result<Sequences, Fault> {
    let (count, errors) = (one.count + other.count, one.errors + other.errors);
    let response = add_times(&one.response, &other.response)?;
    // None where all are good, and where none is.
    let good = [one, other]
        .into_iter()
        .filter_map(|part| match part.errors {
            0 => Some(part.response),
            _ => part.response_good,
        });
    let good: Vec<Times> = good.collect();
    let response_good = match good.as_slice() {
        _ if errors == 0 => None,
        [one, other] => Some(add_times(one, other)?),
        [one] => Some(one.clone()),
        _ => None,
    };
    Ok(Sequences {
        count,
        errors,
        response,
        response_good,
    })
}

fn add_periods(mine: &mut [PeriodOutcome], theirs: Vec<PeriodOutcome>) -> Result<(), Fault> {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        mine.calls += theirs.calls;
        mine.errors += theirs.errors;
        mine.sent += theirs.sent;
        mine.ended += theirs.ended;
        mine.users = both(mine.users, theirs.users, |a, b| a + b);
        mine.sent_after_s = largest(mine.sent_after_s, theirs.sent_after_s);
        mine.response = match (mine.response.take(), theirs.response) {
            (Some(one), Some(other)) => Some(add_times(&one, &other)?),
            (one, other) => one.or(other),
        };
    }
    Ok(())
}

fn add_replies(one: &RepliesOutcome, other: &RepliesOutcome) -> Option<RepliesOutcome> {
    let mut sum = Replies::read(one)?;
    sum.merge(&Replies::read(other)?);
    Some(sum.outcome())
}

fn add_streams(
    one: &StreamsOutcome,
    other: &StreamsOutcome,
    over_all: impl Fn(f64, f64) -> f64,
) -> StreamsOutcome {
    StreamsOutcome {
        messages: one.messages + other.messages,
        items: one.items + other.items,
        bytes: one.bytes + other.bytes,
        reads: one.reads + other.reads,
        read_messages_max: one.read_messages_max.max(other.read_messages_max),
        empty: one.empty + other.empty,
        stopped: one.stopped + other.stopped,
        tokens: one.tokens + other.tokens,
        counted: one.counted + other.counted,
        messages_per_s: over_all(one.messages_per_s, other.messages_per_s),
        items_per_s: over_all(one.items_per_s, other.items_per_s),
        bytes_per_s: over_all(one.bytes_per_s, other.bytes_per_s),
        tokens_per_s: over_all(one.tokens_per_s, other.tokens_per_s),
    }
}
