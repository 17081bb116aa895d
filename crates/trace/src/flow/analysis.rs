//! What a segment is, by the sequence numbers before it.
//!
//! The rules are those of Wireshark's TCP analysis (User's Guide, section "TCP
//! Analysis"), so that both count alike: sequence numbers alone decide, not
//! whether the bytes were captured before. In their order:
//!
//! - one byte at the next expected number against a closed window is a probe of it;
//! - no or one byte just before the next expected number is a keep-alive;
//! - payload that the other side has acknowledged is a spurious retransmission;
//! - payload, SYN or FIN before the next expected number is a fast
//!   retransmission when two or more duplicate acknowledgments ask for it and the
//!   last came within 20 ms; out of order when the highest byte came less than a
//!   round trip before (that of the handshake, or 3 ms) and it does not end there;
//!   else a retransmission.

use super::event::SegmentKind;
use crate::packet::{Flags, Packet};

/// A fast retransmission follows the last duplicate acknowledgment within this, ns.
const FAST_NS: u64 = 20_000_000;
/// The round trip that is assumed where the handshake did not show one, ns.
pub(super) const OUT_OF_ORDER_NS: u64 = 3_000_000;

/// The relation of a segment to those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on where the last one ended, or carries nothing.
    Next,
    /// Something is missing before it.
    Ahead,
    /// It overtook nothing, it came late.
    OutOfOrder,
    /// Sent again.
    Retransmission,
    /// Sent again after duplicate acknowledgments.
    Fast,
    /// Sent again although it had been acknowledged.
    Spurious,
    /// A probe of a live connection.
    KeepAlive,
    /// A probe of a closed window.
    WindowProbe,
}

impl Verdict {
    #[inline]
    pub(super) fn kind(self, packet: &Packet<'_>) -> SegmentKind {
        if packet.flags.has(Flags::RST) {
            return SegmentKind::Reset;
        }
        match self {
            Verdict::Retransmission | Verdict::Fast | Verdict::Spurious => {
                SegmentKind::Retransmission
            }
            Verdict::OutOfOrder => SegmentKind::OutOfOrder,
            Verdict::KeepAlive | Verdict::WindowProbe => SegmentKind::KeepAlive,
            Verdict::Next | Verdict::Ahead if packet.flags.has(Flags::SYN) => SegmentKind::Open,
            Verdict::Ahead if packet.payload_bytes > 0 => SegmentKind::Ahead,
            Verdict::Next if packet.payload_bytes > 0 => SegmentKind::Data,
            _ if packet.flags.has(Flags::FIN) => SegmentKind::Close,
            _ => SegmentKind::Acknowledgment,
        }
    }
}

/// Counts of all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Connections seen.
    pub flows: u64,
    /// Of those, whose SYN was captured.
    pub opened: u64,
    /// That ended with FIN of both sides.
    pub orderly: u64,
    /// That ended with RST.
    pub reset: u64,
    /// That a new SYN of the same two ends replaced before they ended.
    pub replaced: u64,
    /// That were forgotten to save memory, before they ended.
    pub forgotten: u64,
    /// Segments sent again, for any reason.
    pub retransmissions: u64,
    /// Of those, after duplicate acknowledgments.
    pub fast_retransmissions: u64,
    /// Of those, when they had been acknowledged already.
    pub spurious_retransmissions: u64,
    /// Acknowledgments that repeat the one before (RFC 5681 section 2).
    pub duplicate_acknowledgments: u64,
    /// Packets that announce a closed window.
    pub zero_windows: u64,
    /// Packets with RST.
    pub resets: u64,
    /// Segments that came after later ones.
    pub out_of_order: u64,
    /// Packets that the capture holds twice; the second counts nowhere else.
    pub copies: u64,
    /// Probes of live or closed windows.
    pub keep_alives: u64,
    /// Payload bytes of all segments, on the wire.
    pub payload_bytes: u64,
    /// Bytes delivered in order.
    pub stream_bytes: u64,
    /// Bytes reported as gaps.
    pub gap_bytes: u64,
}

