//! TLS: cuts a connection into records (RFC 8446 section 5.1), and decrypts them where a
//! key log has their secrets.
//!
//! Without secrets, records are distinguished and their content is not. With them, a
//! record is collected until it is whole, opened, and its plain bytes go to the parsers of
//! other protocols with the places in the TCP stream that they had in encrypted form.
//!
//! | file | content |
//! |---|---|
//! | `keylog` | secrets by connection |
//! | `handshake`, `session` | hellos, and what follows from them |
//! | `suite`, `schedule`, `cipher` | from secrets to opened records |
//! | `upper` | what takes the bytes |
//! | `record` | a record over several segments |
//! | `counts` | what became of all connections |
//! | `seal` | makes records, for fuzzers |

mod cipher;
pub mod counts;
mod handshake;
pub mod keylog;
mod record;
mod schedule;
pub(crate) mod seal;
mod session;
mod suite;
mod upper;

use super::cursor::UNKNOWN_BYTES;
use crate::flow::event::{Direction, Segment};
use crate::protocol::exchange::Pdu;
use crate::protocol::layer::Kind;
use cipher::{Cipher, Opened};
use handshake::{Messages, kind};
use keylog::KeyLog;
use record::Record;
pub(super) use session::Report;
use session::{Reason, Session};
use suite::Version;
pub(super) use upper::Upper;
use upper::{APPLICATION_DATA, HEAD_BYTES};

const CHANGE_CIPHER_SPEC: u8 = 20;
const HANDSHAKE: u8 = 22;
/// Records of early data that are passed over; servers allow some kilobytes.
const EARLY_RECORDS_MAX: u32 = 1024;

/// Whether the records of a direction are encrypted.
#[derive(Debug, Default)]
enum Protection {
    /// Not yet.
    #[default]
    None,
    Sealed(Box<Cipher>),
    /// And stay so.
    Opaque,
}

/// What becomes of the record under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Treatment {
    #[default]
    Plain,
    Collected,
    /// It cannot be opened: bytes of it are missing, or it came in too many pieces.
    Broken,
    Opaque,
}

#[derive(Debug, Default)]
struct Side {
    head: [u8; HEAD_BYTES],
    filled: usize,
    left: u32,
    treatment: Treatment,
    /// Until a head is found.
    lost: bool,
    protection: Protection,
    record: Record,
    messages: Messages,
    early_records: u32,
}

/// One connection; sides are directions.
#[derive(Debug, Default)]
pub(super) struct Tls {
    sides: [Side; 2],
    session: Session,
}

impl Tls {
    pub(super) fn state_bytes(&self) -> usize {
        let side = |side: &Side| side.record.state_bytes() + side.messages.state_bytes();
        size_of::<Tls>() + self.sides.iter().map(side).sum::<usize>()
    }

    pub(super) fn report(&self) -> Report {
        self.session.report()
    }

    pub(super) fn take(
        &mut self,
        segment: &Segment,
        mut offset: u64,
        input: &[u8],
        upper: &mut impl Upper,
    ) {
        let side = segment.direction as usize;
        let mut rest = input;
        if self.sides[side].lost {
            let skipped = begin_of_record(rest).inspect(|_| self.sides[side].lost = false);
            let skipped = skipped.unwrap_or(rest.len());
            upper.label(Kind::Unknown, skipped, segment);
            rest = &rest[skipped..];
            offset += skipped as u64;
        }
        while !rest.is_empty() && !self.sides[side].lost {
            let used = if self.sides[side].left > 0 {
                self.payload(segment, offset, rest, upper)
            } else {
                self.head(segment, offset, rest, upper)
            };
            rest = &rest[used..];
            offset += used as u64;
        }
        upper.label(Kind::Unknown, rest.len(), segment);
    }

    fn head(
        &mut self,
        segment: &Segment,
        offset: u64,
        rest: &[u8],
        upper: &mut impl Upper,
    ) -> usize {
        let side = segment.direction as usize;
        let own = &mut self.sides[side];
        if own.filled == 0 {
            own.record.begin(segment, offset);
        }
        let used = rest.len().min(HEAD_BYTES - own.filled);
        own.head[own.filled..][..used].copy_from_slice(&rest[..used]);
        own.filled += used;
        upper.label(Kind::TlsRecords, used, segment);
        if own.filled < HEAD_BYTES {
            return used;
        }
        own.filled = 0;
        own.left = u32::from(own.length());
        // 24 is the heartbeat of RFC 6520.
        own.lost = own.head[1] != 3 || !(20..=24).contains(&own.head[0]);
        if own.lost {
            self.lose(side, offset, upper);
            return used;
        }
        let treatment = self.treatment(side, upper.keys());
        let own = &mut self.sides[side];
        own.treatment = treatment;
        if treatment == Treatment::Collected {
            own.record.payload.reserve(own.left as usize);
        } else {
            upper.pdu(own.pdu(None), segment);
        }
        if own.left == 0 {
            self.end(segment, upper);
        }
        used
    }

