//! Captures to begin with, of every format and link layer, and scripts of connections.

use super::conversations::conversations;
use super::corpus::Seed;
use super::tls;
use crate::captures::frames::{
    ACK, Blocks, Captured, FIN, SYN, Segment, pcap, pcapng, reply, request, space_frames,
};

/// Every seed.
pub fn all() -> Vec<Seed> {
    let captures = captures()
        .into_iter()
        .map(|(name, bytes)| ("capture", name, bytes));
    let scripts = scripts()
        .into_iter()
        .map(|(name, bytes)| ("flows", name, bytes));
    let named = |(target, name, bytes): (&'static str, &str, Vec<u8>)| Seed {
        target,
        name: name.to_owned(),
        bytes,
    };
    let conversations = conversations()
        .into_iter()
        .map(|(name, bytes)| ("conversations", name, bytes));
    let encrypted = tls::conversations()
        .into_iter()
        .map(|(name, bytes)| ("tls", name, bytes));
    captures
        .chain(scripts)
        .chain(conversations)
        .chain(encrypted)
        .map(named)
        .collect()
}

fn conversation() -> Vec<Segment> {
    vec![
        request(99, 0, b"")
            .flags(SYN)
            .options(&[2, 4, 5, 180, 3, 3, 7, 1]),
        reply(499, 100, b"").flags(SYN | ACK),
        request(100, 500, b"GET / HTTP/1.1\r\n\r\n"),
        reply(510, 118, b"second"),
        reply(500, 118, b"the first "),
        request(118, 516, b"").flags(FIN | ACK),
        reply(516, 119, b"").flags(FIN | ACK),
    ]
}

fn captures() -> Vec<(&'static str, Vec<u8>)> {
    let frames = space_frames(&conversation());
    let v6 = |segment: &Segment| {
        let [from, to] = [segment.from, segment.to].map(|end| format!("[::1]:{}", end.port()));
        segment.clone().ends(&from, &to)
    };
    let v6 = space_frames(&conversation().iter().map(v6).collect::<Vec<_>>());
    let behind = |head: &[u8]| -> Vec<Captured> {
        let of_ip = |frame: &Captured| [head, &frame.data[14..]].concat();
        frames
            .iter()
            .map(|frame| Captured::whole(frame.at_ns, of_ip(frame)))
            .collect()
    };
    let snapped: Vec<_> = frames
        .iter()
        .map(|frame| frame.clone().snapped(60))
        .collect();
    vec![
        ("micro.pcap", pcap(false, 1000, 1, &frames)),
        ("nano-big.pcap", pcap(true, 1, 1, &frames)),
        ("v6.pcapng", pcapng(1, &v6)),
        ("snapped.pcapng", pcapng(1, &snapped)),
        ("raw.pcap", pcap(false, 1, 101, &behind(&[]))),
        ("null.pcap", pcap(false, 1, 0, &behind(&[2, 0, 0, 0]))),
        (
            "sll.pcap",
            pcap(
                false,
                1,
                113,
                &behind(&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0]),
            ),
        ),
        ("blocks.pcapng", blocks(&frames)),
    ]
}

fn blocks(frames: &[Captured]) -> Vec<u8> {
    let blocks = Blocks::new(true);
    let options = [
        blocks.option(9, &[0x8A]),
        blocks.option(14, &[0, 0, 0, 0, 0, 0, 0, 9]),
    ];
    let blocks = blocks.interface(1, 0, &options.concat());
    let blocks = blocks
        .enhanced(0, 77, &frames[0])
        .obsolete(0, 78, &frames[1]);
    let blocks = blocks.simple(&frames[2]).block(5, &[0; 20]);
    let secrets = b"TLSK\0\0\0\x0ECLIENT_RANDOM ";
    let mut blocks = blocks.block(10, secrets).block(0xBAD, b"custom");
    blocks.big = false;
    blocks.section().interface(113, 0, &[]).bytes
}

/// Which, flags, length, cut, distance, scale, acknowledged, time.
fn scripts() -> Vec<(&'static str, Vec<u8>)> {
    // A handshake, data both ways, and both FINs.
    let orderly = [
        [0, SYN, 0, 0, 128, 0, 0, 0],
        [4, SYN | ACK, 0, 0, 128, 0, 125, 0],
        [0, ACK, 100, 0, 129, 0, 125, 0],
        [4, ACK, 200, 0, 129, 0, 125, 0],
        [0, FIN | ACK, 0, 0, 128, 0, 125, 0],
        [4, FIN | ACK, 0, 0, 128, 0, 125, 0],
    ];
    // Overlaps, holes, jumps by up to 2^31 and times that leap.
    let jumbled = [
        [1, ACK, 50, 0, 128, 0, 125, 0],
        [1, ACK, 50, 0, 228, 0, 125, 0],
        [1, ACK, 50, 64, 28, 0, 125, 0],
        [1, ACK, 90, 0, 128, 9, 125, 1],
        [5, ACK, 0, 0, 128, 0, 140, 1],
        [5, ACK, 0, 0, 128, 0, 140, 1],
        [5, ACK, 0, 0, 128, 27, 140, 255],
        [2, ACK, 255, 0, 128, 192, 125, 0],
        [6, 4, 0, 0, 128, 0, 125, 0],
        [3, ACK, 1, 0, 127, 0, 125, 0],
    ];
    vec![("orderly", orderly.concat()), ("jumbled", jumbled.concat())]
}
