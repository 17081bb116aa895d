//! What cost time, by the packets.
//!
//! Every flow is watched for *stalls*: times in which one side was silent although
//! it had more to send, each with the packet that ended it. Which it was follows
//! from what would have let the next segment go: more window, an acknowledgment, a
//! repetition. Stalls wait until the exchange is reported whose bytes came late; then
//! every moment is attributed to one cause, the most specific ([`Cause::ALL`]).
//!
//! Round trips are known from where the capture was taken: at either end
//! or between. Memory is bounded: per flow by the rings of its directions and
//! stalls, in all by the number of open flows.

mod attribution;
mod cause;
mod causes;
mod direction;
mod finding;
mod flow;
pub mod messages;
pub mod names;
mod path;
mod receiver;
mod search;
mod sender;
mod stall;
#[cfg(test)]
mod tests;
pub mod waits;

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

pub use attribution::Attribution;
pub use cause::Cause;
pub use finding::{Finding, Occurrence, Test, Where};

use crate::flow::event::{
    Closing, Datagram, Direction, FlowId, Fragment, Observer, Opening, Segment,
};
use crate::flow::map::FlowMap;
use crate::host::{HostWindows, Timeline, WindowKind};
use crate::protocol::dns;
use crate::protocol::exchange::{
    ContinueWait, Ending, Exchange, ExchangeHalf, ExchangeObserver, Pdu, StreamBytes, StreamMessage,
};
use crate::protocol::layer::Layer;
use causes::connection_setup::{Reuse, SingleUse};
use causes::fragments::{FragmentedSegment, Fragments};
use causes::identification::Identifications;
use causes::reply;
use causes::windows::Frame;
use finding::Tally;
use flow::Flow;
use messages::{MessageSums, Messages};
use names::{NameSums, Names};
use path::Path;
use waits::{Tail, WaitSums};

/// Occurrences named per finding.
pub const EXAMPLES: usize = 8;
/// Closed flows that are kept: the events of a packet may come in any order.
const CLOSED_MAX: usize = 256;
/// Stalls of a connection whose messages cannot be read that are kept before they are counted.
const UNREADABLE_STALLS_MAX: usize = 128;
const HOSTS_MAX: usize = 1024;
/// Connections whose times are listed one by one, the first.
const FLOWS_MAX: usize = 64;

#[derive(Debug, Clone, Copy, Default)]
struct Hosts {
    path: Path,
    identifications: [Identifications; 2],
}

/// All that a diagnosis has found.
#[derive(Debug)]
pub struct Results {
    /// What cost time, the most first.
    pub findings: Vec<Finding>,
    /// Where all of the time went.
    pub waits: WaitSums,
    /// Lookups of names.
    pub names: NameSums,
    /// Times of the server for the record of its host, where these were asked for.
    pub host: Option<HostWindows>,
    /// The slowest exchanges, where these were asked for.
    pub tail: Option<Box<Tail>>,
    /// Messages inside streams, where these were asked for.
    pub messages: Option<MessageSums>,
}

/// Listens to flows and exchanges, and finds what cost time.
#[derive(Debug)]
pub struct Diagnosis {
    flows: FlowMap<Flow>,
    recently_closed: VecDeque<FlowId>,
    hosts: HashMap<(IpAddr, IpAddr), Hosts>,
    interleaving: Interleaving,
    reuse: Reuse,
    tallies: Vec<Tally>,
    exchanges: u64,
    latency_ns: u64,
    attributed: Vec<Attribution>,
    waits: WaitSums,
    names: Names,
    /// Connections to name servers, once there was one.
    resolvers: Option<FlowMap<[dns::Stream; 2]>>,
    host: Option<HostWindows>,
    tail: Option<Box<Tail>>,
    messages: Messages,
    asks_messages: bool,
    fragments: Fragments,
    /// The packet behind the last step of the clock; 0 for none.
    stepped_at: u64,
    /// Open connections by client and server, once a segment came in fragments.
    ends: Option<HashMap<(SocketAddr, SocketAddr), FlowId>>,
}

impl Default for Diagnosis {
    fn default() -> Self {
        Diagnosis::new(EXAMPLES)
    }
}

