//! One connection, as the diagnosis sees it.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::diagnosis::cause::Cause;
use crate::diagnosis::causes::connection_setup::{At, Handshake};
use crate::diagnosis::causes::http2::Streams;
use crate::diagnosis::causes::identification::{Identifications, Late};
use crate::diagnosis::causes::reply::ReplyDelays;
use crate::diagnosis::causes::small_segments;
use crate::diagnosis::causes::windows::{FlowControl, Frame};
use crate::diagnosis::direction::StallFinder;
use crate::diagnosis::messages::{Carrier, FlowMessages};
use crate::diagnosis::names::Lookup;
use crate::diagnosis::path::Path;
use crate::diagnosis::sender::{Sender, Sent};
use crate::diagnosis::stall::{Stall, Stalls};
use crate::diagnosis::waits::{
    Division, ExchangeTime, FlowAccount, Part, SendLimits, Sink, Turns, WaitSums,
};
use crate::flow::event::{Direction, FlowId, Opening, Segment};
use crate::host::{HostWindows, WindowKind};
use crate::packet::Flags;
use crate::protocol::exchange::{ContinueWait, Ending, Exchange, Protocol};

/// Later than any capture, ns since the Unix epoch.
const TIME_MAX: u64 = 1 << 62;

/// The largest initial congestion window (RFC 6928), segments.
const INITIAL_WINDOW_SEGMENTS: u64 = 10;

/// Behind the end of any stream, with room for sums, bytes.
const OFFSET_MAX: u64 = 1 << 56;

/// Bodies that waited for a permission, of exchanges that are not reported yet.
const CONTINUE_WAITS_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) opening: Opening,
    pub(crate) path: Path,
    /// Its two hosts, as a place in [`crate::diagnosis::Diagnosis`]'s list of them.
    pub(crate) pair: Option<usize>,
    pub(crate) handshake: Handshake,
    /// By the direction that they send in.
    pub(crate) directions: [StallFinder; 2],
    pub(crate) ends: [Option<At>; 2],
    /// The first FIN or RST, ns.
    pub(crate) closed_at: Option<u64>,
    now: u64,
    /// A SYN was captured without all of its options, among them maybe the scale of
    /// windows.
    is_scale_cut: bool,
    pub(crate) exchanges: u64,
    /// Of those, whose messages the capture has.
    pub(crate) read: u64,
    pub(crate) is_encrypted: bool,
    /// The snap length has cut messages, so that their ends are not known. Then headers alone
    /// decide.
    pub(crate) has_lost_track: bool,
    /// The newest missing bytes are the end of a packet that the capture holds.
    is_cut: bool,
    pub(crate) reply_delays: ReplyDelays,
    pub(crate) waiting: Stalls,
    http2: Option<Box<(FlowControl, Streams)>>,
    /// The windows of HTTP/2 can be followed: from the beginning, and nothing is missing.
    tracks_h2_windows: bool,
    last_reply_end: Option<u64>,
    /// Bodies that waited for a permission, the last ones.
    continue_waits: VecDeque<ContinueWait>,
    pub(crate) turns: Turns,
    account: FlowAccount,
    /// Messages inside its streams, once there was one.
    pub(crate) messages: Option<Box<FlowMessages>>,
}

impl Flow {
    /// `identifications`: what is known of the identifications of client and server.
    pub(crate) fn new(opening: Opening, path: Path, identifications: [Identifications; 2]) -> Flow {
        Flow {
            directions: Flow::build_directions(&opening, identifications),
            tracks_h2_windows: opening.from_syn,
            turns: Turns::new(opening.from_syn),
            account: FlowAccount::default(),
            opening,
            path,
            pair: None,
            handshake: Handshake::default(),
            ends: [None; 2],
            closed_at: None,
            now: 0,
            is_scale_cut: false,
            exchanges: 0,
            read: 0,
            is_encrypted: false,
            has_lost_track: false,
            is_cut: false,
            reply_delays: ReplyDelays::default(),
            waiting: Stalls::default(),
            http2: None,
            last_reply_end: None,
            continue_waits: VecDeque::new(),
            messages: None,
        }
    }

    fn build_directions(opening: &Opening, known: [Identifications; 2]) -> [StallFinder; 2] {
        let mut directions = [Direction::Request, Direction::Reply].map(|direction| {
            // What one side takes is as a rule what the other takes.
            let [own, other] =
                [direction, direction.opposite()].map(|way| opening.mss[way as usize]);
            StallFinder::new(direction, other.or(own))
        });
        for (state, known) in directions.iter_mut().zip(known) {
            state.identifications.learn(&known);
        }
        directions
    }

