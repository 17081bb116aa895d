//! A segment that ends a wait, until it is judged.

use crate::flow::event::Segment;
use crate::protocol::layer::Kind;

const CIPHER_RECORD: u8 = 20;
const ALERT_RECORD: u8 = 21;
const HANDSHAKE_RECORD: u8 = 22;
const DATA_RECORD: u8 = 23;
/// An alert of TLS 1.3: two bytes, its type and a tag of 16 (RFC 8446 sections 5.2 and 6).
const HIDDEN_ALERT_BYTES: u16 = 19;
/// Session tickets are shorter in the libraries that are common, bytes.
const TICKET_BYTES_MAX: u16 = 300;

/// What a sender could have done in the gap before its segment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SendLimits {
    /// From when on nothing but its application kept it from sending, ns.
    pub(crate) free_from: Option<u64>,
    /// The receiver's window was closed from then until then, ns.
    pub(crate) closed: Option<(u64, u64)>,
    /// By the direction of the sender: since when its receiver's window is closed, ns.
    pub(crate) closed_since: [Option<u64>; 2],
    /// The last segment of the same side was full: more was to come.
    pub(crate) follows_full: bool,
}

/// A segment that ends a wait. It is judged when the next one comes: only then is
/// known what its bytes were.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) segment: Segment,
    pub(super) gap: SendLimits,
    pub(super) calls_before: u32,
    pub(super) starts_call: bool,
    pub(super) ends_call: bool,
    has_control: bool,
    has_message: bool,
    /// The head that comes next is an interim one.
    is_interim: bool,
    has_interim: bool,
    pub(super) has_alert: bool,
    pub(super) records: Records,
}

/// The records of TLS that begin in a segment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Records {
    pub(super) changes_cipher: bool,
    pub(super) has_handshake: bool,
    /// Length of the longest record of the handshake behind the last change of cipher, or of all
    /// where there is none.
    pub(super) handshake_bytes: u16,
    /// Of data type: how many, and the lengths of the shortest and the longest, bytes.
    pub(super) data: u32,
    shortest: u16,
    longest: u16,
    /// Messages of the handshake of TLS 1.3 that were decrypted.
    has_hidden_handshake: bool,
}

impl Pending {
    pub(super) fn new(segment: &Segment, gap: SendLimits, calls_before: u32) -> Pending {
        Pending {
            segment: *segment,
            gap,
            calls_before,
            starts_call: false,
            ends_call: false,
            has_control: false,
            has_message: false,
            is_interim: false,
            has_interim: false,
            has_alert: false,
            records: Records::default(),
        }
    }

    #[inline]
    pub(super) fn layer(&mut self, kind: Kind) {
        match kind {
            Kind::H2Preface
            | Kind::H2Settings
            | Kind::H2WindowUpdate
            | Kind::H2Ping
            | Kind::H2Goaway => self.has_control = true,
            Kind::HttpHeads if self.is_interim => {
                self.is_interim = false;
                self.has_interim = true;
            }
            // Their records say which they are.
            Kind::TlsRecords | Kind::TlsHandshake | Kind::TlsData | Kind::TlsTags => {}
            _ => self.has_message = true,
        }
    }

    /// An interim reply (RFC 9110 section 15.2): who waits for the reply waits on.
    pub(super) fn interim(&mut self) {
        self.is_interim = true;
    }

    /// A record of TLS begins in it, or one ends that was decrypted: `content` is what it
    /// holds.
    pub(super) fn record(&mut self, kind: u8, length: u16, content: Option<u8>) {
        match (kind, content) {
            (ALERT_RECORD, _) | (_, Some(ALERT_RECORD)) => self.has_alert = true,
            (DATA_RECORD, None) if length == HIDDEN_ALERT_BYTES => self.has_alert = true,
            (CIPHER_RECORD, _) => {
                self.records.changes_cipher = true;
                self.records.handshake_bytes = 0;
            }
            (HANDSHAKE_RECORD, _) => {
                self.records.has_handshake = true;
                self.records.handshake_bytes = self.records.handshake_bytes.max(length);
                self.has_message = true;
            }
            // Its layers say whether that is a message.
            (DATA_RECORD, Some(DATA_RECORD)) => self.records.data += 1,
            (DATA_RECORD, Some(_)) => {
                self.records.data += 1;
                self.records.has_hidden_handshake = true;
            }
            (DATA_RECORD, None) => {
                self.records.take_data(length);
                self.has_message = true;
            }
            _ => {}
        }
        self.has_control |= self.has_alert;
    }

    /// Nothing but frames that manage the connection (RFC 9113 sections 6.5, 6.7 and 6.9), alerts
    /// of TLS, or interim replies. One that ends a call, 101 (Switching Protocols), is not one.
    pub(super) fn is_control(&self) -> bool {
        let has_interim = self.has_interim && !self.ends_call;
        (self.has_control || has_interim) && !self.has_message
    }
}

impl Records {
    fn take_data(&mut self, length: u16) {
        self.shortest = if self.data == 0 {
            length
        } else {
            self.shortest.min(length)
        };
        self.longest = self.longest.max(length);
        self.data += 1;
    }

    /// What a server of TLS 1.3 sends behind the handshake (RFC 8446 section 4.6.1): where it
    /// cannot be read, records of one length, too short for most replies.
    pub(super) fn look_like_tickets(&self) -> bool {
        if self.has_hidden_handshake {
            return true;
        }
        self.data > 0 && self.shortest == self.longest && self.longest <= TICKET_BYTES_MAX
    }
}