    /// What becomes of the record with the head that has come.
    fn treatment(&mut self, side: usize, keys: &KeyLog) -> Treatment {
        let is_data = self.sides[side].head[0] == APPLICATION_DATA;
        let is_13 = self.session.version() == Some(Version::TLS13);
        if is_data && matches!(self.sides[side].protection, Protection::None) {
            if self.session.version().is_none() && self.session.may_be_early(side) {
                return Treatment::Opaque;
            }
            // TLS 1.3 encrypts from the first record of this type on; TLS 1.2 has changed
            // its cipher before.
            self.protect(side, keys);
        }
        match self.sides[side].protection {
            Protection::None => Treatment::Plain,
            // Changes of cipher mean nothing in TLS 1.3 (RFC 8446 section 5), and alerts in
            // plain text come from a peer without keys.
            Protection::Sealed(_) if is_13 && !is_data => Treatment::Plain,
            Protection::Sealed(_) => Treatment::Collected,
            Protection::Opaque => Treatment::Opaque,
        }
    }

    /// From the next record on a side encrypts.
    fn protect(&mut self, side: usize, keys: &KeyLog) {
        self.sides[side].protection = match self.session.cipher(side, keys) {
            Ok(mut cipher) => {
                if self.session.has_gap {
                    cipher.lose();
                }
                Protection::Sealed(Box::new(cipher))
            }
            Err(reason) => {
                self.session.refuse(reason);
                Protection::Opaque
            }
        };
    }

    fn payload(
        &mut self,
        segment: &Segment,
        offset: u64,
        rest: &[u8],
        upper: &mut impl Upper,
    ) -> usize {
        let side = segment.direction as usize;
        let own = &mut self.sides[side];
        let used = rest.len().min(own.left as usize);
        let bytes = &rest[..used];
        own.left -= used as u32;
        if own.treatment == Treatment::Collected {
            if !own.record.push(segment, offset, bytes) {
                own.break_record(segment, upper);
            }
        } else {
            upper.label(own.layer(), used, segment);
        }
        let is_plain = own.treatment == Treatment::Plain;
        if is_plain && own.head[0] == HANDSHAKE {
            for (message, body) in own.messages.take(bytes) {
                self.session.take(side, message, &body);
            }
        }
        if self.sides[side].left == 0 {
            self.end(segment, upper);
        }
        used
    }

    /// The record is whole.
    fn end(&mut self, segment: &Segment, upper: &mut impl Upper) {
        let side = segment.direction as usize;
        match self.sides[side].treatment {
            Treatment::Plain if self.sides[side].head[0] == CHANGE_CIPHER_SPEC => {
                let version = self.session.version();
                if version.is_some_and(|version| version < Version::TLS13) {
                    self.session.change_cipher(side);
                    self.protect(side, upper.keys());
                }
            }
            Treatment::Collected => self.open(segment, upper),
            Treatment::Broken => self.skip(segment.direction, upper),
            // Early data, before it is known how it is encrypted.
            Treatment::Opaque if matches!(self.sides[side].protection, Protection::None) => {
                upper.gap(
                    segment.direction,
                    self.sides[side].record.offset(),
                    UNKNOWN_BYTES,
                );
            }
            Treatment::Plain | Treatment::Opaque => {}
        }
    }

    fn open(&mut self, segment: &Segment, upper: &mut impl Upper) {
        let own = &mut self.sides[segment.direction as usize];
        let Protection::Sealed(cipher) = &mut own.protection else {
            return;
        };
        let Some(opened) = cipher.open(own.head, &mut own.record.payload) else {
            return self.fail(segment, upper);
        };
        self.session.opened();
        upper.pdu(own.pdu(Some(opened.kind)), segment);
        own.record.hand_out(&opened, upper);
        if opened.kind == HANDSHAKE {
            self.follow(segment, &opened, upper);
        }
        self.sides[segment.direction as usize].record.clear();
    }

    /// Messages within encrypted records: those of TLS 1.3 that change the keys.
    fn follow(&mut self, segment: &Segment, opened: &Opened, upper: &mut impl Upper) {
        let own = &mut self.sides[segment.direction as usize];
        let Protection::Sealed(cipher) = &mut own.protection else {
            return;
        };
        let messages = own
            .messages
            .take(&own.record.payload[opened.content.clone()]);
        // Where messages of the handshake are missing, the rest of one may look like
        // another. The next keys are then found by trying them.
        if cipher.is_in_handshake() && cipher.is_uncertain() {
            own.messages = Messages::default();
            return;
        }
        let changes = |message: u8| match message {
            kind::FINISHED => cipher.is_in_handshake(),
            kind::KEY_UPDATE => cipher.carries_data(),
            _ => false,
        };
        let is_last = messages
            .last()
            .is_some_and(|(message, _)| changes(*message));
        let is_13 = self.session.version() == Some(Version::TLS13);
        // Messages that change the keys end their record (RFC 8446 section 5.1).
        if is_13 && is_last && cipher.advance().is_none() {
            self.give_up(segment.direction, upper);
        }
    }

