//! One pass over the flows of a capture, which counts and diagnoses.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::account::Account;
use super::connection_counts::ConnectionCounts;
use super::document::{
    Accounting, Capture, Dissection, FlowSums, Names, PerExchange, TlsCounts, VERSION, Waits,
};
use super::exchange_counts::ExchangeCounts;
use super::ladder::Ladders;
use super::load::LoadMeter;
use super::series::SeriesMeter;
use crate::flow::event::{
    Closing, Datagram, Direction, FlowId, Fragment, Observer, Opening, Segment,
};
use crate::flow::map::FlowMap;
use crate::protocol::Protocols;
use crate::protocol::exchange::{
    ContinueWait, Ending, Exchange, ExchangeHalf, ExchangeObserver, Pdu, StreamBytes, StreamMessage,
};
use crate::protocol::layer::Layer;
use crate::protocol::tls::keylog::KeyLog;
use crate::read::Summary;
use crate::text::{duration, pluralize};

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
    /// Requests of which to list the times.
    pub sample: usize,
    /// Connections that are left out: by the client's end, those that opened up to that time,
    /// nanoseconds since the Unix epoch.
    pub without: HashMap<SocketAddr, u64>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            port: None,
            timeline: None,
            flows: 64,
            sample: 0,
            without: HashMap::new(),
        }
    }
}

impl Options {
    fn selects(&self) -> bool {
        self.port.is_some() || !self.without.is_empty()
    }

    fn takes(&self, opening: &Opening) -> bool {
        let ends = [opening.client, opening.server];
        let is_elsewhere = |port| ends.iter().all(|end| end.port() != port);
        if self.port.is_some_and(is_elsewhere) {
            return false;
        }
        let until_ns = self.without.get(&opening.client);
        until_ns.is_none_or(|until_ns| opening.at_ns > *until_ns)
    }
}

/// Dissects the flows it listens to, and passes the events on to `diagnosis`.
pub struct Dissector<D> {
    options: Options,
    protocols: Protocols,
    collectors: Collectors<D>,
}

struct Collectors<D> {
    /// Connections that are looked at; None for all.
    chosen: Option<FlowMap<()>>,
    accounts: [Account; 2],
    exchange_counts: ExchangeCounts,
    connection_counts: ConnectionCounts,
    ladders: Ladders,
    load: LoadMeter,
    series: SeriesMeter,
    diagnosis: D,
}

impl<D: Observer + ExchangeObserver> Dissector<D> {
    /// Has seen nothing yet.
    pub fn new(options: Options, diagnosis: D) -> Dissector<D> {
        Dissector {
            collectors: Collectors {
                chosen: options.selects().then(FlowMap::default),
                accounts: Default::default(),
                exchange_counts: ExchangeCounts::default(),
                connection_counts: ConnectionCounts::new(options.flows),
                ladders: Ladders::new(options.timeline),
                load: LoadMeter::new(options.sample),
                series: SeriesMeter::default(),
                diagnosis,
            },
            protocols: Protocols::default(),
            options,
        }
    }

    /// Decrypts TLS with these secrets.
    pub fn with_keys(mut self, keys: KeyLog) -> Dissector<D> {
        self.protocols = Protocols::with_keys(keys);
        self
    }

    /// Exchanges so far.
    pub fn exchanges(&self) -> u64 {
        self.collectors.exchange_counts.count()
    }

    /// What listens behind it.
    pub fn diagnosis(&self) -> &D {
        &self.collectors.diagnosis
    }

    /// The same, for observations from elsewhere.
    pub fn diagnosis_mut(&mut self) -> &mut D {
        &mut self.collectors.diagnosis
    }

    /// The end of the capture: returns the document, without findings, and the diagnosis.
    pub fn finish(self, file: &str, summary: &Summary) -> (Dissection, D) {
        let collectors = self.collectors;
        let exchanges = collectors.exchange_counts.count();
        let (flows, connections) = collectors.connection_counts.document();
        let median_ns = collectors.exchange_counts.median_ns();
        let (timeline_of, timeline) = collectors.ladders.timeline(median_ns).unzip();
        let (interarrival_of, interarrival) = collectors.ladders.interarrival();
        let dissection = Dissection {
            dissection: VERSION,
            file: file.to_owned(),
            capture: capture(summary, one_sided_text(&flows)),
            flows,
            accounting: sum_accounts(&collectors.accounts, exchanges),
            tls: TlsCounts {
                secrets: self.protocols.secrets_known() as u64,
                ..self.protocols.tls().clone()
            },
            exchanges: collectors
                .exchange_counts
                .document(connections, self.options.sample > 0),
            load: collectors.load.document(),
            waits: Waits::default(),
            slowest: None,
            messages: None,
            names: Names::default(),
            series: collectors.series.document(),
            findings: Vec::new(),
            timeline: timeline.unwrap_or_default(),
            timeline_of,
            interarrival,
            interarrival_of,
            reconciliation: None,
        };
        (dissection, collectors.diagnosis)
    }
}

