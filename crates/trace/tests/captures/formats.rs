//! Files of every format, whole and damaged.

use std::io::{self, Read, Write};

use wirelab_trace::flow::event::Direction;
use wirelab_trace::packet::file::{Error, InterfaceTotals, Item, Reader, Writer};
use wirelab_trace::packet::link_layer::LinkType;

use super::events::read;
use super::frames::{Blocks, Captured, Segment, pcap, pcapng, reply, request, space_frames};
use super::tshark::{Folder, agree, capinfos, has};

fn frames() -> Vec<Captured> {
    let segments: Vec<Segment> = (0..6)
        .map(|number| match number % 2 {
            0 => request(100 + number, 900 + number, b"ab"),
            _ => reply(900 + number - 1, 102 + number - 1, b"cd"),
        })
        .collect();
    space_frames(&segments)
}

/// Time, length on the wire and link type.
type Seen = (u64, u32, u16);

/// All frames, and the damage: where and what.
fn records(bytes: &[u8]) -> (Vec<Seen>, Option<(u64, String)>) {
    let mut reader = Reader::new(bytes).expect("a capture");
    let mut records = Vec::new();
    while let Some(item) = reader.next().expect("memory") {
        let Item::Frame(record) = item else { continue };
        assert_eq!(record.number, records.len() as u64 + 1);
        assert!(record.data.len() <= record.wire_bytes as usize);
        records.push((record.at_ns, record.wire_bytes, record.link_type.0));
    }
    let damage = reader
        .damage()
        .map(|damage| (damage.offset, damage.reason.clone()));
    (records, damage)
}

fn confirm(bytes: &[u8], name: &str) {
    if has("tshark") {
        agree(&Folder::new().write(name, bytes));
    }
}

#[test]
fn pcap_in_both_byte_orders_and_units() {
    let frames = frames();
    let expected: Vec<_> = frames.iter().map(|f| (f.at_ns, f.wire_bytes, 1)).collect();
    for big in [false, true] {
        for unit_ns in [1, 1000] {
            let bytes = pcap(big, unit_ns, 1, &frames);
            assert_eq!(records(&bytes), (expected.clone(), None));
            // Our reading and writing could share a misunderstanding; Wireshark does
            // not.
            confirm(&bytes, "order.pcap");
        }
    }
}

#[test]
fn nanoseconds_survive() {
    let frame = Captured::whole(1_700_000_000_123_456_789, request(1, 1, b"x").ethernet());
    let frames = [frame];
    assert_eq!(records(&pcap(false, 1, 1, &frames)).0[0].0, frames[0].at_ns);
    assert_eq!(records(&pcapng(1, &frames)).0[0].0, frames[0].at_ns);
    assert_eq!(
        records(&pcap(false, 1000, 1, &frames)).0[0].0,
        1_700_000_000_123_456_000
    );
}

#[test]
fn pcapng_with_several_sections_orders_and_interfaces() {
    let frames = frames();
    let ns = |blocks: &Blocks| blocks.option(9, &[9]);
    let blocks = Blocks::new(false);
    let option = ns(&blocks);
    // Ethernet in microseconds, raw IP in nanoseconds.
    let blocks = blocks.interface(1, 0, &[]).interface(101, 0, &option);
    let raw = Captured::whole(frames[1].at_ns, frames[1].data[14..].to_vec());
    let blocks = blocks.enhanced(0, frames[0].at_ns / 1000, &frames[0]);
    let mut blocks = blocks.enhanced(1, raw.at_ns, &raw);
    blocks.big = true;
    let blocks = blocks.section();
    let option = ns(&blocks);
    let blocks = blocks.interface(1, 0, &option);
    let blocks = blocks.enhanced(0, frames[2].at_ns, &frames[2]);
    let expected = vec![
        (frames[0].at_ns, frames[0].wire_bytes, 1),
        (raw.at_ns, raw.wire_bytes, 101),
        (frames[2].at_ns, frames[2].wire_bytes, 1),
    ];
    assert_eq!(records(&blocks.bytes), (expected, None));
    confirm(&blocks.bytes, "sections.pcapng");
}

