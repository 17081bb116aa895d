//! Raw messages, TLS, and unknown protocols.

use wirelab_trace::diagnosis::Cause;
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

/// IRC and VNC begin with words in capitals, as requests of HTTP/1 do.
#[test]
fn words_in_capitals_are_not_requests() {
    for (first, second) in [
        (
            &b"NICK guest\r\nUSER guest 0 * :Guest\r\n"[..],
            &b":irc 001 guest :Welcome\r\n"[..],
        ),
        (b"USER anonymous\r\n", b"331 Password required\r\n"),
        (b"RFB 003.008\n", b"\x01\x01"),
    ] {
        for size in [1, 4, first.len()] {
            let dissected = PacketBuilder::new()
                .pieces(C, first, size)
                .send(S, second)
                .close(C)
                .dissect();
            assert_eq!(dissected.exchange().protocol, Protocol::Unknown);
        }
    }
}

#[test]
fn a_request_line_that_the_capture_cut_is_one() {
    let dissected = PacketBuilder::new()
        .snap(12)
        .send(C, b"GET /charging/orders HTTP/1.1\r\n\r\n")
        .send(S, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        .close(C)
        .dissect();
    assert_eq!(dissected.dissection.flows.list[0].protocol, Protocol::Http1);
}

/// What MySQL's server says first, and a login.
const GREETING: &[u8] = b"\x4a\0\0\0\x0a8.0.33\0\x08\0\0\0\
    abcdefgh\0\xff\xf7\xff\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0abcdefghijkl\0caching_sha2_pass\0";
const OK: &[u8] = b"\x07\0\0\x02\0\0\0\x02\0\0\0";

#[test]
fn turns_of_mysql_are_named_by_their_commands() {
    let login = b"\x0a\0\0\x01\x85\xa6\xff\x01\0\0\0\x01\xff\0";
    let dissected = PacketBuilder::new()
        .send(S, GREETING)
        .send(C, login)
        .send(S, OK)
        .send(C, b"\x09\0\0\0\x03SELECT 1")
        .send(S, b"\x01\0\0\x01\x01")
        .send(C, b"\x05\0\0\0\x17\x01\0\0\0")
        .send(S, b"\x01\0\0\x01\x01")
        .close(C)
        .dissect();
    assert_eq!(dissected.names(), ["login", "SELECT 1", "execute"]);
    assert_eq!(dissected.dissection.flows.list[0].protocol, Protocol::Mysql);
}

#[test]
fn turns_of_mongodb_are_named_by_command_and_collection() {
    let find = b"\x31\0\0\0\x01\0\0\0\0\0\0\0\xdd\x07\0\0\0\0\0\0\0\
        \x1c\0\0\0\x02find\0\x07\0\0\0orders\0\0";
    let dissected = PacketBuilder::new()
        .send(C, find)
        .send(
            S,
            b"\x24\0\0\0\x09\0\0\0\x01\0\0\0\xdd\x07\0\0\0\0\0\0\0\x05\0\0\0\0",
        )
        .close(C)
        .dissect();
    assert_eq!(dissected.names(), ["find orders"]);
    assert_eq!(
        dissected.dissection.flows.list[0].protocol,
        Protocol::Mongodb
    );
}

#[test]
fn tls_that_begins_within_mysql_is_followed() {
    // Capabilities with TLS, a maximum, a character set, 23 zeros.
    let request = [&b"\x20\0\0\x01\x85\xae\xff\x01\0\0\0\x01\xff"[..], &[0; 23]].concat();
    let dissected = PacketBuilder::new()
        .send(S, GREETING)
        .send(C, &request)
        .send(C, b"\x16\x03\x01\0\x05\x01\0\0\x01\0")
        .close(C)
        .dissect();
    assert!(dissected.dissection.flows.list[0].is_tls);
}

/// Only HTTP/1 has replies that nothing but the close ends.
#[test]
fn replies_of_other_protocols_are_not_read_until_close() {
    let until_close = |first: &[u8], reply: &[u8]| {
        let mut connection = PacketBuilder::new();
        connection
            .send(C, first)
            .send(S, reply)
            .wait(5_000)
            .close(S);
        let findings = connection.diagnose().findings;
        findings
            .iter()
            .any(|finding| finding.cause == Cause::ReadUntilClose)
    };
    assert!(until_close(
        b"GET / HTTP/1.0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nabc"
    ));
    assert!(!until_close(b"*1\r\n$4\r\nQUIT\r\n", b"+OK\r\n"));
    assert!(!until_close(b"QUIT\r\n", b"221 bye\r\n"));
}
