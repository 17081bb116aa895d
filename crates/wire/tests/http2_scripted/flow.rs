//! Windows, both ways.

use wirelab_wire::http2::Options;
use wirelab_wire::http2::frame::{WINDOW_MAX, code, flag, kind, setting};
use wirelab_wire::{Failure, Session};

use super::peer::{
    Event, Frame, Peer, data, get, last_data, of_kind, pad, post, settings, window_update,
};

fn body(length: usize) -> Vec<u8> {
    // 251 is prime, so that no frame or window size repeats the pattern.
    (0..length).map(|at| (at % 251) as u8).collect()
}

fn content(frames: &[Frame]) -> Vec<u8> {
    of_kind(frames, kind::DATA)
        .into_iter()
        .flat_map(|frame| frame.payload)
        .collect()
}

#[test]
fn an_upload_through_a_window_of_one_byte() {
    let mut peer = Peer::connect(Options::default(), &[(setting::INITIAL_WINDOW_SIZE, 1)]);
    let sent = body(40);
    peer.call(1, &post(1, &sent));
    let mut arrived = Vec::new();
    for at in 0..40 {
        assert!(!peer.client.flushed(1));
        let frames = of_kind(&peer.frames(), kind::DATA);
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].payload.len(), 1);
        // With the last byte, not in an empty frame after it.
        assert_eq!(frames[0].flags & flag::END_STREAM != 0, at == 39);
        arrived.extend_from_slice(&frames[0].payload);
        peer.play(&window_update(1, 1));
    }
    assert_eq!(arrived, sent);
    assert!(peer.client.flushed(1));
}

#[test]
fn settings_in_mid_stream_move_the_window_below_zero_and_back() {
    let mut peer = Peer::connect(Options::default(), &[(setting::INITIAL_WINDOW_SIZE, 100)]);
    peer.call(1, &post(1, &body(1_000)));
    assert_eq!(content(&peer.frames()).len(), 100);
    peer.play(&settings(&[(setting::INITIAL_WINDOW_SIZE, 10)])); // now -90
    peer.play(&window_update(1, 90)); // now 0
    assert!(content(&peer.frames()).is_empty());
    peer.play(&window_update(1, 5));
    assert_eq!(content(&peer.frames()).len(), 5);
    peer.play(&settings(&[(setting::INITIAL_WINDOW_SIZE, 30)]));
    let frames = peer.frames();
    assert_eq!(
        (frames[0].kind, frames[0].flags),
        (kind::SETTINGS, flag::ACK)
    );
    assert_eq!(content(&frames).len(), 20);
    // New streams begin with the new size.
    peer.call(2, &post(1, &body(1_000)));
    assert_eq!(content(&peer.frames()).len(), 30);
    peer.play(&settings(&[(setting::INITIAL_WINDOW_SIZE, 1_000)]));
    // Both windows grow by 970; the first stream had also been granted 95 bytes.
    assert_eq!(content(&peer.frames()).len(), 2 * 970 - 95);
    peer.play(&window_update(1, 1_000));
    assert!(peer.client.flushed(2));
    assert_eq!(content(&peer.frames()).len(), 2_000 - 1_845 - 155);
}

#[test]
fn uploads_share_the_connections_window_in_turn() {
    // Streams without a limit of their own: the connection's 65,535 bytes decide.
    let parameters = [(setting::INITIAL_WINDOW_SIZE, WINDOW_MAX)];
    let mut peer = Peer::connect(Options::default(), &parameters);
    peer.call(1, &post(1, &body(100_000)));
    peer.call(2, &post(1, &body(100_000)));
    let mut frames = peer.frames();
    assert_eq!(content(&frames).len(), 65_535);
    for _ in 0..20 {
        assert!(peer.frames().is_empty(), "the window is shut");
        peer.play(&window_update(0, 10_000));
        frames.extend(peer.frames());
    }
    assert!(peer.client.flushed(1) && peer.client.flushed(2));
    for stream in [1, 3] {
        let of_stream: Vec<_> = frames
            .iter()
            .filter(|f| f.stream == stream)
            .cloned()
            .collect();
        assert_eq!(content(&of_stream), body(100_000));
    }
    let turns: Vec<u32> = of_kind(&frames, kind::DATA)
        .iter()
        .map(|f| f.stream)
        .collect();
    assert_eq!(turns[..6], [1, 3, 1, 3, 1, 3]);
}

#[test]
fn frames_are_as_large_as_the_peer_takes_them() {
    // The client limits its frames to one pump, or other streams would wait for one frame.
    for (limit, largest) in [(16_384, 16_384), (50_000, 50_000), (16_777_215, 256 << 10)] {
        let parameters = [
            (setting::MAX_FRAME_SIZE, limit),
            (setting::INITIAL_WINDOW_SIZE, WINDOW_MAX),
        ];
        let mut peer = Peer::connect(Options::default(), &parameters);
        peer.play(&window_update(0, 10_000_000));
        peer.call(1, &post(1, &body(1_000_000)));
        let frames = of_kind(&peer.frames(), kind::DATA);
        assert_eq!(frames.iter().map(|f| f.payload.len()).max(), Some(largest));
        assert_eq!(content(&frames), body(1_000_000));
    }
}