impl Diagnosis {
    /// `examples`: occurrences that each finding names, the longest.
    pub fn new(examples: usize) -> Diagnosis {
        Diagnosis {
            flows: FlowMap::default(),
            recently_closed: VecDeque::new(),
            hosts: HashMap::new(),
            interleaving: Interleaving::default(),
            reuse: Reuse::default(),
            tallies: Cause::ALL.map(|cause| Tally::new(cause, examples)).into(),
            exchanges: 0,
            latency_ns: 0,
            attributed: Vec::new(),
            waits: WaitSums {
                flows_max: FLOWS_MAX,
                ..WaitSums::default()
            },
            names: Names::default(),
            resolvers: None,
            host: None,
            tail: None,
            messages: Messages::default(),
            asks_messages: false,
            fragments: Fragments::default(),
            stepped_at: 0,
            ends: None,
        }
    }

    /// Keeps the times of the server, to lay them next to the record of its host.
    pub fn with_host(mut self) -> Diagnosis {
        self.host = Some(HostWindows::default());
        self
    }

    /// Lists that number of the slowest exchanges. Call it before the first packet.
    pub fn with_slowest(mut self, slowest: usize) -> Diagnosis {
        self.tail = Some(Box::new(Tail::new(slowest)));
        self
    }

    /// Adds up the messages inside streams, and lists that number of those that came longest
    /// after the one before. Call it before the first packet.
    pub fn with_messages(mut self, slowest: usize) -> Diagnosis {
        self.messages.sums = MessageSums::new(slowest);
        self.asks_messages = true;
        self
    }

    /// Divides the times of the server whose records have all been taken.
    pub fn settle_host(&mut self, timeline: &Timeline) {
        if let Some(host) = &mut self.host {
            host.settle(timeline);
        }
    }

    /// Times of the server that are laid next to the record of its host.
    pub fn host(&self) -> Option<&HostWindows> {
        self.host.as_ref()
    }

    /// Lists the times of the first `flows` connections.
    pub fn listing(mut self, flows: usize) -> Diagnosis {
        self.waits.flows_max = flows;
        self
    }

    /// The times of the exchange that was reported last, by cause.
    pub fn attributed(&self) -> &[Attribution] {
        &self.attributed
    }

    /// All findings, those that took most time first, and where all of the time went. Call
    /// it after the last packet.
    pub fn results(mut self) -> Results {
        // In order of their numbers, so that the same capture gives the same findings.
        for id in self.flows.ids() {
            self.finish_flow(id);
        }
        self.waits.keep_first();
        let (exchanges, latency_ns) = (self.exchanges, self.latency_ns);
        let mut findings: Vec<Finding> = self
            .tallies
            .into_iter()
            .filter_map(|tally| tally.finding(exchanges, latency_ns))
            .collect();
        // A stable sort: equal times keep the order of `Cause::ALL`.
        findings.sort_by(|one, other| other.ms_total.total_cmp(&one.ms_total));
        Results {
            findings,
            waits: self.waits,
            names: self.names.sums(),
            host: self.host,
            tail: self.tail,
            messages: self.asks_messages.then_some(self.messages.sums),
        }
    }

    /// Where the time went so far, open connections included.
    pub fn progress(&self) -> WaitSums {
        let mut sums = self.waits.clone();
        for id in self.flows.ids() {
            if let Some(flow) = self.flows.get(id) {
                flow.add_progress(&mut sums);
            }
        }
        sums
    }

    /// As [`Self::results`], without the times.
    pub fn findings(self) -> Vec<Finding> {
        self.results().findings
    }

    fn count(&mut self, occurrence: Occurrence) {
        self.tallies[occurrence.cause as usize].take(occurrence);
    }

    fn count_found(&mut self) {
        for occurrence in std::mem::take(&mut self.waits.found) {
            self.count(occurrence);
        }
    }

    fn count_messages(&mut self) {
        for occurrence in self.messages.take_found() {
            self.count(occurrence);
        }
    }