impl Counts {
    #[inline]
    pub(super) fn count(&mut self, packet: &Packet<'_>, verdict: Verdict, repeats: bool) {
        self.duplicate_acknowledgments += u64::from(repeats);
        self.zero_windows += u64::from(packet.window == 0 && is_plain(packet));
        self.resets += u64::from(packet.flags.has(Flags::RST));
        self.payload_bytes += u64::from(packet.payload_bytes);
        match verdict {
            Verdict::Next | Verdict::Ahead => {}
            Verdict::OutOfOrder => self.out_of_order += 1,
            Verdict::Retransmission => self.retransmissions += 1,
            Verdict::Fast => {
                self.retransmissions += 1;
                self.fast_retransmissions += 1;
            }
            Verdict::Spurious => {
                self.retransmissions += 1;
                self.spurious_retransmissions += 1;
            }
            Verdict::KeepAlive | Verdict::WindowProbe => self.keep_alives += 1,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Sender {
    /// The number behind the highest byte.
    next: Option<u32>,
    next_at_ns: u64,
    /// Behind the highest byte without a hole before it.
    contiguous_to: Option<u32>,
    /// As in its last packet; 0 for none.
    acknowledgment: u32,
    acknowledged_at_ns: u64,
    window: Option<u16>,
    duplicates: i32,
    /// The last packet repeated the acknowledgment before it.
    pub(super) repeats: bool,
    last: Option<Verdict>,
}

/// a is before b on the circle of sequence numbers (RFC 9293 section 3.4).
#[inline]
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Classifies a packet of `own`, and remembers it.
#[inline]
pub(super) fn classify(
    packet: &Packet<'_>,
    own: &mut Sender,
    peer: &mut Sender,
    round_trip_ns: Option<u64>,
) -> Verdict {
    // The order of these steps is that of tcp_analyze_sequence_number in Wireshark's
    // epan/dissectors/packet-tcp.c. Another order changes counts.
    let probe = own.probe(packet, peer);
    own.repeats = false;
    if probe != Some(Verdict::WindowProbe) {
        own.count_duplicates(packet, peer);
    }
    // A new acknowledgment ends the run of duplicates.
    if packet.acknowledgment != own.acknowledgment {
        own.duplicates = 0;
    }
    peer.note_acknowledgment_of_unseen(packet);
    let advances = packet.payload_bytes > 0 || is_edge(packet);
    let verdict = match probe {
        Some(Verdict::KeepAlive) => Verdict::KeepAlive,
        probe => {
            let late = advances
                .then(|| own.late(packet, peer, round_trip_ns))
                .flatten();
            late.or(probe).unwrap_or_else(|| own.ahead(packet))
        }
    };
    own.remember(packet, probe);
    verdict
}

#[inline]
fn is_edge(packet: &Packet<'_>) -> bool {
    // SYN and FIN occupy one sequence number each (RFC 9293 section 3.4).
    packet.flags.has(Flags::SYN) || packet.flags.has(Flags::FIN)
}

#[inline]
fn is_plain(packet: &Packet<'_>) -> bool {
    !is_edge(packet) && !packet.flags.has(Flags::RST)
}

impl Sender {
    /// A SYN was sent again: a RST meanwhile may have moved the numbers.
    pub(super) fn restart_after_syn(&mut self) {
        self.next = self.contiguous_to;
    }

    #[inline]
    fn probe(&self, packet: &Packet<'_>, peer: &Sender) -> Option<Verdict> {
        let next = self.next?;
        // A sender probes a zero window with one byte beyond it (RFC 9293 section
        // 3.8.6.1).
        if packet.payload_bytes == 1 && packet.sequence == next && peer.window == Some(0) {
            return Some(Verdict::WindowProbe);
        }
        // SEG.SEQ = SND.NXT - 1, with no byte or one byte of garbage (RFC 9293 section
        // 3.8.4).
        let is_keep_alive = packet.payload_bytes <= 1
            && packet.sequence == next.wrapping_sub(1)
            && is_plain(packet);
        is_keep_alive.then_some(Verdict::KeepAlive)
    }

    /// A duplicate acknowledgment asks for what is missing.
    #[inline]
    fn count_duplicates(&mut self, packet: &Packet<'_>, peer: &Sender) {
        // RFC 5681 section 2: no data, no SYN or FIN, the same acknowledgment and
        // window as before. Answers to keep-alives look the same and are none.
        let repeats = packet.payload_bytes == 0
            && self.window == Some(packet.window)
            && self.next == Some(packet.sequence)
            && packet.acknowledgment == self.acknowledgment
            && is_plain(packet);
        self.repeats = repeats && packet.window != 0 && peer.last != Some(Verdict::KeepAlive);
        if self.repeats {
            self.duplicates = self.duplicates.max(0).saturating_add(1);
        }
    }

    #[inline]
    fn note_acknowledgment_of_unseen(&mut self, packet: &Packet<'_>) {
        let Some(contiguous_to) = self.contiguous_to else {
            return;
        };
        if !packet.flags.has(Flags::ACK) || !is_before(contiguous_to, packet.acknowledgment) {
            return;
        }
        // Wireshark's "ACKed unseen segment": the capture lacks what is acknowledged.
        match self.next {
            Some(next) if is_before(next, contiguous_to) => self.contiguous_to = Some(next),
            _ => self.duplicates = -1,
        }
    }

    /// Payload, SYN or FIN that was sent again or came late.
    #[inline]
    fn late(
        &self,
        packet: &Packet<'_>,
        peer: &Sender,
        round_trip_ns: Option<u64>,
    ) -> Option<Verdict> {
        let end = packet.sequence.wrapping_add(packet.payload_bytes);
        let is_acknowledged = peer.acknowledgment != 0 && !is_before(peer.acknowledgment, end);
        if packet.payload_bytes > 0 && is_acknowledged {
            return Some(Verdict::Spurious);
        }
        let next = self.next?;
        // More than one byte from there on is what follows a probe.
        let follows_probe = packet.payload_bytes > 1 && packet.sequence == next.wrapping_sub(1);
        if !is_before(packet.sequence, next) || follows_probe {
            return None;
        }
        let since_asked_ns = packet.at_ns.wrapping_sub(peer.acknowledged_at_ns);
        // Two, not the three of RFC 5681 section 3.2: like Wireshark, because the
        // capture may lack one of them.
        let is_asked_for = peer.duplicates >= 2 && peer.acknowledgment == packet.sequence;
        if is_asked_for && since_asked_ns < FAST_NS {
            return Some(Verdict::Fast);
        }
        let since_next_ns = packet.at_ns.wrapping_sub(self.next_at_ns);
        let whole_end = end.wrapping_add(u32::from(is_edge(packet)));
        // Within less than a round trip the sender cannot know of a loss, so that the
        // segment was reordered.
        if since_next_ns < round_trip_ns.unwrap_or(OUT_OF_ORDER_NS) && next != whole_end {
            return Some(Verdict::OutOfOrder);
        }
        Some(Verdict::Retransmission)
    }

    #[inline]
    fn ahead(&self, packet: &Packet<'_>) -> Verdict {
        match self.next {
            Some(next) if is_before(next, packet.sequence) => Verdict::Ahead,
            _ => Verdict::Next,
        }
    }

    #[inline]
    fn remember(&mut self, packet: &Packet<'_>, probe: Option<Verdict>) {
        let end = packet.sequence.wrapping_add(packet.payload_bytes);
        let end = end.wrapping_add(u32::from(is_edge(packet)));
        let is_window_probe = probe == Some(Verdict::WindowProbe);
        // The byte of a window probe does not count as sent: the receiver may discard
        // it, and it comes again as data.
        if !is_window_probe && self.next.is_none_or(|next| is_before(next, end)) {
            self.next = Some(end);
            self.next_at_ns = packet.at_ns;
        }
        if !is_window_probe && self.contiguous_to.is_none_or(|to| to == packet.sequence) {
            self.contiguous_to = self.next;
        }
        self.window = Some(packet.window);
        // Also without the flag: Wireshark compares the raw field.
        self.acknowledgment = packet.acknowledgment;
        self.acknowledged_at_ns = packet.at_ns;
        self.last = probe;
    }
}