#[test]
fn a_pump_stops_at_about_256_kib() {
    let mut peer = Peer::connect(
        Options::default(),
        &[(setting::INITIAL_WINDOW_SIZE, WINDOW_MAX)],
    );
    peer.play(&window_update(0, 100_000_000));
    peer.call(1, &post(1, &body(25_000_000)));
    let mut pumps = 0;
    let mut total = 0;
    loop {
        let mut out = Vec::new();
        let more = peer.client.pump(&mut out);
        assert!(out.len() <= (256 << 10) + 16_384 + 9, "{} bytes", out.len());
        total += out.len();
        pumps += 1;
        assert_eq!(more, !peer.client.flushed(1));
        if !more {
            break;
        }
    }
    assert!(total > 25_000_000);
    // 25 MB in sends of about 256 KiB.
    assert!((94..100).contains(&pumps), "{pumps}");
}

#[test]
fn credit_for_replies_is_granted_when_half_is_used() {
    let options = Options {
        stream_window: 1_000,
        connection_window: 100_000,
        ..Options::default()
    };
    let mut peer = Peer::connect(options, &[]);
    peer.call(1, &get(1));
    peer.frames();
    let head = peer.head(1, &[(":status", "200")]);
    // One byte less than half of the stream's window.
    peer.play(&[head, data(1, &[0; 499])].concat());
    assert!(peer.frames().is_empty());
    peer.play(&data(1, &[0; 1]));
    let frames = peer.frames();
    assert_eq!(frames.len(), 1);
    assert_eq!(
        (frames[0].kind, frames[0].stream, frames[0].number()),
        (kind::WINDOW_UPDATE, 1, 500)
    );
    // Padding and its length count (RFC 9113 section 6.1).
    peer.play(&pad(kind::DATA, 0, 1, &[0; 400], 99));
    assert_eq!(peer.frames()[0].number(), 500);
    // At the end of a reply the stream needs no more.
    peer.play(&last_data(1, &[0; 900]));
    assert!(peer.frames().is_empty());
}

#[test]
fn credit_for_the_connection_is_granted_when_half_is_used() {
    let options = Options {
        stream_window: 100_000,
        connection_window: 70_000,
        ..Options::default()
    };
    let mut peer = Peer::connect(options, &[]);
    peer.call(1, &get(1));
    peer.call(2, &get(1));
    peer.frames();
    let heads = [1, 3]
        .map(|stream| peer.head(stream, &[(":status", "200")]))
        .concat();
    peer.play(&heads);
    // 32,000 of 70,000 bytes: less than half of the connection's window, though no stream
    // is near its own.
    peer.play(&[data(1, &[0; 16_000]), data(3, &[0; 16_000])].concat());
    assert!(peer.frames().is_empty());
    peer.client.cancel(1);
    peer.play(&data(1, &[0; 3_000])); // no call waits for it, but it counts
    let frames = of_kind(&peer.frames(), kind::WINDOW_UPDATE);
    assert_eq!(frames.len(), 1);
    assert_eq!((frames[0].stream, frames[0].number()), (0, 35_000));
}

#[test]
fn a_reply_through_windows_of_one_byte() {
    let options = Options {
        stream_window: 1,
        connection_window: 1,
        ..Options::default()
    };
    let mut peer = Peer::connect(options, &[]);
    peer.call(1, &get(1));
    peer.frames();
    let head = peer.head(1, &[(":status", "200")]);
    peer.play(&head);
    for _ in 0..70_000 {
        peer.play(&data(1, b"x"));
        let frames = peer.frames();
        assert!(
            frames.iter().any(|f| (f.stream, f.number()) == (1, 1)),
            "{frames:?}"
        );
    }
    // The first 65,535 bytes are the protocol's; from there on one at a time.
    peer.play(&data(1, b"x"));
    let frames = peer.frames();
    let granted: Vec<_> = frames.iter().map(|f| (f.stream, f.number())).collect();
    assert_eq!(granted, [(0, 1), (1, 1)]);
    peer.play(&data(1, b"x"));
    let error = peer.refuse(&data(1, b"x"));
    assert!(error.rule.contains("RFC 9113 section 6.9.1"), "{error}");
}

