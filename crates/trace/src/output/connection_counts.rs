//! Counts connections, and lists the first ones.

use super::document::traffic::{Connections, Flow, FlowSums, HowClosed, HowOpened, OneSided};
use crate::flow::event::{Closing, Direction, FlowId, Opening, Segment, SegmentKind};
use crate::flow::map::FlowMap;
use crate::packet::Flags;
use crate::protocol::exchange::{Exchange, Protocol};

#[derive(Debug)]
struct Connection {
    opening: Opening,
    packets: [u64; 2],
    acknowledges: bool,
    bytes: u64,
    retransmissions: u64,
    /// When the client's first SYN and the server's were seen, nanoseconds, and their packets.
    syns: [Option<(u64, u64)>; 2],
    rtt_ns: Option<u64>,
    exchanges: u64,
    in_flight: u64,
    /// The client's SYN has no answer yet.
    awaits_answer: bool,
    /// The side that ended it: which announced that, or sent the first FIN or RST.
    ended_by: Option<Direction>,
    /// The client ended it while a request was under way.
    is_given_up: bool,
}

#[derive(Debug)]
pub(super) struct ConnectionCounts {
    open: FlowMap<Connection>,
    sums: FlowSums,
    use_of: Connections,
    list_max: usize,
    /// The packet behind the last step of the clock; 0 for none.
    stepped_at: u64,
}

impl ConnectionCounts {
    pub(super) fn new(list_max: usize) -> ConnectionCounts {
        ConnectionCounts {
            open: FlowMap::default(),
            sums: FlowSums {
                count: 0,
                opened: 0,
                closed: 0,
                reused: 0,
                one_sided: OneSided::default(),
                refused: 0,
                unanswered: 0,
                list: Vec::new(),
            },
            use_of: Connections::default(),
            list_max,
            stepped_at: 0,
        }
    }

    pub(super) fn opened(&mut self, flow: FlowId, opening: &Opening) {
        self.sums.count += 1;
        self.sums.opened += u64::from(opening.from_syn);
        let connection = Connection {
            opening: *opening,
            packets: [0; 2],
            acknowledges: false,
            bytes: 0,
            retransmissions: 0,
            syns: [None; 2],
            rtt_ns: None,
            exchanges: 0,
            in_flight: 0,
            awaits_answer: false,
            ended_by: None,
            is_given_up: false,
        };
        self.open.insert(flow, connection);
    }

    pub(super) fn clock_stepped(&mut self, packet: u64) {
        self.stepped_at = packet;
    }

    pub(super) fn segment(&mut self, flow: FlowId, segment: &Segment) {
        let Some(connection) = self.open.get_mut(flow) else {
            return;
        };
        connection.packets[segment.direction as usize] += 1;
        let is_refused = connection.is_refused_by(segment);
        self.sums.refused += u64::from(is_refused);
        let ends = segment.flags.has(Flags::FIN) || segment.flags.has(Flags::RST);
        // A refusal ends nothing: the client may try again with the same ports.
        if ends && !is_refused && connection.ended_by.is_none() {
            connection.ended_by = Some(segment.direction);
            let is_client = segment.direction == Direction::Request;
            connection.is_given_up = is_client && connection.in_flight > 0;
        }
        connection.acknowledges |= segment.flags.has(Flags::ACK);
        connection.bytes += u64::from(segment.header_bytes) + u64::from(segment.bytes);
        connection.retransmissions += u64::from(segment.kind == SegmentKind::Retransmission);
        if connection.rtt_ns.is_none() && connection.opening.from_syn {
            connection.time(segment, self.stepped_at);
        }
    }

    pub(super) fn end_announced(&mut self, flow: FlowId, by: Direction) {
        if let Some(connection) = self.open.get_mut(flow) {
            connection.ended_by.get_or_insert(by);
        }
    }

    pub(super) fn call_started(&mut self, flow: FlowId) {
        if let Some(connection) = self.open.get_mut(flow) {
            connection.exchanges += 1;
            connection.in_flight += 1;
            let most = &mut self.use_of.in_flight_max;
            *most = connection.in_flight.max(*most);
        }
    }

    pub(super) fn exchange(&mut self, exchange: &Exchange) {
        self.use_of.closed_by_server += u64::from(exchange.closed_by_server);
    }

    pub(super) fn call_ended(&mut self, flow: FlowId) {
        if let Some(connection) = self.open.get_mut(flow) {
            connection.in_flight = connection.in_flight.saturating_sub(1);
        }
    }

