//! Runs a plan: threads, warm-up, window, drain, and what came of it.

pub(crate) mod files;
pub(crate) mod single;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::call::clock::{UNSET, now_ns, ns, seconds};
use crate::call::fault;
use crate::call::result::{Fault, FileTables, Outcome, Process, Progress};
use crate::call::span::Span;
use crate::call::waiting::Numbers;
use crate::group::Group;
use crate::group::outcome::{self, During, Merged};
use crate::group::prepared::Prepared;
use crate::plan::part::share;
use crate::plan::{self, Load, Plan, Window};
use crate::reactor::shared::Shared;
use crate::reactor::slices::Slices;
use crate::reactor::thread::pin;
use crate::reactor::worker;
use crate::record::call_log::{CallLines, CallLog};
use crate::record::first_calls::FirstCalls;
use crate::record::over_time::{Seen, Watched};
use crate::record::pauses::Pauses;
use crate::record::periods::Periods;
use crate::record::process::Usage;
use crate::record::slow_calls::SlowCalls;
use crate::run::files::Fit;
use crate::schedule::arrivals::Arrivals;
use crate::schedule::demand::{Behaviour, Demand};
use crate::schedule::quota::Quota;
use crate::schedule::stages::Stages;
use crate::schedule::think::Think;
use crate::schedule::warmup::{SAMPLE_NS, Warmup};

/// The window opens this long after it was decided, so that every thread
/// knows before it does: longer than a thread is kept off its core.
const NOTICE_NS: u64 = 20_000_000;

/// An interrupted run waits this long for calls under way.
const INTERRUPT_DRAIN_NS: u64 = 500_000_000;

/// Runs `plan`, whose workloads have been prepared in the same order.
///
/// `interrupt` ends the window early when it becomes true; `progress` hears
/// of the work every `progress_ms`.
///
/// # Errors
/// A [`Fault`] when the plan cannot be run or the machine fails it; what the
/// measured system does wrong is in the [`Outcome`].
pub fn run(
    plan: &Plan,
    prepared: &[Prepared],
    interrupt: &AtomicBool,
    progress: impl FnMut(Progress),
) -> Result<Outcome, Fault> {
    if let Some(slices) = &plan.slices {
        slices.check(plan)?;
    }
    if let Some(part) = &plan.part {
        part.check(plan)?;
    }
    let fit = files::fit(plan, prepared)?;
    let plan = &*fit.plan;
    // Every core is tried before anything begins; the first is kept.
    for core in plan.cores.iter().rev() {
        pin(*core).map_err(|error| fault::pinning(*core, &error))?;
    }
    // Before any thread: a file that cannot be made is a fault of the plan.
    let log = plan.call_log.as_deref().map(CallLog::create).transpose()?;
    let quotas = plan.groups.iter().map(|group| quota(plan, group));
    let shared = Arc::new(Shared::new(plan.threads, quotas.collect(), slices(plan)));
    let watching_threads = if plan.progress_times { plan.threads } else { 0 };
    let mut coordinator = Coordinator {
        plan,
        shared: Arc::clone(&shared),
        interrupt,
        progress,
        next_progress: 0,
        phase: "",
        before_phase: (0, 0),
        watched: (0..watching_threads).map(|_| Arc::default()).collect(),
        seen: Seen::default(),
        interrupted: false,
        file_tables: fit.tables.clone(),
        marks: Marks::default(),
        pauses: Pauses::default(),
        late_s: None,
    };
    // With others, at the moment that all were given.
    let began = plan.part.map_or_else(now_ns, |part| part.start_ns);
    if !warm(plan) {
        // Before the threads start: without a warm-up their first call belongs to the window.
        coordinator.open_window(began);
    }
    if let Some(slices) = &shared.slices {
        slices.begin(began);
    }
    let threads = spawn(&fit, &shared, &coordinator.watched, log.as_ref(), began)
        .map_err(|error| fault::machine(&error))?;
    coordinator.late_s = plan
        .part
        .map(|part| seconds(now_ns().saturating_sub(part.start_ns)));
    coordinator.run_phases(began);
    let groups = join(threads, shared.window())?;
    Ok(coordinator.outcome(groups))
}

