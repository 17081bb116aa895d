//! The calls of one connection that are under way.

use std::collections::VecDeque;

use wirelab_wire::grpc;

use super::body::StreamBody;
use super::cursor::Cursor;
use super::messages::{Follower, GrpcMessages, Source};
use crate::flow::event::{Direction, FlowId, Segment};
use crate::protocol::exchange::{
    Ending, Exchange, ExchangeHalf, ExchangeObserver, Extent, MessageFraming, Protocol,
};
use crate::protocol::layer::Content;

/// Calls under way on one connection at most; of more, the oldest is given up.
pub(super) const OPEN_MAX: usize = 1_024;

/// Bytes of a name that are kept.
const NAME_BYTES_MAX: usize = 120;

/// A call under way.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) exchange: Exchange,
    pub(super) request_done: bool,
    pub(super) reply_done: bool,
    /// Its reply has no body, whatever its head states (method HEAD).
    pub(super) head_only: bool,
    /// It asks for a tunnel (method CONNECT).
    pub(super) tunnel: bool,
    /// By side: what finds the messages of gRPC.
    pub(super) grpc: [Option<grpc::Deframer>; 2],
    /// By side: messages of gRPC that have begun.
    pub(super) messages: [u32; 2],
    /// By side: the same, one by one.
    pub(super) grpc_messages: [GrpcMessages; 2],
    /// By side: what the content is.
    pub(super) content: [Content; 2],
    /// Bytes of the other direction that the caller had received when it asked.
    pub(super) received: u64,
    /// Reads the body of a reply that is a stream of messages.
    pub(super) stream_body: Option<Box<StreamBody>>,
    /// By side: bytes of control frames before the last frame of its message.
    pub(super) control_bytes: [u64; 2],
}

impl Call {
    /// The reply's extent; it begins to exist.
    pub(super) fn reply(&mut self) -> &mut Extent {
        self.exchange.reply.get_or_insert_default()
    }

    /// The extent of a side's message: 0 the request's, 1 the reply's.
    pub(super) fn extent(&mut self, side: usize) -> &mut Extent {
        if side == 0 {
            &mut self.exchange.request
        } else {
            self.reply()
        }
    }

    /// The reply's extent, and what reads its messages.
    pub(super) fn reply_body(&mut self) -> (&mut Extent, Option<&mut StreamBody>) {
        let extent = self.exchange.reply.get_or_insert_default();
        (extent, self.stream_body.as_deref_mut())
    }

    /// The reply is a stream of messages. `is_encoded`: they cannot be read.
    pub(super) fn begin_stream(&mut self, framing: MessageFraming, is_encoded: bool) {
        let is_events = framing == MessageFraming::Sse;
        self.exchange.is_stream |= is_events;
        if self.stream_body.is_some() || is_encoded && !is_events {
            return;
        }
        let follower = (!is_encoded).then(|| Follower::new(self.source(framing)));
        let body = StreamBody::new(is_events, follower);
        self.stream_body = Some(Box::new(body));
    }

    /// Of messages of this call.
    pub(super) fn source(&self, framing: MessageFraming) -> Source {
        source_of(&self.exchange, framing)
    }

    /// A byte of its reply was seen, or none is expected.
    fn is_answered(&self) -> bool {
        let reply = self.exchange.reply.as_ref();
        self.reply_done || reply.is_some_and(|reply| reply.segments > 0)
    }

    /// Its own side has sent all.
    fn end(&mut self, side: usize) {
        if side == 0 {
            self.request_done = true;
        } else {
            self.reply_done = true;
        }
    }
}

/// All calls of a connection.
#[derive(Debug)]
pub(super) struct Calls {
    flow: FlowId,
    pub(super) protocol: Protocol,
    pub(super) caller: Direction,
    open: VecDeque<Call>,
    next_ordinal: u64,
    pub(super) last_stream: u32,
    /// What the caller had received when it asked last.
    received: Option<u64>,
    /// It has asked twice without having received anything in between.
    pub(super) pipelines: bool,
    /// Complete; reported when it is known whether the server closes after it.
    finished: Option<Exchange>,
}

