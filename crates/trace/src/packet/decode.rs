//! From a captured frame to its TCP packet.

use std::net::SocketAddr;

pub use super::network::Fragment;

use super::file::Record;
use super::link_layer::{LinkPayload, link_payload};
use super::network::{self, Ip, NoIp, protocol};
use super::tcp::{self, Flags};
use super::tunnel;

/// One packet of a capture that carries TCP, as far as it was captured.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a> {
    /// Its number in the capture, from 1.
    pub number: u64,
    /// When it was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// Its length on the wire, with the link's header, bytes.
    pub wire_bytes: u32,
    /// Of those the link's header, and all headers of tunnels.
    pub link_header_bytes: u16,
    /// Of those the IP header with options or extension headers.
    pub ip_header_bytes: u16,
    /// Of those the TCP header with options.
    pub tcp_header_bytes: u16,
    /// IPv4's identification (RFC 791): some systems count the packets of a
    /// connection in it. None in IPv6.
    pub identification: Option<u16>,
    /// What another copy of it may have changed on its way: a number made of the link's header
    /// and of the routers that it may still pass (IPv4: time to live).
    pub way: u64,
    /// The network that the innermost tunnel with a number states: two of them may have the same
    /// addresses. 0 where there is none.
    pub network: u64,
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
    /// Sequence number of the first payload byte (of the SYN, where it is set).
    pub sequence: u32,
    /// Acknowledgment number; counts only with the flag.
    pub acknowledgment: u32,
    /// Its flags.
    pub flags: Flags,
    /// The window as in the header, not scaled.
    pub window: u16,
    /// The TCP options, raw, as far as captured.
    pub options: &'a [u8],
    /// Payload bytes on the wire, by the lengths in the headers.
    pub payload_bytes: u32,
    /// The payload as far as it was captured: a prefix.
    pub payload: &'a [u8],
}

impl Packet<'_> {
    /// The capture holds the TCP options in part only (its snap length).
    pub fn options_cut(&self) -> bool {
        tcp::HEADER_MIN + self.options.len() < usize::from(self.tcp_header_bytes)
    }
}

/// One packet of a capture that carries UDP, as far as it was captured.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// Its number in the capture, from 1.
    pub packet: u64,
    /// When it was captured, nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
    /// The payload as far as it was captured: a prefix.
    pub payload: &'a [u8],
}

/// What a frame is.
#[derive(Debug, Clone, Copy)]
pub enum Decoded<'a> {
    /// TCP over IPv4 or IPv6.
    Tcp(Packet<'a>),
    /// UDP over IPv4 or IPv6.
    Udp(Datagram<'a>),
    /// A part of TCP over IPv4 or IPv6.
    Fragment(Fragment),
    /// Anything else.
    Other(Other),
}

/// Frames that are counted, and not looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// UDP.
    Udp,
    /// Another protocol over IP.
    Ip,
    /// A fragment of an IP packet of another protocol: fragments are not put together.
    Fragment,
    /// No IP: ARP, LLDP, …
    Link,
    /// The capture holds too little of it.
    Cut,
    /// Its headers contradict each other.
    Malformed,
    /// Its link type is not read here.
    UnknownLink,
    /// What it carries is encrypted below IP or in place of it: 802.11, IPsec.
    Encrypted,
}

/// Reads a frame.
#[inline]
pub fn decode<'a>(record: &Record<'a>) -> Decoded<'a> {
    // Layer by layer: the first one that cannot be read names the class under which the
    // frame is counted (`OtherPackets`).
    let link = link_payload(record.link_type, record.data);
    let whole = FrameRest {
        captured: record.data,
        wire_bytes: record.wire_bytes,
        header_bytes: 0,
        network: 0,
    };
    match whole.behind(link) {
        Ok(part) => decode_packet(record, part, tunnel::TUNNELS_MAX),
        Err(other) => Decoded::Other(other),
    }
}

/// The rest of a frame from an IP packet on, or from what that carries.
#[derive(Debug, Clone, Copy)]
struct FrameRest<'a> {
    /// From there on, as far as captured.
    captured: &'a [u8],
    /// From there on, bytes on the wire. This and the captured length differ wherever a snap
    /// length is set: sequence numbers advance by the former, bytes can only be read from
    /// the latter.
    wire_bytes: u32,
    /// Of the frame, before it.
    header_bytes: usize,
    /// As [`Packet::network`].
    network: u64,
}

