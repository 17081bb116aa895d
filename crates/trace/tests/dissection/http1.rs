//! HTTP/1.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::flow::event::Direction;
use wirelab_trace::protocol::exchange::{Ending, Pdu, Protocol};
use wirelab_trace::protocol::layer::{Content, Kind};

use super::packet_builder::{C, PacketBuilder, S};

const GET: &[u8] = b"GET /transfer/hello?a=1 HTTP/1.1\r\nHost: a\r\n\r\n";
const OK: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}";
const OK_HEAD: usize = OK.len() - 2;

#[test]
fn a_call_is_split_into_head_and_message_bytes() {
    let post = b"POST /charging/soap HTTP/1.1\r\nContent-Type: text/xml; charset=utf-8\r\n\
                 Content-Length: 4\r\n\r\n<a/>";
    let dissected = PacketBuilder::new()
        .send(C, post)
        .send(S, OK)
        .ack(C)
        .close(C)
        .dissect();
    let exchange = dissected.exchange();
    assert_eq!(&*exchange.name, "POST /charging/soap");
    assert_eq!(exchange.protocol, Protocol::Http1);
    assert_eq!(exchange.status, Some((200, None)));
    assert_eq!(exchange.ending, Ending::Framed);
    assert_eq!(exchange.request.message_bytes, 4);
    assert_eq!(exchange.request.overhead_bytes, post.len() as u64 - 4);
    assert_eq!(
        (exchange.request.start, exchange.request.end),
        (0, post.len() as u64)
    );
    assert_eq!(
        (exchange.request.first_packet, exchange.request.last_packet),
        (4, 4)
    );
    let reply = exchange.reply.expect("a reply");
    assert_eq!(
        (reply.message_bytes, reply.overhead_bytes),
        (2, OK_HEAD as u64)
    );
    assert_eq!((exchange.request.segments, reply.segments), (1, 1));
    assert_eq!(exchange.latency_ns(), Some(100_000));
    assert!(!exchange.closed_by_server);
    let layers: Vec<(&str, u32)> = dissected.events.layers[&4]
        .iter()
        .map(|(l, n)| (l.text(), *n))
        .collect();
    assert_eq!(layers, [("HTTP head", post.len() as u32 - 4), ("XML", 4)]);
    assert_eq!(dissected.events.layers[&5][1], (Content::Json.into(), 2));
    assert_eq!(
        dissected.events.units,
        [Pdu::HttpRequest, Pdu::HttpReply(200)]
    );
}

#[test]
fn head_and_body_in_two_segments_are_split() {
    let (head, body) = OK.split_at(OK_HEAD);
    let dissected = PacketBuilder::new()
        .send(C, GET)
        .send(S, head)
        .ack(C)
        .send(S, body)
        .close(S)
        .dissect();
    let exchange = dissected.exchange();
    assert_eq!(exchange.reply.map(|reply| reply.segments), Some(2));
    assert!(exchange.closed_by_server);
    let writes = dissected.dissection.exchanges.writes;
    assert_eq!((writes.replies_split, writes.replies_joined), (1, 0));
    assert_eq!(
        dissected.dissection.exchanges.connections.closed_by_server,
        1
    );
}

/// However the bytes are cut into segments, exchanges are the same.
#[test]
fn segmentation_does_not_change_the_result() {
    let requests = [
        GET,
        b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
        3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n",
    ]
    .concat();
    let replies = [OK, b"HTTP/1.1 204 No Content\r\n\r\n"].concat();
    for size in 1..requests.len() {
        let dissected = PacketBuilder::new()
            .pieces(C, &requests, size)
            .pieces(S, &replies, size)
            .close(C)
            .dissect();
        assert_eq!(
            dissected.names(),
            ["GET /transfer/hello", "POST /a"],
            "{size}"
        );
        let [first, second] = &dissected.events.exchanges[..] else {
            unreachable!()
        };
        assert_eq!(first.reply.map(|reply| reply.message_bytes), Some(2));
        assert_eq!(second.request.message_bytes, 3);
        assert_eq!(second.status, Some((204, None)));
        assert_eq!(dissected.bytes(Kind::Message), 5, "{size}");
        assert_eq!(dissected.bytes(Kind::HttpChunks), 20, "{size}");
    }
}

