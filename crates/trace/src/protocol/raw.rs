//! Messages with their length in front, both directions (contracts/README.md, Raw).

use wirelab_wire::raw::{Frames, Piece};

use super::calls::{Call, Calls};
use super::cut::Cut;
use super::sniff::{Verdict, sniff};
use crate::exchange::{Ending, Exchanges, Extent, Protocol, Unit};
use crate::layer::{Content, Kind};

#[derive(Debug, Default)]
struct Side {
    frames: Frames,
    /// A message has begun.
    begun: bool,
    /// What the message is; known by its first byte.
    content: Option<Content>,
    /// Bytes are missing, or were no length: until a length begins a segment.
    lost: bool,
    /// The reply under way answers a call that was seen.
    answers: bool,
}

/// Both sides of a connection: 0 asks, 1 answers.
#[derive(Debug)]
pub(super) struct Raw {
    sides: [Side; 2],
    /// A reply has come: requests are answered here.
    answered: bool,
    /// Replies are missing before the next one.
    missed: bool,
}

impl Raw {
    pub(super) fn new(beginning: [bool; 2]) -> Raw {
        Raw {
            sides: beginning.map(|beginning| Side {
                lost: !beginning,
                ..Side::default()
            }),
            answered: false,
            missed: false,
        }
    }

    /// Nobody answers: requests that were sent whole are complete.
    pub(super) fn is_one_way(&self) -> bool {
        !self.answered
    }

    pub(super) fn take<E: Exchanges>(
        &mut self,
        side: usize,
        input: &[u8],
        calls: &mut Calls,
        cut: &mut Cut<'_, E>,
    ) {
        let own = &mut self.sides[side];
        let found = || matches!(sniff(input, false), Verdict::Is(Protocol::Raw, _));
        if own.lost && found() {
            own.lost = false;
        }
        self.answered |= side == 1;
        let mut rest = input;
        while !self.sides[side].lost {
            let before = rest.len();
            let piece = self.sides[side].frames.next(&mut rest);
            let used = before - rest.len();
            match piece {
                Ok(Some(Piece::End)) => self.end(side, calls, cut.listener),
                Ok(piece) => {
                    self.assign(side, piece, used, calls, cut);
                    if piece.is_none() {
                        return;
                    }
                }
                Err(_) => {
                    cut.label(Kind::Unknown, used);
                    self.lose(side, calls, cut.listener);
                }
            }
        }
        cut.label(Kind::Unknown, rest.len());
    }

    fn assign<E: Exchanges>(
        &mut self,
        side: usize,
        piece: Option<Piece<'_>>,
        used: usize,
        calls: &mut Calls,
        cut: &mut Cut<'_, E>,
    ) {
        let own = &mut self.sides[side];
        if used > 0 && !own.begun && side == 1 && std::mem::take(&mut self.missed) {
            calls.realign(cut.carrier.acknowledged, cut.listener);
        }
        if used > 0 && !own.begun {
            own.begun = true;
            own.content = None;
            if side == 0 {
                calls.begin(0, cut);
            } else {
                let place = calls.unanswered();
                let call = place.and_then(|place| calls.get(place));
                // Whoever had not received the request does not answer it.
                let heard =
                    |call: &mut Call| cut.carrier.acknowledged > call.exchange.request.start;
                own.answers = call.is_some_and(heard);
            }
        }
        let answers = own.answers;
        let layer = match piece {
            Some(Piece::Content(bytes)) => {
                let is_xml = bytes.first() == Some(&b'<');
                let first = if is_xml { Content::Xml } else { Content::Other };
                (*own.content.get_or_insert(first)).into()
            }
            _ => Kind::RawLengths.into(),
        };
        if matches!(piece, Some(Piece::Start(_))) {
            cut.unit(Unit::Raw);
        }
        let layer: crate::layer::Layer = layer;
        cut.assign_to(layer, used, extent(side, answers, calls));
    }

    fn end(&mut self, side: usize, calls: &mut Calls, listener: &mut impl Exchanges) {
        let own = &mut self.sides[side];
        own.begun = false;
        let place = if side == 0 {
            if let Some(call) = calls.youngest() {
                call.request_done = true;
            }
            Some(0)
        } else if own.answers {
            let place = calls.unanswered();
            if let Some(call) = place.and_then(|place| calls.get(place)) {
                call.reply_done = true;
            }
            place
        } else {
            None
        };
        if let Some(place) = place {
            calls.settle(place, Ending::Framed, listener);
        }
    }

    /// Bytes are missing. Inside a content the thread is kept.
    pub(super) fn gap(
        &mut self,
        side: usize,
        bytes: u64,
        calls: &mut Calls,
        listener: &mut impl Exchanges,
    ) {
        let own = &mut self.sides[side];
        let skipped = usize::try_from(bytes).is_ok_and(|bytes| own.frames.skip(bytes));
        if own.lost || !skipped {
            return self.lose(side, calls, listener);
        }
        let answers = own.answers;
        if let Some(extent) = extent(side, answers, calls) {
            extent.miss(bytes);
        }
        if self.sides[side].frames.left() == Some(0) {
            self.sides[side].frames = Frames::default();
            self.end(side, calls, listener);
        }
    }

    fn lose(&mut self, side: usize, calls: &mut Calls, listener: &mut impl Exchanges) {
        let answers = self.sides[side].answers && self.sides[side].begun;
        self.sides[side] = Side {
            lost: true,
            ..Side::default()
        };
        if side == 0 {
            calls.conclude_all(|_| Ending::Unseen, listener);
        } else if let Some(place) = calls.unanswered().filter(|_| answers) {
            calls.conclude(place, Ending::Unseen, listener);
        }
        self.missed |= side == 1;
    }
}

/// The extent of the message under way.
fn extent(side: usize, answers: bool, calls: &mut Calls) -> Option<&mut Extent> {
    if side == 0 {
        return calls.youngest().map(|call| &mut call.exchange.request);
    }
    let place = calls.unanswered().filter(|_| answers)?;
    calls.get(place).map(Call::reply)
}
