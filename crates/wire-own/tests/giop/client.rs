//! The session with replies of every kind, order and cut.

use wirelab_wire_own::cdr::ByteOrder;
use wirelab_wire_own::giop::{
    Ior, Options, ReplyStatus, SystemException, UserException, Version, close_connection, fragment,
};
use wirelab_wire_own::{Failure, Session};

use super::wire::{ORDERS, Wire, head, options, reply, request, to};
use crate::session_support::{Event, body, end, fail, first};

/// The events of a good call.
fn good(call: u32, order: ByteOrder, bytes: &[u8]) -> Vec<Event> {
    let mut events = vec![
        first(call),
        Event::Head(call, head(200, order, Some(bytes.len() as u64))),
    ];
    if !bytes.is_empty() {
        events.push(body(call, bytes));
    }
    events.push(end(call));
    events
}

#[test]
fn replies_come_in_both_orders_of_bytes_and_any_order_of_calls() {
    let mut wire = Wire::with_calls(3);
    assert_eq!(wire.session.capacity(), 0);
    let mut expected = Vec::new();
    for (id, order) in [
        (2, ByteOrder::Big),
        (0, ByteOrder::Little),
        (1, ByteOrder::Big),
    ] {
        wire.receive(&reply(id, order, ReplyStatus::NoException, b"abcde"))
            .unwrap();
        expected.extend(good(id, order, b"abcde"));
    }
    assert_eq!(wire.events, expected);
    assert_eq!(wire.session.capacity(), 3);
}

#[test]
fn a_reply_may_come_in_any_two_pieces_or_byte_by_byte() {
    let whole = reply(0, ByteOrder::Big, ReplyStatus::NoException, b"abcdefghi");
    let expected = good(0, ByteOrder::Big, b"abcdefghi");
    for cut in 0..=whole.len() {
        let mut wire = Wire::with_calls(1);
        wire.receive(&whole[..cut]).unwrap();
        wire.receive(&whole[cut..]).unwrap();
        assert_eq!(wire.events, expected, "cut at {cut}");
    }
    let mut wire = Wire::with_calls(1);
    whole
        .iter()
        .for_each(|byte| wire.receive(&[*byte]).unwrap());
    assert_eq!(wire.events, expected);
}

/// A reply whose header holds contexts of awkward lengths.
fn with_contexts(order: ByteOrder, bytes: &[u8]) -> Vec<u8> {
    let number = |number: u32| match order {
        ByteOrder::Big => number.to_be_bytes(),
        ByteOrder::Little => number.to_le_bytes(),
    };
    let mut message = [b"GIOP", &[1, 2, order.flag(), 1][..], &[0; 4]].concat();
    for field in [0, 0, 3, 9, 5] {
        message.extend(number(field)); // id, status, contexts; number and length of the first
    }
    message.extend([7; 8]); // five bytes and three of padding: 40
    message.extend([number(9), number(0)].concat()); // an empty one: 48
    message.extend([number(9), number(1)].concat());
    message.push(7); // 57, so that seven bytes of padding follow
    if !bytes.is_empty() {
        message.extend([0xEE; 7]);
        message.extend_from_slice(bytes);
    }
    let size = number(message.len() as u32 - 12);
    message[8..12].copy_from_slice(&size);
    message
}

#[test]
fn contexts_are_passed_over_and_the_body_begins_at_a_multiple_of_8() {
    for order in ORDERS {
        for content in [&b""[..], b"x", b"12345678"] {
            let whole = with_contexts(order, content);
            for cut in 0..=whole.len() {
                let mut wire = Wire::with_calls(1);
                wire.receive(&whole[..cut]).unwrap();
                wire.receive(&whole[cut..]).unwrap();
                assert_eq!(wire.events, good(0, order, content), "cut at {cut}");
            }
        }
    }
}