#[test]
fn too_much_for_a_stream_fails_its_reply_only() {
    let options = Options {
        stream_window: 10,
        ..Options::default()
    };
    let mut peer = Peer::connect(options, &[]);
    peer.call(1, &get(1));
    peer.frames();
    let head = peer.head(1, &[(":status", "200")]);
    peer.play(&[head, data(1, &[0; 11]), data(1, &[0; 11])].concat());
    assert!(matches!(
        peer.take_events()[2],
        Event::Failed(1, Failure::Protocol(_))
    ));
    let frames = peer.frames();
    assert_eq!(
        (frames[0].kind, frames[0].number()),
        (kind::RST_STREAM, code::FLOW_CONTROL_ERROR)
    );
    assert!(!peer.client.finished());
}

#[test]
fn too_much_for_the_connection_ends_it() {
    let options = Options {
        // A window below 65,535 can only be kept by granting nothing: the protocol has no
        // smaller one for a connection (RFC 9113 section 6.9.2).
        connection_window: 10,
        ..Options::default()
    };
    let mut peer = Peer::connect(options, &[]);
    peer.call(1, &get(1));
    peer.frames();
    let head = peer.head(1, &[(":status", "200")]);
    peer.play(&head);
    for _ in 0..3 {
        peer.play(&data(1, &[0; 16_384]));
        assert!(peer.frames().is_empty());
    }
    peer.refuse(&data(1, &[0; 16_384]));
    let frames = peer.frames();
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].kind, kind::GOAWAY);
    assert_eq!(
        frames[0].payload[4..8],
        code::FLOW_CONTROL_ERROR.to_be_bytes()
    );
}

#[test]
fn bad_credit_for_a_stream_fails_its_reply_only() {
    for (increment, expected) in [
        (0, code::PROTOCOL_ERROR),
        (WINDOW_MAX, code::FLOW_CONTROL_ERROR),
    ] {
        let mut peer = Peer::new();
        peer.call(1, &post(1, &body(70_000)));
        peer.frames();
        peer.play(&window_update(1, 1));
        peer.play(&window_update(1, increment));
        if increment == WINDOW_MAX {
            // Used up to -0: the first fits exactly, the second does not.
            peer.play(&window_update(1, increment));
        }
        assert!(matches!(
            peer.take_events()[0],
            Event::Failed(1, Failure::Protocol(_))
        ));
        let resets = of_kind(&peer.frames(), kind::RST_STREAM);
        assert_eq!(resets[0].number(), expected);
        assert!(!peer.client.finished());
    }
}

#[test]
fn bad_credit_for_the_connection_ends_it() {
    for increment in [0, WINDOW_MAX] {
        let mut peer = Peer::new();
        let error = peer.refuse(&window_update(0, increment));
        assert!(error.rule.contains("RFC 9113 section 6.9"), "{error}");
        assert!(peer.client.finished());
    }
}

#[test]
fn late_credit_is_ignored() {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    let reply = peer.last_head(1, &[(":status", "200")]);
    // An increment of 0 is an error of an open stream only.
    peer.play(&[reply, window_update(1, 1), window_update(1, 0)].concat());
    assert!(peer.frames().is_empty());
}

#[test]
fn the_last_of_two_sizes_in_one_frame_counts() {
    let window = setting::INITIAL_WINDOW_SIZE;
    let mut peer = Peer::connect(Options::default(), &[(window, 10)]);
    peer.call(1, &post(1, &body(1_000)));
    assert_eq!(content(&peer.frames()).len(), 10);
    peer.play(&settings(&[(window, 500), (window, 30)]));
    assert_eq!(content(&peer.frames()).len(), 20);
}

/// The place of a call in every queue is removed with it, because its slot is reused.
#[test]
fn a_cancelled_upload_leaves_nothing_to_send() {
    let mut peer = Peer::new();
    // Uses up the connection's window to the byte.
    peer.call(1, &post(1, &body(65_535)));
    assert_eq!(content(&peer.frames()).len(), 65_535);
    peer.call(2, &post(2, &body(20_000)));
    assert_eq!(of_kind(&peer.frames(), kind::HEADERS).len(), 1);
    peer.client.cancel(2); // it waits for the connection's window
    peer.call(3, &get(3));
    let kinds: Vec<u8> = peer.frames().iter().map(|frame| frame.kind).collect();
    assert_eq!(kinds, [kind::RST_STREAM, kind::HEADERS]);
    peer.play(&window_update(0, 100_000));
    assert!(peer.frames().is_empty());
    peer.call(4, &post(4, b"next"));
    assert_eq!(content(&peer.frames()), b"next");
}

#[test]
fn a_cancelled_reply_is_granted_no_more_credit() {
    let options = Options {
        stream_window: 10,
        ..Options::default()
    };
    let mut peer = Peer::connect(options, &[]);
    peer.call(1, &get(1));
    peer.frames();
    let head = peer.head(1, &[(":status", "200")]);
    peer.play(&[head, data(1, &[0; 10])].concat());
    peer.client.cancel(1);
    peer.call(2, &get(1));
    let kinds: Vec<u8> = peer.frames().iter().map(|frame| frame.kind).collect();
    assert_eq!(kinds, [kind::RST_STREAM, kind::HEADERS]);
}