    fn finish_flow(&mut self, id: FlowId) {
        let Some(mut flow) = self.flows.remove(id) else {
            return;
        };
        if let Some(resolvers) = &mut self.resolvers {
            resolvers.remove(id);
        }
        if let Some(ends) = &mut self.ends {
            ends.remove(&(flow.opening.client, flow.opening.server));
        }
        if let Some(tail) = &mut self.tail {
            tail.closed(id);
        }
        let is_websocket = flow.is_websocket();
        if flow.messages.is_some() {
            flow.settle(id, &mut self.waits);
            let own = std::mem::take(flow.messages_of(id).1);
            let (carrier, _) = flow.messages_of(id);
            self.messages.finish(carrier, own);
        }
        flow.finish_waits(id, &mut self.waits);
        self.count_found();
        self.count_messages();
        // No message could be read: what segments alone show is reported without
        // exchanges.
        let is_unread = flow.read == 0 || flow.has_lost_track;
        if is_unread || is_websocket {
            // An exchange has the opening where there is one.
            let opening = flow.handshake.retransmission().filter(|_| is_unread);
            for occurrence in
                attribution::unreadable_occurrences(id, flow.stalls().chain(&opening), &flow.path)
            {
                self.count(occurrence);
            }
        }
        if let Some((opened_at, closed_at)) = single_use(&flow) {
            let pair = (flow.opening.client.ip(), flow.opening.server);
            let occurrence = setup_occurrence(id, &flow);
            let single_use = SingleUse {
                opened_at,
                closed_at,
                occurrence,
            };
            for occurrence in self.reuse.add(pair, single_use) {
                self.count(occurrence);
            }
        }
    }

    /// A segment that came in fragments, if its connection is known.
    fn count_fragmented(&mut self, found: &FragmentedSegment) {
        let flows = &self.flows;
        let ends = self.ends.get_or_insert_with(|| {
            let open = flows.ids().into_iter();
            open.filter_map(|id| Some((ends(&flows.get(id)?.opening), id)))
                .collect()
        });
        let (source, destination) = (found.source, found.destination);
        let request = ends.get(&(source, destination));
        let reply = ends.get(&(destination, source));
        let (flow, direction) = match (request, reply) {
            (Some(flow), _) => (*flow, Direction::Request),
            (None, Some(flow)) => (*flow, Direction::Reply),
            (None, None) => return,
        };
        self.count(Occurrence {
            cause: Cause::IpFragments,
            flow,
            exchange: None,
            direction,
            packets: vec![found.first.1, found.last.1],
            ns: found.last.0.saturating_sub(found.first.0),
        });
    }

    fn remember(&mut self, pair: (IpAddr, IpAddr), common: Hosts) {
        // Beyond the limit, flows only lose the head start and learn their own round
        // trips.
        if self.hosts.len() < HOSTS_MAX || self.hosts.contains_key(&pair) {
            let known = self.hosts.entry(pair).or_default();
            known.path.merge(&common.path);
            known.identifications = common.identifications;
        }
    }
}

/// Which connection sent last, by its two hosts and direction.
#[derive(Debug, Default)]
struct Interleaving {
    places: HashMap<(IpAddr, IpAddr), usize>,
    newest: Vec<[Option<FlowId>; 2]>,
}

impl Interleaving {
    /// The place of two hosts; None where there are too many.
    fn place(&mut self, pair: (IpAddr, IpAddr)) -> Option<usize> {
        let known = self.places.len();
        if known >= HOSTS_MAX {
            return self.places.get(&pair).copied();
        }
        let place = *self.places.entry(pair).or_insert(known);
        if place == known {
            self.newest.push([None; 2]);
        }
        Some(place)
    }

    /// A packet of `flow`; true where another connection sent the last one.
    fn has_changed(&mut self, place: usize, direction: Direction, flow: FlowId) -> bool {
        let newest = &mut self.newest[place][direction as usize];
        newest.replace(flow).is_some_and(|last| last != flow)
    }
}

impl Hosts {
    fn of(flow: &Flow) -> Hosts {
        Hosts {
            path: flow.path,
            identifications: [0, 1].map(|way| flow.directions[way].identifications.shared()),
        }
    }
}

fn ends(opening: &Opening) -> (SocketAddr, SocketAddr) {
    (opening.client, opening.server)
}

fn hosts(opening: &Opening) -> (IpAddr, IpAddr) {
    (opening.client.ip(), opening.server.ip())
}

/// When a connection of one exchange was opened and closed, ns.
fn single_use(flow: &Flow) -> Option<(u64, u64)> {
    let opened_at = flow
        .handshake
        .started_at()
        .filter(|_| flow.exchanges == 1)?;
    Some((opened_at, flow.closed_at?))
}

