//! What the threads recorded of one group, added up and reported.

use std::collections::BTreeMap;

use crate::call::clock::UNSET;
use crate::call::clock::seconds;
use crate::call::result::{CallLogOutcome, GroupOutcome, OperationOutcome, WarmupOutcome};
use crate::call::span::Span;
use crate::group::Group;
use crate::plan::{self, Load, Window};
use crate::reactor::slices::OwnSlices;
use crate::reactor::turn::Turn;
use crate::record::first_calls::FirstCalls;
use crate::record::merge::{add_counts, add_logs, both};
use crate::record::periods::Periods;
use crate::record::recorder::Recorder;
use crate::record::recorder::Totals;
use crate::record::replies::Replies;
use crate::record::slow_calls::SlowCalls;

/// What all groups have in common.
pub(crate) struct During {
    pub(crate) span: Span,
    pub(crate) warmup_s: f64,
    pub(crate) stationary: bool,
    pub(crate) cpu_s: f64,
    /// Of the group alone, where groups take turns.
    pub(crate) slices: Option<OwnSlices>,
}

/// One group, summed over the threads.
pub(crate) struct Merged {
    recorder: Recorder,
    operations: Vec<(String, Recorder)>,
    totals: Totals,
    connections_failed: u64,
    reconnect_pause_ns: u64,
    queue_max: usize,
    /// When the window closed, as the threads knew it.
    end: u64,
    call_log: Option<CallLogOutcome>,
    periods: Option<Periods>,
    first_calls: Option<FirstCalls>,
    slow_calls: Option<SlowCalls>,
    extensions: BTreeMap<String, u64>,
}

impl Default for Merged {
    fn default() -> Self {
        Merged {
            recorder: Recorder::new(),
            operations: Vec::new(),
            totals: Totals::default(),
            connections_failed: 0,
            reconnect_pause_ns: 0,
            queue_max: 0,
            end: 0,
            call_log: None,
            periods: None,
            first_calls: None,
            slow_calls: None,
            extensions: BTreeMap::new(),
        }
    }
}

