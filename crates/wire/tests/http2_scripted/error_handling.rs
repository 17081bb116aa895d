//! Floods, bombs and garbage: bounded, and never a panic.

use proptest::prelude::*;
use wirelab_wire::http2::Options;
use wirelab_wire::http2::frame::{code, flag, kind};
use wirelab_wire::{ProtocolError, Session};

use super::peer::{Event, Peer, data, frame, get, last_data, post, settings, window_update};

/// Plays `bytes` again and again until the client has had enough.
fn flood(peer: &mut Peer, bytes: &[u8], rounds: usize) -> ProtocolError {
    for _ in 0..rounds {
        if let Err(error) = peer.client.receive(bytes, &mut peer.log) {
            let frames = peer.frames();
            let goaway = frames.last().unwrap();
            assert_eq!(
                goaway.payload[4..8],
                code::ENHANCE_YOUR_CALM.to_be_bytes(),
                "{error}"
            );
            return error;
        }
    }
    panic!("{rounds} rounds were taken");
}

fn open() -> Peer {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    peer
}

#[test]
fn pings_and_settings_faster_than_their_answers() {
    for bytes in [frame(kind::PING, 0, 0, &[0; 8]), settings(&[])] {
        let mut peer = open();
        let error = flood(&mut peer, &bytes, 1_001);
        assert!(error.rule.contains("RFC 9113 section 10.5"), "{error}");
    }
}

#[test]
fn pings_that_can_be_answered_are() {
    let mut peer = open();
    for _ in 0..50 {
        peer.play(&frame(kind::PING, 0, 0, &[0; 8]).repeat(1_000));
        assert_eq!(peer.frames().len(), 1_000);
    }
}

#[test]
fn data_without_content() {
    let mut peer = open();
    let head = peer.head(1, &[(":status", "200")]);
    peer.play(&head);
    peer.play(&data(1, b"").repeat(1_000));
    // Content starts the count of empty frames again.
    peer.play(&data(1, b"x"));
    let empty = [data(1, b""), frame(kind::DATA, flag::PADDED, 1, &[2, 0, 0])].concat();
    let error = flood(&mut peer, &empty, 501);
    assert!(error.rule.contains("RFC 9113 section 10.5"), "{error}");
}

/// The empty DATA that ends a reply does not count as a flood.
#[test]
fn many_replies_may_end_in_empty_data() {
    let mut peer = Peer::new();
    for round in 0..1_100 {
        peer.call(1, &get(1));
        peer.frames();
        let head = peer.head(2 * round + 1, &[(":status", "200")]);
        peer.play(&[head, last_data(2 * round + 1, b"")].concat());
    }
    assert_eq!(peer.take_events().len(), 3 * 1_100);
}

#[test]
fn continuations_without_end() {
    for (part, reported) in [
        (&b""[..], "0 bytes after 257 frames"),
        (&[0x88; 1_000], "66000 bytes after 66"),
    ] {
        let mut peer = open();
        peer.play(&frame(kind::HEADERS, 0, 1, &[]));
        let error = flood(&mut peer, &frame(kind::CONTINUATION, 0, 1, part), 257);
        assert!(error.rule.contains("RFC 9113 section 10.5.1"), "{error}");
        assert!(error.found.starts_with(reported), "{error}");
    }
}

#[test]
fn a_bomb_of_fields() {
    let mut peer = open();
    let long = "x".repeat(4_000);
    let mut block = peer.block(&[(":status", "200"), ("x-long", &long)]);
    // Index 62, the entry of 4 kB that was just inserted.
    block.extend(vec![0xbe; 100]);
    let error = flood(
        &mut peer,
        &frame(kind::HEADERS, flag::END_HEADERS, 1, &block),
        1,
    );
    assert!(error.rule.contains("RFC 9113 section 6.5.2"), "{error}");
}

/// Credit that is due is sent once, however small the frames that made it due.
#[test]
fn many_small_frames_do_not_pile_up_answers() {
    let options = Options {
        stream_window: 65_535,
        connection_window: 65_535,
        ..Options::default()
    };
    let mut peer = Peer::connect(options, &[]);
    peer.call(1, &get(1));
    peer.frames();
    let head = peer.head(1, &[(":status", "200")]);
    peer.play(&head);
    peer.play(&data(1, b"x").repeat(65_535));
    assert_eq!(peer.frames().len(), 2);
}

