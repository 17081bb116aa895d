//! Finds the messages of one stream and direction.

use super::envelopes::Envelopes;
use super::frames::Frames;
use super::lines::Lines;
use super::sse::Events;
use super::step::{End, Role};
use crate::protocol::cursor::Cursor;
use crate::protocol::events::own_time;
use crate::protocol::exchange::{ExchangeObserver, Extent, MessageFraming, StreamMessage};
use crate::protocol::layer::Kind;

/// Bytes of a message's content that are kept, the first.
const KEPT_MAX: usize = 512;

#[derive(Debug)]
enum Scanner {
    Events(Events),
    Frames(Frames),
    Envelopes(Envelopes),
    Lines(Lines),
    /// Its messages are found elsewhere.
    Grpc,
}

/// What a stream is a part of.
#[derive(Debug, Clone, Copy)]
pub(in crate::protocol) struct Source {
    pub(in crate::protocol) framing: MessageFraming,
    pub(in crate::protocol) exchange: Option<u64>,
    pub(in crate::protocol) stream: u32,
    /// When its first message could have been sent, ns.
    pub(in crate::protocol) since_ns: Option<u64>,
}

/// Finds the messages of one stream and direction.
#[derive(Debug)]
pub(in crate::protocol) struct Follower {
    pub(super) source: Source,
    scanner: Scanner,
    pub(super) extent: Extent,
    kept: Vec<u8>,
    /// The message under way is compressed by itself.
    pub(super) is_compressed: bool,
    number: u64,
}

impl Follower {
    pub(in crate::protocol) fn new(source: Source) -> Follower {
        Follower {
            source,
            scanner: match source.framing {
                MessageFraming::Sse => Scanner::Events(Events::default()),
                MessageFraming::Websocket => Scanner::Frames(Frames::default()),
                MessageFraming::Connect => Scanner::Envelopes(Envelopes::default()),
                MessageFraming::Ndjson => Scanner::Lines(Lines::default()),
                MessageFraming::Grpc => Scanner::Grpc,
            },
            extent: Extent::default(),
            kept: Vec::new(),
            is_compressed: false,
            number: 0,
        }
    }

    /// Takes the next bytes of the stream; the cursor is where they begin, and stays there.
    pub(in crate::protocol) fn take<E: ExchangeObserver>(
        &mut self,
        bytes: &[u8],
        cursor: &mut Cursor<'_, E>,
    ) {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let step = match &mut self.scanner {
                Scanner::Events(events) => events.step(rest),
                Scanner::Frames(frames) => frames.step(rest),
                Scanner::Envelopes(envelopes) => envelopes.step(rest),
                Scanner::Lines(lines) => lines.step(rest),
                Scanner::Grpc => return,
            };
            let piece = &rest[..step.used];
            match step.role {
                Role::Between => {}
                Role::Head => cursor.touch(&mut self.extent, at, piece.len(), Kind::GrpcPrefixes),
                Role::Body(key) => {
                    cursor.touch(&mut self.extent, at, piece.len(), Kind::Message);
                    self.keep(piece, key);
                }
            }
            at += step.used;
            match step.end {
                Some(End::Message) => self.report(cursor),
                Some(End::Nothing) => self.clear(),
                None => {}
            }
        }
    }

    /// Bytes of the stream are missing.
    pub(in crate::protocol) fn miss(&mut self, bytes: u64) {
        let is_inside = match &mut self.scanner {
            Scanner::Events(events) => events.miss(),
            Scanner::Frames(frames) => frames.miss(bytes),
            Scanner::Envelopes(envelopes) => envelopes.miss(bytes),
            Scanner::Lines(lines) => lines.miss(),
            Scanner::Grpc => false,
        };
        if !is_inside {
            self.clear();
            self.source.since_ns = None;
        }
    }

    pub(super) fn keep(&mut self, body: &[u8], key: Option<([u8; 4], usize)>) {
        let room = KEPT_MAX.saturating_sub(self.kept.len()).min(body.len());
        let body = &body[..room];
        match key {
            None => self.kept.extend_from_slice(body),
            Some((key, place)) => {
                let plain = body.iter().zip(place..);
                self.kept
                    .extend(plain.map(|(byte, place)| byte ^ key[place % 4]));
            }
        }
    }

    fn clear(&mut self) {
        self.extent = Extent::default();
        self.kept.clear();
    }

    pub(super) fn report<E: ExchangeObserver>(&mut self, cursor: &mut Cursor<'_, E>) {
        match &self.scanner {
            Scanner::Frames(frames) => self.is_compressed = frames.is_compressed(),
            Scanner::Envelopes(envelopes) => self.is_compressed = envelopes.is_compressed(),
            _ => {}
        }
        let content = hash(&self.kept, self.extent.message_bytes);
        let made_ns = (!self.is_compressed)
            .then(|| own_time(&self.kept))
            .flatten();
        let extent = std::mem::take(&mut self.extent);
        self.kept.clear();
        self.emit(extent, Some(content), made_ns, cursor);
    }

    pub(super) fn emit<E: ExchangeObserver>(
        &mut self,
        extent: Extent,
        content: Option<u64>,
        made_ns: Option<u64>,
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = (extent.last_packet, extent.last_at_ns);
        let readable = own.max((cursor.latest.packet, cursor.latest.at_ns));
        let message = StreamMessage {
            flow: cursor.flow,
            direction: cursor.segment.direction,
            framing: self.source.framing,
            exchange: self.source.exchange,
            stream: self.source.stream,
            number: self.number,
            extent,
            readable,
            since_ns: self.source.since_ns,
            is_compressed: self.is_compressed,
            content,
            made_ns,
        };
        self.number += 1;
        self.source.since_ns = Some(readable.1);
        cursor.listener.message(&message);
    }
}

/// FNV-1a of the beginning, and the length.
fn hash(kept: &[u8], bytes: u64) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let length = bytes.to_le_bytes();
    let all = kept.iter().chain(&length);
    all.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    })
}
