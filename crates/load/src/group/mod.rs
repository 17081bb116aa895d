//! One group of calls in one thread: its users, its connections, its calls.
//!
//! Who wants to call is asked for in `demand`, connections are made in
//! `opening`, bytes move in `traffic`, and calls end in `ending`.

mod demand;
mod ending;
mod feed;
mod opening;
pub(crate) mod outcome;
pub(crate) mod prepared;
mod reporting;
pub(crate) mod spec;
pub(crate) mod third_party;
mod traffic;
pub(crate) mod workload;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use wirelab_wire::CallId;

use crate::call::calls::Calls;
use crate::call::clock::UNSET;
use crate::call::error::ErrorKind;
use crate::call::result::CallLogOutcome;
use crate::call::span::Span;
use crate::connection::connections::Connections;
use crate::connection::kernel_stamps::KernelStamps;
use crate::connection::report::Report;
use crate::connection::session_factory::SessionFactory;
use crate::connection::socket::SocketOptions;
use crate::connection::tls_files::Secure;
use crate::plan::target::Target;
use crate::reactor::poll::Ready;
use crate::reactor::slices::Slice;
use crate::reactor::turn::{Counts, Turn, TurnContext};
use crate::record::call_log::CallLines;
use crate::record::events::Events;
use crate::record::first_calls::FirstCalls;
use crate::record::over_time::Watched;
use crate::record::periods::Periods;
use crate::record::recorder::{Recorder, Totals};
use crate::record::slow_calls::SlowCalls;
use crate::request::forward::Forward;
use crate::request::script::Script;
use crate::request::sequences::Sequences;
use crate::schedule::demand::Demand;
use crate::validate::step::Step;

/// What does not change while a group runs.
#[derive(Clone)]
pub(crate) struct Spec {
    pub(crate) target: Target,
    pub(crate) socket: SocketOptions,
    pub(crate) secure: Option<Secure>,
    pub(crate) sessions: SessionFactory,
    pub(crate) script: Script,
    pub(crate) steps: Arc<[Step]>,
    pub(crate) connections_max: usize,
    pub(crate) in_flight_max: usize,
    /// Connections are made before they are needed, and again when they end.
    pub(crate) keep: bool,
    pub(crate) timeout_ns: u64,
    /// The longest pause between attempts to connect after failures in a row.
    pub(crate) reconnect_delay_ns: u64,
    /// Where one-way services report.
    pub(crate) report: Option<Target>,
    /// The plan allows targets that are not on this machine.
    pub(crate) any_target: bool,
    /// After how long streams are ended from our side at the earliest; `u64::MAX`: never.
    pub(crate) stop_ns: u64,
}

impl Spec {
    /// Operations that are recorded apart.
    pub(crate) fn operations(&self) -> usize {
        self.steps
            .iter()
            .map(|step| step.operation + 1)
            .max()
            .unwrap_or(0)
    }
}

/// One group in one thread.
pub(crate) struct Group {
    spec: Spec,
    index: u32,
    pub(crate) demand: Demand,
    calls: Calls,
    sequences: Sequences,
    connections: Connections,
    forward: Forward,
    stamps: KernelStamps,
    /// Where one-way calls are reported as processed.
    report: Option<Report>,
    ended: Vec<CallId>,
    /// Every call in a file, where the plan wants one.
    lines: Option<CallLines>,
    /// What is known of connections, arrivals and sequences.
    pub(crate) recorder: Recorder,
    /// What is known of calls, by operation.
    pub(crate) operations: Vec<Recorder>,
    pub(crate) totals: Totals,
    /// What is known of stages and bursts, where the load has them.
    pub(crate) periods: Option<Periods>,
    /// Whether the window waits for its calls to become stationary.
    pub(crate) warms_up: bool,
    /// Response times for whoever watches the run.
    pub(crate) watched: Option<Arc<Watched>>,
    /// Those of the first calls, where the plan wants them.
    pub(crate) first_calls: Option<FirstCalls>,
    /// The slowest of the window, where the plan wants them.
    pub(crate) slow_calls: Option<SlowCalls>,
    /// Connections of WebSocket that offered an extension, by the answer.
    pub(crate) extensions: BTreeMap<String, u64>,
    /// The last slice that it had, where groups take turns.
    slice: Option<Span>,
}

