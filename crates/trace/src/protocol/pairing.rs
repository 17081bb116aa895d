//! Which request a reply answers where messages have no numbers: HTTP/1 (RFC 9112
//! section 9.3.2) and length-prefixed messages are answered in order.
//!
//! Order decides nothing where messages are missing: a capture that lacks one request
//! would give each later one the reply of its neighbour. Then acknowledgments decide.
//! A reply begins behind all bytes that the client had received when it asked, and
//! its sender had received the request, and nothing behind it; of several requests
//! of which that holds the newest is answered, because a client that does not pipeline
//! asks again only when it was answered. For a client that pipelines nothing decides, and
//! nothing is paired. What is left over is counted ([`ExchangeObserver::message_unpaired`]).

use super::body::StreamBody;
use super::calls::{Call, Calls};
use super::cursor::Cursor;
use crate::protocol::exchange::{Ending, ExchangeHalf, ExchangeObserver, Extent};

/// What is known of one connection. Side 0 asks, 1 answers.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    /// The reply under way answers a call that was seen.
    answers: bool,
    /// Messages are missing, as far as is known: order alone decides nothing.
    is_ambiguous: bool,
}

impl Pairing {
    pub(super) fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }

    /// A reply begins with the next byte. A server that had not received a request does
    /// not answer it.
    pub(super) fn answer<E: ExchangeObserver>(
        &mut self,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        // Both are offsets of opposite streams: where the reply begins in its own, and
        // how much of the requests its sender had received.
        let (start, acknowledged) = (cursor.offset, cursor.segment.acknowledged);
        // The segment with the reply's first byte acknowledges some of the request it
        // answers.
        let request_received = |call: &Call| acknowledged > call.exchange.request.start;
        if self.is_ambiguous {
            let could = |call: &Call| {
                let request = &call.exchange.request;
                request_received(call)
                    && acknowledged <= request.end
                    && call.received <= start
                    && !call.reply_done
            };
            let newest = calls.newest_where(could);
            let answered = newest.filter(|_| !calls.pipelines);
            let others = newest.map_or(0, |place| place + usize::from(calls.pipelines));
            // These were asked earlier and not answered in their turn: their replies
            // are missing.
            for _ in 0..others {
                calls.abandon(0, cursor.listener);
            }
            let requested = answered.and_then(|_| calls.get(0));
            // Nothing lies between what the client had received and this reply.
            self.is_ambiguous = requested.is_none_or(|call| call.received < start);
            self.answers = answered.is_some();
            return;
        }
        let place = calls.unanswered();
        self.answers = place
            .and_then(|place| calls.get(place))
            .is_some_and(|call| request_received(call));
    }

    pub(super) fn find_answered_call<'a>(&self, calls: &'a mut Calls) -> Option<&'a mut Call> {
        let place = calls.unanswered().filter(|_| self.answers)?;
        calls.get(place)
    }

    /// A reply has come whose request was not seen.
    pub(super) fn orphan<E: ExchangeObserver>(&mut self, cursor: &mut Cursor<'_, E>) {
        // From here on the order proves nothing, until a pair is confirmed by
        // acknowledgments.
        self.is_ambiguous = true;
        cursor
            .listener
            .message_unpaired(cursor.flow, ExchangeHalf::Reply);
    }

    pub(super) fn extent<'a>(&self, side: usize, calls: &'a mut Calls) -> Option<&'a mut Extent> {
        match side {
            0 => calls.newest().map(|call| &mut call.exchange.request),
            _ => self.find_answered_call(calls).map(Call::reply),
        }
    }

    /// The extent of the message whose body comes, and what reads the messages in it.
    pub(super) fn body<'a>(
        &self,
        side: usize,
        calls: &'a mut Calls,
    ) -> (Option<&'a mut Extent>, Option<&'a mut StreamBody>) {
        if side == 0 {
            return (self.extent(side, calls), None);
        }
        let Some(call) = self.find_answered_call(calls) else {
            return (None, None);
        };
        let (extent, stream) = call.reply_body();
        (Some(extent), stream)
    }

    pub(super) fn finish(
        &mut self,
        side: usize,
        ending: Ending,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        let place = if side == 0 {
            if let Some(call) = calls.newest() {
                call.request_done = true;
            }
            // A reply that was complete before its request.
            Some(0)
        } else {
            let place = calls.unanswered().filter(|_| self.answers);
            if let Some(call) = self.find_answered_call(calls) {
                call.reply_done = true;
            }
            self.answers = false;
            place
        };
        if let Some(place) = place {
            calls.settle(place, ending, listener);
        }
    }

    pub(super) fn desynchronize(
        &mut self,
        side: usize,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        self.is_ambiguous = true;
        calls.lose_track(listener);
        if side == 0 {
            calls.abandon_all(listener);
        } else if let Some(place) = calls.unanswered().filter(|_| self.answers) {
            calls.finish(place, Ending::Unseen, listener);
        }
        self.answers = false;
    }
}
