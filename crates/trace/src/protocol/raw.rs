//! Messages with their length in front, both directions (contracts/README.md, Raw).

use wirelab_wire::raw::{Frames, Piece};

use super::calls::Calls;
use super::cursor::Cursor;
use super::detect::{Detection, detect};
use super::pairing::Pairing;
use crate::protocol::exchange::{Ending, ExchangeObserver, Pdu, Protocol};
use crate::protocol::layer::{Content, Kind, Layer};

#[derive(Debug, Default)]
struct Side {
    frames: Frames,
    started: bool,
    /// What the message is; known by its first byte.
    content: Option<Content>,
    /// Bytes are missing, or were not a length: until a length begins a segment.
    lost: bool,
}

/// Both sides of a connection: 0 asks, 1 answers.
#[derive(Debug)]
pub(super) struct Raw {
    sides: [Side; 2],
    /// A reply has come: requests are answered here.
    answered: bool,
    pub(super) pairing: Pairing,
}

impl Raw {
    pub(super) fn new(beginning: [bool; 2]) -> Raw {
        Raw {
            sides: beginning.map(|beginning| Side {
                lost: !beginning,
                ..Side::default()
            }),
            answered: false,
            pairing: Pairing::default(),
        }
    }

    /// The server never answers: requests that were sent whole are complete.
    pub(super) fn is_one_way(&self) -> bool {
        !self.answered
    }

    pub(super) fn take<E: ExchangeObserver>(
        &mut self,
        side: usize,
        input: &[u8],
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = &mut self.sides[side];
        let found = || matches!(detect(input, false), Detection::Is(Protocol::Raw, _));
        // A message begins a segment, and its length is recognised there.
        if own.lost && found() {
            own.lost = false;
        }
        // A service without replies never sends a byte; one reply is enough to expect
        // others.
        self.answered |= side == 1;
        let mut rest = input;
        while !self.sides[side].lost {
            let before = rest.len();
            let piece = self.sides[side].frames.next(&mut rest);
            let used = before - rest.len();
            match piece {
                Ok(Some(Piece::End)) => self.end(side, calls, cursor.listener),
                Ok(piece) => {
                    self.assign(side, piece, used, calls, cursor);
                    if piece.is_none() {
                        return;
                    }
                }
                Err(_) => {
                    cursor.label(Kind::Unknown, used);
                    self.desynchronize(side, calls, cursor.listener);
                }
            }
        }
        cursor.label(Kind::Unknown, rest.len());
    }

    fn assign<E: ExchangeObserver>(
        &mut self,
        side: usize,
        piece: Option<Piece<'_>>,
        used: usize,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        if used > 0 && !self.sides[side].started {
            self.begin(side, calls, cursor);
        }
        let own = &mut self.sides[side];
        let layer: Layer = match piece {
            Some(Piece::Content(bytes)) => {
                // The framing has no content type. No other format of the lab begins
                // with this byte.
                let is_xml = bytes.first() == Some(&b'<');
                let first = if is_xml { Content::Xml } else { Content::Other };
                (*own.content.get_or_insert(first)).into()
            }
            _ => Kind::RawLengths.into(),
        };
        if matches!(piece, Some(Piece::Start(_))) {
            cursor.pdu(Pdu::Raw);
        }
        cursor.assign_to(layer, used, self.pairing.extent(side, calls));
    }

    fn begin<E: ExchangeObserver>(
        &mut self,
        side: usize,
        calls: &mut Calls,
        cursor: &mut Cursor<'_, E>,
    ) {
        self.sides[side].started = true;
        self.sides[side].content = None;
        if side == 0 {
            calls.begin(0, cursor);
            return;
        }
        self.pairing.answer(calls, cursor);
        if self.pairing.find_answered_call(calls).is_none() {
            self.pairing.orphan(cursor);
        }
    }

    fn end(&mut self, side: usize, calls: &mut Calls, listener: &mut impl ExchangeObserver) {
        self.sides[side].started = false;
        self.pairing.finish(side, Ending::Framed, calls, listener);
    }

    /// Bytes are missing. Inside a content the thread is kept.
    pub(super) fn gap(
        &mut self,
        side: usize,
        bytes: u64,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        let own = &mut self.sides[side];
        let skipped = usize::try_from(bytes).is_ok_and(|bytes| own.frames.skip(bytes));
        if own.lost || !skipped {
            return self.desynchronize(side, calls, listener);
        }
        if let Some(extent) = self.pairing.extent(side, calls) {
            extent.miss(bytes);
        }
        // The gap ended where the message does.
        if self.sides[side].frames.left() == Some(0) {
            self.sides[side].frames = Frames::default();
            self.end(side, calls, listener);
        }
    }

    fn desynchronize(
        &mut self,
        side: usize,
        calls: &mut Calls,
        listener: &mut impl ExchangeObserver,
    ) {
        self.sides[side] = Side {
            lost: true,
            ..Side::default()
        };
        self.pairing.desynchronize(side, calls, listener);
    }
}