#[test]
fn resolutions_and_offsets_of_interfaces() {
    let frame = &frames()[0];
    let s = 1_700_000_000u64;
    let table: [(&[u8], i64, u64, u64); 6] = [
        (&[6], 0, s * 1_000_000 + 5, s * 1_000_000_000 + 5_000),
        (&[9], 0, s * 1_000_000_000 + 5, s * 1_000_000_000 + 5),
        (&[3], 0, s * 1_000 + 5, s * 1_000_000_000 + 5_000_000),
        (
            &[0x80 | 10],
            0,
            (s << 10) + 512,
            s * 1_000_000_000 + 500_000_000,
        ),
        (
            &[0x80 | 30],
            0,
            (s << 30) + (1 << 29),
            s * 1_000_000_000 + 500_000_000,
        ),
        (&[9], s as i64, 5, s * 1_000_000_000 + 5),
    ];
    for (tsresol, offset_s, timestamp, at_ns) in table {
        for big in [false, true] {
            let blocks = Blocks::new(big);
            let offset = if big {
                offset_s.to_be_bytes()
            } else {
                offset_s.to_le_bytes()
            };
            let options = [
                blocks.option(2, b"a name of odd length"),
                blocks.option(9, tsresol),
                blocks.option(14, &offset),
                blocks.option(0, b""),
            ];
            let blocks = blocks.interface(1, 0, &options.concat());
            let blocks = blocks.enhanced(0, timestamp, frame);
            assert_eq!(
                records(&blocks.bytes).0[0].0,
                at_ns,
                "{tsresol:?} {offset_s}"
            );
            confirm(&blocks.bytes, "resolution.pcapng");
        }
    }
}

#[test]
fn obsolete_simple_and_unknown_blocks() {
    let frames = frames();
    let blocks = Blocks::new(false).interface(1, 60, &[]);
    let blocks = blocks.block(0x0BAD, &[1, 2, 3, 4, 5]);
    let blocks = blocks.obsolete(0, frames[0].at_ns / 1000, &frames[0]);
    let blocks = blocks.block(4, &[0, 0, 0, 0]);
    let long = Captured::whole(0, request(102, 900, &[7; 100]).ethernet());
    let snapped = Captured {
        wire_bytes: long.wire_bytes,
        ..long.clone().snapped(60)
    };
    let blocks = blocks.simple(&snapped).block(0x8000_0001, &[0; 70_000]);
    let expected = vec![
        (frames[0].at_ns, frames[0].wire_bytes, 1),
        // No time of its own: that of its predecessor.
        (frames[0].at_ns, long.wire_bytes, 1),
    ];
    assert_eq!(records(&blocks.bytes), (expected, None));
    let (summary, _) = read(&blocks.bytes);
    assert_eq!((summary.truncated, summary.flows.gap_bytes), (1, 94));
}

#[test]
fn drops_are_those_of_the_last_statistics_of_each_interface() {
    let statistics = |blocks: Blocks, interface: u32, drops: u64| {
        let mut body = interface.to_le_bytes().to_vec();
        body.extend([0; 8]);
        body.extend(blocks.option(4, &100u64.to_le_bytes()));
        body.extend(blocks.option(5, &drops.to_le_bytes()));
        blocks.block(5, &body)
    };
    let blocks = Blocks::new(false).interface(1, 0, &[]).interface(1, 0, &[]);
    assert_eq!(read(&blocks.bytes).0.drops, None);
    let blocks = statistics(blocks, 0, 5);
    let blocks = statistics(blocks, 1, 3);
    let blocks = statistics(blocks, 0, 7);
    assert_eq!(read(&blocks.bytes).0.drops, Some(10));
    let blocks = statistics(blocks.section().interface(1, 0, &[]), 0, 1);
    assert_eq!(read(&blocks.bytes).0.drops, Some(11));
}

#[test]
fn written_captures_are_read_by_other_tools() {
    let frames = frames();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, LinkType::ETHERNET, 262_144, "lo").expect("memory");
    for frame in &frames {
        writer
            .write_frame(frame.at_ns, frame.wire_bytes, &frame.data)
            .expect("memory");
    }
    let totals = InterfaceTotals {
        started_ns: frames[0].at_ns,
        ended_ns: frames[5].at_ns,
        received: 9,
        drops: 3,
    };
    writer.finish(&totals).expect("memory");
    let expected: Vec<_> = frames.iter().map(|f| (f.at_ns, f.wire_bytes, 1)).collect();
    assert_eq!(records(&bytes), (expected, None));
    assert_eq!(read(&bytes).0.drops, Some(3));
    if has("tshark") && has("capinfos") {
        let folder = Folder::new();
        let file = folder.write("ours.pcapng", &bytes);
        agree(&file);
        let words = capinfos(&file);
        assert!(words.contains("Number of packets:   6"), "{words}");
        assert!(words.contains("Capture application: wirelab"), "{words}");
    }
}

