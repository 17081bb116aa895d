//! Input that must be refused, and by which rule.

use wirelab_wire_own::cdr::{ByteOrder, Error};
use wirelab_wire_own::giop::{
    ClientMessage, Deframer, MESSAGE_BYTES_MAX, MessageHeader, Options, OptionsError, ReplyStatus,
    RequestError, check_request, fragment,
};
use wirelab_wire_own::{Failure, Session};

use super::wire::{Wire, options, reply, request};
use crate::session_support::{Event, fail};

/// The session's error for `input` with one call in flight.
fn refusal(input: &[u8]) -> String {
    let mut wire = Wire::with_calls(1);
    let error = wire.receive(input).unwrap_err();
    assert_eq!(
        wire.events.last(),
        Some(&fail(0, Failure::Protocol(error.clone())))
    );
    assert!(wire.session.finished());
    assert_eq!(wire.session.capacity(), 0);
    error.to_string()
}

fn good() -> Vec<u8> {
    reply(0, ByteOrder::Big, ReplyStatus::NoException, b"body")
}

#[test]
fn headers_that_are_not_giop_are_refused() {
    let with = |at: usize, byte: u8| {
        let mut message = good();
        message[at] = byte;
        refusal(&message)
    };
    assert!(with(0, b'J').contains("begins with GIOP"));
    assert!(with(4, 2).contains("GIOP 1.0, 1.1 or 1.2"));
    assert!(with(5, 3).contains("GIOP 1.0, 1.1 or 1.2"));
    assert!(with(5, 1).contains("its request's version"));
    assert!(with(6, 4).contains("reserved flags"));
    assert!(with(7, 8).contains("message type"));
    assert!(with(7, 0).contains("a server sends replies"));
    assert!(with(7, 4).contains("a server sends replies"));
    assert!(with(7, 6).contains("understands"));
    assert!(with(8, 0x40).contains("largest size"));
    assert!(with(11, 3).contains("request id"));
    assert!(with(11, 8).contains("contains its header"));
    assert!(with(19, 6).contains("0 to 5"));
    assert!(with(15, 1).contains("one reply to each request"));
}

#[test]
fn fragments_that_follow_nothing_are_refused() {
    let whole = reply(0, ByteOrder::Big, ReplyStatus::NoException, &[1; 40]);
    let pieces = fragment(&whole, 32);
    assert!(refusal(&pieces[1]).contains("one reply to each request"));
    let twice = [&pieces[0][..], &pieces[0]].concat();
    assert!(refusal(&twice).contains("one reply to each request"));
    let mut odd = pieces.concat();
    odd[11] -= 1;
    assert!(refusal(&odd).contains("multiples of 8"));
    let mut turned = pieces.clone();
    turned[1][6] ^= 1;
    turned[1][8..12].reverse();
    turned[1][12..16].reverse();
    assert!(refusal(&turned.concat()).contains("byte order of the first"));
}

#[test]
fn a_header_that_never_ends_is_refused_with_its_message() {
    let mut message = good();
    message[20..24].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(refusal(&message).contains("contains its header"));
}

#[test]
fn a_forward_to_nowhere_is_refused() {
    let forward = reply(
        0,
        ByteOrder::Big,
        ReplyStatus::LocationForward,
        &[0, 0, 0, 9],
    );
    assert!(refusal(&forward).contains("names the object"));
    let endless = reply(
        0,
        ByteOrder::Big,
        ReplyStatus::LocationForward,
        &vec![1; 70_000],
    );
    assert!(refusal(&endless).contains("object reference"));
}

#[test]
fn a_reply_before_its_request_is_refused() {
    let mut wire = Wire::new(options(1));
    wire.session.send(0, &request(1, "ping", &[]));
    assert!(wire.receive(&good()).is_err());
    assert!(matches!(
        wire.events[..],
        [Event::Failed(0, Failure::Protocol(_))]
    ));
}

#[test]
fn every_truncation_fails_the_call_and_nothing_else() {
    let whole = fragment(
        &reply(0, ByteOrder::Big, ReplyStatus::NoException, &[1; 40]),
        32,
    )
    .concat();
    for cut in 0..whole.len() {
        let mut wire = Wire::with_calls(1);
        wire.receive(&whole[..cut]).unwrap();
        wire.closed();
        let failure = if cut < 16 {
            Failure::Closed
        } else {
            Failure::Truncated
        };
        assert_eq!(wire.events.last(), Some(&fail(0, failure)), "cut at {cut}");
    }
}

