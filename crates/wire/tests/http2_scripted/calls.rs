//! Requests out, replies in.

use wirelab_wire::http2::Options;
use wirelab_wire::http2::frame::{code, flag, kind, setting};
use wirelab_wire::{ContentType, Encoding, End, Failure, Head, Session};

use super::peer::{
    Event, Peer, data, frame, get, last_data, of_kind, ok_head, pad, post, request, reset,
    window_update,
};

#[test]
fn a_request_is_headers_and_data_in_one_send() {
    let mut peer = Peer::new();
    peer.call(7, &post(1, b"body"));
    assert!(!peer.client.flushed(7));
    let frames = peer.pump();
    assert!(peer.client.flushed(7));
    let shape: Vec<_> = frames.iter().map(|f| (f.kind, f.flags, f.stream)).collect();
    assert_eq!(
        shape,
        [
            (kind::HEADERS, flag::END_HEADERS, 1),
            (kind::DATA, flag::END_STREAM, 1)
        ]
    );
    assert_eq!(frames[1].payload, b"body");
    let fields = peer.decode(&frames[0].payload);
    let expected = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/path/1"),
        (":authority", "localhost:80"),
        ("content-length", "4"),
    ];
    assert_eq!(
        fields,
        expected.map(|(name, value)| (name.into(), value.into()))
    );
}

#[test]
fn only_grpc_and_bodiless_gets_state_no_length() {
    let grpc = [
        ("content-type", "application/grpc+proto"),
        ("te", "trailers"),
    ];
    for (request, length) in [
        (request(1, "GET", &[], b""), None),
        (request(2, "POST", &[], b""), Some("0")),
        (request(3, "PUT", &[], b"12"), Some("2")),
        (request(4, "POST", &grpc, b"12345"), None),
    ] {
        let mut peer = Peer::new();
        peer.call(1, &request);
        let frames = peer.frames();
        let fields = peer.decode(&frames[0].payload);
        let found = fields.iter().find(|(name, _)| name == "content-length");
        assert_eq!(
            found.map(|(_, value)| value.as_str()),
            length,
            "{request:?}"
        );
        assert_eq!(
            frames[0].flags & flag::END_STREAM != 0,
            request.body.is_empty()
        );
    }
}

#[test]
fn repeated_requests_are_the_same_indices() {
    let mut peer = Peer::new();
    let request = request(
        1,
        "POST",
        &[("accept", "text/plain"), ("x-some", "thing")],
        b"b",
    );
    let mut blocks = Vec::new();
    for call in 0..4 {
        peer.call(call, &request);
        let frames = peer.frames();
        assert_eq!(frames[0].stream, 2 * call + 1);
        blocks.push(frames[0].payload.clone());
        assert_eq!(peer.decode(&frames[0].payload).len(), 7);
    }
    assert!(
        // The highest bit marks an indexed field (RFC 7541 section 6.1).
        blocks[1].iter().all(|byte| byte & 0x80 != 0),
        "{:x?}",
        blocks[1]
    );
    assert!(blocks[0].len() > blocks[1].len());
    assert_eq!(
        blocks[1..],
        [blocks[1].clone(), blocks[1].clone(), blocks[1].clone()]
    );
}

#[test]
fn requests_that_take_turns_keep_their_own_blocks() {
    let mut peer = Peer::new();
    // More kinds of requests than blocks are cached.
    let requests: Vec<_> = (0..40).map(|id| post(id, b"")).collect();
    for round in 0..3 {
        for request in &requests {
            peer.call(request.id as u32, request);
            let frames = peer.frames();
            let fields = peer.decode(&frames[0].payload);
            assert_eq!(fields[2].1, request.path, "round {round}");
            let reply = peer.last_head(frames[0].stream, &[(":status", "200")]);
            peer.play(&reply);
        }
    }
}

