//! Captures that mean harm: any bytes, and good captures with damage, are read
//! in bounded time without a panic.

use proptest::prelude::*;
use wirelab_trace::fuzzing::{fuzz_capture, fuzz_flows};

use super::events::read;
use super::frames::{Captured, Segment, pcap, pcapng, reply, request, space_frames};

fn good() -> Vec<Vec<u8>> {
    let segments: Vec<Segment> = (0..20)
        .map(|n| match n % 3 {
            0 => request(1 + n * 100, 1 + n * 50, &[b'a'; 150]),
            1 => reply(1 + n * 50, 1 + n * 100, &[b'b'; 70]),
            _ => request(1 + n * 90, 1 + n * 50, &[b'c'; 40]).ends("[::1]:9", "[::1]:10"),
        })
        .collect();
    let frames = space_frames(&segments);
    vec![
        pcap(false, 1, 1, &frames),
        pcap(true, 1000, 1, &frames),
        pcapng(1, &frames),
    ]
}

/// All that are read.
const LINK_TYPES: [u16; 31] = [
    0, 1, 6, 9, 10, 12, 50, 51, 100, 101, 104, 105, 107, 108, 109, 113, 117, 119, 127, 163, 166,
    192, 197, 204, 219, 228, 229, 239, 240, 258, 276,
];

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        // It must return: panics, endless loops and broken promises fail inside.
        fuzz_capture(&bytes);
        fuzz_flows(&bytes);
    }

    #[test]
    fn any_bytes_as_frames(
        link_type in prop::sample::select(LINK_TYPES.to_vec()),
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 0..20),
    ) {
        let frames: Vec<_> = frames.into_iter().map(|data| Captured::whole(1, data)).collect();
        fuzz_capture(&pcap(false, 1, link_type, &frames));
        fuzz_capture(&pcapng(link_type, &frames));
    }

    #[test]
    fn good_captures_with_damage(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = good().swap_remove(which);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        fuzz_capture(&bytes);
    }
}

#[test]
fn segments_that_claim_gigabytes_hold_none() {
    // Each is far ahead of the last, and claims more than it brings.
    let segments: Vec<Segment> = (0..2_000u32)
        .map(|n| request(n.wrapping_mul(1_000_000_007), 1, b"x"))
        .collect();
    let mut frames = space_frames(&segments);
    for frame in &mut frames {
        frame.data[16..18].fill(0);
        frame.wire_bytes = u32::MAX;
    }
    let mut events = super::events::Events::default();
    let bytes = pcap(false, 1, 1, &frames);
    let summary = wirelab_trace::read(&bytes[..], &mut events).expect("a capture");
    assert_eq!((summary.packets, summary.flows.flows), (2_000, 1));
}

#[test]
fn too_many_interfaces_are_rejected() {
    let mut blocks = super::frames::Blocks::new(false);
    for _ in 0..66_000 {
        blocks = blocks.interface(1, 0, &[]);
    }
    let (summary, _) = read(&blocks.bytes);
    let damage = summary.damage.expect("damage");
    assert!(damage.reason.contains("65536 interfaces"), "{damage}");
}
