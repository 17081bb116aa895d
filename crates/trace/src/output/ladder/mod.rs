//! Packets of single exchanges: one ladder to look at, and inter-arrival times
//! over all exchanges whose packets follow each other in the same way.
//!
//! The packets of an exchange are those from its request's first one to the last
//! before the next request on its connection, or to the connection's end; the
//! first exchange of a connection also has its set-up. Where exchanges overlap on
//! a connection, an exchange has the packets up to its reply's last one, and no
//! place in the inter-arrival times.
//!
//! One pass and constant memory: of ladders a uniform sample is kept, of
//! sequences their sums.

mod log;
mod rungs;
mod sequences;

use std::rc::Rc;

use wirelab_contract::texts::SplitMix64;

use crate::flow::event::{FlowId, Segment};
use crate::flow::map::FlowMap;
use crate::output::document::timeline::{Chosen, InterarrivalOf, Position, Rung, TimelineOf};
use crate::protocol::exchange::{Ending, Exchange};
use crate::protocol::layer::Layer;
use log::{Followed, Ladder, Log, Step};
use sequences::Sequences;

/// Steps of all connections at most; connections above that are not followed.
const STEPS_MAX: usize = 1 << 19;

#[derive(Debug, Default)]
pub(crate) struct Ladders {
    logs: FlowMap<Log>,
    steps: usize,
    sequences: Sequences,
    sample: Sample,
    not_followed: u64,
    requested: Option<u64>,
    started: u64,
    /// Its connection and number there, once it has begun.
    requested_exchange: Option<(FlowId, u64)>,
    requested_ladder: Option<Ladder>,
    /// Of the exchange reported last; the next one often has the same.
    name: Rc<str>,
}

impl Ladders {
    pub(crate) fn new(requested: Option<u64>) -> Ladders {
        Ladders {
            requested,
            ..Ladders::default()
        }
    }

    pub(crate) fn opened(&mut self, flow: FlowId) {
        self.logs.insert(flow, Log::default());
    }

    /// To be called before the parsers that cut the segment's bytes.
    #[inline]
    pub(crate) fn segment(&mut self, flow: FlowId, segment: &Segment) {
        if let Some(log) = self.logs.get_mut(flow) {
            // The connection at hand is given up: looking for the longest log would
            // cost a search per packet.
            if self.steps >= STEPS_MAX && !log.is_over() {
                self.steps -= log.abandon();
            }
            self.steps += log.push(Step::of(segment));
        }
    }

    #[inline]
    pub(crate) fn layer(&mut self, flow: FlowId, layer: Layer, bytes: u32, segment: &Segment) {
        if let Some(log) = self.logs.get_mut(flow) {
            log.layer(layer, bytes, segment.packet);
        }
    }

    pub(crate) fn call_started(&mut self, flow: FlowId, segment: &Segment) {
        self.started += 1;
        let Some(log) = self.logs.get_mut(flow) else {
            return;
        };
        if self.requested == Some(self.started) {
            self.requested_exchange = Some((flow, log.started()));
        }
        if !log.is_busy() {
            self.finish_exchange(flow, segment.packet);
        }
        if let Some(log) = self.logs.get_mut(flow) {
            self.steps -= log.begin(segment.packet);
        }
    }

    pub(crate) fn call_ended(&mut self, flow: FlowId) {
        if let Some(log) = self.logs.get_mut(flow) {
            log.call_ended();
        }
    }

    pub(crate) fn exchange(&mut self, exchange: &Exchange) {
        let flow = exchange.flow;
        // By connection and number: exchanges are reported in another order than they
        // begin.
        let is_requested = self.requested_exchange == Some((flow, exchange.ordinal));
        let latency_ns = exchange.latency_ns();
        let Some(log) = self.logs.get_mut(flow) else {
            return;
        };
        if latency_ns.is_none() && !is_requested || log.is_over() {
            self.not_followed += u64::from(log.is_over());
            return;
        }
        if *self.name != *exchange.name {
            self.name = (*exchange.name).into();
        }
        let followed = Followed {
            flow,
            ordinal: exchange.ordinal,
            name: Rc::clone(&self.name),
            protocol: exchange.protocol,
            latency_ns,
            is_requested,
        };
        // It waits for its last packets: the acknowledgment of the reply is one of
        // them.
        if log.ended_without_overlap() && exchange.ending != Ending::Unseen {
            log.finished = Some(followed);
            return;
        }
        self.not_followed += 1;
        let reply = exchange.reply.as_ref().unwrap_or(&exchange.request);
        let packets = exchange.request.first_packet..=reply.last_packet;
        let ladder = || log.ladder(followed.clone(), packets.clone());
        keep(
            &mut self.sample,
            &mut self.requested_ladder,
            &followed,
            ladder,
        );
    }

    /// To be called after all other events of a segment.
    #[inline]
    pub(crate) fn segment_done(&mut self, flow: FlowId) {
        if self.logs.get(flow).is_some_and(Log::has_just_ended) {
            self.end(flow);
        }
    }

