//! Counts exchanges by their names.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::document::traffic::{Connections, ExchangeSums, LatencyBin, Named, Unpaired, Writes};
use super::quantiles::Quantiles;
use crate::protocol::exchange::{Ending, Exchange, ExchangeHalf, Extent, Protocol};

/// Names that are counted separately.
const NAMES_MAX: usize = 64;
/// Statuses that are counted separately per name.
const STATUSES_MAX: usize = 32;
const OTHERS: &str = "(others)";

/// Latencies in nanoseconds, to three digits.
#[derive(Debug)]
pub(super) struct Latencies {
    bins: Histogram<u64>,
    least: u64,
    most: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies {
            bins: Histogram::new(3).expect("3 digits are within 0 to 5"),
            least: u64::MAX,
            most: 0,
        }
    }
}

impl Latencies {
    /// The longest that is distinguished: a day.
    const NS_MAX: u64 = 86_400_000_000_000;

    pub(super) fn record(&mut self, ns: u64) {
        // A histogram that resizes itself takes every value.
        let _ = self.bins.record(ns.min(Latencies::NS_MAX));
        (self.least, self.most) = (self.least.min(ns), self.most.max(ns));
    }

    fn bins(&self) -> Vec<LatencyBin> {
        let middle = |value| self.bins.median_equivalent(value);
        let bins = self.bins.iter_recorded().map(|bin| LatencyBin {
            us: middle(bin.value_iterated_to()).clamp(self.least, self.most) as f64 / 1e3,
            count: bin.count_at_value(),
        });
        bins.collect()
    }

    pub(super) fn quantiles(&self) -> Option<Quantiles> {
        let us = |ns: u64| ns as f64 / 1e3;
        // Bins have a width: no quantile lies outside what was seen.
        let at = |part| {
            us(self
                .bins
                .value_at_quantile(part)
                .clamp(self.least, self.most))
        };
        (!self.bins.is_empty()).then(|| Quantiles {
            min: us(self.least),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max: us(self.most),
            n: self.bins.len(),
        })
    }
}

/// Message and overhead bytes of one side.
#[derive(Debug, Default)]
struct Sizes {
    count: u64,
    message: u64,
    overhead: u64,
}

impl Sizes {
    fn add(&mut self, extent: &Extent) {
        self.count += 1;
        self.message += extent.message_bytes;
        self.overhead += extent.overhead_bytes;
    }

    /// Mean message and overhead bytes.
    fn means(&self) -> [f64; 2] {
        let count = self.count.max(1) as f64;
        [self.message, self.overhead].map(|sum| sum as f64 / count)
    }
}

#[derive(Debug)]
struct Group {
    protocol: Protocol,
    name: Box<str>,
    count: u64,
    status: BTreeMap<Option<(u16, Option<u16>)>, u64>,
    latencies: Latencies,
    request: Sizes,
    reply: Sizes,
}

impl Group {
    fn new(protocol: Protocol, name: &str) -> Group {
        Group {
            protocol,
            name: name.into(),
            count: 0,
            status: BTreeMap::new(),
            latencies: Latencies::default(),
            request: Sizes::default(),
            reply: Sizes::default(),
        }
    }

    fn is(&self, protocol: Protocol, name: &str) -> bool {
        self.protocol == protocol && *self.name == *name
    }
}

#[derive(Debug, Default)]
pub(super) struct ExchangeCounts {
    count: u64,
    groups: Vec<Group>,
    /// Place of the group of the last exchange: the next one is often of the same.
    last: usize,
    endings: BTreeMap<Ending, u64>,
    unpaired: Unpaired,
    latencies: Latencies,
    writes: Writes,
}

impl ExchangeCounts {
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Of the latencies of exchanges with a whole reply.
    pub(super) fn median_ns(&self) -> Option<u64> {
        let known = &self.latencies.bins;
        (!known.is_empty()).then(|| known.value_at_quantile(0.5))
    }

