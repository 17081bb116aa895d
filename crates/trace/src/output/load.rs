//! When requests began and how many were under way: which kind of load it was.

use std::collections::VecDeque;

use super::document::traffic::{Coupling, Gaps, Load, Sample};
use super::exchange_counts::Latencies;
use super::in_flight::InFlight;
use crate::flow::event::{Direction, FlowId, Segment};
use crate::flow::map::FlowMap;
use crate::packet::Flags;
use crate::protocol::exchange::Ending;

/// Requests under way on one connection that are distinguished.
const IN_FLIGHT_MAX: usize = 4096;

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
    /// The first FIN: when, and which side sent it.
    fin: Option<(u64, Direction)>,
    /// No byte of the server can come any more.
    replies_over: bool,
    /// When replies ended that came behind the client's FIN. Its acknowledgment shows that it
    /// read them; a RST, that it had gone (RFC 9293 section 3.6.1).
    unread: Vec<u64>,
    /// Behind the last byte of the server since the FIN.
    reply_end: u64,
}

impl Connection {
    fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.untracked == 0
    }

    /// Requests that the connection leaves without a reply at its end, by their begin.
    fn take_unanswered(&mut self) -> impl Iterator<Item = u64> + use<> {
        let untracked = std::mem::take(&mut self.untracked);
        let tracked = std::mem::take(&mut self.in_flight);
        let begins = tracked.into_iter().map(|call| call.at_ns);
        begins.chain((0..untracked).map(|_| 0))
    }
}

#[derive(Debug, Default)]
pub(super) struct LoadMeter {
    now_ns: u64,
    requests: u64,
    first_ns: u64,
    last_ns: u64,
    in_flight: InFlight,
    gaps: Moments,
    gap_quantiles: Latencies,
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

    pub(super) fn advance_to(&mut self, at_ns: u64) {
        self.now_ns = self.now_ns.max(at_ns);
    }

    pub(super) fn opened(&mut self, flow: FlowId) {
        self.connections.insert(flow, Connection::default());
        self.open += 1;
        self.open_max = self.open_max.max(self.open);
    }

    pub(super) fn segment(&mut self, flow: FlowId, segment: &Segment) {
        self.advance_to(segment.at_ns);
        let Some(connection) = self.connections.get_mut(flow) else {
            return;
        };
        if segment.flags.has(Flags::SYN) && segment.direction == Direction::Request {
            connection.syn_at_ns.get_or_insert(segment.at_ns);
            // Refused before, and tried again.
            if connection.ending && connection.fin.is_none() {
                connection.ending = false;
                self.open += 1;
                self.open_max = self.open_max.max(self.open);
            }
        }
        // The first FIN ends the use of a connection; TIME-WAIT is not load.
        let ends = segment.flags.has(Flags::FIN) || segment.flags.has(Flags::RST);
        if ends && !connection.ending {
            connection.ending = true;
            self.open -= 1;
        }
        if connection.ending {
            self.follow_end(flow, segment);
        }
    }

    /// A segment of a connection that is ending. From its first FIN on, it is not known whether
    /// requests under way are over: late bytes may complete a reply, and a client may be
    /// half-closed.
    fn follow_end(&mut self, flow: FlowId, segment: &Segment) {
        let Some(connection) = self.connections.get_mut(flow) else {
            return;
        };
        let is_client = segment.direction == Direction::Request;
        if segment.flags.has(Flags::RST) {
            let unread = std::mem::take(&mut connection.unread);
            let fin_ns = connection.fin.filter(|_| is_client).map(|(at_ns, _)| at_ns);
            for ended_ns in unread {
                self.in_flight.settle(fin_ns.unwrap_or(ended_ns));
            }
            return self.end_unanswered(flow);
        }
        if segment.flags.has(Flags::FIN) && connection.fin.is_none() {
            connection.fin = Some((segment.at_ns, segment.direction));
            for _ in 0..connection.in_flight.len() as u64 + connection.untracked {
                self.in_flight.doubt();
            }
        }
        if !is_client {
            connection.reply_end = connection.reply_end.max(segment.end());
        } else if segment.acknowledged >= connection.reply_end {
            for ended_ns in connection.unread.drain(..) {
                self.in_flight.settle(ended_ns);
            }
        }
    }

    /// The server has sent all: what is unanswered stays so.
    pub(super) fn replies_over(&mut self, flow: FlowId) {
        if let Some(connection) = self.connections.get_mut(flow) {
            connection.replies_over = true;
            self.end_unanswered(flow);
        }
    }

    /// Requests without a reply end with their connection: at its first FIN, otherwise now.
    fn end_unanswered(&mut self, flow: FlowId) {
        let Some(connection) = self.connections.get_mut(flow) else {
            return;
        };
        let fin = connection.fin;
        for began_ns in connection.take_unanswered() {
            match fin {
                Some((fin_ns, _)) => self.in_flight.settle(fin_ns.max(began_ns)),
                None => self.in_flight.end(self.now_ns),
            }
        }
    }

    pub(super) fn call_started(&mut self, flow: FlowId, segment: &Segment) {
        let now = self.now_ns;
        self.gap();
        self.in_flight.begin(now, segment.packet);
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
        if connection.replies_over {
            return self.in_flight.end(now);
        }
        if connection.fin.is_some() {
            self.in_flight.doubt();
        }
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
        let is_whole = matches!(ending, Ending::Framed | Ending::UntilClose);
        let mut pending = connection.in_flight.iter();
        let began_ns = if let Some(place) = pending.position(|call| call.ordinal == ordinal) {
            let Some(call) = connection.in_flight.remove(place) else {
                return;
            };
            if let Some(place) = call.place.filter(|_| is_whole) {
                self.sample.took_ns[place] = Some(now - call.at_ns);
            }
            let is_idle = connection.is_idle();
            connection.idle_since = is_idle.then_some((call.at_ns, now));
            call.at_ns
        } else if connection.untracked > 0 {
            connection.untracked -= 1;
            0
        } else {
            return;
        };
        match connection.fin {
            None => self.in_flight.end(now),
            Some((fin_ns, _)) if !is_whole => self.in_flight.settle(fin_ns.max(began_ns)),
            Some((_, Direction::Request)) => connection.unread.push(now),
            Some(_) => self.in_flight.settle(now),
        }
    }

    pub(super) fn closed(&mut self, flow: FlowId) {
        self.end_unanswered(flow);
        if let Some(connection) = self.connections.remove(flow) {
            self.open -= u64::from(!connection.ending);
            for ended_ns in connection.unread {
                self.in_flight.settle(ended_ns);
            }
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
    fn gap(&mut self) {
        let now = self.now_ns;
        if self.requests == 0 {
            self.first_ns = now;
        } else {
            let gap = now - self.last_ns;
            self.gaps.add(gap as f64 / 1e3);
            self.gap_quantiles.record(gap);
        }
        self.requests += 1;
        self.last_ns = now;
    }

    pub(super) fn document(mut self) -> Load {
        self.in_flight.finish();
        let [pause_waiting, pause_resting] = self.in_flight.pauses();
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
            concurrency: self.in_flight.document(),
            pause_waiting,
            pause_resting,
            turnaround_us: self.turnarounds.quantiles(),
            coupling: self.coupling.document(),
            connections_open_max: self.open_max,
            connect_us: self.connects.quantiles(),
            sample: (self.sample_max > 0).then_some(self.sample),
        }
    }

    fn latency_mean_us(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.in_flight.request_ns() / self.requests as f64 / 1e3)
    }
}