    pub(super) fn closed(
        &mut self,
        flow: FlowId,
        protocol: Protocol,
        is_tls: bool,
        closing: Closing,
    ) {
        let Some(connection) = self.open.remove(flow) else {
            return;
        };
        self.sums.closed += u64::from(closing != Closing::Unseen);
        self.sums.reused += u64::from(connection.exchanges > 1);
        self.sums.unanswered += u64::from(connection.is_unanswered());
        match connection.only_side() {
            Some(Direction::Request) => self.sums.one_sided.requests += 1,
            Some(Direction::Reply) => self.sums.one_sided.replies += 1,
            None => {}
        }
        let use_of = &mut self.use_of;
        use_of.used += u64::from(connection.exchanges > 0);
        match connection.ended_by.filter(|_| connection.exchanges > 0) {
            Some(Direction::Request) => {
                use_of.ended_by_client += 1;
                use_of.given_up += u64::from(connection.is_given_up);
            }
            Some(Direction::Reply) => use_of.ended_by_server += 1,
            None => {}
        }
        use_of.used_once += u64::from(connection.exchanges == 1);
        use_of.unused += u64::from(connection.exchanges == 0);
        use_of.exchanges_max = use_of.exchanges_max.max(connection.exchanges);
        let list = &mut self.sums.list;
        list.push(Flow {
            is_tls,
            ..connection.document(flow, protocol, closing)
        });
        // At twice the limit, so that sorting is rare; connections close out of order.
        if list.len() > 2 * self.list_max {
            first(list, self.list_max);
        }
    }

    pub(super) fn document(mut self) -> (FlowSums, Connections) {
        first(&mut self.sums.list, self.list_max);
        (self.sums, self.use_of)
    }
}

fn first(list: &mut Vec<Flow>, count: usize) {
    list.sort_by_key(|flow| flow.flow);
    list.truncate(count);
}

impl Connection {
    /// The side of which packets are there, where those of the other side are not
    /// though they were sent: a SYN without an answer shows no such thing.
    fn only_side(&self) -> Option<Direction> {
        match self.packets {
            _ if !self.acknowledges => None,
            [_, 0] => Some(Direction::Request),
            [0, _] => Some(Direction::Reply),
            _ => None,
        }
    }

    /// The segment is a RST in answer to a SYN.
    fn is_refused_by(&mut self, segment: &Segment) -> bool {
        let is_client = segment.direction == Direction::Request;
        if is_client && segment.flags.has(Flags::SYN) {
            self.awaits_answer = true;
            return false;
        }
        // Whatever else comes shows that the capture lacks the answer, or is it.
        let is_awaited = std::mem::take(&mut self.awaits_answer);
        is_awaited && !is_client && segment.flags.has(Flags::RST)
    }

    fn is_unanswered(&self) -> bool {
        self.awaits_answer && self.packets[Direction::Reply as usize] == 0
    }

    /// From the SYN to the client's answer to the server's, when neither was
    /// sent twice, and the clock did not step before packet `stepped_at` in between.
    fn time(&mut self, segment: &Segment, stepped_at: u64) {
        let place = segment.direction as usize;
        if segment.flags.has(Flags::SYN) {
            if segment.kind == SegmentKind::Open {
                self.syns[place] = Some((segment.at_ns, segment.packet));
            } else {
                // With a SYN sent twice it is not known which one was answered (Karn
                // and Partridge 1987).
                self.syns = [None; 2];
            }
        } else if let ([Some((began, packet)), Some(_)], Direction::Request) =
            (self.syns, segment.direction)
            && packet >= stepped_at
        {
            self.rtt_ns = Some(segment.at_ns.saturating_sub(began));
        }
    }

    fn document(&self, flow: FlowId, protocol: Protocol, closing: Closing) -> Flow {
        Flow {
            flow,
            client: self.opening.client.to_string(),
            server: self.opening.server.to_string(),
            protocol,
            is_tls: false,
            packets: self.packets.iter().sum(),
            bytes: self.bytes,
            exchanges: self.exchanges,
            retransmissions: self.retransmissions,
            rtt_us: self.rtt_ns.map(|ns| ns as f64 / 1e3),
            opening: if self.opening.from_syn {
                HowOpened::Syn
            } else {
                HowOpened::Unseen
            },
            closing: match closing {
                Closing::Orderly => HowClosed::Orderly,
                Closing::Reset(Direction::Request) => HowClosed::ResetByClient,
                Closing::Reset(Direction::Reply) => HowClosed::ResetByServer,
                Closing::Unseen => HowClosed::Unseen,
                Closing::Replaced => HowClosed::Replaced,
            },
            time: None,
            waits: Vec::new(),
        }
    }
}