    pub(super) fn exchange(&mut self, exchange: &Exchange) {
        self.count += 1;
        *self.endings.entry(exchange.ending).or_default() += 1;
        let latency = exchange.latency_ns();
        if let Some(latency) = latency {
            self.latencies.record(latency);
        }
        count_writes(&mut self.writes, exchange);
        let group = self.group(exchange);
        group.count += 1;
        let room = group.status.len() < STATUSES_MAX;
        if room || group.status.contains_key(&exchange.status) {
            *group.status.entry(exchange.status).or_default() += 1;
        }
        if let Some(latency) = latency {
            group.latencies.record(latency);
        }
        group.request.add(&exchange.request);
        if let Some(reply) = &exchange.reply {
            group.reply.add(reply);
        }
    }

    pub(super) fn count_unpaired(&mut self, half: ExchangeHalf) {
        match half {
            ExchangeHalf::Request => self.unpaired.requests += 1,
            ExchangeHalf::Reply => self.unpaired.replies += 1,
        }
    }

    fn group(&mut self, exchange: &Exchange) -> &mut Group {
        let (protocol, name) = (exchange.protocol, &exchange.name);
        let is_last = self.groups.get(self.last);
        if !is_last.is_some_and(|group| group.is(protocol, name)) {
            self.last = self.place(protocol, name);
        }
        &mut self.groups[self.last]
    }

    /// Of the group of that name, which is new or that of all others where there
    /// are too many.
    fn place(&mut self, protocol: Protocol, name: &str) -> usize {
        let find = |groups: &[Group], protocol, name: &str| {
            groups.iter().position(|group| group.is(protocol, name))
        };
        if let Some(place) = find(&self.groups, protocol, name) {
            return place;
        }
        // Paths with ids in them would make one group per call.
        let is_full = self.groups.len() >= NAMES_MAX;
        let (protocol, name) = if is_full {
            (Protocol::Unknown, OTHERS)
        } else {
            (protocol, name)
        };
        find(&self.groups, protocol, name).unwrap_or_else(|| {
            self.groups.push(Group::new(protocol, name));
            self.groups.len() - 1
        })
    }

    /// `has_bins`: with all latencies.
    pub(super) fn document(self, connections: Connections, has_bins: bool) -> ExchangeSums {
        let mut by_name: Vec<Named> = self.groups.into_iter().map(describe_group).collect();
        // Equal counts by name, so that the same capture gives the same document.
        by_name.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        ExchangeSums {
            count: self.count,
            by_name,
            endings: self.endings,
            unpaired: self.unpaired,
            latency_us: self.latencies.quantiles(),
            latency_bins: if has_bins {
                self.latencies.bins()
            } else {
                Vec::new()
            },
            writes: self.writes,
            connections,
        }
    }
}

/// Of messages with a body and something in front of it.
fn count_writes(writes: &mut Writes, exchange: &Exchange) {
    let sides = [
        (
            Some(&exchange.request),
            &mut writes.requests_joined,
            &mut writes.requests_split,
        ),
        (
            exchange.reply.as_ref(),
            &mut writes.replies_joined,
            &mut writes.replies_split,
        ),
    ];
    for (extent, joined, split) in sides {
        match extent {
            // Without both head and body there is nothing to split.
            Some(extent) if extent.message_bytes == 0 || extent.overhead_bytes == 0 => {}
            Some(extent) if extent.segments > 1 => *split += 1,
            Some(_) => *joined += 1,
            None => {}
        }
    }
}

fn describe_group(group: Group) -> Named {
    let words = |status: Option<(u16, Option<u16>)>| match status {
        Some((status, Some(grpc))) => format!("{status}/{grpc}"),
        Some((status, None)) => status.to_string(),
        None => "-".to_owned(),
    };
    let status = group.status.into_iter();
    let [request_message_bytes, request_overhead_bytes] = group.request.means();
    let [reply_message_bytes, reply_overhead_bytes] = group.reply.means();
    Named {
        name: group.name.into(),
        protocol: group.protocol,
        count: group.count,
        status: status.map(|(s, n)| (words(s), n)).collect(),
        latency_us: group.latencies.quantiles(),
        request_message_bytes,
        request_overhead_bytes,
        reply_message_bytes,
        reply_overhead_bytes,
    }
}
