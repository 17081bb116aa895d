//! When requests began and how many were under way: which kind of load it was.

use std::collections::VecDeque;

use super::document::traffic::{Concurrency, Coupling, Gaps, Load, Pause, Sample};
use super::exchange_counts::Latencies;
use crate::flow::event::{Direction, FlowId, Segment};
use crate::flow::map::FlowMap;
use crate::packet::Flags;
use crate::protocol::exchange::Ending;

/// Requests under way on one connection that are distinguished.
const IN_FLIGHT_MAX: usize = 4096;
/// Levels of concurrency that are distinguished; the last one holds all above.
const LEVELS_MAX: usize = 1 << 16;
/// A concurrency of this share of the highest is full.
const FULL: f64 = 0.9;

/// Mean and deviation in one pass (Welford 1962).
#[derive(Debug, Default)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1;
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        // Welford 1962: the second factor uses the updated mean, which keeps the sum stable.
        self.squares += off * (value - self.mean);
    }

    /// Of the sample (divided by n - 1); 0 below two.
    fn deviation(&self) -> f64 {
        let divisor = self.count.saturating_sub(1).max(1);
        (self.squares / divisor as f64).sqrt()
    }
}

/// Pearson's correlation in one pass.
#[derive(Debug, Default)]
struct Correlation {
    x: Moments,
    y: Moments,
    products: f64,
}

impl Correlation {
    fn add(&mut self, x: f64, y: f64) {
        let off = x - self.x.mean;
        self.x.add(x);
        self.y.add(y);
        // One distance from the mean before, one from the mean after, as in `Moments`.
        self.products += off * (y - self.y.mean);
    }

