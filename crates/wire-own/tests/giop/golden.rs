//! Bytes derived by hand.

use wirelab_wire_own::cdr::{ByteOrder, to_vec};
use wirelab_wire_own::giop::{
    Completed, LocateStatus, Options, ReplyTo, SystemException, UserException, Version,
    close_connection, message_error,
};

use super::wire::{KEY, Wire, options, request, to};

/// `creditControl(long)` of a connection's first request, big-endian.
/// With this key it has 100 bytes, as between real ORBs.
fn credit_control() -> Vec<u8> {
    [
        b"GIOP",
        &[1, 2, 0, 0][..],          // 4: 1.2, big-endian and whole, Request
        &[0, 0, 0, 88],             // 8: bytes that follow
        &[0, 0, 0, 0],              // 12: request id
        &[3, 0, 0, 0],              // 16: SYNC_WITH_TARGET, reserved
        &[0, 0, 0, 0],              // 20: KeyAddr, 2 bytes up to 24
        &[0, 0, 0, 20],             // 24: the key's length
        KEY,                        // 28
        &[0, 0, 0, 14],             // 48: the operation's length with its NUL
        b"creditControl\0",         // 52
        &[0, 0],                    // 66: 2 bytes up to 68
        &[0, 0, 0, 1],              // 68: one service context
        &[0, 0, 0, 1, 0, 0, 0, 12], // 72: CodeSets, its length
        &[0, 0, 0, 0],              // 80: big-endian, 3 bytes up to 84
        &[5, 1, 0, 1, 0, 1, 1, 9],  // 84: UTF-8, UTF-16
        &[0, 0, 0, 0],              // 92: 4 bytes up to 96, where the body begins
        &[0, 0, 0, 7],              // 96: the argument
    ]
    .concat()
}

#[test]
fn a_first_request_sends_the_code_sets_and_has_100_bytes() {
    let mut wire = Wire::new(Options {
        byte_order: ByteOrder::Big,
        ..options(1)
    });
    let body = to_vec(ByteOrder::Big, &7_i32).unwrap();
    let sent = wire.send(0, &request(1, "creditControl", &body));
    assert_eq!(sent, credit_control());
    assert_eq!(sent.len(), 100);
}

#[test]
fn little_endian_turns_every_number_round() {
    let mut expected = credit_control();
    expected[6] = 1;
    expected[80] = 1;
    for number in [8, 24, 48, 68, 72, 76, 84, 88, 96] {
        expected[number..number + 4].reverse();
    }
    let mut wire = Wire::new(options(1));
    let body = to_vec(ByteOrder::Little, &7_i32).unwrap();
    assert_eq!(wire.send(0, &request(1, "creditControl", &body)), expected);
}

#[test]
fn later_requests_have_their_number_and_no_context() {
    let mut wire = Wire::new(Options {
        byte_order: ByteOrder::Big,
        ..options(3)
    });
    let credit_control = request(1, "creditControl", &[0, 0, 0, 7]);
    wire.send(0, &credit_control);
    for id in 1..3 {
        let sent = wire.send(id, &credit_control);
        let mut expected = self::credit_control();
        expected.drain(72..96); // 20 bytes of context, 4 of padding
        expected[71] = 0;
        expected[11] = 64;
        expected[15] = id as u8;
        assert_eq!(sent, expected, "request {id}");
    }
}

#[test]
fn a_request_without_arguments_ends_with_its_header() {
    let mut wire = Wire::new(options(2));
    wire.send(0, &request(1, "a", &[]));
    let sent = wire.send(1, &request(2, "hello", &[]));
    // 48: length, 52: hello and NUL, 58: 2 bytes, 60: no context
    assert_eq!(sent.len(), 64);
}

#[test]
fn a_result_of_one_long_has_28_bytes() {
    let expected = [
        b"GIOP",
        &[1, 2, 0, 1][..],
        &[0, 0, 0, 16],
        &[0, 0, 0, 5], // request id
        &[0, 0, 0, 0], // NO_EXCEPTION
        &[0, 0, 0, 0], // no context; the body begins at 24
        &[0, 0, 0, 9],
    ]
    .concat();
    let mut out = Vec::new();
    to(5, ByteOrder::Big).result(&mut out, &9_i32).unwrap();
    assert_eq!(out, expected);
    assert_eq!(out.len(), 28);
}

#[test]
fn older_replies_have_the_contexts_first() {
    let expected = [
        b"GIOP",
        &[1, 0, 0, 1][..],
        &[0, 0, 0, 16],
        &[0, 0, 0, 0],
        &[0, 0, 0, 5],
        &[0, 0, 0, 0],
        &[0, 0, 0, 9],
    ]
    .concat();
    let reply = ReplyTo {
        version: Version::V10,
        order: ByteOrder::Big,
        id: 5,
    };
    let mut out = Vec::new();
    reply.result(&mut out, &9_i32).unwrap();
    assert_eq!(out, expected);
}

#[test]
fn exceptions_are_their_id_and_their_fields() {
    let error = UserException {
        id: UserException::application_error_id("charging"),
        message: Some("no".into()),
    };
    let mut out = Vec::new();
    error.write(ByteOrder::Big, &mut out).unwrap();
    let expected = [
        &[0, 0, 0, 45][..],
        b"IDL:wirelab/charging_v1/ApplicationError:1.0\0",
        &[0, 0, 0],
        &[0, 0, 0, 3],
        b"no\0",
    ]
    .concat();
    assert_eq!(out, expected);
    assert_eq!(UserException::parse(ByteOrder::Big, &out).unwrap(), error);

    let system = SystemException {
        minor: 2,
        completed: Completed::Maybe,
        ..SystemException::bad_operation()
    };
    let mut out = Vec::new();
    system.write(ByteOrder::Big, &mut out).unwrap();
    let expected = [
        &[0, 0, 0, 36][..],
        b"IDL:omg.org/CORBA/BAD_OPERATION:1.0\0",
        &[0, 0, 0, 2, 0, 0, 0, 2],
    ]
    .concat();
    assert_eq!(out, expected);
    let read = SystemException::parse(ByteOrder::Big, &out).unwrap();
    assert_eq!(read, system);
    assert_eq!(read.name(), "BAD_OPERATION");
}

#[test]
fn small_messages_match_the_standard() {
    let mut out = Vec::new();
    to(3, ByteOrder::Little).locate(&mut out, LocateStatus::ObjectHere);
    assert_eq!(out, b"GIOP\x01\x02\x01\x04\x08\0\0\0\x03\0\0\0\x01\0\0\0");
    let mut out = Vec::new();
    message_error(&mut out, Version::V11);
    close_connection(&mut out, Version::V12);
    assert_eq!(out, b"GIOP\x01\x01\0\x06\0\0\0\0GIOP\x01\x02\0\x05\0\0\0\0");
}