#[test]
fn secrets_are_sent_never_indexed() {
    let mut peer = Peer::new();
    let secret = request(
        1,
        "GET",
        &[("authorization", "Bearer 1"), ("cookie", "a=b")],
        b"",
    );
    for call in 0..3 {
        peer.call(call, &secret);
        let frames = peer.frames();
        let fields = peer.decode(&frames[0].payload);
        assert_eq!(fields[4], ("authorization".into(), "Bearer 1".into()));
        assert_eq!(fields[5], ("cookie".into(), "a=b".into()));
    }
    // :path and :authority; the others are static.
    assert_eq!(peer.decoder.table().len(), 2);
}

#[test]
fn a_block_longer_than_a_frame_goes_on_in_continuation() {
    let mut peer = Peer::new();
    let long = "x".repeat(50_000);
    peer.call(1, &request(1, "GET", &[("x-long", &long)], b""));
    let frames = peer.frames();
    let kinds: Vec<_> = frames.iter().map(|f| (f.kind, f.flags)).collect();
    assert_eq!(kinds[0], (kind::HEADERS, flag::END_STREAM));
    assert_eq!(kinds.last(), Some(&(kind::CONTINUATION, flag::END_HEADERS)));
    assert!(frames.iter().all(|f| f.payload.len() <= 16_384));
    let block: Vec<u8> = frames.iter().flat_map(|f| f.payload.clone()).collect();
    assert_eq!(peer.decode(&block)[4].1, long);
}

#[test]
fn split_writes_send_heads_and_bodies_apart() {
    let mut peer = Peer::connect(
        Options {
            split_writes: true,
            ..Options::default()
        },
        &[],
    );
    peer.call(1, &post(1, b"one"));
    peer.call(2, &post(2, b"two"));
    let mut out = Vec::new();
    assert!(peer.client.pump(&mut out));
    assert!(!peer.client.flushed(1));
    let bodies = peer.pump();
    assert_eq!(of_kind(&bodies, kind::DATA), bodies);
    assert_eq!(
        bodies
            .iter()
            .map(|f| f.payload.as_slice())
            .collect::<Vec<_>>(),
        [b"one", b"two"]
    );
    assert!(peer.client.flushed(1) && peer.client.flushed(2));
    assert!(peer.pump().is_empty());
}

/// Heads and bodies take turns: an upload of many sends does not hold up new calls.
#[test]
fn with_split_writes_a_long_upload_lets_new_calls_pass() {
    let options = Options {
        split_writes: true,
        ..Options::default()
    };
    let mut peer = Peer::connect(options, &[(setting::INITIAL_WINDOW_SIZE, 10_000_000)]);
    peer.play(&window_update(0, 10_000_000));
    peer.call(1, &post(1, &[0; 2_000_000]));
    assert_eq!(of_kind(&peer.pump(), kind::HEADERS).len(), 1);
    peer.pump();
    peer.call(2, &get(2));
    let heads = peer.pump();
    assert_eq!(
        (heads.len(), heads[0].kind, heads[0].stream),
        (1, kind::HEADERS, 3)
    );
    assert!(!of_kind(&peer.pump(), kind::DATA).is_empty());
    assert!(!peer.client.flushed(1));
}

#[test]
fn head_body_and_trailers_are_reported_in_order() {
    let mut peer = Peer::new();
    peer.call(5, &get(1));
    peer.frames();
    let head = peer.head(
        1,
        &[
            (":status", "200"),
            ("content-type", "application/grpc"),
            ("grpc-encoding", "gzip"),
            ("content-length", "6"),
        ],
    );
    let trailers = peer.last_head(1, &[("grpc-status", "0"), ("grpc-message", "fine")]);
    peer.play(&[head, data(1, b"abc"), data(1, b"def"), trailers].concat());
    let head = Head {
        status: 200,
        content_length: Some(6),
        encoding: Encoding::Gzip,
        content_type: ContentType::Grpc,
        ..Head::default()
    };
    let end = End {
        grpc_status: Some(0),
        grpc_message: None,
    };
    assert_eq!(
        peer.take_events(),
        [
            Event::First(5),
            Event::Head(5, head),
            Event::Body(5, b"abcdef".into()),
            Event::End(5, end)
        ]
    );
    assert_eq!(peer.client.capacity(), 100);
}