    /// None below three pairs, or where one of the two never varies.
    fn document(&self) -> Option<Coupling> {
        let scale = (self.x.squares * self.y.squares).sqrt();
        let known = self.x.count >= 3 && scale > 0.0;
        known.then(|| Coupling {
            correlation: (self.products / scale).clamp(-1.0, 1.0),
            n: self.x.count,
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct CallInFlight {
    ordinal: u64,
    at_ns: u64,
    /// In the sample, where it is part of it.
    place: Option<usize>,
}

#[derive(Debug, Default)]
struct Connection {
    syn_at_ns: Option<u64>,
    ending: bool,
    started: u64,
    in_flight: VecDeque<CallInFlight>,
    untracked: u64,
    /// When the last request began and when its reply ended, while nothing is under way.
    idle_since: Option<(u64, u64)>,
}

/// Time without a request's begin, split where the last reply ended.
#[derive(Debug, Default)]
struct Longest(Option<Pause>);

impl Longest {
    fn add(&mut self, ns: u64, packet: u64) {
        let us = ns as f64 / 1e3;
        if ns > 0 && self.0.is_none_or(|pause| pause.us < us) {
            self.0 = Some(Pause { us, packet });
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LoadMeter {
    now_ns: u64,
    requests: u64,
    first_ns: u64,
    last_ns: u64,
    in_flight: u64,
    /// Since when this number is under way.
    since_ns: u64,
    levels: Vec<u64>,
    concurrency_max: u64,
    idle_from_ns: Option<u64>,
    gaps: Moments,
    gap_quantiles: Latencies,
    waiting: Longest,
    resting: Longest,
    turnarounds: Latencies,
    connects: Latencies,
    coupling: Correlation,
    connections: FlowMap<Connection>,
    open: u64,
    open_max: u64,
    sample_max: usize,
    sample: Sample,
}

impl LoadMeter {
    /// Keeps the times of the first `sample_max` requests.
    pub(super) fn new(sample_max: usize) -> LoadMeter {
        LoadMeter {
            sample_max,
            ..LoadMeter::default()
        }
    }

    pub(super) fn at(&mut self, at_ns: u64) {
        self.now_ns = self.now_ns.max(at_ns);
    }

    pub(super) fn opened(&mut self, flow: FlowId) {
        self.connections.insert(flow, Connection::default());
        self.open += 1;
        self.open_max = self.open_max.max(self.open);
    }

    pub(super) fn segment(&mut self, flow: FlowId, segment: &Segment) {
        self.at(segment.at_ns);
        let Some(connection) = self.connections.get_mut(flow) else {
            return;
        };
        if segment.flags.has(Flags::SYN) && segment.direction == Direction::Request {
            connection.syn_at_ns.get_or_insert(segment.at_ns);
        }
        // The first FIN ends the use of a connection; TIME-WAIT is no load.
        let ends = segment.flags.has(Flags::FIN) || segment.flags.has(Flags::RST);
        if ends && !connection.ending {
            connection.ending = true;
            self.open -= 1;
        }
    }

    pub(super) fn call_started(&mut self, flow: FlowId, segment: &Segment) {
        let now = self.now_ns;
        // Before `change`: the pause ends with this request, which is under way from
        // now on.
        self.gap(segment.packet);
        self.change(1);
        let place = self.begin_sample(flow);
        let Some(connection) = self.connections.get_mut(flow) else {
            return;
        };
        if let (0, Some(syn)) = (connection.started, connection.syn_at_ns) {
            self.connects.record(now.saturating_sub(syn));
        }
        // The next request follows the reply in a closed loop and the clock in an open
        // one (Schroeder, Wierman and Harchol-Balter, NSDI 2006): the former couples it
        // to the latency.
        if let Some((began, ended)) = connection.idle_since.take() {
            self.turnarounds.record(now.saturating_sub(ended));
            // Latencies are skewed: without logarithms one outlier decides the
            // correlation.
            let log = |ns: u64| (ns.max(1) as f64).ln();
            let latency = ended.saturating_sub(began);
            self.coupling
                .add(log(latency), log(now.saturating_sub(began)));
        }
        let ordinal = connection.started;
        connection.started += 1;
        if connection.in_flight.len() < IN_FLIGHT_MAX {
            let started = CallInFlight {
                ordinal,
                at_ns: now,
                place,
            };
            connection.in_flight.push_back(started);
        } else {
            connection.untracked += 1;
        }
    }

    pub(super) fn call_ended(&mut self, flow: FlowId, ordinal: u64, ending: Ending) {
        let now = self.now_ns;
        let Some(connection) = self.connections.get_mut(flow) else {
            return;
        };
        let mut pending = connection.in_flight.iter();
        if let Some(place) = pending.position(|started| started.ordinal == ordinal) {
            let started = connection.in_flight.remove(place);
            let is_whole = matches!(ending, Ending::Framed | Ending::UntilClose);
            if let Some((place, at_ns)) = started.and_then(|call| Some((call.place?, call.at_ns)))
                && is_whole
            {
                self.sample.took_ns[place] = Some(now - at_ns);
            }
            let idle_since = connection.in_flight.is_empty() && connection.untracked == 0;
            connection.idle_since = started
                .filter(|_| idle_since)
                .map(|started| (started.at_ns, now));
        } else if connection.untracked > 0 {
            connection.untracked -= 1;
        } else {
            return;
        }
        self.change(-1);
    }

    pub(super) fn closed(&mut self, flow: FlowId) {
        if let Some(connection) = self.connections.remove(flow) {
            self.open -= u64::from(!connection.ending);
            let left = connection.in_flight.len() as u64 + connection.untracked;
            self.change(-(left as i64));
        }
    }

    /// Adds a request that begins now; returns its place, None once the sample is full.
    fn begin_sample(&mut self, flow: FlowId) -> Option<usize> {
        let place = self.sample.began_ns.len();
        (place < self.sample_max).then(|| {
            self.sample.began_ns.push(self.now_ns - self.first_ns);
            self.sample.took_ns.push(None);
            self.sample.connection.push(flow.into());
            place
        })
    }

    /// A request begins: how long none did.
    fn gap(&mut self, packet: u64) {
        let now = self.now_ns;
        if self.requests == 0 {
            self.first_ns = now;
            self.since_ns = now;
        } else {
            let gap = now - self.last_ns;
            self.gaps.add(gap as f64 / 1e3);
            self.gap_quantiles.record(gap);
            let idle_from = self.idle_from_ns.unwrap_or(now);
            self.waiting.add(idle_from - self.last_ns, packet);
            self.resting.add(now - idle_from, packet);
        }
        self.requests += 1;
        self.last_ns = now;
        self.idle_from_ns = None;
    }

    /// This number more are under way from now on.
    fn change(&mut self, by: i64) {
        if by == 0 {
            return;
        }
        let level = (self.in_flight as usize).min(LEVELS_MAX - 1);
        if self.levels.len() <= level {
            self.levels.resize(level + 1, 0);
        }
        // Concurrency is weighted by time, so that Little's law gives the mean latency.
        self.levels[level] += self.now_ns - self.since_ns;
        self.since_ns = self.now_ns;
        self.in_flight = self.in_flight.saturating_add_signed(by);
        self.concurrency_max = self.concurrency_max.max(self.in_flight);
        if self.in_flight == 0 {
            self.idle_from_ns = Some(self.now_ns);
        }
    }

    pub(super) fn document(self) -> Load {
        let seconds = (self.last_ns - self.first_ns) as f64 / 1e9;
        let several = self.requests > 1 && seconds > 0.0;
        Load {
            requests: self.requests,
            first_at_ns: (self.requests > 0).then_some(self.first_ns),
            seconds,
            // n requests have n - 1 gaps.
            per_s: several.then(|| (self.requests - 1) as f64 / seconds),
            gap_us: (self.gaps.count > 0).then(|| Gaps {
                mean: self.gaps.mean,
                deviation: self.gaps.deviation(),
                variation: match self.gaps.mean {
                    0.0 => 0.0,
                    mean => self.gaps.deviation() / mean,
                },
            }),
            gap_quantiles_us: self.gap_quantiles.quantiles(),
            latency_mean_us: self.latency_mean_us(),
            concurrency: self.concurrency(),
            pause_waiting: self.waiting.0,
            pause_resting: self.resting.0,
            turnaround_us: self.turnarounds.quantiles(),
            coupling: self.coupling.document(),
            connections_open_max: self.open_max,
            connect_us: self.connects.quantiles(),
            sample: (self.sample_max > 0).then_some(self.sample),
        }
    }

    fn request_ns(&self) -> f64 {
        let levels = self.levels.iter().enumerate();
        levels.map(|(level, ns)| level as f64 * *ns as f64).sum()
    }

    fn latency_mean_us(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.request_ns() / self.requests as f64 / 1e3)
    }

    fn concurrency(&self) -> Option<Concurrency> {
        let whole: u64 = self.levels.iter().sum();
        let share = |ns: u64| ns as f64 / whole as f64;
        let full = (FULL * self.concurrency_max as f64).ceil() as usize;
        (whole > 0).then(|| Concurrency {
            mean: self.request_ns() / whole as f64,
            median: self.median(whole),
            max: self.concurrency_max,
            idle_share: share(self.levels[0]),
            full_share: share(self.levels.iter().skip(full).sum()),
        })
    }

    /// The concurrency that half of the time is below or at.
    fn median(&self, whole: u64) -> u64 {
        let mut passed = 0;
        let above_half = self.levels.iter().position(|ns| {
            passed += ns;
            passed >= whole.div_ceil(2)
        });
        above_half.unwrap_or(0) as u64
    }
}
