//! What concerns the whole connection: greeting, SETTINGS, PING, GOAWAY, its end.

use wirelab_wire::http2::Options;
use wirelab_wire::http2::frame::{PREFACE, code, flag, kind, setting};
use wirelab_wire::{End, Failure, Session};

use super::peer::{
    Event, Peer, data, frame, get, goaway, of_kind, pad, post, request, reset, settings,
    window_update,
};

#[test]
fn the_preface_comes_first_and_carries_the_options() {
    let options = Options {
        stream_window: 1,
        connection_window: 65_536,
        max_frame: 20_000,
        header_list_max: 1_000,
        ..Options::default()
    };
    let mut peer = Peer::silent(options);
    peer.call(1, &get(1));
    let mut out = Vec::new();
    peer.client.pump(&mut out);
    let greeting = [
        &PREFACE[..],
        &[0, 0, 24, 4, 0, 0, 0, 0, 0],
        // SETTINGS_ENABLE_PUSH 0, MAX_HEADER_LIST_SIZE, INITIAL_WINDOW_SIZE,
        // MAX_FRAME_SIZE; then WINDOW_UPDATE on stream 0 by what exceeds 65,535.
        &[0, 2, 0, 0, 0, 0],
        &[0, 6, 0, 0, 3, 0xe8],
        &[0, 4, 0, 0, 0, 1],
        &[0, 5, 0, 0, 0x4e, 0x20],
        &[0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ]
    .concat();
    assert_eq!(&out[..greeting.len()], greeting);
    assert_eq!(out[greeting.len() + 3], kind::HEADERS);
}

#[test]
fn options_out_of_range_become_the_nearest_legal() {
    let options = Options {
        stream_window: 0,
        connection_window: u32::MAX,
        max_frame: 1,
        ..Options::default()
    };
    let mut peer = Peer::silent(options);
    let frames = peer.frames();
    assert_eq!(frames[0].payload[12..], [0, 4, 0, 0, 0, 1]);
    assert_eq!(frames[1].number(), (1 << 31) - 1 - 65_535);
}

#[test]
fn settings_and_pings_are_acknowledged_in_mid_stream() {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    let head = peer.head(1, &[(":status", "200")]);
    let ping = frame(kind::PING, 0, 0, b"12345678");
    peer.play(&[head, settings(&[(99, 1)]), data(1, b"x"), ping].concat());
    peer.play(&frame(kind::PING, flag::ACK, 0, b"ignored!"));
    let frames = peer.frames();
    assert_eq!(frames.len(), 2);
    assert_eq!(
        (frames[0].kind, frames[0].flags, frames[0].payload.len()),
        (kind::SETTINGS, 1, 0)
    );
    assert_eq!((frames[1].kind, frames[1].flags), (kind::PING, flag::ACK));
    assert_eq!(frames[1].payload, b"12345678");
}

#[test]
fn the_peers_table_size_is_obeyed_and_acknowledged() {
    let mut peer = Peer::new();
    let request = request(1, "GET", &[("x-name", "value")], b"");
    let block = |peer: &mut Peer| {
        peer.call(1, &request);
        let frames = of_kind(&peer.frames(), kind::HEADERS);
        peer.client.cancel(1);
        assert_eq!(peer.decode(&frames[0].payload)[4].1, "value");
        frames[0].payload.clone()
    };
    block(&mut peer);
    let known = block(&mut peer);
    peer.play(&settings(&[(setting::HEADER_TABLE_SIZE, 0)]));
    let without = block(&mut peer);
    assert_eq!(without[0], 0x20, "an update to 0");
    assert!(without.len() > known.len());
    assert_eq!(peer.decoder.table().size_max(), 0);
    assert_eq!(block(&mut peer), without[1..], "announced once");
    // Two changes before a block: the smallest and the last must both be announced (RFC
    // 7541 section 4.2).
    peer.play(&settings(&[(setting::HEADER_TABLE_SIZE, 100)]));
    peer.play(&settings(&[(setting::HEADER_TABLE_SIZE, 1 << 20)]));
    let again = block(&mut peer);
    assert_eq!(
        again[..5],
        [0x3f, 0x45, 0x3f, 0xe1, 0x1f],
        "updates to 100 and to 4,096"
    );
    assert_eq!(block(&mut peer), known);
    assert_eq!(peer.decoder.table().size_max(), 4_096);
}

#[test]
fn the_peer_may_resize_its_own_table_within_our_limit() {
    let mut peer = Peer::new();
    for (round, size) in [4_096, 0, 64, 4_096, 100].into_iter().enumerate() {
        peer.encoder.limit(size);
        for twice in 0..2 {
            peer.call(1, &get(1));
            peer.frames();
            let stream = 4 * round as u32 + 2 * twice + 1;
            let reply = peer.last_head(stream, &[(":status", "418"), ("x-name", "value")]);
            peer.play(&reply);
            assert!(
                matches!(peer.take_events()[..], [_, Event::Head(1, head), Event::End(..)] if head.status == 418)
            );
        }
    }
    peer.call(1, &get(1));
    peer.frames();
    let error = peer.refuse(&frame(
        kind::HEADERS,
        flag::END_HEADERS,
        21,
        &[0x3f, 0xe2, 0x1f, 0x88],
    ));
    assert!(error.rule.contains("RFC 7541 section 6.3"), "{error}");
    assert_eq!(
        peer.frames()[0].payload[4..8],
        code::COMPRESSION_ERROR.to_be_bytes()
    );
}

#[test]
fn the_peers_limit_on_streams_is_kept() {
    let mut peer = Peer::silent(Options {
        max_streams: 5,
        ..Options::default()
    });
    assert_eq!(peer.client.capacity(), 5);
    for call in 0..4 {
        peer.call(call, &post(1, b"x"));
    }
    peer.play(&settings(&[(setting::MAX_CONCURRENT_STREAMS, 2)]));
    assert_eq!(peer.client.capacity(), 0);
    assert_eq!(of_kind(&peer.frames(), kind::HEADERS).len(), 2);
    assert!(peer.client.flushed(0) && !peer.client.flushed(2));
    assert!(peer.client.started(1) && !peer.client.started(2));
    let reply = peer.last_head(1, &[(":status", "200")]);
    peer.play(&reply);
    assert_eq!(of_kind(&peer.frames(), kind::HEADERS).len(), 1);
    peer.play(&settings(&[(setting::MAX_CONCURRENT_STREAMS, 0)]));
    assert!(of_kind(&peer.frames(), kind::HEADERS).is_empty());
    peer.play(&settings(&[(setting::MAX_CONCURRENT_STREAMS, 1_000)]));
    assert_eq!(of_kind(&peer.frames(), kind::HEADERS).len(), 1);
    assert_eq!(peer.client.capacity(), 2);
    assert!(!peer.client.finished());
}

#[test]
fn goaway_fails_what_it_does_not_cover_and_lets_the_rest_end() {
    let mut peer = Peer::connect(Options::default(), &[(setting::MAX_CONCURRENT_STREAMS, 3)]);
    for call in 0..3 {
        peer.call(call, &get(1));
    }
    peer.frames();
    peer.play(&settings(&[(setting::MAX_CONCURRENT_STREAMS, 4)]));
    peer.call(3, &get(1));
    peer.play(&goaway(3, code::NO_ERROR));
    assert_eq!(
        peer.take_events(),
        [
            Event::Failed(2, Failure::Unprocessed),
            Event::Failed(3, Failure::Unprocessed)
        ]
    );
    assert_eq!(peer.client.capacity(), 0);
    assert!(peer.client.finished());
    let reply = peer.last_head(1, &[(":status", "200")]);
    peer.play(&reply);
    assert_eq!(
        peer.take_events().last(),
        Some(&Event::End(0, End::default()))
    );
    assert!(of_kind(&peer.frames(), kind::HEADERS).is_empty());
}

/// RFC 9113 section 6.8: first a warning with the highest stream, then the last.
#[test]
fn a_second_goaway_may_cover_less_but_not_more() {
    let mut peer = Peer::new();
    peer.call(0, &get(1));
    peer.call(1, &get(1));
    peer.frames();
    // A server that shuts down warns first, without refusing anything.
    peer.play(&goaway((1 << 31) - 1, code::NO_ERROR));
    assert!(peer.take_events().is_empty());
    assert!(peer.client.finished());
    peer.play(&goaway(1, code::NO_ERROR));
    assert_eq!(peer.take_events(), [Event::Failed(1, Failure::Unprocessed)]);
    peer.play(&goaway(1, code::NO_ERROR));
    let error = peer.refuse(&goaway(3, code::NO_ERROR));
    assert!(error.rule.contains("RFC 9113 section 6.8"), "{error}");
    assert_eq!(
        peer.take_events(),
        [Event::Failed(0, Failure::Protocol(error))]
    );
}

#[test]
fn a_connection_that_closes_fails_its_calls_by_how_far_they_were() {
    let mut peer = Peer::new();
    for call in 0..3 {
        peer.call(call, &get(1));
    }
    peer.frames();
    let head = peer.head(3, &[(":status", "200")]);
    peer.play(&[head, data(3, b"half")].concat());
    peer.call(3, &get(1));
    peer.take_events();
    peer.client.closed(&mut peer.log);
    assert_eq!(
        peer.take_events(),
        [
            Event::Failed(0, Failure::Closed),
            Event::Failed(1, Failure::Truncated),
            Event::Failed(2, Failure::Closed),
            Event::Failed(3, Failure::Closed),
        ]
    );
    assert_eq!((peer.client.capacity(), peer.client.finished()), (0, true));
    peer.client.closed(&mut peer.log);
    peer.play(&data(3, b"too late"));
    assert!(peer.take_events().is_empty());
    assert!(peer.frames().is_empty());
}

#[test]
fn a_peer_that_speaks_http_1_is_named() {
    let mut peer = Peer::silent(Options::default());
    peer.call(1, &get(1));
    let error = peer.refuse(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    assert!(error.to_string().contains("an answer in HTTP/1"), "{error}");
    assert!(error.to_string().contains("transport http/1.1"), "{error}");
    assert_eq!(
        peer.take_events(),
        [Event::Failed(1, Failure::Protocol(error))]
    );
}

#[test]
fn after_an_error_there_is_a_goaway_and_nothing_else() {
    let mut peer = Peer::new();
    peer.call(1, &post(1, &[0; 200_000]));
    let error = peer.refuse(&frame(kind::PUSH_PROMISE, 0, 1, &[0, 0, 0, 2]));
    assert_eq!(
        peer.take_events(),
        [Event::Failed(1, Failure::Protocol(error.clone()))]
    );
    let frames = peer.frames();
    assert_eq!(frames.len(), 1);
    assert_eq!((frames[0].kind, frames[0].stream), (kind::GOAWAY, 0));
    assert_eq!(frames[0].payload[..8], [0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(&frames[0].payload[8..], error.rule.as_bytes());
    assert_eq!((peer.client.capacity(), peer.client.finished()), (0, true));
    assert_eq!(peer.refuse(&data(1, b"more")), error);
    assert!(peer.frames().is_empty());
}

/// Each is one frame, or two, on a connection with streams 1 (open) and 3 (ended).
#[test]
fn broken_rules_end_the_connection_with_their_code_and_section() {
    let max = [0; 16_385];
    let protocol = code::PROTOCOL_ERROR;
    let size = code::FRAME_SIZE_ERROR;
    // Without END_HEADERS: a CONTINUATION must follow.
    let half = frame(kind::HEADERS, 0, 1, &[0x88]);
    for (bytes, expected, section) in [
        (frame(kind::DATA, 0, 0, b"x"), protocol, "6.2"),
        (frame(kind::HEADERS, 4, 0, &[0x88]), protocol, "6.2"),
        (frame(kind::DATA, 0, 5, b"x"), protocol, "5.1"),
        (frame(kind::HEADERS, 4, 5, &[0x88]), protocol, "5.1"),
        (frame(kind::HEADERS, 4, 2, &[0x88]), protocol, "5.1"),
        (reset(5, 0), protocol, "5.1"),
        (reset(0, 0), protocol, "6.8"),
        (window_update(5, 1), protocol, "5.1"),
        (window_update(2, 1), protocol, "5.1"),
        (frame(kind::DATA, 0, 3, b"x"), code::STREAM_CLOSED, "5.1"),
        (
            frame(kind::HEADERS, 4, 3, &[0x88]),
            code::STREAM_CLOSED,
            "5.1",
        ),
        (frame(kind::DATA, 0, 1, &max), size, "4.2"),
        (frame(kind::SETTINGS, 0, 0, &max), size, "4.2"),
        (frame(77, 0, 0, &max), size, "4.2"),
        (frame(kind::DATA, flag::PADDED, 1, b""), size, "6.1"),
        (frame(kind::DATA, flag::PADDED, 1, &[1]), protocol, "6.2"),
        (
            frame(kind::DATA, flag::PADDED, 1, &[9, 0, 0]),
            protocol,
            "6.2",
        ),
        (frame(kind::HEADERS, flag::PADDED | 4, 1, b""), size, "6.2"),
        (
            frame(kind::HEADERS, flag::PADDED | 4, 1, &[3, 0x88, 0]),
            protocol,
            "6.2",
        ),
        (
            frame(kind::HEADERS, flag::PRIORITY | 4, 1, &[0; 4]),
            size,
            "6.2",
        ),
        (
            frame(
                kind::HEADERS,
                flag::PRIORITY | 0xc,
                1,
                &[4, 0, 0, 0, 1, 1, 0, 0, 0],
            ),
            size,
            "6.2",
        ),
        (frame(kind::PRIORITY, 0, 1, &[0; 4]), size, "6.9"),
        (frame(kind::PRIORITY, 0, 0, &[0; 5]), protocol, "6.8"),
        (frame(kind::RST_STREAM, 0, 1, &[0; 5]), size, "6.9"),
        (frame(kind::SETTINGS, 0, 1, &[]), protocol, "6.8"),
        (frame(kind::SETTINGS, 0, 0, &[0; 5]), size, "6.9"),
        (frame(kind::SETTINGS, flag::ACK, 0, &[0; 6]), size, "6.9"),
        (frame(kind::PING, 0, 0, &[0; 7]), size, "6.9"),
        (frame(kind::PING, 0, 1, &[0; 8]), protocol, "6.8"),
        (frame(kind::GOAWAY, 0, 0, &[0; 7]), size, "6.9"),
        (frame(kind::GOAWAY, 0, 1, &[0; 8]), protocol, "6.8"),
        (frame(kind::WINDOW_UPDATE, 0, 0, &[0; 3]), size, "6.9"),
        (
            frame(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2]),
            protocol,
            "8.4",
        ),
        (frame(kind::CONTINUATION, 4, 1, &[0x88]), protocol, "6.10"),
        (
            [half.clone(), frame(kind::DATA, 0, 1, b"x")].concat(),
            protocol,
            "6.10",
        ),
        (
            [half.clone(), frame(kind::PING, 0, 0, &[0; 8])].concat(),
            protocol,
            "6.10",
        ),
        (
            [half.clone(), frame(77, 0, 0, &[])].concat(),
            protocol,
            "6.10",
        ),
        (
            [half.clone(), frame(kind::CONTINUATION, 4, 3, &[])].concat(),
            protocol,
            "6.10",
        ),
        ([half.clone(), half.clone()].concat(), protocol, "6.10"),
        (
            frame(kind::HEADERS, 4, 1, &[0x80]),
            code::COMPRESSION_ERROR,
            "2.3.3",
        ),
        (settings(&[(setting::ENABLE_PUSH, 1)]), protocol, "6.5.2"),
        (
            settings(&[(setting::MAX_FRAME_SIZE, 16_383)]),
            protocol,
            "6.5.2",
        ),
        (
            settings(&[(setting::MAX_FRAME_SIZE, 1 << 24)]),
            protocol,
            "6.5.2",
        ),
        (
            settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 31)]),
            code::FLOW_CONTROL_ERROR,
            "6.5.2",
        ),
    ] {
        let mut peer = Peer::new();
        peer.call(1, &get(1));
        peer.call(2, &get(1));
        peer.frames();
        let head = peer.head(1, &[(":status", "200")]);
        let ended = peer.last_head(3, &[(":status", "200")]);
        peer.play(&[head, ended].concat());
        let error = peer.refuse(&bytes);
        let shown = &bytes[..bytes.len().min(20)];
        assert!(
            error.rule.contains(&format!("{section})")),
            "{shown:?}: {error}"
        );
        let frames = peer.frames();
        assert_eq!(
            frames[0].payload[4..8],
            expected.to_be_bytes(),
            "{shown:?}: {error}"
        );
    }
}