    /// The same in a time that never goes back, as that of a capture may, and that
    /// leaves room for sums.
    fn monotonic(&mut self, segment: &Segment) -> Segment {
        self.now = segment.at_ns.clamp(self.now, TIME_MAX);
        Segment {
            at_ns: self.now,
            ..*segment
        }
    }

    fn segment(&mut self, segment: &Segment) {
        self.handshake.take(segment, &mut self.path);
        if segment.flags.has(Flags::SYN) {
            if segment.direction == Direction::Request {
                self.try_again(segment);
            }
            if let Some(mss) = segment.mss {
                for state in &mut self.directions {
                    state.sender.announce(segment.direction, mss);
                }
            }
            self.is_scale_cut |= segment.options_cut;
            // With one SYN only, the shift of the other side's windows would be a
            // guess.
            if self.handshake.is_whole() && !self.is_scale_cut {
                self.directions
                    .iter_mut()
                    .for_each(|state| state.sender.scale_windows());
            }
        }
        let way = segment.direction as usize;
        let back = segment.direction.opposite() as usize;
        let full = self.directions[way].sender.full_segment();
        self.directions[way].identifications.take(segment, full);
        let late = self.late(segment);
        if segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST) {
            // Where its own payload was lost, the answer was not late for lack of ours.
            let spurious = segment.reports_duplicate
                || segment.bytes > 0 && self.directions[way].identifications.shows_loss_now();
            // Before the payload: its sender knew what this segment acknowledges when
            // it sent it.
            self.directions[back].take_acknowledgment(
                segment,
                spurious,
                &mut self.path,
                &mut self.waiting,
            );
        }
        if segment.bytes > 0 {
            self.directions[way].take_payload(segment, late, &self.path, &mut self.waiting);
        }
        self.end(segment);
    }

    /// The same SYN behind a RST of the client, which answered what an older connection had left
    /// at the server (RFC 9293 section 3.5.1): nothing is closed, and nothing acknowledged.
    fn try_again(&mut self, segment: &Segment) {
        if self.ends != [None; 2] || self.closed_at.take().is_none() {
            return;
        }
        self.handshake = Handshake::default();
        self.handshake.take(segment, &mut self.path);
        let known = [0, 1].map(|way| self.directions[way].identifications.shared());
        self.directions = Flow::build_directions(&self.opening, known);
    }

    /// What the other side had sent before a segment that acknowledges it.
    fn late(&self, segment: &Segment) -> Late {
        let peer = &self.directions[segment.direction.opposite() as usize].sender;
        let oldest = peer.unacknowledged.front();
        Late {
            peer_payload: peer.last.map(|last| (last.at, last.packet)),
            unacknowledged_since: oldest
                .filter(|sent| sent.end <= segment.acknowledged)
                .map(|sent| sent.at),
        }
    }

    /// Another connection between the same hosts sent a packet that way.
    pub(crate) fn interleave(&mut self, direction: Direction) {
        self.directions[direction as usize]
            .identifications
            .interleave();
    }

    fn end(&mut self, segment: &Segment) {
        let at = (segment.at_ns, segment.packet);
        if segment.flags.has(Flags::FIN) {
            // The first FIN: one that is sent again delays nobody's reply.
            self.ends[segment.direction as usize].get_or_insert(at);
        }
        // A refusal closes nothing: the client may try again with the same ports.
        let is_refusal = segment.flags.has(Flags::RST)
            && self.opening.from_syn
            && self.handshake.started_at().is_none();
        if (segment.flags.has(Flags::FIN) || segment.flags.has(Flags::RST)) && !is_refusal {
            self.closed_at.get_or_insert(segment.at_ns);
        }
    }

    pub(crate) fn frame(&mut self, frame: Frame, segment: &Segment) {
        let segment = &self.monotonic(segment);
        if !self.tracks_h2_windows {
            return;
        }
        let (control, streams) = &mut **self
            .http2
            .get_or_insert_with(|| Box::new((FlowControl::new(), Streams::default())));
        let sender = &self.directions[segment.direction as usize].sender;
        if let Some(stall) = control.take(frame, segment, sender, &self.path) {
            self.waiting.push(stall);
        }
        if let Some(stall) = streams.take(frame, segment, &self.path) {
            self.waiting.find(stall);
        }
    }

    /// The capture lacks bytes of a direction: what windows held is not known any more.
    pub(crate) fn skip_gap(&mut self, direction: Direction, end: u64) {
        self.is_cut = end == self.directions[direction as usize].sender.next;
        self.directions[direction as usize].skip_gap(end.min(OFFSET_MAX));
        self.tracks_h2_windows = false;
    }

    /// It is not known any more where messages begin and end.
    pub(crate) fn lose_track(&mut self) {
        if self.is_cut {
            self.has_lost_track = true;
            self.turns.lose_calls();
        }
    }

    /// The sender's end and the receiver's.
    pub(crate) fn ends_of(&self, direction: Direction) -> (SocketAddr, SocketAddr) {
        let Opening { client, server, .. } = self.opening;
        match direction {
            Direction::Request => (client, server),
            Direction::Reply => (server, client),
        }
    }

    /// All stalls that no exchange has outlived yet.
    pub(crate) fn stalls(&self) -> impl Iterator<Item = &Stall> {
        let unanswered = self
            .directions
            .iter()
            .flat_map(|state| state.losses.unanswered())
            .filter(|stall| !self.turns.is_dead_end(stall));
        self.waiting.iter().chain(unanswered)
    }

    /// The end of the reply before, where replies come one after the other, ns.
    pub(crate) fn previous_reply_end(&self, exchange: &Exchange) -> Option<u64> {
        // HTTP/2 and GIOP answer in any order, so that an earlier reply does not hold
        // up a later one.
        let one_by_one = matches!(exchange.protocol, Protocol::Http1 | Protocol::Raw);
        self.last_reply_end.filter(|_| one_by_one)
    }

    /// Its messages cannot be read, as far as is known, or they belong to no exchange.
    pub(crate) fn is_unreadable(&self) -> bool {
        let is_unread = self.read == 0 && (self.exchanges > 0 || self.is_encrypted);
        self.has_lost_track || is_unread || self.is_websocket()
    }

    /// WebSocket has messages, and turns of them in the place of exchanges: what held messages up
    /// is counted one by one.
    pub(crate) fn is_websocket(&self) -> bool {
        let messages = self.messages.as_ref();
        messages.is_some_and(|messages| messages.is_websocket())
    }

    /// Its exchanges have what delays them.
    fn is_read(&self) -> bool {
        !self.has_lost_track && (self.read > 0 || self.turns.has_calls())
    }

    /// An exchange is reported; false where the capture lacks what it was.
    pub(crate) fn record(&mut self, exchange: &Exchange) -> bool {
        self.exchanges += 1;
        let is_part = exchange.reply.is_some() && !self.has_lost_track;
        let is_read = exchange.ending != Ending::Unseen || is_part;
        self.read += u64::from(is_read);
        is_read
    }

    /// Messages or losses wait to be divided.
    #[inline]
    pub(crate) fn has_messages(&self) -> bool {
        let messages = self.messages.as_ref();
        messages.is_some_and(|messages| messages.is_waiting())
    }

    /// The same, and the connection that they came on.
    pub(crate) fn messages_of(&mut self, flow: FlowId) -> (Carrier<'_>, &mut FlowMessages) {
        let carrier = Carrier {
            flow,
            opening: &self.opening,
            turns: &self.turns,
        };
        (carrier, self.messages.get_or_insert_default())
    }

    /// Nothing was seen of it yet.
    pub(crate) fn is_new(&self) -> bool {
        self.now == 0
    }

    /// It waited for this name.
    pub(crate) fn lookup(&mut self, lookup: Option<Lookup>) {
        self.turns.lookup = lookup;
    }

    /// A packet: diagnoses it, and divides the time before it.
    pub(crate) fn take(&mut self, id: FlowId, segment: &Segment, sums: &mut WaitSums) {
        let segment = &self.monotonic(segment);
        let gap = self.gap_before(segment);
        self.segment(segment);
        let mut sink = Sink {
            flow: id,
            is_read: self.is_read(),
            account: &mut self.account,
            sums,
        };
        if self.waiting.has_found() {
            for found in self.waiting.take_found() {
                sink.find_stall(&found);
            }
        }
        self.turns.take(segment, gap, &self.path, &mut sink);
        if !self.waiting.has_new() {
            return;
        }
        // Behind the segment: it ends the stalls that it shows.
        for stall in self.waiting.take_new() {
            if let Some(messages) = self.messages.as_mut().filter(|_| stall.cause.is_loss()) {
                messages.note_loss(&stall, segment);
            }
            if stall.cause != Cause::NagleDelayedAck
                || small_segments::is_delayed(&stall, &self.path)
            {
                self.turns.explain(&stall);
            }
        }
    }

    /// What its sender could have done before a segment.
    fn gap_before(&self, segment: &Segment) -> SendLimits {
        let closed_since = [0, 1].map(|way| self.closed_since(way));
        if segment.bytes == 0 {
            return SendLimits {
                closed_since,
                ..SendLimits::default()
            };
        }
        let sender = &self.directions[segment.direction as usize].sender;
        let silent = sender
            .last
            .map_or(0, |last| segment.at_ns.saturating_sub(last.at));
        // The search costs time, and a short silence needs no reason.
        let is_prompt = silent < self.path.slack(segment.direction);
        SendLimits {
            free_from: (!is_prompt)
                .then(|| free_from(sender, segment.at_ns, &self.path))
                .flatten(),
            closed: sender.windows.last_closed(segment.at_ns),
            closed_since,
            follows_full: sender.last.is_some_and(|last| !last.is_small),
        }
    }

    /// Since when the window of the receiver of a direction is closed, ns.
    fn closed_since(&self, way: usize) -> Option<u64> {
        self.directions[way].sender.windows.closed_since()
    }

    /// The body of a request waited.
    pub(crate) fn continue_waited(&mut self, wait: ContinueWait) {
        // A request of each is under way, or was given up.
        if self.continue_waits.len() == CONTINUE_WAITS_MAX {
            self.continue_waits.pop_front();
        }
        self.continue_waits.push_back(wait);
    }

    /// What the body of that request waited for.
    pub(crate) fn continue_wait(&self, exchange: &Exchange) -> Option<ContinueWait> {
        if self.continue_waits.is_empty() {
            return None;
        }
        let mut all = self.continue_waits.iter();
        all.find(|wait| wait.ordinal == exchange.ordinal).copied()
    }

    /// Divides the time of an exchange, with the opening of the connection in the first one.
    pub(crate) fn divide(&mut self, exchange: &Exchange, sums: &mut WaitSums) {
        self.settle(exchange.flow, sums);
        if let Some(wait) = self.continue_wait(exchange) {
            let (times, weaker) = ((wait.from_ns, wait.to_ns), Part::is_waiting);
            self.turns
                .ring
                .replace(times, Part::ExpectContinue, weaker, true);
        }
        if let Some((from, to)) = self.times(exchange) {
            sums.exchange(
                self.turns.ring.waits_between(from, to),
                to.saturating_sub(from),
            );
        }
    }

    /// From when to when an exchange with a whole reply was, the first with the opening.
    fn times(&self, exchange: &Exchange) -> Option<(u64, u64)> {
        let latency = exchange.latency_ns()?;
        let from = match self.handshake.started_at() {
            Some(started) if exchange.ordinal == 0 => started,
            _ => exchange.request.first_at_ns,
        };
        Some((from, exchange.request.first_at_ns.saturating_add(latency)))
    }

    /// What an exchange that was divided took its caller, if it has a whole reply.
    pub(crate) fn exchange_time(&self, exchange: &Exchange) -> Option<ExchangeTime> {
        let (_, to_ns) = self.times(exchange)?;
        let request = (exchange.request.first_at_ns, exchange.request.first_packet);
        let opening = self.find_opening_packet(exchange);
        let (from_ns, first_packet) = opening.unwrap_or(request);
        let elapsed_ns = to_ns.saturating_sub(from_ns);
        Some(ExchangeTime {
            from_ns,
            elapsed_ns,
            first_packet,
            has_opening: opening.is_some(),
            parts: Division::of(self.turns.ring.waits_between(from_ns, to_ns), elapsed_ns),
        })
    }

    /// The first packet, if the client opened the connection for that exchange: it asked at once.
    /// The connections of a pool that was opened in advance are older than their first calls.
    fn find_opening_packet(&self, exchange: &Exchange) -> Option<At> {
        let asked_ns = exchange.request.first_at_ns;
        let (started_ns, packet) = self.handshake.started()?;
        if exchange.ordinal > 0 || started_ns > asked_ns {
            return None;
        }
        let waits = self.turns.ring.waits_between(started_ns, asked_ns);
        let idle = waits.filter(|wait| wait.part.is_idle());
        let idle_ns: u64 = idle.map(|wait| wait.ns()).sum();
        (2 * idle_ns <= asked_ns - started_ns).then_some((started_ns, packet))
    }

    /// Adds the times of the server in an exchange that was divided.
    pub(crate) fn add_server_times(&self, exchange: &Exchange, host: &mut HostWindows) {
        let Some((from, to)) = self.times(exchange) else {
            return;
        };
        let waits = self.turns.ring.waits_between(from, to);
        for wait in waits.filter(|wait| wait.part == Part::Server) {
            let times = (wait.from, wait.to);
            self.add_to_host(WindowKind::Account, exchange, times, host);
        }
    }

    /// Adds a time of the server in an exchange.
    pub(crate) fn add_to_host(
        &self,
        kind: WindowKind,
        exchange: &Exchange,
        times: (u64, u64),
        host: &mut HostWindows,
    ) {
        let Opening { client, server, .. } = self.opening;
        let ends = match exchange.caller {
            Direction::Request => (client, server),
            // The capture began behind the connection, which was taken the wrong way round.
            Direction::Reply => (server, client),
        };
        let path_ns = self.path.sender_rtt(exchange.caller.opposite());
        host.add(kind, ends, times, path_ns);
    }

    /// Judges the packet that waits to be judged.
    pub(crate) fn settle(&mut self, id: FlowId, sums: &mut WaitSums) {
        let mut sink = Sink {
            flow: id,
            is_read: self.is_read(),
            account: &mut self.account,
            sums,
        };
        self.turns.settle(&self.path, &mut sink);
    }

    /// What is divided of its time.
    pub(crate) fn add_progress(&self, sums: &mut WaitSums) {
        sums.open(&self.account, self.turns.ring.waits_between(0, u64::MAX));
    }

    /// The connection is over: divides the rest of its time.
    pub(crate) fn finish_waits(&mut self, id: FlowId, sums: &mut WaitSums) {
        let closed_since = [0, 1].map(|way| self.closed_since(way));
        let closed = [0, 1].map(|way| self.directions[way].sender.windows.last_closed(self.now));
        let unanswered = self.directions.iter();
        for stall in unanswered.flat_map(|state| state.losses.unanswered()) {
            self.turns.explain(stall);
        }
        let mut sink = Sink {
            flow: id,
            is_read: self.is_read(),
            account: &mut self.account,
            sums,
        };
        for found in self.waiting.take_found() {
            sink.find_stall(&found);
        }
        self.turns
            .finish(&self.path, closed_since, closed, &mut sink);
        let account = std::mem::take(&mut self.account);
        sums.closed(id, self.turns.elapsed(), account);
    }

    /// What ended before an exchange that is over began is not asked for again, except
    /// where calls overtake each other.
    /// Returns those that no exchange can have met: messages were cut, or are of WebSocket.
    pub(crate) fn forget_completed(&mut self, exchange: &Exchange) -> Vec<Stall> {
        self.last_reply_end = exchange.reply.as_ref().map(|reply| reply.last_at_ns);
        let mut missed = Vec::new();
        if self.is_websocket() {
            let ended = self.last_reply_end.unwrap_or(exchange.request.last_at_ns);
            missed.extend(self.waiting.iter().filter(|stall| stall.to <= ended));
            self.waiting.forget_before(ended.saturating_add(1));
        } else if self.has_lost_track {
            let began = exchange.request.first_at_ns;
            let ended = self.last_reply_end.unwrap_or(began);
            missed.extend(self.waiting.iter().filter(|stall| stall.to < began));
            self.waiting.forget_before(ended.saturating_add(1));
        } else if exchange.protocol != Protocol::Http2 && exchange.protocol != Protocol::Giop {
            self.waiting.forget_before(exchange.request.first_at_ns);
        }
        missed
    }
}