fn setup_occurrence(id: FlowId, flow: &Flow) -> Occurrence {
    let (ns, packets) = flow.handshake.time().unwrap_or((0, [0; 3]));
    Occurrence {
        cause: Cause::ConnectionPerCall,
        flow: id,
        exchange: Some(0),
        direction: Direction::Request,
        packets: packets.into_iter().filter(|packet| *packet > 0).collect(),
        ns,
    }
}

impl Observer for Diagnosis {
    fn opened(&mut self, flow: FlowId, opening: &Opening) {
        let Hosts {
            path,
            identifications,
        } = self.hosts.get(&hosts(opening)).copied().unwrap_or_default();
        let mut new = Flow::new(*opening, path, identifications);
        new.pair = self.interleaving.place(hosts(opening));
        self.flows.insert(flow, new);
        if opening.server.port() == dns::PORT {
            let resolvers = self.resolvers.get_or_insert_default();
            resolvers.insert(flow, Default::default());
        }
        if let Some(known) = &mut self.ends {
            known.insert(ends(opening), flow);
        }
        if let Some(tail) = &mut self.tail {
            tail.opened(flow);
        }
    }

    fn fragment(&mut self, fragment: &Fragment) {
        if let Some(found) = self.fragments.take(fragment) {
            self.count_fragmented(&found);
        }
    }

    fn clock_stepped(&mut self, packet: u64) {
        self.stepped_at = packet;
    }

    fn datagram(&mut self, datagram: &Datagram<'_>) {
        self.names.take(datagram);
    }

    fn segment(&mut self, flow: FlowId, segment: &Segment) {
        let Some(known) = self.flows.get_mut(flow) else {
            return;
        };
        known.handshake.stepped_at = self.stepped_at;
        let direction = segment.direction;
        if let Some(pair) = known.pair
            && self.interleaving.has_changed(pair, direction, flow)
        {
            known.interleave(direction);
        }
        if known.is_new() && known.opening.from_syn {
            let (client, server) = (known.opening.client.ip(), known.opening.server.ip());
            known.lookup(self.names.take_lookup(client, server, segment.at_ns));
        }
        known.take(flow, segment, &mut self.waits);
        if known.has_messages() {
            let (carrier, own) = known.messages_of(flow);
            self.messages.settle(carrier, own);
        }
        if !self.waits.found.is_empty() {
            self.count_found();
            return;
        }
        // Without exchanges nothing else would take stalls out of the ring.
        if known.is_unreadable() && known.waiting.len() > UNREADABLE_STALLS_MAX {
            let stalls = std::mem::take(&mut known.waiting);
            let path = known.path;
            for occurrence in attribution::unreadable_occurrences(flow, stalls.iter(), &path) {
                self.count(occurrence);
            }
        }
    }

    fn bytes(&mut self, flow: FlowId, _offset: u64, bytes: &[u8], segment: &Segment) {
        if let Some(resolvers) = &mut self.resolvers
            && let (Some(streams), Some(known)) = (resolvers.get_mut(flow), self.flows.get(flow))
        {
            let (source, destination) = known.ends_of(segment.direction);
            let (names, at_ns, packet) = (&mut self.names, segment.at_ns, segment.packet);
            streams[segment.direction as usize].take(bytes, |payload| {
                names.take(&Datagram {
                    packet,
                    at_ns,
                    source,
                    destination,
                    payload,
                });
            });
        }
    }

    fn gap(&mut self, flow: FlowId, direction: Direction, offset: u64, bytes: u64) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.skip_gap(direction, offset.saturating_add(bytes));
        }
    }

    fn closed(&mut self, flow: FlowId, _at_ns: u64, _closing: Closing) {
        if let Some(known) = self.flows.get(flow) {
            // A short connection has too few packets to learn a path from. The next one
            // between the same hosts begins with what this one has shown.
            let (pair, common) = (hosts(&known.opening), Hosts::of(known));
            self.remember(pair, common);
        }
        self.recently_closed.push_back(flow);
        if self.recently_closed.len() > CLOSED_MAX
            && let Some(oldest) = self.recently_closed.pop_front()
        {
            self.finish_flow(oldest);
        }
    }
}