#[test]
fn a_reply_may_be_trailers_only() {
    let mut peer = Peer::new();
    for (call, status, message) in [
        (1, "13", Some("50% off")),
        (2, "0", None),
        (3, "13", Some("50% off")),
    ] {
        peer.call(call, &get(1));
        peer.frames();
        let fields = [
            (":status", "200"),
            ("grpc-status", status),
            ("grpc-message", "50%25%20off"),
        ];
        let reply = peer.last_head(2 * call - 1, &fields);
        peer.play(&reply);
        let end = End {
            grpc_status: status.parse().ok(),
            grpc_message: message.map(Into::into),
        };
        assert_eq!(
            peer.take_events(),
            [
                Event::First(call),
                Event::Head(call, ok_head()),
                Event::End(call, end)
            ]
        );
    }
}

#[test]
fn replies_may_interleave() {
    let mut peer = Peer::new();
    for call in [10, 11, 12] {
        peer.call(call, &get(1));
    }
    peer.frames();
    let heads = [5, 1, 3].map(|stream| peer.head(stream, &[(":status", "200")]));
    peer.play(&heads.concat());
    peer.play(
        &[
            data(3, b"b"),
            data(1, b"a"),
            last_data(5, b"c"),
            last_data(3, b"b"),
        ]
        .concat(),
    );
    peer.play(&last_data(1, b""));
    let body = |call, bytes: &[u8]| Event::Body(call, bytes.to_vec());
    assert_eq!(
        peer.take_events()[6..],
        [
            body(11, b"b"),
            body(10, b"a"),
            body(12, b"c"),
            Event::End(12, End::default()),
            body(11, b"b"),
            Event::End(11, End::default()),
            Event::End(10, End::default()),
        ]
    );
}

#[test]
fn informational_heads_are_passed_over() {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    // content-length of an informational head says nothing about the reply.
    let early = peer.head(1, &[(":status", "103"), ("content-length", "9")]);
    let head = peer.last_head(1, &[(":status", "200")]);
    peer.play(&[early.clone(), early, head].concat());
    assert_eq!(
        peer.take_events(),
        [
            Event::First(1),
            Event::Head(1, ok_head()),
            Event::End(1, End::default())
        ]
    );
}

#[test]
fn padding_and_priority_are_taken_off() {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    let block = peer.block(&[(":status", "200")]);
    // Exclusive bit, stream 1, weight 256 (RFC 9113 section 6.2): deprecated, but still
    // legal.
    let prioritised = [&[0x80, 0, 0, 1, 255][..], &block].concat();
    let flags = flag::END_HEADERS | flag::PRIORITY;
    peer.play(&pad(kind::HEADERS, flags, 1, &prioritised, 100));
    peer.play(&pad(kind::DATA, 0, 1, b"ab", 255));
    peer.play(&pad(kind::DATA, 0, 1, b"", 0));
    peer.play(&pad(kind::DATA, flag::END_STREAM, 1, b"c", 0));
    assert_eq!(
        peer.take_events(),
        [
            Event::First(1),
            Event::Head(1, ok_head()),
            Event::Body(1, b"abc".into()),
            Event::End(1, End::default())
        ]
    );
}

#[test]
fn a_block_may_come_a_byte_a_frame() {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    let block = peer.block(&[(":status", "200"), ("x-name", "some value")]);
    peer.play(&frame(kind::HEADERS, flag::END_STREAM, 1, &[]));
    let last = block.len() - 1;
    for (at, byte) in block.iter().enumerate() {
        let flags = if at == last { flag::END_HEADERS } else { 0 };
        peer.play(&frame(kind::CONTINUATION, flags, 1, &[*byte]));
    }
    assert_eq!(
        peer.take_events(),
        [
            Event::First(1),
            Event::Head(1, ok_head()),
            Event::End(1, End::default())
        ]
    );
}