    /// A record is not authentic.
    fn fail(&mut self, segment: &Segment, upper: &mut impl Upper) {
        let side = segment.direction as usize;
        let may_be_early = self.session.may_be_early(side);
        let own = &mut self.sides[side];
        upper.pdu(own.pdu(None), segment);
        own.record.release(own.layer(), upper);
        // Early data has keys of its own, and its server may have refused it (RFC 8446
        // section 4.2.10).
        let is_at_start =
            matches!(&own.protection, Protection::Sealed(cipher) if cipher.is_at_start());
        if may_be_early && is_at_start && own.early_records < EARLY_RECORDS_MAX {
            own.early_records += 1;
            let offset = own.record.offset();
            return upper.gap(segment.direction, offset, UNKNOWN_BYTES);
        }
        self.session.failed_records += 1;
        self.give_up(segment.direction, upper);
    }

    /// The records of a direction stay encrypted from here on.
    fn give_up(&mut self, direction: Direction, upper: &mut impl Upper) {
        let own = &mut self.sides[direction as usize];
        own.protection = Protection::Opaque;
        self.session.refuse(Reason::AuthenticationFailed);
        upper.gap(direction, own.record.offset(), UNKNOWN_BYTES);
    }

    /// A record of known length cannot be opened.
    fn skip(&mut self, direction: Direction, upper: &mut impl Upper) {
        let own = &mut self.sides[direction as usize];
        own.messages = Messages::default();
        let length = usize::from(own.length());
        let Protection::Sealed(cipher) = &mut own.protection else {
            return;
        };
        cipher.skip();
        let bytes = cipher.content_bytes(length);
        if cipher.carries_data() && own.head[0] == APPLICATION_DATA && bytes > 0 {
            upper.gap(direction, own.record.offset(), bytes as u64);
        }
    }

    /// Bytes are missing. Inside a record the thread is kept.
    pub(super) fn gap(
        &mut self,
        segment: &Segment,
        offset: u64,
        bytes: u64,
        upper: &mut impl Upper,
    ) {
        let side = segment.direction as usize;
        let own = &mut self.sides[side];
        if u64::from(own.left) < bytes {
            own.lost = true;
            return self.lose(side, offset, upper);
        }
        own.left -= bytes as u32;
        match own.treatment {
            Treatment::Collected => own.break_record(segment, upper),
            Treatment::Plain => own.messages = Messages::default(),
            _ => {}
        }
        self.session.has_gap = true;
        if self.sides[side].left == 0 {
            self.end(segment, upper);
        }
    }

    /// It is not known where the next record begins.
    fn lose(&mut self, side: usize, offset: u64, upper: &mut impl Upper) {
        let direction = [Direction::Request, Direction::Reply][side];
        let own = &mut self.sides[side];
        own.record.release(Kind::TlsData, upper);
        (own.filled, own.left) = (0, 0);
        own.messages = Messages::default();
        self.session.has_gap = true;
        if let Protection::Sealed(cipher) = &mut own.protection {
            cipher.lose();
            upper.gap(direction, offset, UNKNOWN_BYTES);
        }
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, upper: &mut impl Upper) {
        for own in &mut self.sides {
            own.record.release(Kind::TlsData, upper);
        }
    }
}

impl Side {
    fn length(&self) -> u16 {
        u16::from_be_bytes([self.head[3], self.head[4]])
    }

    fn pdu(&self, content: Option<u8>) -> Pdu {
        Pdu::Tls {
            kind: self.head[0],
            length: self.length(),
            content,
        }
    }

    fn layer(&self) -> Kind {
        // TLS 1.3 hides most of its handshake in this type (RFC 8446 section 5.2), so
        // that it counts as content.
        if self.head[0] == APPLICATION_DATA {
            Kind::TlsData
        } else {
            Kind::TlsHandshake
        }
    }

    fn break_record(&mut self, segment: &Segment, upper: &mut impl Upper) {
        upper.pdu(self.pdu(None), segment);
        self.record.release(self.layer(), upper);
        self.treatment = Treatment::Broken;
    }
}

/// Where a record may begin in bytes that follow a gap: at their front any, further on one
/// of data, which is rare enough by chance (once in 2^26 bytes).
fn begin_of_record(bytes: &[u8]) -> Option<usize> {
    // Content type, version 3.x, and a length of at most 2^14 + 2048 (RFC 8446
    // section 5.1, RFC 5246 section 6.2.3).
    if matches!(bytes, [20..=23, 3, 0..=4, 0..=0x48, _, ..]) {
        return Some(0);
    }
    let is_head = |head: &[u8]| matches!(head, [APPLICATION_DATA, 3, 3, 0..=0x41, _]);
    bytes.windows(HEAD_BYTES).position(is_head)
}
