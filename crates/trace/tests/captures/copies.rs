//! Packets that a mirror port captured twice, and what only looks like that.

use wirelab_trace::Summary;

use super::events::read;
use super::frames::{ACK, Captured, PSH, SYN, Segment, ethernet, pcap, reply, request};

const ETHERNET: u16 = 1;
const US: u64 = 1_000;
/// Of the handshake below.
const ROUND_TRIP: u64 = 400 * US;

/// The frames of a conversation as one sender of each packet made them.
struct Mirror {
    frames: Vec<Captured>,
    identification: u16,
}

impl Mirror {
    /// A handshake of 400 µs.
    fn new() -> Mirror {
        let mut mirror = Mirror {
            frames: Vec::new(),
            identification: 100,
        };
        mirror.put(0, &request(999, 0, b"").flags(SYN));
        mirror.put(ROUND_TRIP, &reply(4999, 1000, b"").flags(SYN | ACK));
        mirror.put(ROUND_TRIP, &request(1000, 5000, b""));
        mirror
    }

    /// A packet with an identification of its own.
    fn put(&mut self, at_ns: u64, segment: &Segment) -> &mut Mirror {
        self.identification += 1;
        let mut data = segment.ethernet();
        data[18..20].copy_from_slice(&self.identification.to_be_bytes());
        self.frames.push(Captured::whole(at_ns, data));
        self
    }

    /// The last packet again, changed.
    fn copy(&mut self, after_ns: u64, change: impl FnOnce(&mut Vec<u8>)) -> &mut Mirror {
        let mut frame = self.frames.last().expect("a frame").clone();
        frame.at_ns += after_ns;
        change(&mut frame.data);
        frame.wire_bytes = frame.data.len() as u32;
        self.frames.push(frame);
        self
    }

    fn read(&self) -> Summary {
        read(&pcap(false, 1, ETHERNET, &self.frames)).0
    }

    /// Copies, retransmissions, duplicate acknowledgments.
    fn counts(&self) -> [u64; 3] {
        let flows = self.read().flows;
        let again = flows.retransmissions + flows.out_of_order;
        [flows.copies, again, flows.duplicate_acknowledgments]
    }
}

fn data() -> Segment {
    request(1000, 5000, b"GET / HTTP/1.1\r\n\r\n").flags(PSH | ACK)
}

/// Another router sends it on: new addresses of Ethernet, one hop less.
// With the type of the other changes.
#[expect(clippy::ptr_arg)]
fn route(frame: &mut Vec<u8>) {
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 9, 9, 2, 0, 0, 0, 9, 8]);
    frame[22] -= 1;
}

fn tag(frame: &mut Vec<u8>) {
    frame.splice(12..12, [0x81, 0, 0, 7]);
}

#[test]
fn a_packet_seen_before_and_behind_a_router_or_a_switch_was_sent_once() {
    for change in [route, tag] {
        let mut mirror = Mirror::new();
        mirror.put(1000 * US, &data()).copy(20 * US, change);
        mirror
            .put(1500 * US, &reply(5000, 1018, b""))
            .copy(20 * US, change);
        assert_eq!(mirror.counts(), [2, 0, 0]);
    }
}

#[test]
fn an_unchanged_packet_may_be_one_that_the_network_duplicated() {
    let mut mirror = Mirror::new();
    mirror.put(1000 * US, &data()).copy(20 * US, |_| ());
    assert_eq!(mirror.counts(), [0, 1, 0]);
}

#[test]
fn copies_among_other_packets_are_found() {
    let mut mirror = Mirror::new();
    for number in 0..20u32 {
        let at_ns = (1000 + u64::from(number)) * US;
        mirror.put(at_ns, &request(1000 + 10 * number, 5000, b"0123456789"));
    }
    let copies: Vec<Captured> = mirror.frames[3..].to_vec();
    for mut copy in copies {
        copy.at_ns += 100 * US;
        route(&mut copy.data);
        mirror.frames.push(copy);
    }
    assert_eq!(mirror.counts(), [20, 0, 0]);
}

