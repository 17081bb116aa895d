//! One pass over a capture's flows, for everybody who wants to know.

use super::census::Census;
use super::connections::Ledger;
use super::document::{Accounting, Capture, Dissection, PerExchange, VERSION};
use super::load::Clerk;
use super::one_sided;
use crate::account::Account;
use crate::flow::event::{Closing, Direction, FlowId, Observer, Opening, Segment};
use crate::flow::map::FlowMap;
use crate::ladder::Ladders;
use crate::protocol::Protocols;
use crate::protocol::exchange::{Exchange, Exchanges, Message, Unit};
use crate::protocol::layer::Layer;
use crate::summary::Summary;

/// What to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Only connections to or from that port.
    pub port: Option<u16>,
    /// The exchange whose packets to show, from 1 in the order of first bytes;
    /// None for one with the median latency.
    pub timeline: Option<u64>,
    /// Connections to list.
    pub flows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            port: None,
            timeline: None,
            flows: 64,
        }
    }
}

/// Dissects what it is told, and passes it on to `diagnosis`.
pub struct Dissector<D> {
    options: Options,
    protocols: Protocols,
    found: Found<D>,
}

/// Those who listen to exchanges.
struct Found<D> {
    /// Connections that are looked at; None for all.
    chosen: Option<FlowMap<()>>,
    accounts: [Account; 2],
    census: Census,
    ledger: Ledger,
    ladders: Ladders,
    clerk: Clerk,
    diagnosis: D,
}

impl<D: Observer + Exchanges> Dissector<D> {
    /// Has seen nothing yet.
    pub fn new(options: Options, diagnosis: D) -> Dissector<D> {
        Dissector {
            found: Found {
                chosen: options.port.map(|_| FlowMap::default()),
                accounts: Default::default(),
                census: Census::default(),
                ledger: Ledger::new(options.flows),
                ladders: Ladders::new(options.timeline),
                clerk: Clerk::default(),
                diagnosis,
            },
            protocols: Protocols::default(),
            options,
        }
    }

    /// All has been told: what was found, without findings, and who diagnosed.
    pub fn finish(self, file: &str, summary: &Summary) -> (Dissection, D) {
        let found = self.found;
        let exchanges = found.census.count();
        let (flows, connections) = found.ledger.document();
        let median_ns = found.census.median_ns();
        let (timeline_of, timeline) = found.ladders.timeline(median_ns).unzip();
        let (interarrival_of, interarrival) = found.ladders.interarrival();
        let dissection = Dissection {
            dissection: VERSION,
            file: file.to_owned(),
            capture: capture(summary, one_sided::words(&flows)),
            flows,
            accounting: accounting(&found.accounts, exchanges),
            exchanges: found.census.document(connections),
            load: found.clerk.document(),
            findings: Vec::new(),
            timeline: timeline.unwrap_or_default(),
            timeline_of,
            interarrival,
            interarrival_of,
            reconciliation: None,
        };
        (dissection, found.diagnosis)
    }
}

impl<D: Observer + Exchanges> Observer for Dissector<D> {
    fn opened(&mut self, flow: FlowId, opening: &Opening) {
        let ends = [opening.client.port(), opening.server.port()];
        if self.options.port.is_some_and(|port| !ends.contains(&port)) {
            return;
        }
        if let Some(chosen) = &mut self.found.chosen {
            chosen.insert(flow, ());
        }
        self.found.ledger.opened(flow, opening);
        self.found.ladders.opened(flow);
        self.found.clerk.opened(flow);
        self.found.diagnosis.opened(flow, opening);
        self.protocols.opened(flow, opening);
    }

    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        let found = &mut self.found;
        if !found.is_chosen(flow) {
            return;
        }
        found.accounts[segment.direction as usize].segment(segment);
        found.ledger.segment(flow, segment);
        found.clerk.segment(flow, segment);
        found.ladders.segment(flow, segment);
        found.diagnosis.segment(flow, segment);
        self.protocols.segment(flow, segment, found);
        found.ladders.after(flow);
    }

    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], carrier: &Segment) {
        if self.found.is_chosen(flow) {
            self.found.diagnosis.bytes(flow, offset, bytes, carrier);
            let found = &mut self.found;
            self.protocols.bytes(flow, offset, bytes, carrier, found);
        }
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        if self.found.is_chosen(flow) {
            self.found.diagnosis.gap(flow, direction, offset, bytes);
            let found = &mut self.found;
            self.protocols.gap(flow, direction, offset, bytes, found);
        }
    }

    fn closed(&mut self, flow: FlowId, at_ns: u64, closing: Closing) {
        if self.found.is_chosen(flow) {
            let (protocol, _) = self.protocols.of(flow);
            self.found.clerk.at(at_ns);
            self.protocols.closed(flow, closing, &mut self.found);
            self.found.ledger.closed(flow, protocol, closing);
            self.found.ladders.closed(flow);
            self.found.clerk.closed(flow);
            self.found.diagnosis.closed(flow, at_ns, closing);
            if let Some(chosen) = &mut self.found.chosen {
                chosen.remove(flow);
            }
        }
    }
}

