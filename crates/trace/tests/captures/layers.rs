//! Every link layer and what lies between it and TCP, compared with Wireshark.

use wirelab_trace::OtherPackets;
use wirelab_trace::flow::event::{Direction, SegmentKind};

use super::events::read;
use super::frames::{ACK, Captured, PSH, SYN, Segment, ethernet, ipv4, ipv6, pcap, reply, request};
use super::tshark::{Folder, agree, has};

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const RAW: u16 = 101;
const LOOP: u16 = 108;
const SLL: u16 = 113;
const IPV4: u16 = 228;
const IPV6: u16 = 229;
const SLL2: u16 = 276;

pub fn conversation() -> [Segment; 5] {
    [
        request(999, 0, b"").flags(SYN),
        reply(4999, 1000, b"").flags(SYN | ACK),
        request(1000, 5000, b""),
        request(1000, 5000, b"GET").flags(PSH | ACK),
        reply(5000, 1003, b"200 OK").flags(PSH | ACK),
    ]
}

pub fn with_ends(segment: &Segment, v6: bool) -> Segment {
    match (v6, segment.from == super::frames::client()) {
        (false, _) => segment.clone(),
        (true, true) => segment
            .clone()
            .ends("[2001:db8::1]:40000", "[2001:db8::2]:80"),
        (true, false) => segment
            .clone()
            .ends("[2001:db8::2]:80", "[2001:db8::1]:40000"),
    }
}

/// Reads the conversation behind such a header; with Wireshark where it is here.
fn reads(link_type: u16, v6: bool, header_bytes: u32, frame: impl Fn(Vec<u8>) -> Vec<u8>) {
    let frames: Vec<Captured> = conversation()
        .iter()
        .zip(0u64..)
        .map(|(segment, ms)| Captured::whole(ms * 1_000_000, frame(with_ends(segment, v6).ip())))
        .collect();
    let bytes = pcap(false, 1, link_type, &frames);
    let (summary, events) = read(&bytes);
    assert_eq!(summary.tcp_packets, 5, "{link_type} {:?}", summary.other);
    assert_eq!(events.stream(0, Direction::Request).bytes, b"GET");
    assert_eq!(events.stream(0, Direction::Reply).bytes, b"200 OK");
    let ip_bytes = if v6 { 40 } else { 20 };
    for (_, segment) in &events.segments {
        assert_eq!(segment.header_bytes, header_bytes + ip_bytes + 20);
    }
    if has("tshark") {
        agree(&Folder::new().write("layers.pcap", &bytes));
    }
}

fn ethertype(v6: bool) -> u16 {
    if v6 { 0x86DD } else { 0x0800 }
}

fn put(head: &[u8], ip: &[u8]) -> Vec<u8> {
    [head, ip].concat()
}

#[test]
fn ethernet_with_and_without_tags() {
    for v6 in [false, true] {
        let inner = ethertype(v6).to_be_bytes();
        reads(ETHERNET, v6, 14, |ip| ethernet(ethertype(v6), &ip));
        let tag = [&[0, 7][..], &inner].concat();
        reads(ETHERNET, v6, 18, |ip| ethernet(0x8100, &put(&tag, &ip)));
        let two = [&[0, 7, 0x81, 0x00, 0, 9][..], &inner].concat();
        reads(ETHERNET, v6, 22, |ip| ethernet(0x88A8, &put(&two, &ip)));
        reads(ETHERNET, v6, 22, |ip| ethernet(0x9100, &put(&two, &ip)));
        // LLC and SNAP (RFC 1042): DSAP, SSAP, control, organisation 0.
        let snap = [&[0xAA, 0xAA, 3, 0, 0, 0][..], &inner].concat();
        reads(ETHERNET, v6, 22, |ip| {
            ethernet(ip.len() as u16 + 8, &put(&snap, &ip))
        });
    }
}

