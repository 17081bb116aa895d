//! TCP behind the headers of access networks, mirrors and tunnels, compared with Wireshark.

use proptest::prelude::*;
use wirelab_trace::flow::event::Direction;
use wirelab_trace::fuzzing::fuzz_capture;
use wirelab_trace::{OtherPackets, Summary};

use super::events::read;
use super::frames::{Blocks, Captured, PSH, SYN, ethernet, ipv4, ipv6, pcap, reply, request};
use super::layers::{conversation, with_ends};
use super::tshark::{Folder, agree, has};

const ETHERNET: u16 = 1;
const A: [u8; 4] = [192, 0, 2, 1];
const B: [u8; 4] = [192, 0, 2, 2];
/// Label 16 with more behind it, label 17 at the bottom; class 0, TTL 64.
const LABELS: [u8; 8] = [0, 1, 0, 64, 0, 1, 0x11, 64];
const SNAP: [u8; 6] = [0xAA, 0xAA, 3, 0, 0, 0];

fn ethertype(v6: bool) -> [u8; 2] {
    if v6 { [0x86, 0xDD] } else { [0x08, 0x00] }
}

fn put(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// An Ethernet frame as a tunnel carries it.
fn inner_frame(v6: bool, ip: &[u8]) -> Vec<u8> {
    ethernet(u16::from_be_bytes(ethertype(v6)), ip)
}

/// Ethernet and IPv4 around the payload of a protocol: 34 bytes.
fn wrap_ipv4(protocol: u8, body: &[u8]) -> Vec<u8> {
    ethernet(0x0800, &ipv4(A, B, protocol, &[], body))
}

/// The same and UDP: 42 bytes.
fn wrap_udp(port: u16, body: &[u8]) -> Vec<u8> {
    let length = (8 + body.len()) as u16;
    let mut datagram = Vec::new();
    for number in [50_000, port, length, 0] {
        datagram.extend(u16::to_be_bytes(number));
    }
    datagram.extend(body);
    wrap_ipv4(17, &datagram)
}

/// Conversations that are each behind other headers, in one capture.
struct Cases {
    blocks: Blocks,
    interfaces: u32,
    packets: u64,
    /// Header bytes before IP, IPv6.
    expected: Vec<(u32, bool)>,
}

impl Cases {
    fn new() -> Cases {
        Cases {
            blocks: Blocks::new(false),
            interfaces: 0,
            packets: 0,
            expected: Vec::new(),
        }
    }

    /// The conversation from another port, behind headers of that length.
    fn add(
        &mut self,
        link_type: u16,
        v6: bool,
        header_bytes: u32,
        frame: impl Fn(Vec<u8>) -> Vec<u8>,
    ) {
        let resolution = self.blocks.option(9, &[9]);
        let blocks = std::mem::replace(&mut self.blocks, Blocks::new(false));
        let mut blocks = blocks.interface(link_type, 0, &resolution);
        let port = 41_000 + self.interfaces as u16;
        for segment in conversation() {
            let mut segment = with_ends(&segment, v6);
            let ends = if segment.from.port() == 80 {
                &mut segment.to
            } else {
                &mut segment.from
            };
            ends.set_port(port);
            self.packets += 1;
            let captured = Captured::whole(self.packets * 1_000_000, frame(segment.ip()));
            blocks = blocks.enhanced(self.interfaces, captured.at_ns, &captured);
        }
        self.blocks = blocks;
        self.interfaces += 1;
        self.expected.push((header_bytes, v6));
    }

    /// Each conversation is read; with Wireshark where it is here.
    fn check(self) {
        let (summary, events) = read(&self.blocks.bytes);
        assert_eq!(summary.tcp_packets, self.packets, "{:?}", summary.other);
        for (flow, (header_bytes, v6)) in (0..).zip(&self.expected) {
            assert_eq!(events.stream(flow, Direction::Request).bytes, b"GET");
            assert_eq!(events.stream(flow, Direction::Reply).bytes, b"200 OK");
            let ip_bytes = if *v6 { 40 } else { 20 };
            let own = events.segments.iter().filter(|(other, _)| *other == flow);
            for (_, segment) in own {
                assert_eq!(segment.header_bytes, header_bytes + ip_bytes + 20, "{flow}");
            }
        }
        if has("tshark") {
            agree(&Folder::new().write("tunnels.pcapng", &self.blocks.bytes));
        }
    }
}

#[test]
fn tcp_behind_other_headers_is_read_as_wireshark_reads_it() {
    let mut cases = Cases::new();
    add_mpls(&mut cases);
    add_ppp(&mut cases);
    add_gre(&mut cases);
    add_ip_in_ip(&mut cases);
    add_overlays(&mut cases);
    add_mobile(&mut cases);
    add_wireless(&mut cases);
    add_other_links(&mut cases);
    cases.check();
}

fn add_mpls(cases: &mut Cases) {
    for v6 in [false, true] {
        cases.add(ETHERNET, v6, 22, |ip| {
            ethernet(0x8847, &put(&[&LABELS, &ip]))
        });
    }
}

fn add_ppp(cases: &mut Cases) {
    let pppoe = |protocol: &[u8], ip: &[u8]| {
        let length = ((ip.len() + protocol.len()) as u16).to_be_bytes();
        put(&[&[0x11, 0, 0, 9], &length, protocol, ip])
    };
    for (v6, protocol) in [(false, [0x00, 0x21]), (true, [0x00, 0x57])] {
        cases.add(ETHERNET, v6, 22, |ip| {
            ethernet(0x8864, &pppoe(&protocol, &ip))
        });
        cases.add(51, v6, 8, |ip| pppoe(&protocol, &ip));
        cases.add(9, v6, 4, |ip| put(&[&[0xFF, 3], &protocol, &ip]));
        cases.add(9, v6, 2, |ip| put(&[&protocol, &ip]));
        cases.add(50, v6, 4, |ip| put(&[&[0xFF, 3], &protocol, &ip]));
        // Cisco HDLC names ethertypes.
        cases.add(104, v6, 4, |ip| put(&[&[0x0F, 0], &ethertype(v6), &ip]));
        cases.add(50, v6, 4, |ip| put(&[&[0x0F, 0], &ethertype(v6), &ip]));
    }
    // The first byte of the protocol may be left out where it is 0 (RFC 1661 section 6.5).
    cases.add(9, false, 1, |ip| put(&[&[0x21], &ip]));
}

fn add_gre(cases: &mut Cases) {
    for v6 in [false, true] {
        let kind = ethertype(v6);
        cases.add(ETHERNET, v6, 38, |ip| {
            wrap_ipv4(47, &put(&[&[0, 0], &kind, &ip]))
        });
        // Checksum, key and sequence number.
        cases.add(ETHERNET, v6, 50, |ip| {
            wrap_ipv4(47, &put(&[&[0xB0, 0], &kind, &[0; 12], &ip]))
        });
        // Ethernet within, plain and mirrored (ERSPAN II with its sequence number).
        cases.add(ETHERNET, v6, 52, |ip| {
            wrap_ipv4(47, &put(&[&[0, 0, 0x65, 0x58], &inner_frame(v6, &ip)]))
        });
        cases.add(ETHERNET, v6, 64, |ip| {
            let erspan = [0x10, 0, 0x88, 0xBE, 0, 0, 0, 1, 0x10, 7, 0, 0, 0, 0, 0, 0];
            wrap_ipv4(47, &put(&[&erspan, &inner_frame(v6, &ip)]))
        });
    }
    // PPTP: version 1 with key, sequence and acknowledgment number, then PPP.
    cases.add(ETHERNET, false, 54, |ip| {
        let length = (ip.len() as u16 + 4).to_be_bytes();
        let head = put(&[&[0x30, 0x81, 0x88, 0x0B], &length, &[0, 1], &[0; 8]]);
        wrap_ipv4(47, &put(&[&head, &[0xFF, 3, 0, 0x21], &ip]))
    });
}

fn add_ip_in_ip(cases: &mut Cases) {
    for v6 in [false, true] {
        let number = if v6 { 41 } else { 4 };
        cases.add(ETHERNET, v6, 34, |ip| wrap_ipv4(number, &ip));
        cases.add(ETHERNET, v6, 54, |ip| {
            ethernet(0x86DD, &ipv6([0xFD; 16], [0xFC; 16], number, &ip))
        });
        // Ethernet in IP (RFC 3378).
        cases.add(ETHERNET, v6, 50, |ip| {
            wrap_ipv4(97, &put(&[&[0x30, 0], &inner_frame(v6, &ip)]))
        });
    }
}

fn add_overlays(cases: &mut Cases) {
    for v6 in [false, true] {
        let vxlan = [0x08, 0, 0, 0, 0, 0, 42, 0];
        cases.add(ETHERNET, v6, 64, |ip| {
            wrap_udp(4789, &put(&[&vxlan, &inner_frame(v6, &ip)]))
        });
        // Geneve with an option of eight bytes.
        let geneve = [0x02, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 2, 3, 1, 9, 9, 9, 9];
        cases.add(ETHERNET, v6, 72, |ip| {
            wrap_udp(6081, &put(&[&geneve, &inner_frame(v6, &ip)]))
        });
    }
}

fn add_mobile(cases: &mut Cases) {
    let gtp = |flags: u8, optional: &[u8], ip: &[u8]| {
        let length = ((optional.len() + ip.len()) as u16).to_be_bytes();
        let begin = put(&[&[flags, 255], &length, &[0, 0, 0, 7]]);
        wrap_udp(2152, &put(&[&begin, optional, ip]))
    };
    for v6 in [false, true] {
        cases.add(ETHERNET, v6, 50, |ip| gtp(0x30, &[], &ip));
        // A sequence number; and an extension (a PDU session container) of one word.
        cases.add(ETHERNET, v6, 54, |ip| gtp(0x32, &[0, 1, 0, 0], &ip));
        cases.add(ETHERNET, v6, 58, |ip| {
            gtp(0x34, &[0, 0, 0, 0x85, 1, 0, 9, 0], &ip)
        });
    }
}

fn add_wireless(cases: &mut Cases) {
    // Data to an access point: control, duration, three addresses, sequence.
    let plain = put(&[&[0x08, 0x01], &[0; 22]]);
    // The same with quality of service.
    let with_qos = put(&[&[0x88, 0x01], &[0; 22], &[0, 0]]);
    // Version, length 9, flags are present.
    let radiotap = |flags: u8| [0, 0, 9, 0, 2, 0, 0, 0, flags];
    for v6 in [false, true] {
        let kind = ethertype(v6);
        cases.add(105, v6, 32, |ip| put(&[&plain, &SNAP, &kind, &ip]));
        cases.add(127, v6, 41, |ip| {
            put(&[&radiotap(0), &plain, &SNAP, &kind, &ip])
        });
        // Padded to 28 bytes.
        cases.add(127, v6, 45, |ip| {
            put(&[&radiotap(0x20), &with_qos, &[0, 0], &SNAP, &kind, &ip])
        });
        cases.add(192, v6, 40, |ip| {
            put(&[&[0, 0, 8, 0, 105, 0, 0, 0], &plain, &SNAP, &kind, &ip])
        });
    }
}

#[test]
fn encrypted_frames_are_counted_as_such() {
    let mut frame = put(&[&[0x08, 0x41], &[0; 22]]);
    frame.extend([0x5A; 60]);
    let wireless = summary(105, &frame);
    assert_eq!(only_encrypted(&wireless), 1);
    let ipsec = summary(ETHERNET, &wrap_ipv4(50, &[7; 64]));
    assert_eq!(only_encrypted(&ipsec), 1);
    assert_eq!(ipsec.unread()["encrypted frames"], 1);
}

fn only_encrypted(summary: &Summary) -> u64 {
    let none = OtherPackets::default();
    let encrypted = summary.other.encrypted;
    assert_eq!(summary.other, OtherPackets { encrypted, ..none });
    encrypted
}

#[test]
fn pseudowires_fabrics_and_mpls_without_ethernet_are_read() {
    for v6 in [false, true] {
        // With a control word, and without.
        reads_silently(ETHERNET, v6, |ip| {
            ethernet(0x8847, &put(&[&LABELS, &[0; 4], &inner_frame(v6, &ip)]))
        });
        reads_silently(ETHERNET, v6, |ip| {
            let mut frame = inner_frame(v6, &ip);
            frame[0] = 0xA2;
            ethernet(0x8847, &put(&[&LABELS, &frame]))
        });
        reads_silently(219, v6, |ip| put(&[&LABELS, &ip]));
        reads_silently(ETHERNET, v6, |ip| {
            ethernet(0x8903, &put(&[&[0, 0x60], &inner_frame(v6, &ip)]))
        });
    }
}

#[test]
fn frames_behind_a_header_that_wireshark_does_not_count_are_read() {
    for v6 in [false, true] {
        let protocol = if v6 { 0x57 } else { 0x21 };
        reads_silently(204, v6, |ip| put(&[&[1, 0, protocol], &ip]));
        reads_silently(240, v6, |ip| put(&[&[0; 4], &inner_frame(v6, &ip)]));
    }
}

#[test]
fn the_log_of_netfilter_is_read_in_both_byte_orders() {
    for (v6, family) in [(false, 2), (true, 10)] {
        for is_little in [true, false] {
            let half = |number: u16| {
                if is_little {
                    number.to_le_bytes()
                } else {
                    number.to_be_bytes()
                }
            };
            reads_silently(239, v6, |ip| {
                // An attribute of another type, padded to eight bytes, and the payload.
                let length = half(ip.len() as u16 + 4);
                let first = put(&[&half(7), &half(10), &[b'x', b'y', 0, 0]]);
                put(&[&[family, 0, 0, 1], &first, &length, &half(9), &ip])
            });
        }
    }
}

fn add_other_links(cases: &mut Cases) {
    for v6 in [false, true] {
        let kind = ethertype(v6);
        cases.add(100, v6, 8, |ip| put(&[&SNAP, &kind, &ip]));
        cases.add(10, v6, 21, |ip| {
            put(&[&[0x50], &[2; 12], &SNAP, &kind, &ip])
        });
        let nlpid = if v6 { 0x8E } else { 0xCC };
        cases.add(107, v6, 4, |ip| put(&[&[0x18, 0x41, 3, nlpid], &ip]));
    }
}

/// For what Wireshark reads differently or by other headers.
fn reads_silently(link_type: u16, v6: bool, frame: impl Fn(Vec<u8>) -> Vec<u8>) {
    let ends = if v6 {
        ["[2001:db8::1]:40000", "[2001:db8::2]:80"]
    } else {
        ["10.0.0.1:40000", "10.0.0.2:80"]
    };
    let segment = request(1000, 5000, b"GET")
        .flags(PSH | 16)
        .ends(ends[0], ends[1]);
    let frames = [Captured::whole(1, frame(segment.ip()))];
    let (summary, events) = read(&pcap(false, 1, link_type, &frames));
    assert_eq!(summary.tcp_packets, 1, "{link_type} {:?}", summary.other);
    assert_eq!(events.stream(0, Direction::Request).bytes, b"GET");
}

#[test]
fn tunnels_within_tunnels_are_read_down_to_a_limit() {
    let nested = |levels: usize| {
        let segment = request(1, 1, b"abc").ip();
        let wrap = |ip: Vec<u8>, _| ipv4(A, B, 4, &[], &ip);
        summary(
            ETHERNET,
            &ethernet(0x0800, &(0..levels).fold(segment, wrap)),
        )
    };
    assert_eq!(nested(0).tcp_packets, 1);
    assert_eq!(nested(8).tcp_packets, 1);
    let hostile = nested(2_000);
    assert_eq!((hostile.tcp_packets, hostile.other.malformed), (0, 1));
}

#[test]
fn datagrams_of_others_on_the_port_of_a_tunnel_stay_datagrams() {
    for port in [4789, 4790, 6081, 2152, 1701, 8472] {
        for body in [
            &[0xFF; 40][..],
            &[0; 40],
            b"d1:ad2:id20:abcdefghij0123456789",
        ] {
            let summary = summary(ETHERNET, &wrap_udp(port, body));
            assert_eq!(
                (summary.tcp_packets, summary.other.total()),
                (0, 1),
                "{port}"
            );
        }
    }
}

#[test]
fn two_tunnels_that_hold_one_connection_each_are_two_connections() {
    let vxlan = [0x08, 0, 0, 0, 0, 0, 42, 0];
    let frames: Vec<Captured> = [
        request(999, 0, b"").flags(SYN),
        reply(4999, 1000, b"").flags(SYN | 16),
        request(1, 1, b"x").ends("10.9.0.1:40000", "10.9.0.2:80"),
    ]
    .iter()
    .map(|segment| wrap_udp(4789, &put(&[&vxlan, &segment.ethernet()])))
    .map(|data| Captured::whole(1, data))
    .collect();
    let (summary, events) = read(&pcap(false, 1, ETHERNET, &frames));
    assert_eq!((summary.flows.flows, summary.other.udp), (2, 0));
    assert_eq!(events.openings[&0].server, super::frames::server());
}

fn summary(link_type: u16, frame: &[u8]) -> Summary {
    let frames = [Captured::whole(1, frame.to_vec())];
    read(&pcap(false, 1, link_type, &frames)).0
}

#[test]
fn links_that_are_not_read_are_named_and_counted() {
    let blocks = Blocks::new(false);
    let frame = Captured::whole(1, vec![0; 60]);
    let blocks = blocks.interface(195, 0, &[]).interface(147, 0, &[]);
    let blocks = blocks.enhanced(0, 1, &frame).enhanced(1, 2, &frame);
    let (summary, _) = read(&blocks.enhanced(0, 3, &frame).bytes);
    let unread: Vec<_> = summary.unread().into_iter().collect();
    let expected = [("ieee802.15.4", 2), ("user0", 1)];
    assert_eq!(
        unread,
        expected.map(|(name, packets)| (name.to_owned(), packets))
    );
}

proptest! {
    /// It must return: panics and endless loops fail inside.
    #[test]
    fn any_bytes_in_a_tunnel_are_read_in_bounded_time(
        number in prop::sample::select(vec![4u8, 41, 47, 50, 97, 137]),
        port in prop::sample::select(vec![1701u16, 2152, 4789, 4790, 6081, 8472]),
        kind in prop::sample::select(vec![0x8847u16, 0x8864, 0x88E7, 0x8100, 0x6558, 0x880B]),
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let frames = [wrap_ipv4(number, &body), wrap_udp(port, &body), ethernet(kind, &body)];
        let frames = frames.map(|data| Captured::whole(1, data));
        fuzz_capture(&pcap(false, 1, ETHERNET, &frames));
    }
}