/// Replies that never have content may promise some all the same.
#[test]
fn contentless_replies_have_none() {
    for (method, status, body, good) in [
        ("HEAD", "200", &b""[..], true),
        ("GET", "304", b"", true),
        ("GET", "204", b"", true),
        ("GET", "200", b"", false),
        ("HEAD", "200", b"x", false),
        ("GET", "204", b"x", false),
        ("GET", "304", b"1234567", false),
    ] {
        let mut peer = Peer::new();
        peer.call(1, &request(1, method, &[], b""));
        peer.frames();
        // The length is legal with HEAD and 304 (RFC 9110 section 8.6); there it is that of
        // another reply.
        let head = peer.head(1, &[(":status", status), ("content-length", "7")]);
        peer.play(&[head, last_data(1, body)].concat());
        let ended = matches!(peer.take_events().last(), Some(Event::End(1, _)));
        assert_eq!(ended, good, "{method} {status} {body:?}");
        assert!(!peer.client.finished(), "the connection goes on");
    }
}

/// The call fails with a rule, its stream is reset, the other call goes on.
fn assert_fails_stream(mut peer: Peer, bytes: &[u8], rule: &str) {
    peer.call(1, &get(1));
    peer.call(2, &get(1));
    peer.frames();
    peer.play(bytes);
    let reported = peer.take_events();
    match reported.last() {
        Some(Event::Failed(1, Failure::Protocol(error))) => {
            assert!(error.rule.contains(rule), "{error}");
        }
        other => panic!("{other:?} where {rule} was broken"),
    }
    let resets = of_kind(&peer.frames(), kind::RST_STREAM);
    assert_eq!(resets.len(), 1);
    assert_eq!(
        (resets[0].stream, resets[0].number()),
        (1, code::PROTOCOL_ERROR)
    );
    let other = peer.last_head(3, &[(":status", "200")]);
    peer.play(&other);
    assert!(matches!(peer.take_events().last(), Some(Event::End(2, _))));
}

#[test]
fn content_must_be_as_long_as_promised() {
    for content in [
        vec![last_data(1, b"123456")],
        vec![data(1, b"12345"), data(1, b"6")],
        vec![last_data(1, b"1234")],
        vec![data(1, b"1234"), last_data(1, b"")],
        vec![pad(kind::DATA, 0, 1, b"123456", 3)],
    ] {
        let mut peer = Peer::new();
        let head = peer.head(1, &[(":status", "200"), ("content-length", "5")]);
        assert_fails_stream(
            peer,
            &[head, content.concat()].concat(),
            "RFC 9113 section 8.1.1",
        );
    }
    let mut peer = Peer::new();
    let head = peer.head(1, &[(":status", "200"), ("content-length", "5")]);
    let trailers = peer.last_head(1, &[("grpc-status", "0")]);
    assert_fails_stream(peer, &[head, trailers].concat(), "RFC 9113 section 8.1.1");
}

#[test]
fn a_reply_out_of_order_is_malformed() {
    assert_fails_stream(Peer::new(), &data(1, b"x"), "RFC 9113 section 8.1");
    let mut peer = Peer::new();
    let head = peer.head(1, &[(":status", "200")]);
    let more = peer.head(1, &[("grpc-status", "0")]);
    assert_fails_stream(peer, &[head, more].concat(), "RFC 9113 section 8.1");
    let mut peer = Peer::new();
    let heads = [
        peer.head(1, &[(":status", "200")]),
        peer.last_head(1, &[(":status", "200")]),
    ];
    assert_fails_stream(peer, &heads.concat(), "RFC 9113 section 8.1");
}