impl<'a> FrameRest<'a> {
    #[inline]
    fn behind(self, payload: LinkPayload) -> Result<FrameRest<'a>, Other> {
        let bytes = match payload {
            LinkPayload::Ip { header_bytes } => header_bytes,
            LinkPayload::Other => return Err(Other::Link),
            LinkPayload::Encrypted => return Err(Other::Encrypted),
            LinkPayload::Cut => return Err(Other::Cut),
            LinkPayload::Unknown => return Err(Other::UnknownLink),
        };
        Ok(FrameRest {
            captured: self.captured.get(bytes..).ok_or(Other::Cut)?,
            wire_bytes: self.wire_bytes.saturating_sub(bytes as u32),
            header_bytes: self.header_bytes + bytes,
            network: self.network,
        })
    }

    /// In that network, where a tunnel states one.
    fn in_network(self, network: u64) -> FrameRest<'a> {
        match network {
            0 => self,
            network => FrameRest { network, ..self },
        }
    }

    /// What an IP packet here carries.
    fn payload_of(self, ip: &Ip<'a>) -> FrameRest<'a> {
        FrameRest {
            captured: ip.payload,
            wire_bytes: ip.payload_bytes,
            header_bytes: self.header_bytes + ip.header_bytes,
            network: self.network,
        }
    }
}

/// Reads an IP packet with at most that number of others around the innermost one.
// What is read is returned as it is, and not in a `Result`: it is large, and would be copied.
#[inline(always)]
fn decode_packet<'a>(record: &Record<'a>, part: FrameRest<'a>, tunnels_left: u8) -> Decoded<'a> {
    let ip = match network::parse(part.captured, part.wire_bytes) {
        Ok(ip) => ip,
        Err(NoIp::Fragment) => return decode_fragment(record, part, tunnels_left),
        Err(NoIp::Cut) => return Decoded::Other(Other::Cut),
        Err(NoIp::Malformed) => return Decoded::Other(Other::Malformed),
    };
    match ip.protocol {
        protocol::TCP => decode_tcp(record, &ip, part),
        protocol::UDP => decode_datagram_or_tunnel(record, &ip, part, tunnels_left),
        _ => decode_tunnel(record, &ip, part, tunnels_left),
    }
}

fn decode_tunnel<'a>(
    record: &Record<'a>,
    ip: &Ip<'a>,
    part: FrameRest<'a>,
    tunnels_left: u8,
) -> Decoded<'a> {
    let inside = tunnel::of_protocol(ip.protocol, ip.payload);
    if inside == LinkPayload::Other {
        return Decoded::Other(Other::Ip);
    }
    let network = tunnel::network_of_protocol(ip.protocol, ip.payload);
    match part.payload_of(ip).behind(inside) {
        Ok(inner) => decode_inner_packet(record, inner.in_network(network), tunnels_left),
        Err(other) => Decoded::Other(other),
    }
}

#[cold]
#[inline(never)]
fn decode_inner_packet<'a>(
    record: &Record<'a>,
    inner: FrameRest<'a>,
    tunnels_left: u8,
) -> Decoded<'a> {
    match tunnels_left.checked_sub(1) {
        Some(left) => decode_packet(record, inner, left),
        None => Decoded::Other(Other::Malformed),
    }
}

/// Of TCP, or the first one of a tunnel's packet: that has the headers of the packet inside, whose
/// payload it cuts. Else it is only counted.
#[cold]
fn decode_fragment<'a>(record: &Record<'a>, part: FrameRest<'a>, tunnels_left: u8) -> Decoded<'a> {
    if let Some(ip) =
        network::first_fragment(part.captured).filter(|ip| ip.protocol != protocol::TCP)
    {
        let inside = match ip.protocol {
            protocol::UDP => decode_datagram_or_tunnel(record, &ip, part, tunnels_left),
            _ => decode_tunnel(record, &ip, part, tunnels_left),
        };
        // Neither a part of a datagram nor of another protocol is one.
        return match inside {
            Decoded::Tcp(packet) => Decoded::Tcp(packet),
            _ => Decoded::Other(Other::Fragment),
        };
    }
    match network::fragment(part.captured, part.wire_bytes) {
        Some(found) => Decoded::Fragment(Fragment {
            packet: record.number,
            at_ns: record.at_ns,
            ..found
        }),
        None => Decoded::Other(Other::Fragment),
    }
}

/// Source port, destination port, length, checksum (RFC 768).
const UDP_HEADER_BYTES: usize = 8;