#[test]
fn a_reply_without_a_length_ends_with_its_connection() {
    let head = b"HTTP/1.0 200 OK\r\n\r\n";
    let dissected = PacketBuilder::new()
        .send(C, GET)
        .send(S, head)
        .send(S, b"body")
        .close(S)
        .dissect();
    let exchange = dissected.exchange();
    assert_eq!(exchange.ending, Ending::UntilClose);
    assert!(exchange.closed_by_server);
    assert_eq!(exchange.reply.map(|reply| reply.message_bytes), Some(4));
    let broken = PacketBuilder::new()
        .send(C, GET)
        .send(S, head)
        .send(S, b"body")
        .reset(S)
        .dissect();
    assert_eq!(broken.exchange().ending, Ending::Broken);
    let cut = PacketBuilder::new()
        .send(C, GET)
        .send(S, head)
        .send(S, b"body")
        .dissect();
    assert_eq!(cut.exchange().ending, Ending::Unseen);
}

#[test]
fn replies_without_their_announced_body() {
    let head = b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";
    let described = &OK[..OK_HEAD];
    let not_modified = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n";
    let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let dissected = PacketBuilder::new()
        .send(C, head)
        .send(S, described)
        .send(C, GET)
        .send(S, not_modified)
        .send(C, GET)
        .send(S, interim)
        .send(S, OK)
        .close(C)
        .dissect();
    let statuses = dissected.events.exchanges.iter().map(|e| e.status);
    assert!(statuses.eq([200, 304, 200].map(|status| Some((status, None)))));
    let reply = dissected.events.exchanges[2].reply.expect("a reply");
    assert_eq!(reply.first_packet, 10, "an interim head is not a reply");
    assert_eq!(dissected.dissection.flows.reused, 1);
}

#[test]
fn a_request_that_is_answered_early_or_never() {
    let post = b"POST /a HTTP/1.1\r\nContent-Length: 10\r\n\r\n01234";
    let early = PacketBuilder::new()
        .send(C, post)
        .send(S, OK)
        .send(C, b"56789")
        .close(C)
        .dissect();
    assert_eq!(early.exchange().ending, Ending::Framed);
    assert_eq!(early.exchange().request.message_bytes, 10);
    let never = PacketBuilder::new().send(C, GET).ack(S).close(S).dissect();
    assert_eq!(never.exchange().ending, Ending::Broken);
    assert_eq!(never.exchange().reply, None);
    assert_eq!(never.exchange().latency_ns(), None);
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let requests = GET.repeat(3);
    let replies = OK.repeat(3);
    let dissected = PacketBuilder::new()
        .send(C, &requests)
        .send(S, &replies)
        .close(C)
        .dissect();
    let ordinals = dissected.events.exchanges.iter().map(|e| e.ordinal);
    assert!(ordinals.eq(0..3));
    assert_eq!(dissected.dissection.exchanges.connections.in_flight_max, 3);
}

#[test]
fn a_connection_seen_from_its_middle_begins_with_the_next_head() {
    let dissected = PacketBuilder::middle()
        .send(S, b"the end of some body")
        .send(C, GET)
        .send(S, OK)
        .send(C, GET)
        .send(S, OK)
        .dissect();
    assert_eq!(dissected.events.exchanges.len(), 2);
    assert_eq!(dissected.bytes(Kind::Unknown), 20);
    assert_eq!(dissected.dissection.flows.opened, 0);
}

/// The client has the lower port; only the messages show who asks.
#[test]
fn the_client_is_identified_by_its_messages() {
    let dissected = PacketBuilder::middle().send(S, GET).send(C, OK).dissect();
    assert_eq!(dissected.exchange().caller, Direction::Reply);
    assert_eq!(
        dissected.exchange().reply.map(|reply| reply.message_bytes),
        Some(2)
    );
}

#[test]
fn gaps_in_bodies_are_skipped_and_other_gaps_end_the_call() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n";
    let body = [7; 30];
    let dissected = PacketBuilder::new()
        .send(C, GET)
        .send(S, head)
        .send(S, &body[..10])
        .lose(S, &body[10..20])
        .send(S, &body[20..])
        .ack(C)
        .send(C, GET)
        .send(S, OK)
        .close(C)
        .dissect();
    let endings = dissected.events.exchanges.iter().map(|e| e.ending);
    assert!(endings.eq([Ending::Framed; 2]));
    let reply = dissected.events.exchanges[0].reply.expect("a reply");
    assert_eq!(reply.message_bytes, 30);
    let lost = PacketBuilder::new()
        .send(C, GET)
        .lose(S, OK)
        .ack(C)
        .send(C, GET)
        .send(S, OK)
        .ack(C)
        .close(C)
        .dissect();
    let endings: Vec<Ending> = lost.events.exchanges.iter().map(|e| e.ending).collect();
    assert_eq!(endings, [Ending::Unseen, Ending::Framed]);
}

