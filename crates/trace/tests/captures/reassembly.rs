//! Streams that were cut, swapped, repeated and lost come out as they were.

use proptest::prelude::*;
use wirelab_trace::flow::Limits;
use wirelab_trace::flow::event::Direction;

use super::events::{read, read_with};
use super::frames::{ACK, SYN, Segment, pcap, reply, request, space_frames};

const ETHERNET: u16 = 1;

fn original(bytes: usize) -> Vec<u8> {
    let mut state = 1u64;
    // Pseudo-random bytes: a shift by any number of positions would be seen.
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// A piece: where it begins and how long it is.
type Piece = (usize, usize);

fn capture(first: u32, stream: &[u8], pieces: &[Piece]) -> Vec<u8> {
    let mut segments = vec![request(first.wrapping_sub(1), 0, b"").flags(SYN)];
    segments.push(reply(9, first, b"").flags(SYN | ACK));
    segments.extend(pieces.iter().map(|(at, bytes)| {
        let end = (at + bytes).min(stream.len());
        request(first.wrapping_add(*at as u32), 10, &stream[*at..end])
    }));
    pcap(false, 1, ETHERNET, &space_frames(&segments))
}

/// A stream cut into segments, which are then moved and repeated.
fn any_segmentation() -> impl Strategy<Value = (Vec<u8>, Vec<Piece>)> {
    let cuts = prop::collection::vec(1usize..700, 1..60);
    let moves = prop::collection::vec((any::<prop::sample::Index>(), 0usize..8), 0..40);
    let extras = prop::collection::vec((any::<prop::sample::Index>(), 1usize..1_500), 0..20);
    (cuts, moves, extras).prop_map(|(cuts, moves, extras)| {
        let mut at = 0;
        let mut pieces: Vec<Piece> = Vec::new();
        for bytes in cuts {
            pieces.push((at, bytes));
            at += bytes;
        }
        for (which, by) in moves {
            let from = which.index(pieces.len());
            let piece = pieces.remove(from);
            pieces.insert((from + by).min(pieces.len()), piece);
        }
        for (which, bytes) in extras {
            // Other cuts of what is sent again.
            let begin = which.index(at);
            let place = which.index(pieces.len() + 1);
            pieces.insert(place, (begin, bytes));
        }
        (original(at), pieces)
    })
}

proptest! {
    #[test]
    fn every_byte_comes_once_and_in_order(
        (stream, pieces) in any_segmentation(),
        first in prop_oneof![any::<u32>(), (0u32..20_000).prop_map(|n| u32::MAX - n)],
    ) {
        let (summary, events) = read(&capture(first, &stream, &pieces));
        let request = events.stream(0, Direction::Request);
        prop_assert_eq!(request.gaps, []);
        prop_assert!(request.bytes == stream);
        prop_assert_eq!(summary.flows.stream_bytes, stream.len() as u64);
    }

    #[test]
    fn lost_bytes_are_a_gap_and_nothing_else(
        (stream, mut pieces) in any_segmentation(),
        lost in prop::collection::vec(any::<prop::sample::Index>(), 1..10),
    ) {
        for index in lost {
            if !pieces.is_empty() {
                pieces.remove(index.index(pieces.len()));
            }
        }
        let mut seen = vec![false; stream.len()];
        for (at, bytes) in &pieces {
            seen[*at..(at + bytes).min(stream.len())].fill(true);
        }
        let (_, events) = read(&capture(77, &stream, &pieces));
        let request = events.stream(0, Direction::Request);
        let end = seen.iter().rposition(|seen| *seen).map_or(0, |last| last + 1);
        // What was lost at the end leaves no trace, as nothing acknowledges it.
        prop_assert_eq!(request.end, end as u64);
        let mut is_gap = vec![false; end];
        for (at, bytes) in &request.gaps {
            is_gap[*at as usize..(*at + *bytes) as usize].fill(true);
        }
        for at in 0..end {
            prop_assert_eq!(is_gap[at], !seen[at], "{}", at);
            prop_assert!(is_gap[at] || request.bytes[at] == stream[at], "{}", at);
        }
    }

    #[test]
    fn little_memory_causes_gaps_but_keeps_the_order(
        (stream, pieces) in any_segmentation(),
        flow_bytes in 0usize..3_000,
    ) {
        let limits = Limits { flow_bytes, ..Limits::default() };
        let (_, events) = read_with(limits, &capture(1, &stream, &pieces));
        let request = events.stream(0, Direction::Request);
        prop_assert_eq!(request.end, stream.len() as u64);
        let mut is_gap = vec![false; stream.len()];
        for (at, bytes) in &request.gaps {
            is_gap[*at as usize..(*at + *bytes) as usize].fill(true);
        }
        for at in 0..stream.len() {
            prop_assert!(is_gap[at] || request.bytes[at] == stream[at], "{}", at);
        }
    }
}

#[test]
fn snapped_segments_leave_gaps_of_what_was_cut() {
    let stream = original(1_000);
    let segments: Vec<Segment> = (0..10)
        .map(|n| request(1 + n * 100, 1, &stream[n as usize * 100..][..100]))
        .collect();
    let frames: Vec<_> = space_frames(&segments)
        .into_iter()
        .map(|f| f.snapped(14 + 40 + 30))
        .collect();
    let (summary, events) = read(&pcap(false, 1, ETHERNET, &frames));
    let request = events.stream(0, Direction::Request);
    assert_eq!(
        request.gaps,
        (0..10).map(|n| (n * 100 + 30, 70)).collect::<Vec<_>>()
    );
    assert_eq!(request.bytes[..30], stream[..30]);
    assert_eq!(request.bytes[900..930], stream[900..930]);
    assert_eq!(summary.truncated, 10);
}

#[test]
fn the_total_of_waiting_bytes_is_bounded_over_all_connections() {
    let limits = Limits {
        bytes: 20_000,
        ..Limits::default()
    };
    let mut segments = Vec::new();
    for number in 0..100 {
        let from = format!("10.0.1.{number}:4000");
        let ends = |segment: Segment| segment.ends(&from, "10.0.0.2:80");
        segments.push(ends(request(0, 1, b"first")));
        segments.push(ends(request(1_000, 1, &[b'x'; 500])));
    }
    let (summary, events) = read_with(limits, &pcap(false, 1, ETHERNET, &space_frames(&segments)));
    assert_eq!(summary.flows.stream_bytes, 100 * 505);
    assert_eq!(summary.flows.gap_bytes, 100 * 995);
    assert!(events.streams.values().all(|stream| stream.end == 1_500));
}