fn deframe(mut input: &[u8]) -> Result<Option<ClientMessage>, String> {
    Deframer::new()
        .next(&mut input)
        .map_err(|error| error.to_string())
}

#[test]
fn a_server_refuses_what_clients_do_not_send() {
    assert!(
        deframe(&good())
            .unwrap_err()
            .contains("a client sends requests")
    );
    assert!(
        deframe(b"GET / HTTP/1.1\r\n")
            .unwrap_err()
            .contains("begins with GIOP")
    );
    let huge = b"GIOP\x01\x02\0\0\x7F\xFF\xFF\xFF";
    assert!(deframe(huge).unwrap_err().contains("largest size"));
    let orphan = b"GIOP\x01\x02\0\x07\0\0\0\x04\0\0\0\0";
    assert!(
        deframe(orphan)
            .unwrap_err()
            .contains("a Fragment continues")
    );
    let fragmented_cancel = b"GIOP\x01\x02\x02\x02\0\0\0\x04\0\0\0\0";
    assert!(
        deframe(fragmented_cancel)
            .unwrap_err()
            .contains("come in fragments")
    );
}

#[test]
fn a_server_knows_whom_to_answer_when_a_header_is_faulty() {
    let mut wire = Wire::new(Options {
        byte_order: ByteOrder::Big,
        ..options(1)
    });
    let mut sent = wire.send(0, &request(1, "ping", &[]));
    sent[24..28].copy_from_slice(&u32::MAX.to_be_bytes());
    let ClientMessage::Malformed {
        reply_to: Some(to),
        error: Error::Length {
            length: u32::MAX, ..
        },
    } = deframe(&sent).unwrap().unwrap()
    else {
        panic!("{:?}", deframe(&sent));
    };
    assert_eq!(to.id, 0);
    let tiny = b"GIOP\x01\x02\0\0\0\0\0\x02\0\0";
    let malformed = deframe(tiny).unwrap();
    assert!(
        matches!(
            malformed,
            Some(ClientMessage::Malformed { reply_to: None, .. })
        ),
        "{malformed:?}"
    );
}

#[test]
fn every_request_cut_short_within_its_envelope_is_malformed() {
    let mut wire = Wire::new(options(1));
    let sent = wire.send(0, &request(1, "ping", &[]));
    for size in 0..sent.len() - 12 {
        let mut short = sent[..12 + size].to_vec();
        short[8..12].copy_from_slice(&(size as u32).to_le_bytes());
        let inbound = deframe(&short).unwrap().unwrap();
        assert!(
            matches!(inbound, ClientMessage::Malformed { .. }),
            "{size}: {inbound:?}"
        );
    }
}

#[test]
fn a_server_holds_few_unfinished_messages() {
    let mut deframer = Deframer::new();
    let mut refused = None;
    for id in 0..1000_u32 {
        let message = [b"GIOP\x01\x02\x02\0\0\0\0\x04", &id.to_be_bytes()[..]].concat();
        if let Err(error) = deframer.next(&mut &message[..]) {
            refused = Some((id, error));
            break;
        }
    }
    let (id, error) = refused.unwrap();
    assert_eq!(id, 64);
    assert!(error.to_string().contains("few"));
}

#[test]
fn an_announced_length_does_not_allocate_memory() {
    let size = (MESSAGE_BYTES_MAX as u32).to_be_bytes();
    let header = [&b"GIOP\x01\x02\0\0"[..], &size].concat();
    assert!(MessageHeader::parse(header[..].try_into().unwrap()).is_ok());
    let mut sessions: Vec<Deframer> = (0..1000).map(|_| Deframer::new()).collect();
    for deframer in &mut sessions {
        assert_eq!(deframer.next(&mut &header[..]).unwrap(), None);
        assert!(!deframer.is_idle());
    }
}

#[test]
fn options_and_requests_that_cannot_be_are_refused() {
    let refused = |options: Options| wirelab_wire_own::giop::Giop::new(options).unwrap_err();
    assert_eq!(refused(options(0)), OptionsError::NoCalls);
    assert_eq!(
        refused(Options {
            object_key: vec![],
            ..options(1)
        }),
        OptionsError::NoKey
    );
    assert_eq!(
        refused(Options {
            close: true,
            ..options(2)
        }),
        OptionsError::InFlightWithClose(2)
    );
    assert!(check_request(&request(1, "directDebit", &[])).is_ok());
    for name in ["", "1up", "a-b", "é", "a\0"] {
        let refused = check_request(&request(1, name, &[]));
        assert_eq!(refused, Err(RequestError::Operation(name.into())));
    }
}
