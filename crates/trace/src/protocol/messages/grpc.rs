//! Messages of a stream of gRPC, one side of a call. Most calls have a single message each way: of
//! the first one only its ends are noted, until a second one begins.

use wirelab_wire::grpc::Piece;

use super::follower::{Follower, Source};
use crate::protocol::cursor::{Cursor, Edge};
use crate::protocol::exchange::{ExchangeObserver, Extent, MessageFraming};
use crate::protocol::layer::Kind;

/// The messages of one side.
#[derive(Debug, Default)]
pub(in crate::protocol) struct GrpcMessages {
    begin: Option<Edge>,
    /// Behind its last byte.
    end: Option<Edge>,
    length: u32,
    is_compressed: bool,
    /// From the second message on.
    follower: Option<Box<Follower>>,
}

impl GrpcMessages {
    /// The next `bytes` of the body, which the cursor is in front of; `source` where a second
    /// message begins.
    #[inline]
    pub(in crate::protocol) fn take<E: ExchangeObserver>(
        &mut self,
        piece: Option<Piece<'_>>,
        bytes: usize,
        source: impl FnOnce() -> Source,
        cursor: &mut Cursor<'_, E>,
    ) {
        if let Some(follower) = &mut self.follower {
            return follower.take_piece(piece, bytes, cursor);
        }
        match piece {
            Some(Piece::Data(_)) => {}
            Some(Piece::End) => self.end = Some(cursor.readable()),
            None if bytes == 0 => {}
            None | Some(Piece::Start { .. }) => {
                if let Some(end) = self.end {
                    return self.follow(end, piece, bytes, source(), cursor);
                }
                self.begin.get_or_insert_with(|| cursor.edge());
                if let Some(Piece::Start {
                    length, compressed, ..
                }) = piece
                {
                    (self.length, self.is_compressed) = (length, compressed);
                }
            }
        }
    }

    #[cold]
    fn follow<E: ExchangeObserver>(
        &mut self,
        end: Edge,
        piece: Option<Piece<'_>>,
        bytes: usize,
        source: Source,
        cursor: &mut Cursor<'_, E>,
    ) {
        let mut follower = Box::new(Follower::new(source));
        let begin = self.begin.unwrap_or(end);
        let first = Extent {
            first_packet: begin.packet,
            first_at_ns: begin.at_ns,
            last_packet: end.packet,
            last_at_ns: end.at_ns,
            start: begin.offset,
            end: end.offset,
            message_bytes: self.length.into(),
            overhead_bytes: wirelab_wire::grpc::PREFIX_LEN as u64,
            segments: 1,
            ..Extent::default()
        };
        let latest = std::mem::replace(&mut cursor.latest, end);
        follower.is_compressed = self.is_compressed;
        follower.emit(first, None, None, cursor);
        cursor.latest = latest;
        follower.take_piece(piece, bytes, cursor);
        self.follower = Some(follower);
    }

    /// Bytes are missing: what follows is not known to be a message.
    pub(in crate::protocol) fn give_up(&mut self) {
        *self = GrpcMessages::default();
    }
}

impl Follower {
    fn take_piece<E: ExchangeObserver>(
        &mut self,
        piece: Option<Piece<'_>>,
        bytes: usize,
        cursor: &mut Cursor<'_, E>,
    ) {
        debug_assert_eq!(self.source.framing, MessageFraming::Grpc);
        match piece {
            Some(Piece::Data(data)) => {
                cursor.touch(&mut self.extent, 0, bytes, Kind::Message);
                self.keep(data, None);
            }
            Some(Piece::End) => self.report(cursor),
            Some(Piece::Start { compressed, .. }) => {
                self.is_compressed = compressed;
                cursor.touch(&mut self.extent, 0, bytes, Kind::GrpcPrefixes);
            }
            None => cursor.touch(&mut self.extent, 0, bytes, Kind::GrpcPrefixes),
        }
    }
}