impl Calls {
    pub(super) fn new(flow: FlowId) -> Calls {
        Calls {
            flow,
            protocol: Protocol::Unknown,
            caller: Direction::Request,
            open: VecDeque::new(),
            next_ordinal: 0,
            last_stream: 0,
            received: None,
            pipelines: false,
            finished: None,
        }
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.open.capacity() * size_of::<Call>()
    }

    pub(super) fn count(&self) -> u64 {
        self.next_ordinal
    }

    /// A request begins with the first byte that waits, or with the next one.
    pub(super) fn begin<E: ExchangeObserver>(
        &mut self,
        stream: u32,
        cursor: &mut Cursor<'_, E>,
    ) -> &mut Call {
        self.report_finished(cursor.listener);
        // Bounds what a client can make this hold that sends requests and gets no
        // replies.
        if self.open.len() == OPEN_MAX {
            self.finish(0, Ending::Unseen, cursor.listener);
        }
        let segment = cursor.first_segment();
        let received = segment.acknowledged;
        // The acknowledgment number shows what the client had received when it asked.
        // Unchanged since its last request, it did not wait for that reply.
        self.pipelines |= self.received.replace(received) == Some(received);
        cursor.listener.call_started(self.flow, &segment);
        // Its ordinal is that of the request's first byte, so that it agrees with the
        // order in which the client sent.
        let exchange = Exchange {
            flow: self.flow,
            ordinal: self.next_ordinal,
            protocol: self.protocol,
            caller: self.caller,
            name: Box::default(),
            status: None,
            stream,
            request: Extent::default(),
            reply: None,
            ending: Ending::Unseen,
            is_stream: false,
            bursts: Vec::new(),
            closed_by_server: false,
        };
        self.next_ordinal += 1;
        self.last_stream = self.last_stream.max(stream);
        self.open.push_back(Call {
            exchange,
            request_done: false,
            reply_done: false,
            head_only: false,
            tunnel: false,
            grpc: [None, None],
            messages: [0; 2],
            content: [Content::Other; 2],
            received,
            grpc_messages: Default::default(),
            stream_body: None,
            control_bytes: [0; 2],
        });
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// The newest call: the one whose request is being sent in protocols that
    /// send one after the other.
    #[inline]
    pub(super) fn newest(&mut self) -> Option<&mut Call> {
        self.open.back_mut().filter(|call| !call.request_done)
    }

    /// The place of the oldest call that is not answered, which the next reply answers.
    #[inline]
    pub(super) fn unanswered(&self) -> Option<usize> {
        self.open.iter().position(|call| !call.reply_done)
    }

    #[inline]
    pub(super) fn find(&self, stream: u32) -> Option<usize> {
        self.open
            .iter()
            // From the newest on: a client of GIOP may use an id again once it was
            // answered (CORBA 3.3 part 2, section 9.4.2).
            .rposition(|call| call.exchange.stream == stream)
    }

    #[inline]
    pub(super) fn get(&mut self, place: usize) -> Option<&mut Call> {
        self.open.get_mut(place)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    #[inline]
    pub(super) fn settle(
        &mut self,
        place: usize,
        ending: Ending,
        listener: &mut impl ExchangeObserver,
    ) -> bool {
        let done = |call: &Call| call.request_done && call.reply_done;
        let settled = self.open.get(place).is_some_and(done);
        if settled {
            self.finish(place, ending, listener);
        }
        settled
    }

    pub(super) fn finish(
        &mut self,
        place: usize,
        ending: Ending,
        listener: &mut impl ExchangeObserver,
    ) {
        let removed = self.open.remove(place);
        // Before the exchange before it is reported: a listener that looks at the packet then
        // knows what that ended.
        if let Some(call) = &removed {
            listener.call_ended(self.flow, call.exchange.ordinal, ending);
        }
        self.report_finished(listener);
        if let Some(mut call) = removed {
            call.exchange.ending = ending;
            call.exchange.bursts = call
                .stream_body
                .map(|body| body.into_bursts())
                .unwrap_or_default();
            // A reply of which no byte was seen is none.
            call.exchange.reply = call.exchange.reply.filter(|reply| reply.segments > 0);
            self.finished = Some(call.exchange);
        }
    }

    /// The call was none.
    pub(super) fn forget(&mut self, place: usize, listener: &mut impl ExchangeObserver) {
        if let Some(call) = self.open.remove(place) {
            listener.call_ended(self.flow, call.exchange.ordinal, Ending::Unseen);
        }
    }

    /// The place of the newest call of which that holds.
    pub(super) fn newest_where(&self, holds: impl Fn(&Call) -> bool) -> Option<usize> {
        self.open.iter().rposition(holds)
    }

    /// The call is given up: the capture lacks what would identify its reply.
    pub(super) fn abandon(&mut self, place: usize, listener: &mut impl ExchangeObserver) {
        if self.get(place).is_some_and(|call| !call.is_answered()) {
            listener.message_unpaired(self.flow, ExchangeHalf::Request);
        }
        self.finish(place, Ending::Unseen, listener);
    }

    pub(super) fn abandon_all(&mut self, listener: &mut impl ExchangeObserver) {
        while !self.is_empty() {
            self.abandon(0, listener);
        }
    }

    /// Bytes are missing, and with them where messages begin and end.
    pub(super) fn lose_track(&self, listener: &mut impl ExchangeObserver) {
        listener.track_lost(self.flow);
    }

    pub(super) fn abandon_unanswered(&mut self, listener: &mut impl ExchangeObserver) {
        let unanswered = |call: &Call| !call.is_answered();
        while let Some(place) = self.open.iter().position(unanswered) {
            self.abandon(place, listener);
        }
    }

    /// A side of the call of that stream or number has sent all.
    pub(super) fn end(&mut self, side: usize, stream: u32, listener: &mut impl ExchangeObserver) {
        if let Some(place) = self.find(stream) {
            self.open[place].end(side);
            self.settle(place, Ending::Framed, listener);
        }
    }

    /// All calls are over, in the order of their requests.
    pub(super) fn finish_all(
        &mut self,
        ending_of: impl Fn(&Call) -> Ending,
        listener: &mut impl ExchangeObserver,
    ) {
        while let Some(call) = self.open.front() {
            let ending = ending_of(call);
            self.finish(0, ending, listener);
        }
    }

    pub(super) fn fin(&mut self, segment: &Segment, listener: &mut impl ExchangeObserver) {
        // A FIN of the server right behind a reply, with nothing else under way, is a
        // connection per call. With other calls open it is of those.
        if segment.direction != self.caller
            && self.open.is_empty()
            && let Some(exchange) = &mut self.finished
        {
            exchange.closed_by_server = true;
        }
        self.report_finished(listener);
    }

    pub(super) fn report_finished(&mut self, listener: &mut impl ExchangeObserver) {
        if let Some(exchange) = &self.finished {
            listener.exchange(exchange);
            self.finished = None;
        }
    }
}

/// Of messages of a call; they could be sent once it was asked.
pub(super) fn source_of(exchange: &Exchange, framing: MessageFraming) -> Source {
    let request = &exchange.request;
    Source {
        framing,
        exchange: Some(exchange.ordinal),
        stream: exchange.stream,
        since_ns: (request.segments > 0).then_some(request.last_at_ns),
    }
}

/// A name of bounded length, from untrusted text.
pub(super) fn name(parts: [&str; 2]) -> Box<str> {
    let [first, second] = parts;
    let mut text = String::with_capacity((first.len() + 1 + second.len()).min(NAME_BYTES_MAX + 4));
    let blank = if first.is_empty() || second.is_empty() {
        ""
    } else {
        " "
    };
    for part in [first, blank, second] {
        let room = NAME_BYTES_MAX - text.len();
        // Cut at a character boundary: names come from the wire and go into JSON.
        if part.len() > room {
            let end = (0..=room).rfind(|at| part.is_char_boundary(*at));
            text.push_str(&part[..end.unwrap_or(0)]);
            text.push('…');
            break;
        }
        text.push_str(part);
    }
    text.into()
}
