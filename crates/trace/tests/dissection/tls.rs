//! TLS that is decrypted: real records of rustls.

use std::io::Write;

use rustls::version::{TLS12, TLS13};
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::protocol::exchange::{Ending, Protocol};
use wirelab_trace::protocol::layer::Kind;
use wirelab_wire::http2::frame::{PREFACE, flag, kind, write_frame};
use wirelab_wire::http2::hpack::{Encoder, Huffman, Indexing};

use super::packet_builder::{C, Dissected, PacketBuilder, S};
use super::tls_peers::{Peers, Talk, suites};

/// One connection, dissected with its secrets.
pub fn dissect(peers: &Peers, talk: impl FnOnce(&mut Talk<'_>)) -> Dissected {
    let mut builder = PacketBuilder::new();
    talk(&mut peers.connect(&mut builder));
    builder.key_log(&peers.key_log()).dissect()
}

#[track_caller]
pub fn is_decrypted(dissected: &Dissected, connections: u64) {
    let tls = &dissected.dissection.tls;
    assert_eq!(
        (tls.connections, tls.decrypted),
        (connections, connections),
        "{tls:?}"
    );
    assert_eq!(dissected.bytes(Kind::TlsData), 0);
}

#[test]
fn every_suite_is_decrypted_however_records_are_cut_into_segments() {
    assert_eq!(suites().len(), 6);
    for (suite, version) in suites() {
        for segment_bytes in [1, 7, 100, 1_448, 100_000] {
            let peers = Peers::new(version, Some(suite));
            let dissected = dissect(&peers, |talk| {
                talk.segment_bytes = segment_bytes;
                talk.handshake();
                talk.call("/first", &[b'x'; 300])
                    .call("/second", &[b'y'; 40]);
                talk.close();
            });
            is_decrypted(&dissected, 1);
            assert_eq!(dissected.names(), ["GET /first", "GET /second"]);
            let exchanges = &dissected.events.exchanges;
            assert!(exchanges.iter().all(|one| one.ending == Ending::Framed));
            assert_eq!(dissected.bytes(Kind::Message), 340);
            assert!(dissected.bytes(Kind::TlsTags) > 4 * 16);
            let name = format!("{:?}", suite.suite()).replace("TLS13", "TLS");
            let found = &dissected.dissection.tls;
            assert!(found.suites.keys().eq([&name]), "{found:?}");
            assert_eq!((found.full, found.resumed), (1, 0));
            let list = &dissected.dissection.flows.list;
            assert_eq!(list[0].protocol, Protocol::Http1);
        }
    }
}

#[test]
fn extents_are_those_of_the_segments_that_carried_the_records() {
    for version in [&TLS12, &TLS13] {
        let peers = Peers::new(version, None);
        let (mut request, mut reply) = (0..0, 0..0);
        let dissected = dissect(&peers, |talk| {
            talk.handshake();
            let before = [C, S].map(|side| talk.builder.offset(side));
            talk.call("/", &[b'x'; 4_000]);
            let after = [C, S].map(|side| talk.builder.offset(side));
            request = before[0]..after[0];
            reply = before[1]..after[1];
            talk.close();
        });
        let exchange = dissected.exchange();
        let answered = exchange.reply.expect("a reply");
        assert_eq!(exchange.request.start..exchange.request.end, request);
        assert_eq!(answered.start..answered.end, reply);
        assert_eq!(exchange.request.bytes(), request.end - request.start);
        assert_eq!(answered.bytes(), reply.end - reply.start);
        assert_eq!(answered.message_bytes, 4_000);
        // Three segments of 1448 bytes, 100 µs apart; head and body begin in the first.
        assert_eq!(answered.last_packet - answered.first_packet, 2);
        assert_eq!(answered.segments, 1);
        assert_eq!(exchange.latency_ns(), Some(300_000));
    }
}

#[test]
fn a_message_ends_with_the_packet_that_completes_its_record() {
    let peers = Peers::new(&TLS13, None);
    let dissected = dissect(&peers, |talk| {
        talk.handshake();
        talk.write(C, b"GET / HTTP/1.1\r\n\r\n");
        let record = talk.transmit(C);
        // Nothing but its tag comes in the second segment.
        let (content, tag) = record.split_at(record.len() - 16);
        talk.builder.send(C, content).wait(5_000).send(C, tag);
        talk.say(S, b"HTTP/1.1 204 No Content\r\n\r\n").close();
    });
    let exchange = dissected.exchange();
    assert_eq!(
        exchange.request.last_packet - exchange.request.first_packet,
        1
    );
    assert_eq!(
        exchange.request.last_at_ns - exchange.request.first_at_ns,
        5_100_000
    );
}

#[test]
fn resumed_sessions_are_decrypted_and_counted() {
    for (version, is_by_ticket) in [(&TLS12, false), (&TLS12, true), (&TLS13, false)] {
        let mut peers = Peers::new(version, None);
        if is_by_ticket {
            peers.server.ticketer = rustls::crypto::ring::Ticketer::new().expect("random");
        }
        let mut builder = PacketBuilder::new();
        for _ in 0..3 {
            let mut talk = peers.connect(&mut builder);
            talk.handshake().call("/", b"hello").close();
            builder.next_connection();
        }
        builder.close(C);
        let dissected = builder.key_log(&peers.key_log()).dissect();
        is_decrypted(&dissected, 3);
        let tls = &dissected.dissection.tls;
        assert_eq!((tls.full, tls.resumed), (1, 2), "{is_by_ticket}: {tls:?}");
        assert_eq!(dissected.names(), ["GET /"; 3]);
    }
}

#[test]
fn keys_are_updated_on_both_sides() {
    for (suite, version) in suites() {
        if *version != TLS13 {
            continue;
        }
        let peers = Peers::new(version, Some(suite));
        let dissected = dissect(&peers, |talk| {
            talk.handshake().call("/0", b"hello");
            talk.client.refresh_traffic_keys().expect("TLS 1.3");
            talk.flush(C).flush(S).call("/1", b"hello");
            talk.server.refresh_traffic_keys().expect("TLS 1.3");
            talk.flush(S).flush(C).call("/2", b"hello");
            talk.client.refresh_traffic_keys().expect("TLS 1.3");
            talk.call("/3", b"hello").close();
        });
        is_decrypted(&dissected, 1);
        assert_eq!(dissected.names(), ["GET /0", "GET /1", "GET /2", "GET /3"]);
    }
}

#[test]
fn a_hello_retry_request_is_followed_by_another_hello() {
    let peers = Peers::of_two_groups(&TLS13);
    let dissected = dissect(&peers, |talk| talk.handshake().call("/", b"hello").close());
    is_decrypted(&dissected, 1);
    assert_eq!(dissected.names(), ["GET /"]);
}

#[test]
fn several_records_in_one_segment_are_separated() {
    let peers = Peers::new(&TLS13, None);
    let dissected = dissect(&peers, |talk| {
        talk.handshake();
        talk.write(C, b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n");
        talk.write(C, b"some ").write(C, b"text");
        talk.segment_bytes = 100_000;
        talk.flush(C).say(S, b"HTTP/1.1 204 No Content\r\n\r\n");
        talk.close();
    });
    is_decrypted(&dissected, 1);
    let request = dissected.exchange().request;
    assert_eq!((request.message_bytes, request.segments), (9, 1));
    assert_eq!(request.first_packet, request.last_packet);
}

/// A handshake and one call.
fn one_call() -> (Peers, PacketBuilder) {
    let peers = Peers::new(&TLS13, None);
    let mut builder = PacketBuilder::new();
    peers
        .connect(&mut builder)
        .handshake()
        .call("/", b"hello")
        .close();
    (peers, builder)
}

#[test]
fn without_secrets_versions_suites_and_resumption_are_known() {
    let (_, builder) = one_call();
    let dissected = builder.dissect();
    let tls = &dissected.dissection.tls;
    assert_eq!((tls.decrypted, tls.encrypted.no_secrets), (0, 1));
    assert_eq!(tls.versions.get("TLS 1.3"), Some(&1));
    assert_eq!(dissected.events.exchanges, []);
    assert_eq!(dissected.dissection.flows.list[0].protocol, Protocol::Tls);
}

#[test]
fn secrets_of_another_suite_or_connection_open_nothing() {
    let (peers, mut builder) = one_call();
    let log = peers.key_log();
    let short: String = log
        .lines()
        .map(|line| format!("{}\n", &line[..line.len() - 2]))
        .collect();
    let other: String = log
        .lines()
        .map(|line| format!("{}00\n", &line[..line.len() - 2]))
        .collect();
    for text in [short, other] {
        let dissected = builder.key_log(&text).dissect();
        let tls = &dissected.dissection.tls;
        assert_eq!(
            (tls.decrypted, tls.encrypted.authentication_failed),
            (0, 1),
            "{tls:?}"
        );
        assert_eq!(dissected.events.exchanges, []);
    }
}

#[test]
fn a_connection_from_its_middle_stays_encrypted() {
    let peers = Peers::new(&TLS13, None);
    let mut begun = PacketBuilder::new();
    let mut talk = peers.connect(&mut begun);
    talk.handshake().write(C, b"GET / HTTP/1.1\r\n\r\n");
    let record = talk.transmit(C);
    let mut builder = PacketBuilder::middle();
    builder.send(C, &record).key_log(&peers.key_log());
    let dissected = builder.dissect();
    assert_eq!(dissected.dissection.tls.encrypted.handshake_unseen, 1);
    assert_eq!(dissected.bytes(Kind::TlsData), record.len() as u64 - 5);
}

#[test]
fn a_suite_that_is_not_decrypted_is_named() {
    let hello = |message: u8, suites: &[u8], rest: &[u8]| {
        let body = [&[3, 3][..], &[7; 32], &[0], suites, rest].concat();
        let length = body.len() as u8;
        [&[22, 3, 3, 0, length + 4, message, 0, 0, length], &body[..]].concat()
    };
    let change = [20, 3, 3, 0, 1, 1];
    let data = [&[23, 3, 3, 0, 32][..], &[9; 32]].concat();
    let mut builder = PacketBuilder::new();
    builder.send(C, &hello(1, &[0, 2, 0xC0, 0x13], &[1, 0]));
    builder.send(S, &hello(2, &[0xC0, 0x13], &[0]));
    builder.send(C, &change).send(S, &change);
    let dissected = builder.send(C, &data).send(S, &data).close(C).dissect();
    let tls = &dissected.dissection.tls;
    assert_eq!(tls.encrypted.unsupported_suite, 1, "{tls:?}");
    assert!(
        tls.suites
            .contains_key("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA")
    );
    assert_eq!(dissected.bytes(Kind::TlsData), 64);
}

/// Early data has keys of its own (RFC 8446 section 4.2.10), which are not read.
#[test]
fn early_data_stays_encrypted_and_what_follows_does_not() {
    let mut peers = Peers::new(&TLS13, None);
    peers.server.max_early_data_size = 1_000;
    peers.client.enable_early_data = true;
    let mut builder = PacketBuilder::new();
    peers.connect(&mut builder).handshake().call("/0", b"hello");
    builder.close(C).next_connection();
    let mut talk = peers.connect(&mut builder);
    let mut early = talk.client.early_data().expect("a ticket that allows it");
    early
        .write_all(b"GET /early HTTP/1.1\r\n\r\n")
        .expect("room");
    talk.handshake().say(S, b"HTTP/1.1 204 No Content\r\n\r\n");
    talk.call("/1", b"hello").call("/2", b"hello").close();
    let dissected = builder.key_log(&peers.key_log()).dissect();
    let tls = &dissected.dissection.tls;
    assert_eq!((tls.decrypted, tls.resumed), (2, 1), "{tls:?}");
    // The request in the early data, and EndOfEarlyData.
    assert_eq!(dissected.bytes(Kind::TlsData), 23 + 17 + 4 + 17);
    assert_eq!(dissected.names().last(), Some(&"GET /2"));
}

#[test]
fn postgresql_asks_for_tls_first() {
    let peers = Peers::new(&TLS13, None);
    let dissected = dissect(&peers, |talk| {
        talk.builder.send(C, &[0, 0, 0, 8, 4, 210, 22, 47]);
        talk.builder.send(S, b"S");
        talk.handshake();
        talk.say(C, b"\0\0\0\x0F\0\x03\0\0user\0a\0");
        talk.say(S, b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I");
        talk.say(C, b"Q\0\0\0\x0Dselect 1\0");
        talk.say(S, b"Z\0\0\0\x05I").close();
    });
    is_decrypted(&dissected, 1);
    assert_eq!(dissected.names(), ["TLS request", "startup", "select 1"]);
    let flow = &dissected.dissection.flows.list[0];
    assert_eq!((flow.protocol, flow.is_tls), (Protocol::Postgresql, true));
}

#[test]
fn a_large_request_is_transferred_and_not_waited_for() {
    let peers = Peers::new(&TLS13, None);
    let mut builder = PacketBuilder::new();
    let mut talk = peers.connect(&mut builder);
    talk.handshake().call("/0", b"hello");
    let head = b"POST / HTTP/1.1\r\nContent-Length: 9000\r\n\r\n";
    // One record over several segments: the call is known only when all have come.
    talk.write(C, &[&head[..], &[b'x'; 9_000]].concat());
    let record = talk.transmit(C);
    for piece in record.chunks(1_448) {
        talk.builder.wait(1_000).send(C, piece);
    }
    talk.builder.wait(40_000);
    talk.say(S, b"HTTP/1.1 204 No Content\r\n\r\n").close();
    let dissection = builder.key_log(&peers.key_log()).diagnose();
    let parts = &dissection.waits.connections.parts_ms;
    let of = |part| parts.get(&part).copied().unwrap_or(0.0);
    assert!(of(Part::Server) >= 38.0, "{parts:?}");
    assert!(of(Part::ClientBetweenRequests) < 3.0, "{parts:?}");
    assert!(
        of(Part::RequestTransfer) + of(Part::ClientStall) >= 6.0,
        "{parts:?}"
    );
}

/// A unary call of gRPC: what the client sends, and what the server does.
fn grpc() -> [Vec<u8>; 2] {
    let block = |fields: &[(&str, &str)]| {
        let mut encoder = Encoder::new(4096, Huffman::WhenNotLonger);
        let mut out = Vec::new();
        for (name, value) in fields {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            encoder.field(name, value, Indexing::Without, &mut out);
        }
        out
    };
    let kind_of = ("content-type", "application/grpc");
    let asked = block(&[(":method", "POST"), (":path", "/a.B/C"), kind_of]);
    let answered = block(&[(":status", "200"), kind_of]);
    let trailers = block(&[("grpc-status", "0")]);
    let (last, whole) = (flag::END_STREAM, flag::END_HEADERS);
    let mut request = PREFACE.to_vec();
    write_frame(&mut request, kind::SETTINGS, 0, 0, &[]);
    write_frame(&mut request, kind::HEADERS, whole, 1, &asked);
    write_frame(&mut request, kind::DATA, last, 1, b"\0\0\0\0\x03abc");
    let mut reply = Vec::new();
    write_frame(&mut reply, kind::SETTINGS, 0, 0, &[]);
    write_frame(&mut reply, kind::HEADERS, whole, 1, &answered);
    write_frame(&mut reply, kind::DATA, 0, 1, b"\0\0\0\0\x05hello");
    write_frame(&mut reply, kind::HEADERS, whole | last, 1, &trailers);
    [request, reply]
}

#[test]
fn grpc_is_read_whatever_the_sizes_of_records() {
    let [request, reply] = grpc();
    for record_bytes in [1, 5, 9, 10, 1_000] {
        let peers = Peers::new(&TLS13, None);
        let dissected = dissect(&peers, |talk| {
            talk.handshake();
            for (side, bytes) in [(C, &request), (S, &reply)] {
                for piece in bytes.chunks(record_bytes) {
                    talk.write(side, piece);
                }
                talk.flush(side);
            }
            talk.close();
        });
        is_decrypted(&dissected, 1);
        let exchange = dissected.exchange();
        assert_eq!(&*exchange.name, "POST /a.B/C");
        assert_eq!(exchange.status, Some((200, Some(0))));
        assert_eq!(
            exchange.reply.expect("a reply").message_bytes,
            5,
            "{record_bytes}"
        );
        assert_eq!(dissected.bytes(Kind::GrpcPrefixes), 10);
    }
}

#[test]
fn records_of_control_frames_between_the_frames_of_a_message_are_counted() {
    let [request, _] = grpc();
    let frame = |kind, flags, stream, payload: &[u8]| {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, kind, flags, stream, payload);
        bytes
    };
    // `:status: 200` of the static table (RFC 7541 appendix A).
    let head = frame(kind::HEADERS, flag::END_HEADERS, 1, &[0x88]);
    let update = frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 9]);
    let last = frame(kind::DATA, flag::END_STREAM, 1, b"abc");
    let peers = Peers::new(&TLS13, None);
    let dissected = dissect(&peers, |talk| {
        talk.handshake().say(C, &request);
        for frame in [&head, &update, &last] {
            talk.say(S, frame);
        }
        talk.close();
    });
    let reply = dissected.exchange().reply.expect("a reply");
    // Head, tag and type of its record: 5, 16 and 1 byte.
    assert_eq!(reply.between_bytes as usize, update.len() + 22);
    assert_eq!(
        reply.end - reply.start,
        reply.bytes() + u64::from(reply.between_bytes)
    );
}