    pub(crate) fn closed(&mut self, flow: FlowId) {
        self.end(flow);
        self.logs.remove(flow);
    }

    fn end(&mut self, flow: FlowId) {
        self.finish_exchange(flow, u64::MAX);
        if let Some(log) = self.logs.get_mut(flow) {
            if !log.is_over() {
                let tear_down = log.tear_down();
                let ladders = self.sample.of(flow);
                let requested_ladder = self
                    .requested_ladder
                    .iter_mut()
                    .filter(|a| a.of.flow == flow);
                ladders
                    .chain(requested_ladder)
                    .for_each(|l| l.end_with(&tear_down));
            }
            self.steps -= log.abandon();
        }
    }

    /// The exchange that is complete has all its packets: those before `packet`.
    fn finish_exchange(&mut self, flow: FlowId, packet: u64) {
        let Some(log) = self.logs.get_mut(flow) else {
            return;
        };
        let Some(followed) = log.finished.take() else {
            return;
        };
        let is_shaped = followed.latency_ns.is_some()
            && self.sequences.count(log.sequence(followed.ordinal, packet));
        self.not_followed += u64::from(!is_shaped);
        let last = packet - 1;
        let ladder = || log.ladder(followed.clone(), 0..=last);
        keep(
            &mut self.sample,
            &mut self.requested_ladder,
            &followed,
            ladder,
        );
    }

    /// The ladder that was asked for, or one of median latency; `median_ns` is
    /// that of all exchanges.
    pub(crate) fn timeline(&self, median_ns: Option<u64>) -> Option<(TimelineOf, Vec<Rung>)> {
        let (ladder, chosen) = match self.requested {
            Some(_) => (self.requested_ladder.as_ref()?, Chosen::Asked),
            None => (self.sample.nearest(median_ns?)?, Chosen::Median),
        };
        let of = TimelineOf {
            flow: ladder.of.flow,
            exchange: ladder.of.ordinal,
            name: ladder.of.name.to_string(),
            protocol: ladder.of.protocol,
            latency_us: ladder.of.latency_ns.map(|ns| ns as f64 / 1e3),
            chosen,
            omitted: ladder.omitted,
        };
        Some((of, rungs::rungs(ladder)))
    }

    pub(crate) fn interarrival(&self) -> (InterarrivalOf, Vec<Position>) {
        let (of, positions) = self.sequences.most_common();
        let of = InterarrivalOf {
            not_followed: self.not_followed,
            ..of
        };
        (of, positions)
    }
}

fn keep(
    sample: &mut Sample,
    requested_ladder: &mut Option<Ladder>,
    followed: &Followed,
    ladder: impl Fn() -> Option<Ladder>,
) {
    if followed.is_requested {
        *requested_ladder = ladder();
    }
    if let Some(latency_ns) = followed.latency_ns
        && let Some(place) = sample.place()
    {
        sample.put(place, latency_ns, ladder());
    }
}

/// Ladders in the sample. The one nearest to the median of all lies, nineteen
/// times of twenty, within the quantiles 0.49 to 0.51 of their latencies.
const SAMPLE: usize = 127;

/// A uniform sample (Vitter 1985, algorithm R), the same for the same capture.
#[derive(Debug, Default)]
struct Sample {
    kept: Vec<(u64, Ladder)>,
    seen: u64,
    // Seed 0 by its default: a capture that is read again gives the same report.
    generator: SplitMix64,
}

impl Sample {
    /// Where the next ladder is to be kept, if it is.
    fn place(&mut self) -> Option<usize> {
        self.seen += 1;
        if self.seen <= SAMPLE as u64 {
            return Some(usize::MAX);
        }
        // The modulo bias is below 2^-32 for any number of exchanges in a capture.
        let place = self.generator.next_u64() % self.seen;
        usize::try_from(place).ok().filter(|place| *place < SAMPLE)
    }

    fn put(&mut self, place: usize, latency_ns: u64, ladder: Option<Ladder>) {
        let Some(ladder) = ladder else { return };
        match self.kept.get_mut(place) {
            Some(kept) => *kept = (latency_ns, ladder),
            None => self.kept.push((latency_ns, ladder)),
        }
    }

    fn of(&mut self, flow: FlowId) -> impl Iterator<Item = &mut Ladder> {
        let kept = self.kept.iter_mut().map(|(_, ladder)| ladder);
        kept.filter(move |ladder| ladder.of.flow == flow)
    }

    fn nearest(&self, latency_ns: u64) -> Option<&Ladder> {
        let nearest = self.kept.iter().min_by_key(|(own, ladder)| {
            (own.abs_diff(latency_ns), ladder.of.flow, ladder.of.ordinal)
        });
        nearest.map(|(_, ladder)| ladder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_sample_replaces_the_same_places_as_in_earlier_versions() {
        let mut sample = Sample::default();
        assert!((0..SAMPLE).all(|_| sample.place() == Some(usize::MAX)));
        let replaced: Vec<usize> = (0..4).filter_map(|_| sample.place()).collect();
        assert_eq!(replaced, [47, 54, 79, 116]);
    }
}
