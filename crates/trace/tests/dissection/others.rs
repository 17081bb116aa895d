//! Raw messages, TLS, and unknown protocols.

use wirelab_trace::protocol::exchange::{Ending, Protocol, Unit};
use wirelab_trace::protocol::layer::{Content, Kind};

use crate::tape::{C, S, Tape};

#[test]
fn raw_messages_are_answered_in_order() {
    let asked = b"4\n<a/>3\nabc";
    let answered = b"5\n<bc/>0\n";
    for size in 1..asked.len() {
        let played = Tape::new()
            .pieces(C, asked, size)
            .pieces(S, answered, size)
            .close(C)
            .play();
        let sizes = played.heard.exchanges.iter();
        let sizes = sizes.map(|e| (e.request.message_bytes, e.reply.map(|r| r.message_bytes)));
        assert!(sizes.eq([(4, Some(5)), (3, Some(0))]), "{size}");
        assert_eq!(played.bytes(Kind::RawLengths), 8);
        assert_eq!(played.heard.units, [Unit::Raw; 4]);
    }
    let played = Tape::new().send(C, asked).send(S, answered).close(C).play();
    assert_eq!(played.heard.layers[&4][1], (Content::Xml.into(), 4));
}

#[test]
fn raw_messages_without_replies_are_complete() {
    let played = Tape::new()
        .send(C, b"3\nabc")
        .ack(S)
        .send(C, b"3\nabc")
        .ack(S)
        .close(C)
        .play();
    let endings = played.heard.exchanges.iter().map(|e| (e.ending, e.reply));
    assert!(endings.eq([(Ending::Framed, None); 2]));
}

#[test]
fn holes_in_raw_contents_are_stepped_over() {
    let played = Tape::new()
        .send(C, b"9\nabc")
        .lose(C, b"def")
        .send(C, b"ghi4\nabcd")
        .ack(S)
        .send(S, b"1\nx1\ny")
        .close(C)
        .play();
    let sizes = played
        .heard
        .exchanges
        .iter()
        .map(|e| e.request.message_bytes);
    assert!(sizes.eq([9, 4]));
}

#[test]
fn records_of_tls_are_seen_and_their_content_is_not() {
    let hello = b"\x16\x03\x01\x00\x04abcd";
    let data = b"\x17\x03\x03\x00\x06secret";
    for size in [1, 3, 5, 100] {
        let played = Tape::new()
            .pieces(C, hello, size)
            .pieces(S, hello, size)
            .pieces(C, data, size)
            .pieces(S, data, size)
            .close(C)
            .play();
        assert_eq!(played.heard.exchanges, []);
        assert_eq!(played.dissection.flows.list[0].protocol, Protocol::Tls);
        assert_eq!(played.bytes(Kind::TlsRecords), 20, "{size}");
        assert_eq!(played.bytes(Kind::TlsHandshake), 8);
        assert_eq!(
            played.dissection.accounting.total.payload.encrypted_bytes,
            12
        );
    }
}

#[test]
fn an_unknown_protocol_is_split_by_change_of_sender() {
    let played = Tape::new()
        .send(S, b"220 mail.example ESMTP ready and waiting\r\n")
        .send(C, b"ehlo client.example, pleased to meet you\r\n")
        .send(S, b"250-mail.example\r\n")
        .send(S, b"250 ok\r\n")
        .send(C, b"quit\r\n")
        .send(S, b"221 bye\r\n")
        .close(S)
        .play();
    let [first, last] = &played.heard.exchanges[..] else {
        panic!("{:#?}", played.heard.exchanges);
    };
    assert_eq!(first.protocol, Protocol::Unknown);
    assert_eq!(
        (first.ending, last.ending),
        (Ending::Framed, Ending::UntilClose)
    );
    assert_eq!(first.reply.map(|reply| reply.message_bytes), Some(26));
    assert_eq!(first.latency_ns(), Some(200_000));
}

#[test]
fn a_port_leaves_other_connections_out() {
    let mut tape = Tape::new();
    tape.send(C, b"3\nabc").send(S, b"3\nabc").close(C);
    tape.again()
        .send(C, b"4\nabcd")
        .send(S, b"4\nabcd")
        .close(C);
    let options = wirelab_trace::output::Options {
        port: Some(40_001),
        ..Default::default()
    };
    let played = tape.play_with(options);
    assert_eq!(played.dissection.flows.count, 1);
    assert_eq!(played.exchange().request.message_bytes, 4);
    assert_eq!(played.dissection.accounting.total.all.packets.packets, 8);
}
