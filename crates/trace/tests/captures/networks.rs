//! Connections in the networks of tunnels, and tunnels whose packets are in fragments of IP.

use wirelab_trace::flow::event::Direction::{Reply, Request};

use super::events::{Events, read};
use super::frames::{ACK, Captured, PSH, Segment, client, ethernet, ipv4, pcap, reply, request};
use super::layers::conversation;

const HOSTS: [[u8; 4]; 2] = [[192, 0, 2, 1], [192, 0, 2, 2]];
const UDP: u8 = 17;
const GRE: u8 = 47;

fn datagram(port: u16, body: &[u8]) -> Vec<u8> {
    let numbers = [50_000, port, 8 + body.len() as u16, 0];
    [&numbers.map(u16::to_be_bytes).concat(), body].concat()
}

/// Packets of a tunnel with that number of its network.
type Tunnel = fn(u8, &[u8]) -> Vec<u8>;

fn vxlan(network: u8, ip: &[u8]) -> Vec<u8> {
    let header = [0x08, 0, 0, 0, 0, 0, network, 0];
    let body = [&header, &ethernet(0x0800, ip)[..]].concat();
    ipv4(HOSTS[0], HOSTS[1], UDP, &[], &datagram(4789, &body))
}

fn geneve(network: u8, ip: &[u8]) -> Vec<u8> {
    let header = [0, 0, 0x65, 0x58, 0, 0, network, 0];
    let body = [&header, &ethernet(0x0800, ip)[..]].concat();
    ipv4(HOSTS[0], HOSTS[1], UDP, &[], &datagram(6081, &body))
}

fn gre(key: u8, ip: &[u8]) -> Vec<u8> {
    let body = [&[0x20, 0, 0x08, 0, 0, 0, 0, key], ip].concat();
    ipv4(HOSTS[0], HOSTS[1], GRE, &[], &body)
}

/// The same conversation from other initial numbers.
fn other_conversation() -> [Segment; 5] {
    conversation().map(|mut segment| {
        segment.sequence += 1_000_000_000;
        segment.acknowledgment += 1_000_000_000;
        if segment.payload == b"GET" {
            segment.payload = b"PUT".to_vec();
        }
        segment
    })
}

/// IP with an identification.
fn ip_with_identification(segment: &Segment, number: u8) -> Vec<u8> {
    let mut ip = segment.ip();
    ip[4..6].copy_from_slice(&[7, number]);
    ip
}

/// Events of packets that come 10 us apart, each pair of them a millisecond after the one before,
/// and how many connections and copies there are.
fn events_of(packets: &[Vec<u8>]) -> (Events, u64, u64) {
    let at_ns = |place: usize| (place / 2 * 1_000_000 + place % 2 * 10_000) as u64;
    let frames = packets.iter().enumerate();
    let frames: Vec<Captured> = frames
        .map(|(place, ip)| Captured::whole(at_ns(place), ethernet(0x0800, ip)))
        .collect();
    let (summary, events) = read(&pcap(false, 1, 1, &frames));
    assert_eq!(summary.tcp_packets, packets.len() as u64);
    (events, summary.flows.flows, summary.flows.copies)
}

#[test]
fn the_same_ends_in_two_networks_are_two_connections() {
    for tunnel in [vxlan as Tunnel, geneve, gre] {
        let both = conversation().into_iter().zip(other_conversation());
        let packets = both.flat_map(|(one, other)| [tunnel(7, &one.ip()), tunnel(8, &other.ip())]);
        let (events, flows, copies) = events_of(&packets.collect::<Vec<_>>());
        assert_eq!((flows, copies), (2, 0));
        for (flow, bytes) in [(0, b"GET"), (1, b"PUT")] {
            assert_eq!(events.stream(flow, Request).bytes, bytes);
            assert_eq!(events.stream(flow, Reply).bytes, b"200 OK");
        }
        assert_eq!(events.closed.len(), 2);
    }
}

#[test]
fn a_connection_may_have_another_network_in_each_direction() {
    let packets = conversation().map(|segment| {
        let network = if segment.from == client() { 7 } else { 8 };
        vxlan(network, &segment.ip())
    });
    let (events, flows, _) = events_of(&packets);
    assert_eq!(flows, 1);
    assert_eq!(events.stream(0, Request).bytes, b"GET");
    assert_eq!(events.stream(0, Reply).bytes, b"200 OK");
}