impl Merged {
    pub(crate) fn add(&mut self, mut group: Group, span: Span) {
        self.call_log = both(self.call_log.take(), group.end_lines(), add_logs);
        match (&mut self.periods, group.periods.take()) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (None, theirs) => self.periods = theirs,
            (_, None) => {}
        }
        match (&mut self.first_calls, group.first_calls.take()) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (None, theirs) => self.first_calls = theirs,
            (_, None) => {}
        }
        match (&mut self.slow_calls, group.slow_calls.take()) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (None, theirs) => self.slow_calls = theirs,
            (_, None) => {}
        }
        add_counts(&mut self.extensions, std::mem::take(&mut group.extensions));
        self.queue_max += group.demand.queue_max;
        // Threads see a full quota at different moments; the window lasted until the
        // last of them.
        self.end = self.end.max(group.own(span).end);
        self.totals.sent += group.totals.sent;
        self.totals.ended += group.totals.ended;
        self.totals.warmup += group.totals.warmup;
        self.totals.opened += group.totals.opened;
        self.totals.resumed += group.totals.resumed;
        // An upper bound: the threads need not have their peaks at the same time.
        self.totals.peak += group.totals.peak;
        self.totals.last_done = self.totals.last_done.max(group.totals.last_done);
        let (failed, paused_ns) = group.failed_connections();
        self.connections_failed += failed;
        self.reconnect_pause_ns += paused_ns;
        let (recorder, operations) = group.into_records();
        self.recorder.merge(recorder);
        for (at, (name, theirs)) in operations.into_iter().enumerate() {
            match self.operations.get_mut(at) {
                Some((_, mine)) => mine.merge(theirs),
                None => self.operations.push((name, theirs)),
            }
        }
    }

    /// What came of the group.
    pub(crate) fn outcome(mut self, group: &plan::Group, during: &During) -> GroupOutcome {
        let operations = self.operations_apart();
        for (_, recorder) in self.operations.drain(..) {
            self.recorder.merge(recorder);
        }
        let Merged {
            recorder,
            totals,
            periods,
            first_calls,
            slow_calls,
            extensions,
            ..
        } = self;
        let start = during.span.start;
        let end = match (during.slices, self.end) {
            (Some(own), _) => start + own.window_ns,
            // A closed load that began with its window: the last call closes it.
            (None, UNSET) => totals.last_done.max(start),
            (None, end) => end,
        };
        let window_s = seconds(end.saturating_sub(start));
        let per_s = |amount: f64| match window_s > 0.0 {
            true => amount / window_s,
            false => 0.0,
        };
        let (load, rate_planned_per_s) = match group.load {
            Load::Closed { .. } => ("closed", None),
            Load::Constant { rate, .. } | Load::Poisson { rate, .. } => ("open", Some(rate)),
            Load::Stages { .. } | Load::Bursts { .. } => ("open", None),
        };
        let errors = recorder.failures();
        let calls_planned = match group.window {
            Window::DurationS(_) => None,
            Window::Calls { calls, .. } => Some(calls),
        };
        GroupOutcome {
            name: group.name.clone(),
            load: load.into(),
            window_s,
            window_start_ns: start,
            calls_planned,
            calls: recorder.ok + errors,
            ok: recorder.ok,
            errors,
            resent: recorder.resent,
            framing: recorder.framing,
            ended: recorder.ended,
            errors_by_kind: recorder.errors_by_kind(),
            errors_by_code: recorder.codes.clone(),
            error_examples: recorder.examples.clone(),
            rate_per_s: per_s(recorder.ended_ok as f64),
            rate_planned_per_s,
            concurrency: per_s(recorder.under_way_ns as f64 / 1e9),
            queue_max: self.queue_max as u64,
            connections_opened: totals.opened,
            connections_peak: totals.peak as u64,
            connections_resumed: totals.resumed,
            websocket_extensions: extensions,
            connections_failed: self.connections_failed,
            reconnect_pause_s: seconds(self.reconnect_pause_ns),
            bytes_sent: recorder.bytes_sent,
            bytes_received: recorder.bytes_received,
            messages: recorder.messages,
            calls_whole_run: totals.sent,
            warmup: WarmupOutcome {
                seconds: during.warmup_s,
                calls: totals.warmup,
                stationary: during.stationary,
            },
            times: recorder.times(),
            series: recorder.series_of(end.saturating_sub(start)),
            response_over_time: recorder.response_over_time(end.saturating_sub(start)),
            cpu_s: (during.slices).map_or(during.cpu_s, |own| seconds(own.cpu_ns)),
            operations,
            sequences: recorder.sequences(),
            periods: periods.map_or_else(Vec::new, |mut periods| {
                periods.outcomes(&group.load, Span::whole(start, end))
            }),
            replies: recorder.replies.as_deref().map(Replies::outcome),
            first_calls_ns: first_calls.map(FirstCalls::into_ns),
            slowest: slow_calls.map(SlowCalls::outcome),
            streams: recorder
                .streams
                .as_deref()
                .map(|streams| streams.outcome(window_s)),
        }
    }

    /// Each operation by itself, where there are several.
    fn operations_apart(&self) -> Vec<OperationOutcome> {
        match self.operations.as_slice() {
            [] | [_] => Vec::new(),
            several => several.iter().map(operation_outcome).collect(),
        }
    }
}

/// What came of the log of calls, which all groups share.
pub(crate) fn call_log(groups: &[Merged]) -> Option<CallLogOutcome> {
    let logs = groups.iter().map(|group| group.call_log.clone());
    logs.fold(None, |one, other| both(one, other, add_logs))
}

fn operation_outcome((name, recorder): &(String, Recorder)) -> OperationOutcome {
    let errors = recorder.failures();
    OperationOutcome {
        operation: name.clone(),
        calls: recorder.ok + errors,
        ok: recorder.ok,
        errors,
        errors_by_kind: recorder.errors_by_kind(),
        errors_by_code: recorder.codes.clone(),
        times: recorder.times(),
    }
}