fn decode_datagram_or_tunnel<'a>(
    record: &Record<'a>,
    ip: &Ip<'a>,
    part: FrameRest<'a>,
    tunnels_left: u8,
) -> Decoded<'a> {
    let datagram = match decode_datagram(record, ip) {
        Ok(datagram) => datagram,
        Err(other) => return Decoded::Other(other),
    };
    let [source, destination] = [datagram.source.port(), datagram.destination.port()];
    if !tunnel::is_tunnel(source, destination) {
        return Decoded::Udp(datagram);
    }
    let LinkPayload::Ip { header_bytes } =
        tunnel::of_datagram(source, destination, datagram.payload)
    else {
        return Decoded::Udp(datagram);
    };
    let inner = part.payload_of(ip).behind(LinkPayload::Ip {
        header_bytes: UDP_HEADER_BYTES + header_bytes,
    });
    let network = tunnel::network_of_datagram(destination, datagram.payload);
    let read = match inner {
        Ok(inner) => decode_inner_packet(record, inner.in_network(network), tunnels_left),
        Err(other) => Decoded::Other(other),
    };
    match read {
        // A datagram of something else may have the port of a tunnel.
        Decoded::Other(Other::Malformed) => Decoded::Udp(datagram),
        read => read,
    }
}

fn decode_datagram<'a>(record: &Record<'a>, ip: &Ip<'a>) -> Result<Datagram<'a>, Other> {
    let header: &[u8; UDP_HEADER_BYTES] = ip.payload.first_chunk().ok_or(Other::Cut)?;
    let [source, destination, length] =
        [0, 2, 4].map(|at| u16::from_be_bytes([header[at], header[at + 1]]));
    let end = usize::from(length)
        .max(UDP_HEADER_BYTES)
        .min(ip.payload.len());
    Ok(Datagram {
        packet: record.number,
        at_ns: record.at_ns,
        source: SocketAddr::new(ip.source, source),
        destination: SocketAddr::new(ip.destination, destination),
        payload: &ip.payload[UDP_HEADER_BYTES..end],
    })
}

/// The first eight bytes of the link's header, the last eight, and the network between them.
#[inline]
fn way(link_header: Option<&[u8]>, hop_limit: u8, network: u64) -> u64 {
    let header = link_header.unwrap_or(&[]);
    let ends = [header.first_chunk(), header.last_chunk()];
    let [begin, end] = ends.map(|word| word.map_or(0, |word| u64::from_le_bytes(*word)));
    let others = u64::from(hop_limit) << 56 | (header.len() as u64) << 40;
    begin ^ end.rotate_left(23) ^ network.rotate_left(11) ^ others
}

#[inline]
fn decode_tcp<'a>(record: &Record<'a>, ip: &Ip<'a>, part: FrameRest<'a>) -> Decoded<'a> {
    // A radiotap header may claim to be longer than any header is.
    let Ok(link_header_bytes) = u16::try_from(part.header_bytes) else {
        return Decoded::Other(Other::Malformed);
    };
    let header = match tcp::parse(ip.payload, ip.payload_bytes) {
        Ok(header) => header,
        Err(tcp::NoHeader::Cut) => return Decoded::Other(Other::Cut),
        Err(tcp::NoHeader::Malformed) => return Decoded::Other(Other::Malformed),
    };
    Decoded::Tcp(Packet {
        number: record.number,
        at_ns: record.at_ns,
        wire_bytes: record.wire_bytes,
        link_header_bytes,
        ip_header_bytes: ip.header_bytes as u16,
        tcp_header_bytes: header.header_bytes as u16,
        identification: ip.identification,
        network: part.network,
        way: way(
            record.data.get(..part.header_bytes),
            ip.hop_limit,
            part.network,
        ),
        source: SocketAddr::new(ip.source, header.source_port),
        destination: SocketAddr::new(ip.destination, header.destination_port),
        sequence: header.sequence,
        acknowledgment: header.acknowledgment,
        flags: header.flags,
        window: header.window,
        options: header.options,
        // By the length in the IP header: Ethernet pads short frames to 60 bytes (IEEE
        // 802.3 section 4.2.3.3), and the padding is not payload.
        payload_bytes: ip.payload_bytes - header.header_bytes as u32,
        // Empty, and no error, where the snap length cuts inside the TCP options: the
        // header still counts for sequence numbers and windows.
        payload: ip.payload.get(header.header_bytes..).unwrap_or(&[]),
    })
}
