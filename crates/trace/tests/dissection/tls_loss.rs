//! TLS of which the capture lacks packets, or holds changed ones.

use proptest::prelude::*;
use rustls::version::{TLS12, TLS13};
use wirelab_trace::flow::event::Direction;
use wirelab_trace::protocol::exchange::Ending;
use wirelab_trace::protocol::layer::Kind;

use super::packet_builder::{C, Dissected, S};
use super::tls::{dissect, is_decrypted};
use super::tls_peers::{Peers, Talk, suites};

#[test]
fn a_lost_segment_within_a_body_is_skipped() {
    for version in [&TLS12, &TLS13] {
        let peers = Peers::new(version, None);
        let dissected = dissect(&peers, |talk| {
            talk.handshake();
            talk.say(C, b"GET /large HTTP/1.1\r\n\r\n");
            talk.write(S, b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n");
            for _ in 0..3 {
                talk.write(S, &[b'x'; 3_000]);
            }
            // Of the records of 3000 bytes, a segment of the second one.
            let reply = talk.transmit(S);
            talk.builder.send(S, &reply[..4_000]);
            talk.builder.lose(S, &reply[4_000..4_500]);
            talk.builder.send(S, &reply[4_500..]).ack(C);
            talk.call("/next", b"hello").close();
        });
        is_decrypted_but_for(&dissected, Kind::TlsData);
        assert_eq!(dissected.names(), ["GET /large", "GET /next"]);
        let large = &dissected.events.exchanges[0];
        assert_eq!(large.reply.expect("a reply").message_bytes, 9_000);
        assert_eq!(large.ending, Ending::Framed);
    }
}

/// Some bytes stay encrypted, and yet the connection is followed to its end.
#[track_caller]
fn is_decrypted_but_for(dissected: &Dissected, kind: Kind) {
    let tls = &dissected.dissection.tls;
    assert_eq!((tls.connections, tls.decrypted), (1, 1), "{tls:?}");
    assert!(dissected.bytes(kind) > 0);
}

#[test]
fn the_number_of_a_record_is_found_behind_lost_ones() {
    for (suite, version) in suites() {
        for lost in [1, 2, 60] {
            let peers = Peers::new(version, Some(suite));
            let dissected = dissect(&peers, |talk| {
                talk.handshake().call("/0", b"hello");
                for _ in 0..lost {
                    talk.write(C, b"GET /lost HTTP/1.1\r\n\r\n");
                }
                let records = talk.transmit(C);
                talk.builder.lose(C, &records).ack(S);
                let reply = b"HTTP/1.1 204 No Content\r\n\r\n".repeat(lost);
                talk.write(S, &reply);
                let records = talk.transmit(S);
                talk.builder.lose(S, &records).ack(C);
                talk.call("/1", b"hello").call("/2", b"hello").close();
            });
            is_decrypted(&dissected, 1);
            let names = dissected.names();
            assert_eq!((names[0], names[names.len() - 1]), ("GET /0", "GET /2"));
        }
    }
}

#[test]
fn a_lost_key_update_is_passed_over() {
    let peers = Peers::new(&TLS13, None);
    let dissected = dissect(&peers, |talk| {
        talk.handshake().call("/0", b"hello");
        talk.client.refresh_traffic_keys().expect("TLS 1.3");
        let records = talk.transmit(C);
        talk.builder.lose(C, &records).ack(S);
        talk.flush(S)
            .call("/1", b"hello")
            .call("/2", b"hello")
            .close();
    });
    is_decrypted(&dissected, 1);
    assert_eq!(dissected.names().last(), Some(&"GET /2"));
}

#[test]
fn too_many_lost_records_end_the_decryption_of_a_direction() {
    let peers = Peers::new(&TLS13, None);
    let dissected = dissect(&peers, |talk| {
        talk.handshake().call("/0", b"hello");
        for _ in 0..100 {
            talk.write(C, b"x");
        }
        let records = talk.transmit(C);
        talk.builder.lose(C, &records).ack(S);
        talk.call("/1", b"hello").close();
    });
    let encrypted = dissected.dissection.tls.encrypted;
    assert_eq!(
        (encrypted.authentication_failed, encrypted.failed_records),
        (1, 1)
    );
    assert_eq!(dissected.names()[0], "GET /0");
}

#[test]
fn a_record_that_was_changed_ends_the_decryption_of_a_direction() {
    for version in [&TLS12, &TLS13] {
        let peers = Peers::new(version, None);
        let dissected = dissect(&peers, |talk| {
            talk.handshake().call("/0", b"hello");
            talk.write(C, b"GET /1 HTTP/1.1\r\n\r\n");
            let mut record = talk.transmit(C);
            *record.last_mut().expect("a tag") ^= 1;
            talk.builder.send(C, &record);
            talk.say(S, b"HTTP/1.1 204 No Content\r\n\r\n").close();
        });
        let encrypted = dissected.dissection.tls.encrypted;
        assert_eq!(
            (encrypted.authentication_failed, encrypted.failed_records),
            (1, 1)
        );
        assert_eq!(dissected.names(), ["GET /0"]);
        assert!(dissected.bytes(Kind::TlsData) > 0);
    }
}

/// Sends what a side has to send in segments of varying sizes, of which some are lost.
fn send_lossy(talk: &mut Talk<'_>, side: Direction, dice: &mut impl Iterator<Item = u8>) {
    let bytes = talk.transmit(side);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let die = dice.next().unwrap_or(255);
        let size = usize::from(die % 64) * 8 + 1;
        let (piece, behind) = rest.split_at(size.min(rest.len()));
        if die < 16 {
            talk.builder.lose(side, piece);
        } else {
            talk.builder.send(side, piece);
        }
        rest = behind;
    }
    talk.builder.ack(side.opposite());
}

proptest! {
    /// Whatever is lost: the books balance, and no call is given the reply of another. The
    /// sizes of replies tell which call they answer.
    #[test]
    fn no_loss_pattern_pairs_a_reply_wrongly(
        dice in proptest::collection::vec(any::<u8>(), 0..120),
        is_13: bool,
    ) {
        let peers = Peers::new(if is_13 { &TLS13 } else { &TLS12 }, None);
        let mut dice = dice.into_iter();
        let dissected = dissect(&peers, |talk| {
            talk.handshake();
            for call in 0..12 {
                let body = vec![b'x'; 100 + 37 * call];
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                talk.write(C, format!("GET /{call} HTTP/1.1\r\n\r\n").as_bytes());
                send_lossy(talk, C, &mut dice);
                talk.write(S, head.as_bytes()).write(S, &body);
                send_lossy(talk, S, &mut dice);
            }
            talk.call("/12", &[b'x'; 100 + 37 * 12]).close();
        });
        for exchange in &dissected.events.exchanges {
            let call: u64 = exchange.name[5..].parse().expect("a number");
            let reply = exchange.reply.filter(|_| exchange.ending == Ending::Framed);
            if let Some(reply) = reply {
                prop_assert_eq!(reply.message_bytes, 100 + 37 * call);
            }
        }
    }
}