/// How the groups of the plan take turns.
fn slices(plan: &Plan) -> Option<Slices> {
    let slices = plan.slices.as_ref()?;
    let (groups, window_s) = (plan.groups.len(), longest_s(plan));
    Some(Slices::new(
        slices,
        groups,
        window_s,
        plan.threads,
        warm(plan),
    ))
}

/// The window opens on a load that runs already.
fn warm(plan: &Plan) -> bool {
    plan.groups.iter().any(warms_up)
}

/// The window waits for the calls of the group to become stationary.
fn warms_up(group: &plan::Group) -> bool {
    group.warmup.max_s > 0.0
}

/// The window's length where time closes it, and its bound where calls do.
/// Groups share one window: the longest.
fn longest_s(plan: &Plan) -> f64 {
    let lengths = plan.groups.iter().map(|group| match group.window {
        Window::DurationS(length_s)
        | Window::Calls {
            max_s: length_s, ..
        } => length_s,
    });
    lengths.fold(0.0, f64::max)
}

/// How many calls a group's window is to hold. One call more closes it, where calls come
/// whether or not others have ended, or are under way already when it opens.
fn quota(plan: &Plan, group: &plan::Group) -> Option<Arc<Quota>> {
    let closes = warm(plan) || !group.load.is_closed();
    match group.window {
        Window::DurationS(_) => None,
        Window::Calls { calls, .. } => Some(Arc::new(Quota::new(plan.own(calls), closes))),
    }
}

/// Time alone closes the window.
fn ends_by_time(plan: &Plan) -> bool {
    let mut groups = plan.groups.iter();
    plan.slices.is_none() && groups.all(|group| matches!(group.window, Window::DurationS(_)))
}

type Thread = JoinHandle<std::io::Result<Vec<Group>>>;

fn spawn(
    fit: &Fit,
    shared: &Arc<Shared>,
    watched: &[Arc<Watched>],
    log: Option<&Arc<CallLog>>,
    began: u64,
) -> std::io::Result<Vec<Thread>> {
    let plan = &*fit.plan;
    (0..plan.threads)
        .map(|index| {
            let groups = {
                let watched = watched.get(index as usize);
                groups_of(fit, shared, watched, log, index, began)
            };
            let core = plan
                .cores
                // `max`, since a plan without cores must not divide by 0.
                .get(index as usize % plan.cores.len().max(1))
                .copied();
            let options = worker::Options {
                thread: index as usize,
                core,
                wait: plan.wait,
                own_files: fit.tables.is_some(),
            };
            let shared = Arc::clone(shared);
            thread::Builder::new()
                .name(format!("load-{index}"))
                .spawn(move || worker::run(groups, &options, &shared))
        })
        .collect()
}

/// The share of thread `index` in every group.
fn groups_of(
    fit: &Fit,
    shared: &Shared,
    watched: Option<&Arc<Watched>>,
    log: Option<&Arc<CallLog>>,
    index: u32,
    began: u64,
) -> Vec<Group> {
    let plan = &*fit.plan;
    let all = plan.groups.iter().zip(&fit.specs).zip(&shared.quotas);
    all.enumerate()
        .map(|(number, ((group, spec), quota))| {
            let mut spec = spec.clone();
            spec.connections_max = share(spec.connections_max as u64, index, plan.threads) as usize;
            spec.in_flight_max = share(spec.in_flight_max as u64, index, plan.threads) as usize;
            // Users and arrivals take turns over the threads.
            let numbers = plan.numbers(index);
            let users = share(own_users(plan, group), index, plan.threads) as u32;
            spec.script.number(users as usize, numbers);
            let demand = demand_of(group, users, numbers, quota.clone(), began);
            let lines = log.map(|log| CallLines::new(Arc::clone(log), number as u32, index));
            let mut part = Group::new(spec, number as u32, demand, lines);
            part.periods = Periods::of(&group.load, began);
            part.watched = watched.cloned();
            part.warms_up = warms_up(group);
            part.first_calls = FirstCalls::of(group.first_calls);
            part.slow_calls = SlowCalls::of(group.slowest);
            if plan.slices.is_some() {
                part.take_turns(began);
            }
            part
        })
        .collect()
}

/// Users of a closed load that fall to this process; an open load has none.
fn own_users(plan: &Plan, group: &plan::Group) -> u64 {
    match group.load {
        Load::Closed { users, .. } => plan.own(u64::from(users)),
        _ => 0,
    }
}