#[test]
fn a_packet_half_a_round_trip_later_is_a_retransmission() {
    let mut mirror = Mirror::new();
    mirror.put(1000 * US, &data()).copy(ROUND_TRIP / 2, route);
    assert_eq!(mirror.counts(), [0, 1, 0]);
    let mut sooner = Mirror::new();
    sooner
        .put(1000 * US, &data())
        .copy(ROUND_TRIP / 2 - 1, route);
    assert_eq!(sooner.counts(), [1, 0, 0]);
}

#[test]
fn a_retransmission_is_not_a_copy_whatever_its_time() {
    let mut mirror = Mirror::new();
    mirror.put(1000 * US, &data()).put(1010 * US, &data());
    assert_eq!(mirror.counts(), [0, 1, 0]);
    // Neither are acknowledgments that repeat each other.
    let mut acknowledged = Mirror::new();
    for number in 0..4 {
        acknowledged.put((1000 + number) * US, &request(1000, 5000, b""));
    }
    assert_eq!(acknowledged.counts(), [0, 0, 4]);
}

#[test]
fn without_identifications_timestamps_and_another_way_show_a_copy() {
    // NOP, NOP, timestamps.
    let stamps = [1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9];
    let ends = ["[2001:db8::1]:40000", "[2001:db8::2]:80"];
    let v6 = |options: &[u8], change: fn(&mut Vec<u8>)| {
        let segment = data().ends(ends[0], ends[1]).options(options);
        let frame = ethernet(0x86DD, &segment.ip());
        let mut copy = frame.clone();
        change(&mut copy);
        let frames = [frame, copy].map(|data| Captured::whole(1, data));
        read(&pcap(false, 1, ETHERNET, &frames)).0.flows.copies
    };
    assert_eq!(v6(&stamps, tag), 1);
    assert_eq!(v6(&stamps, |_| ()), 0);
    assert_eq!(v6(&[], tag), 0);
}

#[test]
fn two_hops_of_a_proxy_are_two_connections() {
    let mut mirror = Mirror::new();
    mirror.put(1000 * US, &data());
    // The proxy takes the payload over, in a connection of its own.
    mirror.put(1010 * US, &data().ends("10.0.0.2:50000", "10.0.0.3:80"));
    // A NAT takes over all but one end.
    mirror.put(2000 * US, &reply(5000, 1018, b"200 OK"));
    mirror.copy(10 * US, |frame| {
        route(frame);
        frame[30..34].copy_from_slice(&[192, 168, 1, 7]);
    });
    let summary = mirror.read();
    assert_eq!((summary.flows.flows, summary.flows.copies), (3, 0));
}

#[test]
fn each_change_of_the_way_alone_shows_a_copy_in_both_directions() {
    let changes: [fn(&mut Vec<u8>); 3] = [
        |frame| frame[..12].copy_from_slice(&[2, 0, 0, 0, 9, 9, 2, 0, 0, 0, 9, 8]),
        |frame| frame[22] -= 1,
        tag,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut mirror = Mirror::new();
        mirror.copy(20 * US, change);
        mirror.put(1000 * US, &data()).copy(20 * US, change);
        let answer = reply(5000, 1018, b"HTTP/1.1 204 No Content\r\n\r\n").flags(PSH | ACK);
        mirror.put(1500 * US, &answer).copy(20 * US, change);
        assert_eq!(mirror.counts(), [3, 0, 0], "{number}");
        // What a copy differs in matters only for a packet that is the same.
        let mut repeated = Mirror::new();
        repeated.put(1000 * US, &data());
        repeated.copy(20 * US, |frame| {
            change(frame);
            *frame.last_mut().expect("payload") ^= 1;
            let first = frame.len() - 18;
            frame[first] ^= 1;
        });
        repeated.put(1500 * US, &answer).put(1520 * US, &answer);
        assert_eq!(repeated.counts(), [0, 2, 0], "{number}");
    }
}