impl<D: Observer + ExchangeObserver> Observer for Dissector<D> {
    fn secrets(&mut self, key_log: &[u8]) {
        self.protocols.secrets(key_log);
    }

    fn opened(&mut self, flow: FlowId, opening: &Opening) {
        if !self.options.takes(opening) {
            return;
        }
        if let Some(chosen) = &mut self.collectors.chosen {
            chosen.insert(flow, ());
        }
        self.collectors.connection_counts.opened(flow, opening);
        self.collectors.ladders.opened(flow);
        self.collectors.load.opened(flow);
        self.collectors.diagnosis.opened(flow, opening);
        self.protocols.opened(flow, opening);
    }

    fn clock_stepped(&mut self, packet: u64) {
        self.collectors.connection_counts.clock_stepped(packet);
        self.collectors.diagnosis.clock_stepped(packet);
    }

    fn datagram(&mut self, datagram: &Datagram<'_>) {
        self.collectors.diagnosis.datagram(datagram);
    }

    fn fragment(&mut self, fragment: &Fragment) {
        self.collectors.diagnosis.fragment(fragment);
    }

    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        let collectors = &mut self.collectors;
        if !collectors.is_chosen(flow) {
            return;
        }
        collectors.accounts[segment.direction as usize].segment(segment);
        collectors.connection_counts.segment(flow, segment);
        collectors.load.segment(flow, segment);
        collectors.series.segment(segment);
        // Before the parsers, which label the bytes of this segment.
        collectors.ladders.segment(flow, segment);
        collectors.diagnosis.segment(flow, segment);
        self.protocols.segment(flow, segment, collectors);
        collectors.ladders.segment_done(flow);
    }

    fn bytes(&mut self, flow: FlowId, offset: u64, bytes: &[u8], segment: &Segment) {
        if self.collectors.is_chosen(flow) {
            self.collectors
                .diagnosis
                .bytes(flow, offset, bytes, segment);
            let collectors = &mut self.collectors;
            self.protocols
                .bytes(flow, offset, bytes, segment, collectors);
        }
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        if self.collectors.is_chosen(flow) {
            self.collectors
                .diagnosis
                .gap(flow, direction, offset, bytes);
            let collectors = &mut self.collectors;
            self.protocols
                .gap(flow, direction, offset, bytes, collectors);
        }
    }

    fn count_late(&mut self, segment: &Segment) {
        // Which connections are looked at is known of those that are open.
        if self.collectors.chosen.is_none() {
            self.collectors.accounts[segment.direction as usize].segment(segment);
            self.collectors.series.segment(segment);
        }
    }

    fn closed(&mut self, flow: FlowId, at_ns: u64, closing: Closing) {
        if self.collectors.is_chosen(flow) {
            // Before `closed`, which forgets the connection.
            let (protocol, _) = self.protocols.of(flow);
            let is_tls = self.protocols.is_tls(flow);
            self.collectors.load.advance_to(at_ns);
            self.protocols.closed(flow, closing, &mut self.collectors);
            self.collectors
                .connection_counts
                .closed(flow, protocol, is_tls, closing);
            self.collectors.ladders.closed(flow);
            self.collectors.load.closed(flow);
            self.collectors.diagnosis.closed(flow, at_ns, closing);
            if let Some(chosen) = &mut self.collectors.chosen {
                chosen.remove(flow);
            }
        }
    }
}

impl<D> Collectors<D> {
    #[inline]
    fn is_chosen(&self, flow: FlowId) -> bool {
        let chosen = self.chosen.as_ref();
        chosen.is_none_or(|chosen| chosen.get(flow).is_some())
    }
}

impl<D: ExchangeObserver> ExchangeObserver for Collectors<D> {
    fn exchange(&mut self, exchange: &Exchange) {
        self.exchange_counts.exchange(exchange);
        self.connection_counts.exchange(exchange);
        self.ladders.exchange(exchange);
        self.diagnosis.exchange(exchange);
    }