/// The second head of the same connection is at the beginning of its segment.
#[test]
fn a_snap_length_keeps_heads_and_lengths() {
    let post = [
        &b"POST /a HTTP/1.1\r\nContent-Length: 500\r\n\r\n"[..],
        &[b'x'; 500],
    ]
    .concat();
    let mut builder = PacketBuilder::new();
    builder.snap(80);
    for _ in 0..3 {
        builder.send(C, &post).send(S, OK);
    }
    let dissected = builder.close(C).dissect();
    assert_eq!(dissected.events.exchanges.len(), 3);
    assert!(
        dissected
            .events
            .exchanges
            .iter()
            .all(|e| e.request.message_bytes == 500)
    );
    let unread = 3 * (post.len() as u64 - 80);
    assert_eq!(
        dissected.dissection.accounting.request.payload.unread_bytes,
        unread
    );
}

#[test]
fn another_protocol_after_101_is_found() {
    let upgrade = b"GET /chat HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
    let switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
    let dissected = PacketBuilder::new()
        .send(C, upgrade)
        .send(S, switched)
        .send(C, b"5\n12345")
        .send(S, b"3\nabc")
        .close(C)
        .dissect();
    let protocols = dissected.events.exchanges.iter().map(|e| e.protocol);
    assert!(protocols.eq([Protocol::Http1, Protocol::Raw]));
    assert_eq!(dissected.events.exchanges[0].status, Some((101, None)));
}

#[test]
fn one_direction_alone_is_unseen_not_broken() {
    let requests = PacketBuilder::new_one_way(C)
        .send(C, GET)
        .send(C, GET)
        .dissect();
    let endings = requests.events.exchanges.iter().map(|e| e.ending);
    assert!(endings.eq([Ending::Unseen; 2]));
    let replies = PacketBuilder::new_one_way(S)
        .send(S, OK)
        .send(S, OK)
        .dissect();
    assert_eq!(replies.events.exchanges, []);
    assert_eq!(replies.bytes(Kind::HttpHeads), 2 * OK_HEAD as u64);
}

#[test]
fn calls_that_are_never_answered_are_given_up_in_time() {
    let requested = b"GET / HTTP/1.1\r\n\r\n".repeat(3_000);
    let dissected = PacketBuilder::new()
        .ack(S)
        .pieces(C, &requested, 1_400)
        .ack(S)
        .dissect();
    assert_eq!(dissected.events.exchanges.len(), 3_000);
    assert!(
        dissected
            .events
            .exchanges
            .iter()
            .all(|e| e.ending == Ending::Unseen)
    );
    assert!(dissected.dissection.exchanges.connections.in_flight_max <= 1_024);
}

#[test]
fn an_endless_head_is_given_up() {
    let head = [&b"GET / HTTP/1.1\r\nX: "[..], &[b'x'; 400_000]].concat();
    let dissected = PacketBuilder::new()
        .pieces(C, &head, 1_400)
        .close(C)
        .dissect();
    assert_eq!(dissected.exchange().ending, Ending::Unseen);
    assert_eq!(dissected.exchange().status, None);
}

#[test]
fn names_are_truncated_and_bounded_in_number() {
    let mut builder = PacketBuilder::new();
    for call in 0..200 {
        let path = format!("/{call}/{}", "ä".repeat(300));
        builder.send(C, format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes());
        builder.send(S, b"HTTP/1.1 204 No Content\r\n\r\n");
    }
    let dissected = builder.close(C).dissect();
    let by_name = &dissected.dissection.exchanges.by_name;
    assert_eq!(by_name.len(), 65);
    assert_eq!(by_name[0].name, "(others)");
    assert_eq!(by_name.iter().map(|named| named.count).sum::<u64>(), 200);
    assert!(by_name.iter().all(|named| named.name.len() < 130));
}

/// The server closes an idle connection while the client sends on it.
#[test]
fn a_request_that_meets_the_fin_of_the_server_is_a_race() {
    let request = b"GET / HTTP/1.1\r\n\r\n";
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let mut kept = PacketBuilder::new();
    kept.send(C, request).send(S, reply).ack(C).wait(5_000_000);
    let race = |connection: &PacketBuilder| {
        let findings = connection.diagnose().findings;
        let found = findings
            .into_iter()
            .find(|one| one.cause == Cause::KeepAliveRace);
        found.map(|finding| finding.examples[0].packets.clone())
    };
    let mut raced = kept.clone();
    raced.fin(S).send(C, request).reset(S);
    assert_eq!(race(&raced), Some(vec![7, 8, 9]));
    // A client that has seen the FIN closes too, and a server may still reset.
    let mut closed = kept.clone();
    closed.fin(S).ack(C).fin(C).reset(S);
    assert_eq!(race(&closed), None);
    // A reset without a FIN is another cause.
    let mut reset = kept.clone();
    reset.send(C, request).reset(S);
    assert_eq!(race(&reset), None);
}
