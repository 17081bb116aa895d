//! The slowest exchanges of protocols whose calls overlap, and of one that is read by turns.

use wirelab_trace::diagnosis::Diagnosis;
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::{Options, SlowExchange};
use wirelab_trace::protocol::exchange::Protocol;
use wirelab_wire::cdr::ByteOrder;
use wirelab_wire::giop::{ReplyStatus, Version};

use super::http2::{Side, answer, ask, client_preface};
use super::packet_builder::{C, PacketBuilder, S};
use super::{giop, http2};

/// SETTINGS without any (RFC 9113 section 6.5).
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

/// The slowest exchange; `--timeline` shows the same one.
fn slowest(builder: &PacketBuilder) -> SlowExchange {
    let diagnosis = Diagnosis::default().with_slowest(1);
    let dissection = builder.diagnose_with(Options::default(), diagnosis);
    let mut list = dissection.slowest.expect("it was asked for").list;
    let one = list.pop().expect("an exchange");
    let options = Options {
        timeline: Some(one.number),
        ..Options::default()
    };
    let shown = builder.diagnose_with(options, Diagnosis::default());
    let of = shown.timeline_of.expect("a timeline");
    assert_eq!((of.flow, of.exchange), (one.flow, one.exchange));
    assert_eq!((&of.name, of.protocol), (&one.name, one.protocol));
    one
}

#[track_caller]
fn assert_slow(one: &SlowExchange, protocol: Protocol, name: &str, number: u64) {
    let found = (one.protocol, &*one.name, one.number);
    assert_eq!(found, (protocol, name, number));
    // 200 ms, and the time between two packets.
    assert!((one.time.elapsed_ms - 200.1).abs() < 1.0, "{one:?}");
    let server = one.time.parts_ms.get(&Part::Server);
    assert!(server.is_some_and(|ms| *ms > 190.0), "{one:?}");
}

#[test]
fn calls_of_grpc_that_overtake_a_slow_one_do_not_take_its_number() {
    let (mut client, mut server) = (Side::new(), Side::new());
    let mut builder = PacketBuilder::new();
    builder.send(C, &client_preface()).send(S, SETTINGS);
    for stream in [1, 3] {
        let [asked, answered] = http2::unary(&mut client, &mut server, stream, "/a.B/Quick");
        builder.send(C, &asked).send(S, &answered);
    }
    builder.send(C, &ask(&mut client, 5, "/a.B/Slow"));
    builder.send(C, &ask(&mut client, 7, "/a.B/Quick"));
    builder.send(S, &answer(&mut server, 7)).wait(199_800);
    builder.send(S, &answer(&mut server, 5)).ack(C).close(C);
    assert_slow(&slowest(&builder), Protocol::Http2, "POST /a.B/Slow", 3);
}

#[test]
fn calls_of_giop_that_overtake_a_slow_one_do_not_take_its_number() {
    let ask = |id| giop::request(Version::V12, ByteOrder::Little, id, true);
    let answer = |id| {
        let (version, order) = (Version::V12, ByteOrder::Little);
        giop::reply(version, order, id, ReplyStatus::NoException)
    };
    let mut builder = PacketBuilder::new();
    builder.send(C, &ask(1)).send(S, &answer(1));
    builder.send(C, &ask(2)).send(C, &ask(3));
    builder.send(S, &answer(3)).wait(199_800);
    builder.send(S, &answer(2)).ack(C).close(C);
    assert_slow(&slowest(&builder), Protocol::Giop, "directDebit", 2);
}

#[test]
fn a_protocol_that_is_read_by_turns_has_a_slowest_turn() {
    let mut builder = PacketBuilder::new();
    for waited_us in [0, 0, 200_000, 0] {
        builder.send(C, b"*1\r\n$4\r\nPING\r\n").wait(waited_us);
        builder.send(S, b"+PONG\r\n").ack(C);
    }
    builder.close(C);
    assert_slow(&slowest(&builder), Protocol::Redis, "PING", 3);
}