fn demand_of(
    group: &plan::Group,
    users: u32,
    numbers: Numbers,
    quota: Option<Arc<Quota>>,
    began: u64,
) -> Demand {
    let Numbers { first, step } = numbers;
    match (&group.load, Arrivals::of(&group.load, first, step)) {
        (_, Some(arrivals)) => Demand::open(arrivals, numbers, quota, began),
        (
            Load::Closed {
                think_s,
                think,
                calls_per_pause,
                iterations,
                stages,
                seed,
                ..
            },
            None,
        ) => {
            let behaviour = Behaviour {
                think: Think::new(*think_s, *think, *seed, first),
                calls_per_pause: *calls_per_pause,
                iterations: *iterations,
                stages: (!stages.is_empty()).then(|| Stages::new(0.0, stages)),
            };
            Demand::closed(users, numbers, behaviour, quota, began)
        }
        (_, None) => unreachable!("open loads have arrivals"),
    }
}

/// Joins the threads and adds up what each recorded, per group of the plan.
fn join(threads: Vec<Thread>, span: Span) -> Result<Vec<Merged>, Fault> {
    let mut merged: Vec<Merged> = Vec::new();
    for thread in threads {
        let groups = thread
            .join()
            .map_err(|_| fault::internal("a load thread panicked"))?
            .map_err(|error| fault::machine(&error))?;
        // Threads hold the groups in the plan's order, so that equal places are the same group.
        merged.resize_with(groups.len().max(merged.len()), Merged::default);
        merged
            .iter_mut()
            .zip(groups)
            .for_each(|(sum, group)| sum.add(group, span));
    }
    Ok(merged)
}

/// Figures noted at the boundaries of the window.
#[derive(Default)]
struct Marks {
    warmup_s: f64,
    stationary: bool,
    at_start: Option<Mark>,
    at_end: Option<Mark>,
}

/// What was used up to one moment.
#[derive(Clone, Copy, Default)]
struct Mark {
    usage: Usage,
    spin_ns: u64,
    run_delay_ns: Option<u64>,
}

impl Mark {
    fn now(shared: &Shared) -> Mark {
        Mark {
            usage: Usage::now(),
            spin_ns: shared.spin_ns(),
            run_delay_ns: shared.run_delay_ns(),
        }
    }
}

/// Decides when the window opens and closes, and reports.
struct Coordinator<'a, F: FnMut(Progress)> {
    plan: &'a Plan,
    shared: Arc<Shared>,
    interrupt: &'a AtomicBool,
    progress: F,
    next_progress: u64,
    phase: &'static str,
    /// Calls and errors before the phase began.
    before_phase: (u64, u64),
    /// Response times by thread, where the plan asks for percentiles meanwhile.
    watched: Vec<Arc<Watched>>,
    seen: Seen,
    interrupted: bool,
    file_tables: Option<FileTables>,
    marks: Marks,
    pauses: Pauses,
    /// How late the load threads were, of a load that begins at a given moment.
    late_s: Option<f64>,
}