#[test]
fn packets_that_a_gateway_takes_to_another_network_are_copies() {
    let numbers = conversation().into_iter().zip(1..);
    let packets = numbers.flat_map(|(segment, number)| {
        let ip = ip_with_identification(&segment, number);
        [vxlan(7, &ip), vxlan(8, &ip)]
    });
    let (events, flows, copies) = events_of(&packets.collect::<Vec<_>>());
    assert_eq!((flows, copies), (1, 5));
    assert_eq!(events.stream(0, Request).bytes, b"GET");
}

#[test]
fn a_connection_that_is_opened_again_replaces_that_of_its_own_network() {
    let (first, second) = (conversation(), other_conversation());
    let packets = first.iter().chain(&second).map(|one| vxlan(7, &one.ip()));
    let other = conversation().map(|mut segment| {
        segment.sequence += 2_000_000_000;
        segment.acknowledgment += 2_000_000_000;
        vxlan(8, &segment.ip())
    });
    let packets: Vec<Vec<u8>> = packets.chain(other).collect();
    let (events, flows, _) = events_of(&packets);
    assert_eq!(flows, 3);
    for (flow, bytes) in [(0, b"GET"), (1, b"PUT"), (2, b"GET")] {
        assert_eq!(events.stream(flow, Request).bytes, bytes);
    }
}

/// An IPv4 packet in two fragments, the first with `first` bytes of its payload.
fn fragments(ip: &[u8], first: usize) -> [Vec<u8>; 2] {
    let part = |flags_and_offset: u16, payload: &[u8]| {
        let mut header = ip[..20].to_vec();
        header[2..4].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
        header[6..8].copy_from_slice(&flags_and_offset.to_be_bytes());
        [&header, payload].concat()
    };
    let payload = &ip[20..];
    [
        part(0x2000, &payload[..first]),
        part(first as u16 / 8, &payload[first..]),
    ]
}

#[test]
fn a_packet_in_a_fragmented_tunnel_has_all_of_its_length() {
    for tunnel in [vxlan as Tunnel, geneve, gre] {
        let large = reply(5000, 1003, &[b'x'; 1_440]).flags(PSH | ACK);
        let last = reply(6440, 1003, b"ok").flags(PSH | ACK);
        let mut packets: Vec<Vec<u8>> = conversation()[..4]
            .iter()
            .map(|one| tunnel(7, &one.ip()))
            .collect();
        packets.extend(fragments(&tunnel(7, &large.ip()), 1_472));
        packets.push(tunnel(7, &last.ip()));
        packets.push(tunnel(7, &request(1003, 6442, b"").ip()));
        let frames = packets.iter().zip(0_u64..);
        let frames: Vec<Captured> = frames
            .map(|(ip, ms)| Captured::whole(ms * 1_000_000, ethernet(0x0800, ip)))
            .collect();
        let (summary, events) = read(&pcap(false, 1, 1, &frames));
        assert_eq!((summary.tcp_packets, summary.other.fragments), (7, 1));
        let (_, segment) = events.segments[4];
        assert_eq!((segment.packet, segment.bytes), (5, 1_440));
        let stream = events.stream(0, Reply);
        // What the second fragment has is missing, not more.
        let [(offset, missing)] = stream.gaps[..] else {
            panic!("{:?}", stream.gaps);
        };
        assert_eq!(offset + missing, 1_440);
        assert!((1..200).contains(&missing), "{missing}");
        assert!(stream.bytes.ends_with(b"ok"));
    }
}

#[test]
fn a_fragment_of_another_datagram_is_not_read_as_a_tunnel() {
    let ip = ipv4(HOSTS[0], HOSTS[1], UDP, &[], &datagram(5000, &[8; 2_000]));
    let frames = fragments(&ip, 1_480).map(|part| Captured::whole(0, ethernet(0x0800, &part)));
    let (summary, _) = read(&pcap(false, 1, 1, &frames));
    assert_eq!((summary.tcp_packets, summary.other.fragments), (0, 2));
}