#[test]
fn a_truncated_file_keeps_complete_frames_and_reports_the_offset() {
    let frames = frames();
    for (bytes, head) in [(pcap(false, 1, 1, &frames), 24), (pcapng(1, &frames), 0)] {
        let whole = records(&bytes).0;
        let mut last = 0;
        for end in (head + 1)..bytes.len() {
            let (read, damage) = match Reader::new(&bytes[..end]) {
                Ok(_) => records(&bytes[..end]),
                // A cut inside the file header is an error, which has a test of its
                // own.
                Err(_) => continue,
            };
            assert_eq!(read, whole[..read.len()]);
            assert!(read.len() >= last, "more bytes, not fewer frames");
            last = read.len();
            if let Some((offset, reason)) = damage {
                assert!(
                    offset < end as u64 && reason.contains("cut"),
                    "{offset} {reason}"
                );
            }
        }
        assert_eq!(last, whole.len() - 1);
        let (_, damage) = records(&bytes[..bytes.len() - 1]);
        assert!(damage.is_some(), "the last frame is cut");
    }
}

#[test]
fn damage_in_the_middle_ends_the_reading_there() {
    let frames = frames();
    let mut bytes = pcap(false, 1, 1, &frames);
    let second = 24 + 16 + frames[0].data.len();
    // The captured length of the second record.
    bytes[second + 8..second + 12].fill(0xFF);
    let (read, damage) = records(&bytes);
    let (offset, reason) = damage.expect("damage");
    assert_eq!((read.len(), offset), (1, second as u64), "{reason}");
    let mut bytes = pcapng(1, &frames);
    let at = bytes.len() - 4;
    bytes[at] ^= 4;
    let (read, damage) = records(&bytes);
    let (offset, reason) = damage.expect("damage");
    assert_eq!((read.len(), offset > 0), (5, true), "{reason}");
    let blocks = Blocks::new(false)
        .interface(1, 0, &[])
        .enhanced(1, 0, &frames[0]);
    let (_, damage) = records(&blocks.bytes);
    assert!(damage.expect("damage").1.contains("not described"));
}

#[test]
fn other_file_formats_are_named() {
    let error = |bytes: &[u8]| match Reader::new(bytes) {
        Ok(_) => panic!("{bytes:?} was taken"),
        Err(error) => error,
    };
    assert!(matches!(error(b""), Error::Empty));
    assert!(matches!(
        error(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        Error::Foreign(_)
    ));
    assert!(matches!(
        error(&[0xFD, b'7', b'z', b'X', b'Z', 0]),
        Error::Compressed("xz")
    ));
    let remedy = |bytes: &[u8]| error(bytes).remedy();
    assert!(remedy(&[0xFD, b'7', b'z', b'X', b'Z', 0]).contains("unxz FILE"));
    assert!(remedy(&[0x1F, 0x8B, 8, 0, 0]).contains("copy it again"));
    assert!(remedy(b"GET").contains("name a pcap or pcapng file"));
    assert!(remedy(b"").contains("capture again"));
}

#[test]
fn a_truncated_header_is_reported_with_its_offset_and_what_is_missing() {
    let frames = frames();
    let pcapng = pcapng(1, &frames);
    let section = pcapng[4] as usize;
    for big in [false, true] {
        let pcap = pcap(big, 1000, 1, &frames);
        for (bytes, header, parts) in [
            (&pcap, 24, ["pcap header of 24 bytes", "link type"]),
            (&pcapng, 12, ["pcapng section header", "byte order"]),
        ] {
            for end in 1..header {
                let Err(error) = Reader::new(&bytes[..end]) else {
                    panic!("{end} bytes were taken");
                };
                let words = error.to_string();
                let parts = if end < 4 {
                    ["4 bytes", "format"]
                } else {
                    parts
                };
                for part in parts {
                    assert!(words.contains(part), "{part}: {words}");
                }
                assert!(words.contains(&format!("cut at byte {end},")), "{words}");
                assert!(error.remedy().contains("SIGINT"), "{}", error.remedy());
            }
        }
        assert!(Reader::new(&pcap[..24]).is_ok());
    }
    for end in 12..section {
        let error = Reader::new(&pcapng[..end]).err().expect("a cut header");
        let words = error.to_string();
        assert!(
            words.contains(&format!("header of {section} bytes")),
            "{words}"
        );
    }
    assert!(Reader::new(&pcapng[..section]).is_ok());
}

/// A pipe that gives a few bytes at a time, and stutters.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(7) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // Never 0 before the end: that would mean the end of the file.
        let step = (self.1 % 5)
            .min(buffer.len())
            .min(self.0.len())
            .max(usize::from(!self.0.is_empty()));
        buffer[..step].copy_from_slice(&self.0[..step]);
        self.0 = &self.0[step..];
        Ok(step)
    }
}