impl ExchangeObserver for Diagnosis {
    fn exchange(&mut self, exchange: &Exchange) {
        self.attributed.clear();
        let Some(flow) = self.flows.get_mut(exchange.flow) else {
            return;
        };
        self.exchanges += 1;
        flow.divide(exchange, &mut self.waits);
        if flow.has_messages() {
            let (carrier, own) = flow.messages_of(exchange.flow);
            self.messages.settle(carrier, own);
        }
        if let Some(tail) = &mut self.tail {
            tail.exchange(exchange, flow.exchange_time(exchange));
        }
        if let Some(host) = &mut self.host {
            flow.add_server_times(exchange, host);
        }
        if !flow.record(exchange) {
            return;
        }
        let mut occurrences =
            attribution::occurrences(exchange.flow, flow, exchange, &mut self.attributed);
        if let Some(host) = &mut self.host {
            let of_server = |one: &&Attribution| one.cause == Cause::ServerThinkTime;
            for one in self.attributed.iter().filter(of_server) {
                let times = (one.from_ns, one.to_ns);
                let kind = WindowKind::ThinkTime(exchange.flow, exchange.ordinal);
                flow.add_to_host(kind, exchange, times, host);
            }
            let reply_at = exchange
                .reply
                .as_ref()
                .map_or(u64::MAX, |one| one.first_at_ns);
            let of_reply =
                |one: &&Attribution| one.cause == Cause::NagleDelayedAck && one.from_ns >= reply_at;
            for one in self.attributed.iter().filter(of_reply) {
                flow.add_to_host(
                    WindowKind::HeldBack,
                    exchange,
                    (one.from_ns, one.to_ns),
                    host,
                );
            }
        }
        self.latency_ns = self
            .latency_ns
            .saturating_add(attribution::latency_ns(flow, exchange));
        let missed = flow.forget_completed(exchange);
        if !missed.is_empty() {
            let missed = missed.iter();
            occurrences.extend(attribution::unreadable_occurrences(
                exchange.flow,
                missed,
                &flow.path,
            ));
        }
        for occurrence in occurrences {
            self.count(occurrence);
        }
        self.count_messages();
        if let Some(redirect) = reply::redirect(exchange) {
            self.count(redirect);
        }
    }

    fn call_started(&mut self, flow: FlowId, _segment: &Segment) {
        if let Some(tail) = &mut self.tail {
            tail.call_started(flow);
        }
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.turns.call_started();
        }
    }

    fn continue_waited(&mut self, flow: FlowId, wait: ContinueWait) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.continue_waited(wait);
        }
    }

    fn call_ended(&mut self, flow: FlowId, _ordinal: u64, _ending: Ending) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.turns.call_ended();
        }
    }

    fn message_unpaired(&mut self, flow: FlowId, _half: ExchangeHalf) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.turns.lose_calls();
        }
    }

    fn track_lost(&mut self, flow: FlowId) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.lose_track();
        }
    }

    fn layer(&mut self, flow: FlowId, layer: Layer, _bytes: u32, _segment: &Segment) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.turns.layer(layer);
        }
    }

    fn stream_bytes(&mut self, flow: FlowId, bytes: StreamBytes) {
        let flow = self.flows.get_mut(flow);
        if let Some(messages) = flow.and_then(|flow| flow.messages.as_mut()) {
            messages.note_bytes(bytes);
        }
    }

    fn message(&mut self, message: &StreamMessage) {
        let Some(flow) = self.flows.get_mut(message.flow) else {
            return;
        };
        let (carrier, own) = flow.messages_of(message.flow);
        self.messages.take(carrier, message, own);
    }

    fn pdu(&mut self, flow: FlowId, pdu: Pdu, segment: &Segment) {
        let Some(flow) = self.flows.get_mut(flow) else {
            return;
        };
        match pdu {
            Pdu::Http2 {
                kind,
                stream,
                length,
                window,
                flags,
                streams_max,
            } => {
                let frame = Frame {
                    kind,
                    stream,
                    length,
                    window,
                    flags,
                    streams_max,
                };
                flow.frame(frame, segment);
            }
            Pdu::Tls {
                kind,
                length,
                content,
            } => {
                flow.is_encrypted |= content.is_none();
                flow.turns.record(kind, length, content);
            }
            Pdu::HttpReply(100..=199) => flow.turns.interim(),
            _ => {}
        }
    }
}