#[test]
fn fragments_of_every_size_are_joined() {
    let content: Vec<u8> = (0..100).collect();
    for order in ORDERS {
        let whole = reply(0, order, ReplyStatus::NoException, &content);
        for bytes_max in (24..=128).step_by(8) {
            let pieces = fragment(&whole, bytes_max);
            let mut wire = Wire::with_calls(1);
            wire.receive(&pieces.concat()).unwrap();
            let length = (pieces.len() == 1).then_some(100);
            let expected = [
                first(0),
                Event::Head(0, head(200, order, length)),
                body(0, &content),
                end(0),
            ];
            assert_eq!(wire.events, expected, "fragments of {bytes_max} bytes");
        }
    }
}

#[test]
fn a_header_may_be_spread_over_fragments() {
    let whole = with_contexts(ByteOrder::Big, b"body");
    let pieces = fragment(&whole, 24);
    assert_eq!(pieces.len(), 7);
    let mut wire = Wire::with_calls(1);
    for byte in pieces.concat() {
        wire.receive(&[byte]).unwrap();
    }
    let expected = [
        first(0),
        Event::Head(0, head(200, ByteOrder::Big, None)),
        body(0, b"body"),
        end(0),
    ];
    assert_eq!(wire.events, expected);
}

#[test]
fn fragments_of_several_replies_may_alternate() {
    let mut wire = Wire::with_calls(2);
    let [one, two] = [(0, b'a'), (1, b'b')].map(|(id, letter)| {
        fragment(
            &reply(id, ByteOrder::Big, ReplyStatus::NoException, &[letter; 60]),
            40,
        )
    });
    assert_eq!((one.len(), two.len()), (3, 3));
    for (one, two) in one.iter().zip(&two) {
        wire.receive(one).unwrap();
        wire.receive(two).unwrap();
    }
    for (call, letter) in [(0, b'a'), (1, b'b')] {
        let bytes: Vec<u8> = wire
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Body(of, bytes) if *of == call => Some(bytes.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        assert_eq!(bytes, [letter; 60]);
    }
    assert_eq!(wire.events[wire.events.len() - 1], end(1));
}

#[test]
fn exceptions_have_a_status_of_their_own() {
    let mut wire = Wire::with_calls(2);
    let application = UserException {
        id: UserException::application_error_id("charging"),
        message: Some("not enough credit".into()),
    };
    let mut out = Vec::new();
    to(0, ByteOrder::Big)
        .user_exception(&mut out, &application)
        .unwrap();
    to(1, ByteOrder::Little)
        .system_exception(&mut out, &SystemException::marshal())
        .unwrap();
    wire.receive(&out).unwrap();
    let mut bodies = Vec::new();
    for event in &wire.events {
        match event {
            Event::Head(call, head) => assert_eq!(head.status, [500, 503][*call as usize]),
            Event::Body(_, bytes) => bodies.push(bytes.clone()),
            _ => {}
        }
    }
    assert_eq!(
        UserException::parse(ByteOrder::Big, &bodies[0]),
        Ok(application)
    );
    let system = SystemException::parse(ByteOrder::Little, &bodies[1]).unwrap();
    assert_eq!(system.name(), "MARSHAL");
}

#[test]
fn a_forward_reports_the_target() {
    let ior = Ior::new("IDL:x:1.0", "::1", 4711, b"there");
    for (order, permanent) in [(ByteOrder::Big, false), (ByteOrder::Little, true)] {
        let mut wire = Wire::with_calls(1);
        let mut out = Vec::new();
        to(0, order).forward(&mut out, &ior, permanent).unwrap();
        for byte in out {
            wire.receive(&[byte]).unwrap();
        }
        let Some(Event::Failed(
            0,
            Failure::Forwarded {
                ior: text,
                permanent: reported,
            },
        )) = wire.events.last()
        else {
            panic!("{:?}", wire.events);
        };
        assert_eq!(*reported, permanent);
        let read = Ior::parse(text).unwrap();
        let (profile, needed) = (read.iiop().unwrap(), ior.iiop().unwrap());
        assert_eq!((&profile.host, profile.port), (&needed.host, 4711));
        assert_eq!(profile.object_key, b"there");
        assert_eq!(wire.session.capacity(), 1, "the connection goes on");
    }
}

#[test]
fn another_addressing_mode_is_reported() {
    let mut wire = Wire::with_calls(1);
    wire.receive(&reply(
        0,
        ByteOrder::Big,
        ReplyStatus::NeedsAddressingMode,
        &[0, 2],
    ))
    .unwrap();
    assert_eq!(wire.events, [first(0), fail(0, Failure::AddressingMode(2))]);
}

#[test]
fn what_a_closing_peer_did_not_answer_was_not_processed() {
    let mut wire = Wire::with_calls(2);
    let pieces = fragment(
        &reply(1, ByteOrder::Big, ReplyStatus::NoException, &[1; 40]),
        32,
    );
    wire.receive(&pieces[0]).unwrap();
    let mut close = Vec::new();
    close_connection(&mut close, Version::V10);
    wire.receive(&close).unwrap();
    assert!(wire.session.finished());
    assert_eq!(wire.session.capacity(), 0);
    let unprocessed = fail(0, Failure::Unprocessed);
    assert_eq!(
        wire.events[wire.events.len() - 2..],
        [unprocessed, fail(1, Failure::Truncated)]
    );
}

#[test]
fn a_broken_connection_fails_what_is_in_flight() {
    let mut wire = Wire::with_calls(2);
    wire.receive(&reply(0, ByteOrder::Big, ReplyStatus::NoException, b"ab")[..25])
        .unwrap();
    wire.closed();
    let failures = [fail(0, Failure::Truncated), fail(1, Failure::Closed)];
    assert_eq!(wire.events[wire.events.len() - 2..], failures);
    wire.receive(b"anything").unwrap();
}

#[test]
fn a_cancelled_call_is_announced_and_its_reply_ignored() {
    let mut wire = Wire::with_calls(2);
    assert!(wire.session.cancel(0));
    let mut out = Vec::new();
    while wire.session.pump(&mut out) {}
    assert_eq!(out, b"GIOP\x01\x02\x01\x02\x04\0\0\0\0\0\0\0");
    let late = reply(0, ByteOrder::Big, ReplyStatus::NoException, &[1; 50]);
    wire.receive(&fragment(&late, 32).concat()).unwrap();
    wire.receive(&reply(1, ByteOrder::Big, ReplyStatus::NoException, b"x"))
        .unwrap();
    assert_eq!(wire.events, good(1, ByteOrder::Big, b"x"));
    assert!(wire.receive(&late).is_err(), "one reply to each request");
}

#[test]
fn a_call_given_up_before_it_was_sent_leaves_no_trace() {
    let mut wire = Wire::new(options(2));
    wire.session.send(0, &request(1, "ping", &[]));
    assert!(!wire.session.started(0));
    assert!(wire.session.cancel(0));
    let mut out = Vec::new();
    assert!(!wire.session.pump(&mut out));
    assert!(out.is_empty());
    let sent = wire.send(1, &request(1, "ping", &[]));
    assert!(
        sent.windows(4).any(|bytes| bytes == [1, 0, 1, 5]),
        "code sets are sent"
    );
}

#[test]
fn large_bodies_come_out_in_several_sends_and_split_ones_in_two() {
    let mut wire = Wire::new(Options {
        split_writes: true,
        ..options(1)
    });
    wire.session
        .send(0, &request(1, "upload", &vec![7; 600 << 10]));
    let mut sends = Vec::new();
    loop {
        let mut out = Vec::new();
        let more = wire.session.pump(&mut out);
        sends.push(out.len());
        if !more {
            break;
        }
        assert!(!wire.session.flushed(0));
    }
    assert_eq!(sends, [88, 256 << 10, 256 << 10, 88 << 10]);
    assert!(wire.session.flushed(0));
}

#[test]
fn one_call_per_connection_closes_it() {
    let mut wire = Wire::new(Options {
        close: true,
        ..options(1)
    });
    wire.send(0, &request(1, "ping", &[]));
    assert!(wire.session.finished());
    wire.receive(&reply(0, ByteOrder::Big, ReplyStatus::NoException, &[]))
        .unwrap();
    assert_eq!(wire.events, good(0, ByteOrder::Big, &[]));
    assert_eq!(wire.session.capacity(), 0);
}