#[test]
fn cooked_captures_of_both_versions() {
    for v6 in [false, true] {
        let kind = ethertype(v6).to_be_bytes();
        let mut sll = vec![0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
        sll.extend(kind);
        reads(SLL, v6, 16, |ip| put(&sll, &ip));
        let mut tagged = vec![0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x81, 0, 0, 7];
        tagged.extend(kind);
        reads(SLL, v6, 20, |ip| put(&tagged, &ip));
        let mut sll2 = kind.to_vec();
        sll2.extend([0, 0, 0, 0, 0, 1, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0]);
        reads(SLL2, v6, 20, |ip| put(&sll2, &ip));
    }
}

#[test]
fn bsd_loopback_in_any_byte_order() {
    reads(NULL, false, 4, |ip| put(&[2, 0, 0, 0], &ip));
    reads(NULL, false, 4, |ip| put(&[0, 0, 0, 2], &ip));
    for family in [24, 28, 30] {
        reads(NULL, true, 4, |ip| put(&[family, 0, 0, 0], &ip));
        reads(NULL, true, 4, |ip| put(&[0, 0, 0, family], &ip));
        reads(LOOP, true, 4, |ip| put(&[0, 0, 0, family], &ip));
    }
    reads(LOOP, false, 4, |ip| put(&[0, 0, 0, 2], &ip));
}

#[test]
fn raw_ip_link_types() {
    for v6 in [false, true] {
        reads(RAW, v6, 0, |ip| ip);
    }
    reads(IPV4, false, 0, |ip| ip);
    reads(IPV6, true, 0, |ip| ip);
}

/// One frame, and how long its IP header is.
fn one(frame: Vec<u8>) -> (OtherPackets, Vec<(u16, u32)>) {
    let bytes = pcap(false, 1, ETHERNET, &[Captured::whole(1, frame)]);
    let (summary, events) = read(&bytes);
    if has("tshark") {
        agree(&Folder::new().write("one.pcap", &bytes));
    }
    let lengths = |(_, segment): &(u32, wirelab_trace::flow::event::Segment)| {
        (segment.ip_header_bytes, segment.bytes)
    };
    (summary.other, events.segments.iter().map(lengths).collect())
}

const A: [u8; 4] = [10, 0, 0, 1];
const B: [u8; 4] = [10, 0, 0, 2];

#[test]
fn options_of_ipv4_are_of_its_header() {
    let tcp = request(1, 1, b"abc").tcp();
    let packet = ipv4(A, B, 6, &[1, 1, 1, 1, 1, 1, 1, 0], &tcp);
    assert_eq!(one(ethernet(0x0800, &packet)).1, [(28, 3)]);
}

#[test]
fn extension_headers_of_ipv6_are_of_its_header() {
    let tcp = request(1, 1, b"abc").tcp();
    let (a, b) = ([0xFD; 16], [0xFC; 16]);
    // Hop-by-hop with padding, destination options of 16 bytes, an atomic fragment.
    let mut body = vec![60, 0, 1, 4, 0, 0, 0, 0];
    body.extend([44, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    body.extend([6, 0, 0, 0, 0, 0, 0, 1]);
    body.extend(&tcp);
    assert_eq!(one(ethernet(0x86DD, &ipv6(a, b, 0, &body))).1, [(72, 3)]);
    let mut authenticated = vec![6, 4, 0, 0];
    authenticated.extend([0; 20]);
    authenticated.extend(&tcp);
    assert_eq!(
        one(ethernet(0x86DD, &ipv6(a, b, 51, &authenticated))).1,
        [(64, 3)]
    );
}

#[test]
fn ethernet_padding_is_not_payload() {
    let mut frame = request(1, 1, b"").ethernet();
    frame.resize(60, 0);
    assert_eq!(one(frame).1, [(20, 0)]);
}

#[test]
fn a_length_of_zero_means_the_whole_frame() {
    // Segmentation is left to the card: more than 16 bits could be there.
    let mut packet = request(1, 1, &vec![7; 70_000]).ip();
    // The total length of IPv4.
    packet[2..4].fill(0);
    assert_eq!(one(ethernet(0x0800, &packet)).1, [(20, 70_000)]);
    let mut frame = request(1, 1, &[7; 100]);
    frame = frame.ends("[::1]:40000", "[::1]:80");
    let mut packet = frame.ip();
    packet[4..6].fill(0);
    let bytes = pcap(
        false,
        1,
        ETHERNET,
        &[Captured::whole(1, ethernet(0x86DD, &packet))],
    );
    let (_, events) = read(&bytes);
    assert_eq!(events.segments[0].1.bytes, 100);
}

#[test]
fn frames_without_tcp_are_counted_by_kind() {
    let counted = |frame: Vec<u8>| one(frame).0;
    let none = OtherPackets::default();
    let udp = ethernet(0x0800, &ipv4(A, B, 17, &[], &[0, 53, 0, 53, 0, 8, 0, 0]));
    assert_eq!(counted(udp), OtherPackets { udp: 1, ..none });
    let icmp = ethernet(0x0800, &ipv4(A, B, 1, &[], &[8, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(counted(icmp), OtherPackets { ip: 1, ..none });
    let arp = ethernet(0x0806, &[0; 28]);
    assert_eq!(counted(arp), OtherPackets { link: 1, ..none });
    assert_eq!(counted(vec![1, 2, 3]), OtherPackets { cut: 1, ..none });
    let mut version = request(1, 1, b"").ip();
    version[0] = 0x95;
    assert_eq!(
        counted(ethernet(0x0800, &version)),
        OtherPackets {
            malformed: 1,
            ..none
        }
    );
    let second = {
        let mut packet = ipv4(A, B, 6, &[], &[7; 64]);
        // Fragment offset, in units of 8 bytes.
        packet[6..8].copy_from_slice(&185u16.to_be_bytes());
        ethernet(0x0800, &packet)
    };
    assert_eq!(
        counted(second),
        OtherPackets {
            fragments: 1,
            ..none
        }
    );
    let bytes = pcap(false, 1, 147, &[Captured::whole(1, vec![0; 60])]);
    assert_eq!(
        read(&bytes).0.other,
        OtherPackets {
            unknown_link: 1,
            ..none
        }
    );
}

#[test]
fn a_syn_may_carry_bytes() {
    let frames = super::frames::space_frames(&[
        request(99, 0, b"early").flags(SYN),
        reply(499, 105, b"").flags(SYN | ACK),
        request(105, 500, b" and late"),
    ]);
    let (_, events) = read(&pcap(true, 1000, ETHERNET, &frames));
    assert_eq!(
        events.stream(0, Direction::Request).bytes,
        b"early and late"
    );
    assert_eq!(
        events.kinds(),
        [SegmentKind::Open, SegmentKind::Open, SegmentKind::Data]
    );
}