#[test]
fn a_growing_initial_window_may_not_overflow_a_stream() {
    let mut peer = Peer::new();
    peer.call(1, &post(1, &[0; 100_000]));
    peer.frames();
    peer.play(&window_update(1, (1 << 31) - 1));
    let error = peer.refuse(&settings(&[(setting::INITIAL_WINDOW_SIZE, 65_536)]));
    assert!(error.rule.contains("RFC 9113 section 6.9.1"), "{error}");
}

#[test]
fn the_first_frame_must_be_settings() {
    for bytes in [
        frame(kind::SETTINGS, flag::ACK, 0, &[]),
        frame(kind::PING, 0, 0, &[0; 8]),
        goaway(0, 0),
        b"SSH-2.0-x".to_vec(),
    ] {
        let mut peer = Peer::silent(Options::default());
        let error = peer.refuse(&bytes);
        assert!(error.rule.contains("RFC 9113 section 3.4"), "{error}");
    }
}

#[test]
fn what_is_unknown_is_ignored() {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    let unknown = [
        frame(0xfa, 0xff, 0, &[1; 1_000]),
        frame(0xfb, 0xff, 12_345_678, &[]),
        frame(kind::PRIORITY, 0, 77, &[0, 0, 0, 77, 9]),
        frame(kind::SETTINGS, 0, 0, &[0xff, 0xff, 1, 2, 3, 4]),
    ];
    peer.play(&unknown.concat());
    let block = peer.block(&[(":status", "200")]);
    // Undefined flags on a known frame.
    peer.play(&pad(
        kind::HEADERS,
        0xd2 | flag::END_HEADERS | flag::END_STREAM,
        1,
        &block,
        1,
    ));
    assert_eq!(peer.take_events().len(), 3);
}
