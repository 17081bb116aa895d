//! TLS: the records are distinguished, their content is not (RFC 8446 section 5.1).

use super::cursor::Cursor;
use crate::protocol::exchange::{ExchangeObserver, Pdu};
use crate::protocol::layer::Kind;

const HEAD_BYTES: usize = 5;
const APPLICATION_DATA: u8 = 23;

#[derive(Debug, Default)]
struct Side {
    head: [u8; HEAD_BYTES],
    filled: usize,
    left: u32,
    kind: u8,
    lost: bool,
}

#[derive(Debug, Default)]
pub(super) struct Tls {
    sides: [Side; 2],
}

impl Tls {
    pub(super) fn take<E: ExchangeObserver>(
        &mut self,
        side: usize,
        input: &[u8],
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = &mut self.sides[side];
        // Content type, version 3.x, and a length of at most 2^14 + 2048 (RFC 8446
        // section 5.1, RFC 5246 section 6.2.3).
        if own.lost && matches!(input, [20..=23, 3, 0..=4, 0..=0x48, _, ..]) {
            own.lost = false;
        }
        let mut rest = input;
        while !rest.is_empty() && !own.lost {
            let used = if own.left > 0 {
                let used = rest.len().min(own.left as usize);
                own.left -= used as u32;
                cursor.label(own.layer(), used);
                used
            } else {
                own.head(rest, cursor)
            };
            rest = &rest[used..];
        }
        cursor.label(Kind::Unknown, rest.len());
    }

    /// Bytes are missing. Inside a record the thread is kept.
    pub(super) fn gap<E: ExchangeObserver>(
        &mut self,
        side: usize,
        bytes: u64,
        cursor: &mut Cursor<'_, E>,
    ) {
        let own = &mut self.sides[side];
        if u64::from(own.left) >= bytes {
            own.left -= bytes as u32;
        } else {
            cursor.release_all(Kind::TlsRecords, None);
            *own = Side {
                lost: true,
                ..Side::default()
            };
        }
    }
}

impl Side {
    fn head<E: ExchangeObserver>(&mut self, rest: &[u8], cursor: &mut Cursor<'_, E>) -> usize {
        let used = rest.len().min(HEAD_BYTES - self.filled);
        self.head[self.filled..][..used].copy_from_slice(&rest[..used]);
        self.filled += used;
        cursor.label(Kind::TlsRecords, used);
        if self.filled < HEAD_BYTES {
            return used;
        }
        let [kind, major, _, high, low] = self.head;
        self.filled = 0;
        self.kind = kind;
        self.left = u32::from(u16::from_be_bytes([high, low]));
        // 24 is the heartbeat of RFC 6520.
        self.lost = major != 3 || !(20..=24).contains(&kind);
        if !self.lost {
            cursor.pdu(Pdu::Tls {
                kind,
                length: u16::from_be_bytes([high, low]),
            });
        }
        used
    }

    fn layer(&self) -> Kind {
        // TLS 1.3 hides most of its handshake in this type (RFC 8446 section 5.2), so
        // that it counts as content.
        if self.kind == APPLICATION_DATA {
            Kind::TlsData
        } else {
            Kind::TlsHandshake
        }
    }
}
