//! What the HTTP/1.x client makes of replies.

use std::sync::Arc;

use super::support::{Event, Wire, body, end, fail, field, first, get, head};
use wirelab_wire::codec::Codec;
use wirelab_wire::http1::{Options, Version};
use wirelab_wire::{ContentType, Encoding, Failure, Head};

fn ok(content_length: Option<u64>) -> Head {
    Head {
        status: 200,
        content_length,
        ..Head::default()
    }
}

/// The events of one GET answered by `reply`.
fn events_of(reply: &[u8]) -> Vec<Event> {
    let mut wire = Wire::with_calls(Options::default(), 1);
    wire.receive(reply);
    wire.events
}

#[test]
fn content_length_ends_the_body() {
    assert_eq!(
        events_of(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        [first(0), head(0, ok(Some(5))), body(0, b"hello"), end(0)]
    );
    assert_eq!(
        events_of(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        [first(0), head(0, ok(Some(0))), end(0)]
    );
}

#[test]
fn the_fields_needed_for_validation_are_read_in_any_case() {
    let reply = b"HTTP/1.1 200 OK\r\nCONTENT-type: application/json; charset=utf-8\r\n\
        content-ENCODING: gzip\r\nErrors: a b\r\ncontent-length: 0\r\n\r\n";
    let expected = Head {
        status: 200,
        content_length: Some(0),
        encoding: Encoding::Gzip,
        content_type: ContentType::Body(Codec::Json),
        errors: true,
        ..Head::default()
    };
    assert_eq!(events_of(reply), [first(0), head(0, expected), end(0)]);
}

#[test]
fn chunks_are_joined_and_trailers_passed_over() {
    // Coding names ignore case; sizes may have leading zeros, and extensions are passed
    // over (RFC 9112 section 7.1).
    let reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n\
        4;name=\"v\"\r\nWiki\r\n00A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n";
    assert_eq!(
        events_of(reply),
        [
            first(0),
            head(0, ok(None)),
            body(0, b"Wiki0123456789"),
            end(0)
        ]
    );
}

#[test]
fn a_reply_without_length_ends_with_the_connection() {
    let mut wire = Wire::with_calls(Options::default(), 1);
    wire.receive(b"HTTP/1.0 200 OK\r\n\r\nso far");
    assert!(wire.session_is_finished());
    wire.receive(b", so good");
    wire.close();
    assert_eq!(
        wire.events,
        [
            first(0),
            head(0, ok(None)),
            body(0, b"so far, so good"),
            end(0)
        ]
    );
}

#[test]
fn statuses_without_a_body_end_with_their_head() {
    for status in ["204 No Content", "304 Not Modified"] {
        let mut wire = Wire::with_calls(Options::default(), 1);
        // A length that is not that of this reply's content (RFC 9110 section 8.6).
        wire.receive(format!("HTTP/1.1 {status}\r\nContent-Length: 7\r\n\r\n").as_bytes());
        assert_eq!(wire.events.last(), Some(&end(0)), "{status}");
        assert_eq!(wire.capacity(), 1);
    }
}

#[test]
fn a_reply_to_head_has_no_body() {
    let mut wire = Wire::new(Options::default());
    let mut request = get(7);
    request.method = "HEAD".into();
    wire.send(3, request);
    // The length that GET would have (RFC 9110 section 9.3.2).
    wire.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n");
    assert_eq!(wire.events, [first(3), head(3, ok(Some(99))), end(3)]);
}

#[test]
fn informational_replies_are_passed_over() {
    let reply = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(
        events_of(reply),
        [first(0), head(0, ok(Some(2))), body(0, b"ok"), end(0)]
    );
}

#[test]
fn pipelined_replies_come_in_the_order_of_their_requests() {
    let options = Options {
        pipeline: 3,
        ..Options::default()
    };
    let mut wire = Wire::with_calls(options, 3);
    assert_eq!(wire.capacity(), 0);
    wire.receive(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n\
        Transfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\nHTTP/1.1 204 -\r\n\r\n",
    );
    let no_content = Head {
        status: 204,
        ..Head::default()
    };
    assert_eq!(
        wire.events,
        [
            first(0),
            head(0, ok(Some(1))),
            body(0, b"a"),
            end(0),
            first(1),
            head(1, ok(None)),
            body(1, b"b"),
            end(1),
            first(2),
            head(2, no_content),
            end(2),
        ]
    );
    assert_eq!(wire.capacity(), 3);
}

#[test]
fn a_peer_that_closes_answers_nothing_further() {
    let options = Options {
        pipeline: 2,
        ..Options::default()
    };
    let mut wire = Wire::with_calls(options, 2);
    // A list without regard to case (RFC 9110 section 7.6.1).
    wire.receive(b"HTTP/1.1 200 OK\r\nConnection: foo, CLOSE\r\nContent-Length: 1\r\n\r\n");
    assert!(wire.session_is_finished());
    assert_eq!(wire.capacity(), 0);
    wire.receive(b"a");
    assert_eq!(
        wire.events[2..],
        [body(0, b"a"), end(0), fail(1, Failure::Closed)]
    );
}

#[test]
fn http_1_0_persists_only_with_keep_alive() {
    let options = Options {
        version: Version::Http10,
        ..Options::default()
    };
    for (field, persists) in [("Connection: Keep-Alive\r\n", true), ("", false)] {
        let mut wire = Wire::with_calls(options, 1);
        wire.receive(format!("HTTP/1.0 200 OK\r\n{field}Content-Length: 1\r\n\r\nx").as_bytes());
        assert_eq!(wire.events.last(), Some(&end(0)));
        assert_eq!(wire.capacity(), usize::from(persists), "{field}");
        assert_eq!(wire.session_is_finished(), !persists, "{field}");
    }
}

#[test]
fn a_connection_that_ends_fails_every_call_by_how_far_it_was() {
    let options = Options {
        pipeline: 2,
        ..Options::default()
    };
    // The first call may be repeated when nothing came; after a byte it may have been
    // processed.
    for (so_far, failure) in [
        ("", Failure::Closed),
        ("H", Failure::Truncated),
        ("HTTP/1.1 200 OK\r\n", Failure::Truncated),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx",
            Failure::Truncated,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n",
            Failure::Truncated,
        ),
    ] {
        let mut wire = Wire::with_calls(options, 2);
        wire.receive(so_far.as_bytes());
        wire.close();
        let failures = &wire.events[wire.events.len() - 2..];
        assert_eq!(
            failures,
            [fail(0, failure), fail(1, Failure::Closed)],
            "{so_far:?}"
        );
        assert!(wire.session_is_finished());
    }
}

#[test]
fn every_truncation_differs_from_a_complete_reply() {
    for reply in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;e\r\nhello\r\n0\r\nT: u\r\n\r\n",
    ] {
        for cut in 0..reply.len() {
            let mut wire = Wire::with_calls(Options::default(), 1);
            wire.receive(&reply[..cut]);
            wire.close();
            let expected = if cut == 0 {
                Failure::Closed
            } else {
                Failure::Truncated
            };
            assert_eq!(wire.events.last(), Some(&fail(0, expected)), "cut at {cut}");
        }
        assert_eq!(events_of(reply).last(), Some(&end(0)));
    }
}

#[test]
fn watched_fields_come_before_the_head_however_it_is_cut() {
    let reply = b"HTTP/1.1 100 Continue\r\nX-Version: 0\r\n\r\nHTTP/1.1 200 OK\r\nX-VERSION: 2\r\n\
        Other: 1\r\nx-version:  3 \r\nContent-Length: 0\r\n\r\n";
    let expected = [
        first(0),
        field(0, "x-version", b"2"),
        field(0, "x-version", b"3"),
        head(0, ok(Some(0))),
        end(0),
    ];
    for cut in 0..reply.len() {
        let mut wire = Wire::new(Options::default());
        let names = ["x-version".into(), "x-missing".into()];
        wire.session = wire.session.watching(Some(Arc::new(names.into())));
        wire.send(0, get(1));
        wire.receive(&reply[..cut]);
        wire.receive(&reply[cut..]);
        assert_eq!(wire.events, expected, "cut at {cut}");
    }
}