/// A client with calls in all states.
fn busy() -> Peer {
    let mut peer = Peer::connect(
        Options {
            max_streams: 10,
            ..Options::default()
        },
        &[],
    );
    peer.call(1, &post(1, &[7; 100_000]));
    for call in 2..8 {
        peer.call(call, &get(call));
    }
    peer.frames();
    let heads = [1, 3, 5].map(|stream| peer.head(stream, &[(":status", "200")]));
    peer.play(&heads.concat());
    peer.client.cancel(3);
    peer.call(9, &get(1));
    peer.take_events();
    peer
}

/// Frames that are likely to be taken for real ones.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let kinds = 0_u8..11;
    let flags = prop_oneof![Just(0), Just(1), Just(4), Just(5), any::<u8>()];
    let payload = prop::collection::vec(any::<u8>(), 0..40);
    (kinds, flags, 0_u32..20, payload).prop_map(|(kind, flags, stream, mut payload)| {
        let fixed = match kind {
            kind::RST_STREAM | kind::WINDOW_UPDATE => 4,
            kind::PING | kind::GOAWAY => 8,
            kind::PRIORITY => 5,
            kind::SETTINGS => payload.len() / 6 * 6,
            _ => payload.len(),
        };
        payload.resize(fixed, 0);
        frame(kind, flags, stream, &payload)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut peer = busy();
        let _ = peer.client.receive(&bytes, &mut peer.log);
        let mut out = Vec::new();
        while peer.client.pump(&mut out) {}
        // The upload of 100,000 bytes, and little more: answers must not grow with the
        // input.
        prop_assert!(out.len() < 110_000);
        peer.client.closed(&mut peer.log);
    }

    /// Every call ends once, the answers stay small, and what is sent after an
    /// error is one GOAWAY.
    #[test]
    fn frames_in_any_order_end_every_call_once(script in prop::collection::vec(frames(), 0..60)) {
        let mut peer = busy();
        let mut refused = false;
        for bytes in &script {
            refused |= peer.client.receive(bytes, &mut peer.log).is_err();
        }
        prop_assert_eq!(refused, peer.client.receive(&[], &mut peer.log).is_err());
        let mut out = Vec::new();
        while peer.client.pump(&mut out) {}
        prop_assert!(out.len() < 110_000);
        prop_assert!(!refused || peer.client.capacity() == 0 && peer.client.finished());
        peer.client.closed(&mut peer.log);
        let mut ended: Vec<u32> = peer.take_events().iter().filter_map(|event| match event {
            Event::End(call, _) | Event::Failed(call, _) => Some(*call),
            _ => None,
        }).collect();
        ended.sort_unstable();
        // Call 3 was cancelled by the client and reports nothing.
        prop_assert_eq!(ended, [1, 2, 4, 5, 6, 7, 9]);
    }

    /// Uploads stay within every window that was granted.
    #[test]
    fn uploads_never_exceed_their_credit(
        initial in 0_u32..50_000,
        grants in prop::collection::vec((0_u32..2, 1_u32..30_000, 0_u32..50_000), 0..20),
    ) {
        let window = wirelab_wire::http2::frame::setting::INITIAL_WINDOW_SIZE;
        let mut peer = Peer::connect(Options::default(), &[(window, initial)]);
        peer.call(1, &post(1, &[1; 150_000]));
        let mut stream_credit = i64::from(initial);
        let mut connection_credit = 65_535_i64;
        let mut before = i64::from(initial);
        for (target, increment, size) in grants {
            let sent: usize = peer.frames().iter()
                .filter(|frame| frame.kind == kind::DATA).map(|frame| frame.payload.len()).sum();
            stream_credit -= sent as i64;
            connection_credit -= sent as i64;
            prop_assert!(sent == 0 || stream_credit >= 0 && connection_credit >= 0);
            let blocked = stream_credit <= 0 || connection_credit == 0;
            prop_assert!(blocked || peer.client.flushed(1), "credit is used");
            peer.play(&[window_update(target, increment), settings(&[(window, size)])].concat());
            if target == 0 {
                connection_credit += i64::from(increment);
            } else {
                stream_credit += i64::from(increment);
            }
            // A new initial window changes open streams by the difference, also below 0
            // (RFC 9113 section 6.9.2).
            stream_credit += i64::from(size) - before;
            before = i64::from(size);
        }
    }
}
