//! What the fields of a reply may and may not be.

use std::sync::Arc;

use wirelab_wire::codec::Codec;
use wirelab_wire::{ContentType, Encoding, End, Failure, Head};

use super::peer::{Event, Peer, get, ok_head};

/// Status 200 with these fields: the head, or the rule that was broken.
fn head_of(fields: &[(&str, &str)]) -> Result<Head, &'static str> {
    let mut peer = Peer::new();
    peer.call(1, &get(1));
    peer.frames();
    let reply = peer.last_head(1, fields);
    peer.play(&reply);
    match &peer.take_events()[..] {
        [Event::First(1), Event::Head(1, head), Event::End(1, _)] => Ok(*head),
        [Event::First(1), Event::Failed(1, Failure::Protocol(error))] => Err(error.rule),
        other => panic!("{other:?}"),
    }
}

#[test]
fn malformed_fields_fail_the_reply() {
    for (fields, section) in [
        (&[("content-type", "text/plain")][..], "8.1)"),
        (&[(":status", "20")], "8.3)"),
        (&[(":status", "2000")], "8.3)"),
        (&[(":status", "020")], "8.3)"),
        (&[(":status", "2x0")], "8.3)"),
        (&[(":status", "200"), (":status", "200")], "8.3)"),
        (&[(":status", "200"), (":path", "/")], "8.3)"),
        (&[("server", "x"), (":status", "200")], "8.3)"),
        (&[(":status", "200"), ("Server", "x")], "8.2.1)"),
        (&[(":status", "200"), ("ser ver", "x")], "8.2.1)"),
        (&[(":status", "200"), ("ser:ver", "x")], "8.2.1)"),
        (&[(":status", "200"), ("", "x")], "8.2.1)"),
        (&[(":status", "200"), ("server", "x\r\ny: z")], "8.2.1)"),
        (&[(":status", "200"), ("server", "x\0")], "8.2.1)"),
        (&[(":status", "200"), ("server", " x")], "8.2.1)"),
        (&[(":status", "200"), ("server", "x\t")], "8.2.1)"),
        (&[(":status", "200"), ("connection", "close")], "8.2.2)"),
        (
            &[(":status", "200"), ("transfer-encoding", "chunked")],
            "8.2.2)",
        ),
        (&[(":status", "200"), ("keep-alive", "x")], "8.2.2)"),
        (&[(":status", "200"), ("upgrade", "x")], "8.2.2)"),
        (&[(":status", "200"), ("content-length", "")], "8.6)"),
        (&[(":status", "200"), ("content-length", "+1")], "8.6)"),
        (&[(":status", "200"), ("content-length", "1, 1")], "8.6)"),
        (
            &[
                (":status", "200"),
                ("content-length", "99999999999999999999"),
            ],
            "8.6)",
        ),
        (
            &[
                (":status", "200"),
                ("content-length", "0"),
                ("content-length", "1"),
            ],
            "8.6)",
        ),
        (&[(":status", "101")], "8.1)"),
        (&[(":status", "100")], "8.1)"),
    ] {
        let rule = head_of(fields).expect_err("a broken rule");
        assert!(rule.ends_with(section), "{fields:?}: {rule}");
    }
}

#[test]
fn content_types_are_distinguished() {
    for (value, content_type) in [
        ("text/plain", ContentType::Body(Codec::Text)),
        ("text/plain; charset=utf-8", ContentType::Body(Codec::Text)),
        (
            "Application/JSON;charset=utf-8",
            ContentType::Body(Codec::Json),
        ),
        ("application/grpc", ContentType::Grpc),
        ("application/grpc+proto", ContentType::Grpc),
        // Another framing, and another codec, than this client reads.
        ("application/grpc-web", ContentType::Other),
        ("application/grpc+json", ContentType::Other),
        ("text/plainer", ContentType::Other),
        ("", ContentType::Other),
    ] {
        let head = head_of(&[(":status", "200"), ("content-type", value)]).unwrap();
        assert_eq!(head.content_type, content_type, "{value}");
    }
    assert_eq!(
        head_of(&[(":status", "200")]).unwrap().content_type,
        ContentType::Absent
    );
}

#[test]
fn encodings_are_distinguished() {
    for (name, value, encoding) in [
        ("content-encoding", "gzip", Encoding::Gzip),
        ("content-encoding", "identity", Encoding::Identity),
        // Legal, but one coding is all that is undone here.
        ("content-encoding", "gzip, gzip", Encoding::Other),
        ("grpc-encoding", "GZIP", Encoding::Gzip),
        ("grpc-encoding", "zstd", Encoding::Zstd),
        ("content-encoding", "br", Encoding::Other),
        ("accept-encoding", "gzip", Encoding::Identity),
    ] {
        let head = head_of(&[(":status", "200"), (name, value)]).unwrap();
        assert_eq!(head.encoding, encoding, "{name}: {value}");
    }
}

#[test]
fn lengths_that_agree_are_one() {
    let twice = [
        (":status", "304"),
        ("content-length", "12"),
        ("content-length", "12"),
    ];
    assert_eq!(head_of(&twice).unwrap().content_length, Some(12));
}

/// The memo of blocks must not outlive the table that gave them their meaning.
#[test]
fn the_same_block_may_mean_something_else_later() {
    let mut peer = Peer::new();
    let mut blocks = Vec::new();
    for round in 0..30_u32 {
        // Index 62 is a new entry in every third round.
        let value = format!("text/{}", if round / 3 % 2 == 0 { "plain" } else { "html" });
        peer.call(1, &get(1));
        peer.frames();
        if round % 3 == 0 {
            // Empties the table, so that index 62 is given again.
            peer.encoder.limit(0);
            peer.encoder.limit(4_096);
        }
        let reply = peer.last_head(
            2 * round + 1,
            &[(":status", "200"), ("content-type", &value)],
        );
        // Without the frame's head.
        blocks.push(reply[9..].to_vec());
        peer.play(&reply);
        let content_type = if round / 3 % 2 == 0 {
            ContentType::Body(Codec::Text)
        } else {
            ContentType::Other
        };
        let head = Head {
            status: 200,
            content_type,
            ..Head::default()
        };
        assert_eq!(peer.take_events()[1], Event::Head(1, head), "round {round}");
    }
    assert_eq!(blocks[1], blocks[4], "the same bytes with two meanings");
}

#[test]
fn watched_fields_of_head_and_trailers_are_reported_every_time() {
    let mut peer = Peer::new();
    let names = ["x-version".into(), "x-cost".into()];
    peer.client = peer.client.watching(Some(Arc::new(names.into())));
    // Repeated blocks are not decoded again.
    for (call, stream) in [(1, 1), (2, 3), (3, 5), (4, 7)] {
        peer.call(call, &get(call));
        peer.frames();
        let head = peer.head(
            stream,
            &[(":status", "200"), ("x-version", "2"), ("x-a", "b")],
        );
        let trailers = peer.last_head(stream, &[("x-cost", "3"), ("x-b", "c")]);
        peer.play(&[head, trailers].concat());
        let field = |name: &str, value: &[u8]| Event::Field(call, name.into(), value.to_vec());
        assert_eq!(
            peer.take_events(),
            [
                Event::First(call),
                field("x-version", b"2"),
                Event::Head(call, ok_head()),
                field("x-cost", b"3"),
                Event::End(call, End::default()),
            ]
        );
    }
}