#[test]
fn a_cancelled_call_is_reset_and_its_late_frames_are_ignored() {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.call(2, &get(1));
    peer.frames();
    let head = peer.head(1, &[(":status", "200")]);
    peer.play(&head);
    // In the middle of a DATA frame.
    // Nine bytes of head and two of content arrive before the call is cancelled.
    let late = data(1, b"abcdef");
    peer.play(&late[..11]);
    assert!(peer.client.cancel(1));
    assert_eq!(peer.client.capacity(), 99);
    peer.call(1, &get(1));
    peer.play(&late[11..]);
    let resets = of_kind(&peer.frames(), kind::RST_STREAM);
    assert_eq!((resets[0].stream, resets[0].number()), (1, code::CANCEL));
    // Late trailers still count for the compression state.
    let trailers = peer.last_head(1, &[("x-late", "field")]);
    let other = peer.last_head(3, &[(":status", "200"), ("x-late", "field")]);
    peer.play(&[data(1, b"late"), trailers, reset(1, code::CANCEL), other].concat());
    assert_eq!(
        peer.take_events(),
        [
            Event::First(1),
            Event::Head(1, ok_head()),
            Event::Body(1, b"ab".into()),
            Event::First(2),
            Event::Head(2, ok_head()),
            Event::End(2, End::default()),
        ]
    );
}

#[test]
fn a_call_cancelled_before_it_was_sent_leaves_no_trace() {
    let mut peer = Peer::new();
    peer.call(1, &post(1, b"x"));
    assert!(peer.client.cancel(1));
    peer.call(2, &get(1));
    assert!(
        peer.client.cancel(77),
        "unknown calls do not close the connection"
    );
    let frames = peer.frames();
    assert_eq!(frames.len(), 1);
    assert_eq!((frames[0].kind, frames[0].stream), (kind::HEADERS, 1));
}

#[test]
fn many_cancelled_calls_are_forgiven_their_late_frames() {
    let mut peer = Peer::new();
    for call in 0..200 {
        peer.call(call, &get(1));
        peer.frames();
        peer.client.cancel(call);
    }
    for stream in (1..400).step_by(2) {
        let late = peer.last_head(stream, &[(":status", "200")]);
        peer.play(&late);
    }
    assert!(peer.take_events().is_empty());
}

#[test]
fn a_reset_fails_the_call_with_its_code() {
    let mut peer = Peer::new();
    peer.call(1, &post(1, &[0; 100_000]));
    peer.frames();
    peer.play(&reset(1, 7));
    assert_eq!(peer.take_events(), [Event::Failed(1, Failure::Reset(7))]);
    assert!(peer.client.flushed(1));
    assert!(peer.frames().is_empty());
}

#[test]
fn a_reset_after_a_complete_reply_changes_nothing() {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    let reply = peer.last_head(1, &[(":status", "200")]);
    peer.play(&[reply, reset(1, code::NO_ERROR)].concat());
    assert_eq!(
        peer.take_events().last(),
        Some(&Event::End(1, End::default()))
    );
}

/// RFC 9113 section 8.1: a server may answer before it has the whole request.
#[test]
fn a_reply_in_mid_upload_ends_the_call_and_the_upload() {
    let mut peer = Peer::new();
    peer.call(1, &post(1, &[0; 200_000]));
    peer.frames();
    assert!(!peer.client.flushed(1));
    let reply = peer.last_head(1, &[(":status", "413")]);
    peer.play(&[reply, reset(1, code::NO_ERROR)].concat());
    assert!(matches!(peer.take_events().last(), Some(Event::End(1, _))));
    let frames = peer.frames();
    assert_eq!(frames.len(), 1);
    assert_eq!(
        (frames[0].kind, frames[0].number()),
        (kind::RST_STREAM, code::CANCEL)
    );
}

#[test]
fn a_call_id_is_free_again_once_its_call_has_ended() {
    let mut peer = Peer::connect(Options::default(), &[(setting::MAX_CONCURRENT_STREAMS, 1)]);
    for round in 0..300 {
        peer.call(9, &get(round % 3));
        assert_eq!(peer.client.capacity(), 0);
        let frames = peer.frames();
        assert_eq!(frames[0].stream, 2 * round + 1);
        let reply = peer.last_head(2 * round + 1, &[(":status", "200")]);
        peer.play(&reply);
        assert_eq!(peer.take_events().len(), 3);
    }
}