    fn call_started(&mut self, flow: FlowId, segment: &Segment) {
        self.connection_counts.call_started(flow);
        self.ladders.call_started(flow, segment);
        self.load.call_started(flow, segment);
        self.diagnosis.call_started(flow, segment);
    }

    fn continue_waited(&mut self, flow: FlowId, wait: ContinueWait) {
        self.diagnosis.continue_waited(flow, wait);
    }

    fn call_ended(&mut self, flow: FlowId, ordinal: u64, ending: Ending) {
        self.connection_counts.call_ended(flow);
        self.ladders.call_ended(flow);
        self.load.call_ended(flow, ordinal, ending);
        self.diagnosis.call_ended(flow, ordinal, ending);
    }

    fn end_announced(&mut self, flow: FlowId, by: Direction) {
        self.connection_counts.end_announced(flow, by);
    }

    fn replies_over(&mut self, flow: FlowId) {
        self.load.replies_over(flow);
    }

    fn message_unpaired(&mut self, flow: FlowId, half: ExchangeHalf) {
        self.exchange_counts.count_unpaired(half);
        self.diagnosis.message_unpaired(flow, half);
    }

    fn track_lost(&mut self, flow: FlowId) {
        self.diagnosis.track_lost(flow);
    }

    fn layer(&mut self, flow: FlowId, layer: Layer, bytes: u32, segment: &Segment) {
        self.accounts[segment.direction as usize].layer(layer, bytes, segment);
        self.ladders.layer(flow, layer, bytes, segment);
        self.diagnosis.layer(flow, layer, bytes, segment);
    }

    fn stream_bytes(&mut self, flow: FlowId, bytes: StreamBytes) {
        self.diagnosis.stream_bytes(flow, bytes);
    }

    fn message(&mut self, message: &StreamMessage) {
        self.diagnosis.message(message);
    }

    fn pdu(&mut self, flow: FlowId, pdu: Pdu, segment: &Segment) {
        self.accounts[segment.direction as usize].pdu(pdu);
        self.diagnosis.pdu(flow, pdu, segment);
    }
}

fn sum_accounts(accounts: &[Account; 2], exchanges: u64) -> Accounting {
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
        first_at_ns: summary.first_at_ns,
        tcp: (&summary.flows).into(),
        link_types: summary.link_types.iter().map(|link| link.name()).collect(),
        unread: summary.unread(),
        truncated: summary.truncated,
        drops: summary.drops,
        damaged: summary.damage.as_ref().map(ToString::to_string),
        clock: clock_text(summary),
        one_sided,
    }
}

/// What the clock of a capture hides.
fn clock_text(summary: &Summary) -> Option<String> {
    let clock = &summary.clock;
    if summary.packets > 1 && !clock.is_running {
        return Some(
            "all packets have the same time: nothing can be said of what took how long".to_owned(),
        );
    }
    let (back_ns, packet) = clock.first?;
    Some(format!(
        "its clock stepped back {}, the first time by {} before packet {packet}: how long that step \
         took is not known, and the account goes on behind it",
        pluralize(clock.steps, "time"),
        duration(back_ns as f64 / 1e6)
    ))
}

/// What the capture does not show, where most connections show one side only.
fn one_sided_text(flows: &FlowSums) -> Option<String> {
    let sides = flows.one_sided;
    let one_sided = sides.requests + sides.replies;
    let whose = match (sides.requests, sides.replies) {
        (_, 0) => "the client",
        (0, _) => "the server",
        _ => "either the client or the server",
    };
    // Most of them, not any: at the edges of a capture some always are.
    (2 * one_sided > flows.count).then(|| {
        format!(
            "of {one_sided} of {} only the packets of {whose} were captured: latency, round-trip \
             times, and all findings that need both a request and its reply cannot be determined; packets, \
             bytes and retransmissions are those of that side. To have both, capture at one of the \
             two ends, or where both directions pass (a mirror port for both, or the captures of \
             both ways joined by mergecap), without a filter on source or destination",
            pluralize(flows.count, "connection")
        )
    })
}

/// For callers without a diagnosis.
impl Observer for () {
    fn opened(&mut self, _: FlowId, _: &Opening) {}
    fn segment(&mut self, _: FlowId, _: &Segment) {}
    fn bytes(&mut self, _: FlowId, _: u64, _: &[u8], _: &Segment) {}
    fn gap(&mut self, _: FlowId, _: Direction, _: u64, _: u64) {}
    fn closed(&mut self, _: FlowId, _: u64, _: Closing) {}
}

/// For callers without a diagnosis.
impl ExchangeObserver for () {
    fn exchange(&mut self, _: &Exchange) {}
}