/// Listens to what a session says; a macro because it borrows parts of the
/// group while the connection is borrowed too.
macro_rules! events {
    ($group:expr, $span:expr, $at:expr, $kind:expr, $cause:expr) => {
        $crate::record::events::Events {
            calls: &mut $group.calls,
            steps: &$group.spec.steps,
            operations: &mut $group.operations,
            ended: &mut $group.ended,
            totals: &mut $group.totals,
            forward: &mut $group.forward,
            tokens: None,
            span: $span,
            read_at: $at,
            kind_of_closed: $kind,
            cause: $cause,
            other_protocol: None,
            answered: false,
            stopped: Vec::new(),
        }
    };
}
pub(crate) use events;

impl Group {
    pub(crate) fn new(spec: Spec, index: u32, demand: Demand, lines: Option<CallLines>) -> Group {
        Group {
            operations: (0..spec.operations()).map(|_| Recorder::new()).collect(),
            forward: Forward::new(spec.any_target),
            report: spec.report.clone().map(Report::new),
            stamps: KernelStamps::default(),
            connections: Connections::new(spec.reconnect_delay_ns),
            spec,
            index,
            demand,
            calls: Calls::default(),
            sequences: Sequences::default(),
            ended: Vec::new(),
            lines,
            recorder: Recorder::new(),
            totals: Totals::default(),
            periods: None,
            warms_up: true,
            watched: None,
            first_calls: None,
            slow_calls: None,
            extensions: BTreeMap::new(),
            slice: None,
        }
    }

    /// It calls in slices only: not before [`Turn::resume`].
    pub(crate) fn take_turns(&mut self, began: u64) {
        self.demand.take_turns();
        self.slice = Some(Span::whole(UNSET, began));
    }

    /// What was recorded: of the group, and of each operation under its name.
    pub(crate) fn into_records(self) -> (Recorder, Vec<(String, Recorder)>) {
        let steps = &self.spec.steps;
        let name_of = |place| steps.iter().find(|step| step.operation == place);
        let operations = self.operations.into_iter().enumerate();
        let operations = operations.map(|(place, recorder)| {
            let name = name_of(place).map_or(String::new(), |step| step.name.clone());
            (name, recorder)
        });
        (self.recorder, operations.collect())
    }

    /// Ends the log of calls; what came of it.
    pub(crate) fn end_lines(&mut self) -> Option<CallLogOutcome> {
        self.lines.take().map(CallLines::end)
    }

    /// Connections that failed, and nanoseconds of the pauses after them.
    pub(crate) fn failed_connections(&self) -> (u64, u64) {
        (self.connections.failed, self.connections.paused_ns)
    }

    fn token(&self, slot: u32) -> u64 {
        // The worker finds the group in the upper half of an epoll token, the group its
        // connection in the lower.
        u64::from(self.index) << 32 | u64::from(slot)
    }

    /// Events of calls that nothing was read for.
    fn events(&mut self, kind: ErrorKind, span: Span) -> Events<'_> {
        events!(self, span, crate::call::clock::now_ns(), kind, None)
    }
}

impl Turn for Group {
    #[inline]
    fn own(&self, span: Span) -> Span {
        match self.slice {
            Some(slice) => slice,
            None => self.demand.own(span),
        }
    }

    fn resume(&mut self, slice: &Slice) {
        let since = self.slice.map_or(slice.began, |last| last.end);
        self.demand.resume(since, slice.began);
        self.slice = Some(slice.span);
    }

    fn advance(&mut self, now: u64, context: &mut TurnContext) -> io::Result<()> {
        self.make_calls(now, context)
    }

    fn next_due(&self, span: Span) -> u64 {
        self.demand.next_due(span).min(self.connections.next_due())
    }

    fn expire(&mut self, now: u64, context: &mut TurnContext) -> io::Result<()> {
        self.expire_overdue(now, context)
    }

    #[inline]
    fn on_ready(&mut self, ready: Ready, context: &mut TurnContext) -> io::Result<()> {
        self.serve_ready(ready, context)
    }

    fn finished(&self, now: u64, span: Span) -> bool {
        let span = self.own(span);
        // A quota can be used up before the window's end is known.
        let over = now >= span.end || (now >= span.start && self.demand.exhausted());
        over && self.calls.in_flight() == 0 && !self.demand.waiting()
    }

    fn abandon(&mut self, span: Span) {
        self.fail_unfinished(span);
    }

    // In the thread that opened them: its table of open files may be its own. What was recorded
    // stays.
    fn disconnect(&mut self) {
        self.connections.clear();
        self.stamps = KernelStamps::default();
        self.report = None;
    }

    fn counts(&self) -> Counts {
        Counts {
            ended: self.totals.ended,
            warmup: if self.warms_up { self.totals.ended } else { 0 },
            errors: self.totals.errors,
            in_flight: self.calls.in_flight() as u64,
        }
    }
}
