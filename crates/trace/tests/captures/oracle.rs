//! Our analysis of each packet compared with Wireshark's.

use std::fs;
use std::path::Path;

use wirelab_trace::Summary;
use wirelab_trace::flow::event::SegmentKind;

use crate::events::{Events, read};
use crate::tshark::{Row, rows};

/// Reads a capture with both, and compares packet by packet: number, length,
/// time, connection, payload and what kind of segment it is.
pub fn agree(capture: &Path) -> (Summary, Events) {
    let (summary, events) = read(&fs::read(capture).expect("a capture"));
    let theirs = rows(capture);
    assert_eq!(summary.packets, theirs.len() as u64, "packets");
    assert_eq!(
        summary.bytes,
        theirs.iter().map(|row| row.wire_bytes).sum::<u64>(),
        "bytes"
    );
    let of_tcp: Vec<&Row> = theirs
        .iter()
        .filter(|row| row.payload_bytes.is_some())
        .collect();
    assert_eq!(summary.tcp_packets, of_tcp.len() as u64, "TCP packets");
    for (row, (flow, segment)) in of_tcp.iter().zip(&events.segments) {
        let ours = (segment.packet, Some(*flow), Some(u64::from(segment.bytes)));
        assert_eq!(
            ours,
            (row.number, row.stream, row.payload_bytes),
            "{row:?} {segment:?}"
        );
        assert_eq!(segment.at_ns, row.at_ns, "{row:?}");
        agree_on_kind(row, segment.kind);
    }
    agree_on_counts(&of_tcp, &summary);
    (summary, events)
}

fn agree_on_kind(row: &Row, kind: SegmentKind) {
    if kind == SegmentKind::Reset {
        return;
    }
    let ours = (
        kind == SegmentKind::Retransmission,
        kind == SegmentKind::OutOfOrder,
        kind == SegmentKind::KeepAlive,
    );
    let theirs = (
        row.retransmission,
        row.out_of_order,
        // A probe that is sent again is a retransmission first.
        (row.keep_alive || row.window_probe) && !row.retransmission && !row.out_of_order,
    );
    assert_eq!(ours, theirs, "{row:?} {kind:?}");
}

fn agree_on_counts(of_tcp: &[&Row], summary: &Summary) {
    let count = |what: fn(&Row) -> bool| of_tcp.iter().filter(|row| what(row)).count() as u64;
    let flows = &summary.flows;
    let ours = [
        flows.flows,
        flows.payload_bytes,
        flows.retransmissions,
        flows.fast_retransmissions,
        flows.spurious_retransmissions,
        flows.out_of_order,
    ];
    let streams = of_tcp.iter().filter_map(|row| row.stream).max();
    let theirs = [
        streams.map_or(0, |last| u64::from(last) + 1),
        of_tcp.iter().filter_map(|row| row.payload_bytes).sum(),
        count(|row| row.retransmission),
        count(|row| row.fast),
        count(|row| row.spurious),
        count(|row| row.out_of_order),
    ];
    assert_eq!(
        ours, theirs,
        "flows, payload, retransmissions, fast, spurious, out of order"
    );
}
