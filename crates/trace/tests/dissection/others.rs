//! Raw messages, TLS, and unknown protocols.

use wirelab_trace::protocol::exchange::{Ending, Pdu, Protocol};
use wirelab_trace::protocol::layer::{Content, Kind};

use super::packet_builder::{C, PacketBuilder, S};

#[test]
fn raw_messages_are_answered_in_order() {
    let requested = b"4\n<a/>3\nabc";
    let answered = b"5\n<bc/>0\n";
    for size in 1..requested.len() {
        let dissected = PacketBuilder::new()
            .pieces(C, requested, size)
            .pieces(S, answered, size)
            .close(C)
            .dissect();
        let sizes = dissected.events.exchanges.iter();
        let sizes = sizes.map(|e| (e.request.message_bytes, e.reply.map(|r| r.message_bytes)));
        assert!(sizes.eq([(4, Some(5)), (3, Some(0))]), "{size}");
        assert_eq!(dissected.bytes(Kind::RawLengths), 8);
        assert_eq!(dissected.events.units, [Pdu::Raw; 4]);
    }
    let dissected = PacketBuilder::new()
        .send(C, requested)
        .send(S, answered)
        .close(C)
        .dissect();
    assert_eq!(dissected.events.layers[&4][1], (Content::Xml.into(), 4));
}

#[test]
fn raw_messages_without_replies_are_complete() {
    let dissected = PacketBuilder::new()
        .send(C, b"3\nabc")
        .ack(S)
        .send(C, b"3\nabc")
        .ack(S)
        .close(C)
        .dissect();
    let endings = dissected
        .events
        .exchanges
        .iter()
        .map(|e| (e.ending, e.reply));
    assert!(endings.eq([(Ending::Framed, None); 2]));
}

#[test]
fn gaps_in_raw_contents_are_skipped() {
    let dissected = PacketBuilder::new()
        .send(C, b"9\nabc")
        .lose(C, b"def")
        .send(C, b"ghi4\nabcd")
        .ack(S)
        .send(S, b"1\nx1\ny")
        .close(C)
        .dissect();
    let sizes = dissected
        .events
        .exchanges
        .iter()
        .map(|e| e.request.message_bytes);
    assert!(sizes.eq([9, 4]));
}

#[test]
fn tls_records_are_counted_without_their_content() {
    let hello = b"\x16\x03\x01\x00\x04abcd";
    let data = b"\x17\x03\x03\x00\x06secret";
    for size in [1, 3, 5, 100] {
        let dissected = PacketBuilder::new()
            .pieces(C, hello, size)
            .pieces(S, hello, size)
            .pieces(C, data, size)
            .pieces(S, data, size)
            .close(C)
            .dissect();
        assert_eq!(dissected.events.exchanges, []);
        assert_eq!(dissected.dissection.flows.list[0].protocol, Protocol::Tls);
        assert_eq!(dissected.bytes(Kind::TlsRecords), 20, "{size}");
        assert_eq!(dissected.bytes(Kind::TlsHandshake), 8);
        assert_eq!(
            dissected
                .dissection
                .accounting
                .total
                .payload
                .encrypted_bytes,
            12
        );
    }
}

#[test]
fn an_unknown_protocol_is_split_by_change_of_sender() {
    let dissected = PacketBuilder::new()
        .send(S, b"220 mail.example ESMTP ready and waiting\r\n")
        .send(C, b"ehlo client.example, pleased to meet you\r\n")
        .send(S, b"250-mail.example\r\n")
        .send(S, b"250 ok\r\n")
        .send(C, b"quit\r\n")
        .send(S, b"221 bye\r\n")
        .close(S)
        .dissect();
    let [first, last] = &dissected.events.exchanges[..] else {
        panic!("{:#?}", dissected.events.exchanges);
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
fn a_port_filter_excludes_other_connections() {
    let mut builder = PacketBuilder::new();
    builder.send(C, b"3\nabc").send(S, b"3\nabc").close(C);
    builder
        .next_connection()
        .send(C, b"4\nabcd")
        .send(S, b"4\nabcd")
        .close(C);
    let options = wirelab_trace::output::Options {
        port: Some(40_001),
        ..Default::default()
    };
    let dissected = builder.dissect_with(options);
    assert_eq!(dissected.dissection.flows.count, 1);
    assert_eq!(dissected.exchange().request.message_bytes, 4);
    assert_eq!(dissected.dissection.accounting.total.all.packets.packets, 8);
}