impl<D> Found<D> {
    #[inline]
    fn is_chosen(&self, flow: FlowId) -> bool {
        let chosen = self.chosen.as_ref();
        chosen.is_none_or(|chosen| chosen.get(flow).is_some())
    }
}

impl<D: Exchanges> Exchanges for Found<D> {
    fn exchange(&mut self, exchange: &Exchange) {
        self.census.exchange(exchange);
        self.ledger.exchange(exchange);
        self.ladders.exchange(exchange);
        self.diagnosis.exchange(exchange);
    }

    fn begun(&mut self, flow: FlowId, carrier: &Segment) {
        self.ledger.begun(flow);
        self.ladders.begun(flow, carrier);
        self.clerk.begun(flow, carrier);
        self.diagnosis.begun(flow, carrier);
    }

    fn concluded(&mut self, flow: FlowId, ordinal: u64) {
        self.ledger.concluded(flow);
        self.ladders.concluded(flow);
        self.clerk.concluded(flow, ordinal);
        self.diagnosis.concluded(flow, ordinal);
    }

    fn unpaired(&mut self, flow: FlowId, message: Message) {
        self.census.unpaired(message);
        self.diagnosis.unpaired(flow, message);
    }

    fn layer(&mut self, flow: FlowId, layer: Layer, bytes: u32, carrier: &Segment) {
        self.accounts[carrier.direction as usize].layer(layer, bytes, carrier);
        self.ladders.layer(flow, layer, bytes, carrier);
        self.diagnosis.layer(flow, layer, bytes, carrier);
    }

    fn unit(&mut self, flow: FlowId, unit: Unit, carrier: &Segment) {
        self.accounts[carrier.direction as usize].unit(unit);
        self.diagnosis.unit(flow, unit, carrier);
    }
}

fn accounting(accounts: &[Account; 2], exchanges: u64) -> Accounting {
    let [request, reply] = accounts;
    let mut total = *request;
    total.add(reply);
    let total = (&total).into();
    Accounting {
        request: request.into(),
        reply: reply.into(),
        per_exchange: PerExchange::new(&total, exchanges),
        total,
    }
}

fn capture(summary: &Summary, one_sided: Option<String>) -> Capture {
    Capture {
        packets: summary.packets,
        bytes: summary.bytes,
        tcp_packets: summary.tcp_packets,
        other_packets: summary.other.total(),
        seconds: summary.seconds(),
        link_types: summary.link_types.iter().map(|link| link.name()).collect(),
        truncated: summary.truncated,
        drops: summary.drops,
        damaged: summary.damage.as_ref().map(ToString::to_string),
        one_sided,
    }
}

/// For who wants no diagnosis.
impl Observer for () {
    fn opened(&mut self, _: FlowId, _: &Opening) {}
    fn segment(&mut self, _: FlowId, _: &Segment) {}
    fn bytes(&mut self, _: FlowId, _: u64, _: &[u8], _: &Segment) {}
    fn gap(&mut self, _: FlowId, _: Direction, _: u64, _: u64) {}
    fn closed(&mut self, _: FlowId, _: u64, _: Closing) {}
}

/// For who wants no diagnosis.
impl Exchanges for () {
    fn exchange(&mut self, _: &Exchange) {}
}