/// From when on nothing but its application keeps a sender from sending what it sends at
/// `at_ns`, ns: at once where less is on its way than any congestion window holds, otherwise
/// when it knew that all has arrived. None: not yet, or not known.
fn free_from(sender: &Sender, at_ns: u64, path: &Path) -> Option<u64> {
    let last = sender.last?;
    let in_flight = sender.flight_bytes(last.end, last.at, path)?;
    if in_flight < INITIAL_WINDOW_SEGMENTS * sender.full_segment() {
        return (!is_released(sender, &last, at_ns, path)).then_some(last.at);
    }
    let arrived = sender.advertisements.first_acknowledging(last.end)?;
    Some(arrived.at + path.sender_rtt(sender.direction))
}

/// The first acknowledgment behind a flight of full segments let its sender go on at `at_ns`.
/// Congestion windows begin with one segment to ten (RFC 2001, RFC 3390, RFC 6928), and are as
/// small again after losses: that the sender waited for the acknowledgment shows that its own
/// was full.
fn is_released(sender: &Sender, last: &Sent, at_ns: u64, path: &Path) -> bool {
    let sender_rtt = path.sender_rtt(sender.direction);
    let release = sender
        .advertisements
        .progress_after(last.at.saturating_sub(sender_rtt));
    let is_prompt = |released_at: u64| {
        let known = released_at.saturating_add(sender_rtt);
        at_ns.abs_diff(known) <= path.slack(sender.direction)
    };
    !last.is_small && release.is_some_and(|release| is_prompt(release.at))
}