impl<F: FnMut(Progress)> Coordinator<'_, F> {
    fn run_phases(&mut self, began: u64) {
        if warm(self.plan) {
            self.warm_up(began);
        }
        self.marks.warmup_s = seconds(self.shared.window().start.saturating_sub(began));
        self.wait_until(self.shared.window().start, "warmup", began);
        self.marks.at_start = Some(Mark::now(&self.shared));
        self.measure();
        self.marks.at_end = Some(Mark::now(&self.shared));
        self.drain();
    }

    fn warm_up(&mut self, began: u64) {
        let warmups = self.plan.groups.iter().map(|group| group.warmup);
        let (min_s, max_s) = warmups.fold((0f64, 0f64), |(min, max), w| {
            (min.max(w.min_s), max.max(w.max_s))
        });
        // Groups that take turns warm up by turns.
        let turns = match self.shared.slices {
            Some(_) => self.plan.groups.len() as f64,
            None => 1.0,
        };
        let (min_s, max_s) = (min_s * turns, max_s * turns);
        let groups = self.plan.groups.iter().filter(|group| warms_up(group));
        let users = groups.map(|group| own_users(self.plan, group));
        let mut series = Warmup::new(users.sum());
        let (mut sampled, mut next) = (0, self.first_sample(began));
        loop {
            self.wait_for_sample(next, began, began + ns(max_s));
            let (calls, elapsed) = (
                self.shared.warmup_calls(),
                seconds(now_ns().saturating_sub(began)),
            );
            if self.has_whole_sample(next) {
                series.sample(calls - sampled);
            }
            (sampled, next) = (calls, self.sample_after(next));
            self.marks.stationary = elapsed >= min_s && series.stationary();
            if self.stopped() {
                return self.open_window(now_ns());
            }
            match self.plan.part {
                Some(_) if elapsed >= max_s => return self.open_window(began + ns(max_s)),
                None if self.marks.stationary || elapsed >= max_s => {
                    return self.open_window(now_ns());
                }
                _ => {}
            }
        }
    }

    /// When the warm-up is sampled first: a moment, or the number of a round of slices. With
    /// whole rounds, the difference between the groups does not look like a change over time.
    fn first_sample(&self, began: u64) -> u64 {
        match &self.shared.slices {
            Some(slices) => slices.warmup_rounds(SAMPLE_NS),
            None => began + SAMPLE_NS,
        }
    }

    /// The sample after that one. From its planned time and not from now: late samples do not
    /// add up.
    fn sample_after(&self, last: u64) -> u64 {
        match &self.shared.slices {
            Some(slices) => last + slices.warmup_rounds(SAMPLE_NS),
            None => last + SAMPLE_NS,
        }
    }

    /// Whether the sample is complete: a round of slices may be cut at the end of the warm-up.
    fn has_whole_sample(&self, next: u64) -> bool {
        let slices = self.shared.slices.as_ref();
        slices.is_none_or(|slices| slices.rounds() >= next)
    }

    fn wait_for_sample(&mut self, next: u64, began: u64, until: u64) {
        match &self.shared.slices {
            Some(_) => self.wait_for("warmup", began, until, |shared| {
                let slices = shared.slices.as_ref();
                slices.is_none_or(|slices| slices.rounds() >= next)
            }),
            None => self.wait_until(next, "warmup", began),
        }
    }

    fn open_window(&mut self, now: u64) {
        let start = match warm(self.plan) {
            true => now + NOTICE_NS,
            false => now,
        };
        let end = match ends_by_time(self.plan) {
            true => start + ns(longest_s(self.plan)),
            false => UNSET,
        };
        self.shared.open_window(start, end, self.drain_ns());
    }

    fn drain_ns(&self) -> u64 {
        ns(self
            .plan
            .groups
            .iter()
            .map(|group| group.drain_s)
            .fold(0.0, f64::max))
    }

    fn stopped(&self) -> bool {
        self.interrupt.load(Relaxed) || self.shared.broken.load(Relaxed)
    }

    /// Until the window's end, by time or by calls, or until an interrupt.
    ///
    /// On a load that runs, a window of calls closes when one call more would arrive,
    /// so that its edges are alike: whose calls were under way when it opened also
    /// have theirs under way when it closes. So does one of scheduled calls. One that
    /// opens with a closed load closes with it, when its last call has ended.
    fn measure(&mut self) {
        let start = self.shared.window().start;
        let slices = self.shared.slices.as_ref();
        let longest_ns = slices.map_or_else(|| ns(longest_s(self.plan)), Slices::longest_ns);
        let (bound, by_calls) = (start.saturating_add(longest_ns), !ends_by_time(self.plan));
        self.wait_for("measure", start, bound, |shared| {
            shared.window().end <= now_ns() || (by_calls && shared.all_finished())
        });
        let (now, end) = (now_ns(), self.shared.window().end);
        if self.stopped() && now < bound {
            self.interrupted = true;
            self.shared.close_window(now, INTERRUPT_DRAIN_NS);
        // The threads know to the call when the window closed; this thread only that it did, up
        // to one step of `wait_for` ago.
        } else if by_calls && !self.shared.all_finished() {
            self.shared.close_window(end.min(now), self.drain_ns());
        } else if by_calls && end != UNSET {
            // It may lie ahead: nothing happens until then.
            self.shared.close_window(end.min(bound), self.drain_ns());
        }
    }

    fn drain(&mut self) {
        let now = now_ns();
        let bound = self
            .shared
            .drain_end
            .load(Relaxed)
            // Threads stop by themselves at the end of the drain. The second is for a machine
            // that does not let them run.
            .saturating_add(1_000_000_000);
        self.wait_for("drain", now, bound, Shared::all_finished);
        if self.stopped() && !self.shared.all_finished() {
            self.interrupted = true;
            self.shared
                .close_window(self.shared.window().end.min(now_ns()), INTERRUPT_DRAIN_NS);
            self.wait_for(
                "drain",
                now,
                now_ns() + 2 * INTERRUPT_DRAIN_NS,
                Shared::all_finished,
            );
        }
    }

    fn wait_until(&mut self, at: u64, phase: &'static str, since: u64) {
        self.wait_for(phase, since, at, |_| false);
    }

    /// Sleeps in short steps until `until`, `enough`, or an interrupt.
    fn wait_for(
        &mut self,
        phase: &'static str,
        since: u64,
        until: u64,
        enough: impl Fn(&Shared) -> bool,
    ) {
        if self.phase != phase {
            self.phase = phase;
            self.before_phase = (self.shared.calls(), self.shared.errors());
        }
        loop {
            let now = now_ns();
            if now >= until || enough(&self.shared) || self.stopped() {
                return;
            }
            self.report(now, since);
            // Short enough to see an interrupt, long enough not to take CPU from the
            // load threads.
            self.sleep((until - now).min(5_000_000));
        }
    }

    /// Sleeps, and notes when the process was kept from waking.
    fn sleep(&mut self, length_ns: u64) {
        // Not since the sleep before: a reader of our output that stopped may block a report.
        let began = now_ns();
        thread::sleep(Duration::from_nanos(length_ns));
        if self.phase != "warmup" {
            self.pauses.woke(began + length_ns, now_ns());
        }
    }

    fn report(&mut self, now: u64, since: u64) {
        if self.plan.progress_ms == 0 || now < self.next_progress {
            return;
        }
        let pause_ns = self.plan.progress_ms.saturating_mul(1_000_000);
        self.next_progress = now.saturating_add(pause_ns);
        let (calls, errors) = self.before_phase;
        let watched = self.watched.iter().map(|thread| &**thread);
        let [p50_ns, p99_ns] = self.seen.percentiles(watched, [0.5, 0.99]);
        (self.progress)(Progress {
            phase: self.phase.into(),
            elapsed_s: seconds(now.saturating_sub(since)),
            calls: self.shared.calls() - calls,
            errors: self.shared.errors() - errors,
            in_flight: self.shared.in_flight(),
            p50_ns,
            p99_ns,
        });
    }

    fn outcome(&self, merged: Vec<Merged>) -> Outcome {
        let before = self.marks.at_start.unwrap_or_default();
        let after = self.marks.at_end.unwrap_or_default();
        let (start, end) = (before.usage, after.usage);
        let cpu_s = end.cpu_s() - start.cpu_s();
        let call_log = outcome::call_log(&merged);
        let slices = self.shared.slices.as_ref();
        let during = |group| During {
            span: self.shared.window(),
            warmup_s: self.marks.warmup_s,
            stationary: self.marks.stationary,
            cpu_s,
            slices: slices.map(|slices| slices.own(group)),
        };
        let groups = self.plan.groups.iter().zip(merged).enumerate();
        Outcome {
            engine: env!("CARGO_PKG_VERSION").into(),
            profile: if cfg!(debug_assertions) {
                "debug"
            } else {
                "release"
            }
            .into(),
            interrupted: self.interrupted,
            call_log,
            late_s: self.late_s,
            process: Process {
                cpu_user_s: end.user_s - start.user_s,
                cpu_system_s: end.system_s - start.system_s,
                // Counted by the clock: never more than what the kernel counted.
                spin_s: seconds(after.spin_ns - before.spin_ns).min(cpu_s),
                rss_max_bytes: Usage::now().rss_max_bytes,
                switches_involuntary: end.involuntary - start.involuntary,
                steal_s: end.steal_s - start.steal_s,
                run_delay_s: (before.run_delay_ns)
                    .zip(after.run_delay_ns)
                    .map(|(before, after)| seconds(after.saturating_sub(before))),
                pauses: Some(self.pauses.result(self.shared.window().start)),
                cores: self.plan.cores.clone(),
                file_tables: self.file_tables.clone(),
            },
            groups: groups
                .map(|(number, (group, merged))| merged.outcome(group, &during(number)))
                .collect(),
            slices: slices.map(Slices::outcome),
        }
    }
}