#[test]
fn a_pipe_is_read_like_a_file() {
    let bytes = pcapng(1, &frames());
    let mut events = super::events::Events::keeping_bytes();
    let summary = wirelab_trace::read(Dribble(&bytes, 0), &mut events).expect("a capture");
    assert_eq!(summary, read(&bytes).0);
    assert_eq!(events.stream(0, Direction::Request).bytes, b"ababab");
}

/// A disk that fails.
struct Broken<'a>(&'a [u8]);

impl Read for Broken<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("the disk is gone"));
        }
        self.0.read(buffer)
    }
}

#[test]
fn a_read_error_is_reported_with_its_offset() {
    let bytes = pcapng(1, &frames());
    let mut events = super::events::Events::keeping_bytes();
    let error = wirelab_trace::read(Broken(&bytes[..200]), &mut events).expect_err("it fails");
    assert!(error.to_string().contains("at byte 200"), "{error}");
    assert!(error.to_string().contains("the disk is gone"), "{error}");
}

#[test]
fn secrets_come_before_the_packets_behind_them() {
    let frames = frames();
    let text = b"CLIENT_RANDOM of whatever\n";
    for big in [false, true] {
        let blocks = |kind: u32, length: u32| {
            let number = |number: u32| match big {
                true => number.to_be_bytes(),
                false => number.to_le_bytes(),
            };
            let body = [&number(kind)[..], &number(length), text].concat();
            let blocks = Blocks::new(big)
                .interface(1, 0, &[])
                .enhanced(0, 1, &frames[0]);
            blocks.block(10, &body).enhanced(0, 2, &frames[1]).bytes
        };
        let read = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes).expect("a capture");
            let mut items = Vec::new();
            while let Some(item) = reader.next().expect("memory") {
                items.push(match item {
                    Item::Frame(record) => (record.number, Vec::new()),
                    Item::Secrets(text) => (0, text.to_vec()),
                });
            }
            let damage = reader.damage().map(|damage| damage.reason.clone());
            (items, damage)
        };
        let length = text.len() as u32;
        let (first, second) = ((1, vec![]), (2, vec![]));
        let (items, damage) = read(&blocks(0x544C_534B, length));
        let secrets = (0, text.to_vec());
        assert_eq!(
            (items, damage),
            (vec![first.clone(), secrets, second.clone()], None)
        );
        // Those of another protocol are passed over.
        let (items, _) = read(&blocks(0x5747_4B4C, length));
        assert_eq!(items, [first.clone(), (0, vec![]), second]);
        let (items, damage) = read(&blocks(0x544C_534B, u32::MAX));
        assert_eq!(items, [first]);
        assert!(damage.is_some_and(|reason| reason.contains("decryption secrets")));
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).expect("memory")
}

#[test]
fn compressed_captures_are_read_as_they_are() {
    let frames = frames();
    for plain in [pcap(false, 1000, 1, &frames), pcapng(1, &frames)] {
        let (expected, _) = records(&plain);
        for compress in [gzip, zstd] {
            let packed = compress(&plain);
            assert_eq!(records(&packed), (expected.clone(), None));
            // Files that were compressed apart and joined.
            let (begin, end) = plain.split_at(plain.len() / 2);
            let joined = [compress(begin), compress(end)].concat();
            assert_eq!(records(&joined), (expected.clone(), None));
        }
    }
}

#[test]
fn a_compressed_capture_that_is_cut_or_damaged_keeps_what_came_before() {
    // Content that does not compress: xorshift (Marsaglia 2003).
    let mut state = 1u32;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    let frame = || Captured::whole(1, (0..2_000).map(|_| byte()).collect());
    let frames: Vec<Captured> = std::iter::repeat_with(frame).take(250).collect();
    let plain = pcap(false, 1000, 1, &frames);
    for (packed, format) in [(gzip(&plain), "gzip"), (zstd(&plain), "zstd")] {
        let (read, damage) = records(&packed[..packed.len() / 2]);
        let (_, reason) = damage.expect("damage");
        assert!(reason.contains(format), "{reason}");
        assert!((1..frames.len()).contains(&read.len()), "{format}");
        let error = Reader::new(&packed[..6]).err().expect("an error");
        assert!(matches!(error, Error::Undecompressed(_)), "{error}");
    }
}

/// A capture of one packet whose content is zeros: a bomb.
#[test]
fn a_capture_that_grows_without_end_is_given_up() {
    let frame = super::frames::Captured::whole(1, vec![0; 8 << 20]);
    let plain = pcap(false, 1000, 1, &[frame.clone(), frame.clone(), frame]);
    let (read, damage) = records(&zstd(&plain));
    let (_, reason) = damage.expect("damage");
    assert!(reason.contains("1,000 times"), "{reason}");
    assert!(read.len() < 3);
}
