//! Replies that break the rules, come in odd pieces, or never end.

use super::support::{Event, Wire, end};
use proptest::prelude::*;
use wirelab_stack::Codec;
use wirelab_wire::http1::Options;
use wirelab_wire::{ContentType, Encoding, Failure, ProtocolError};

const HEAD_BYTES_MAX: usize = 256 << 10;

fn refusal_of(reply: &[u8]) -> ProtocolError {
    let mut wire = Wire::with_calls(Options::default(), 1);
    let error = wire
        .try_receive(reply)
        .expect_err(&format!("{}", reply.escape_ascii()));
    let reported = Event::Failed(0, Failure::Protocol(error.clone()));
    assert_eq!(wire.events.last(), Some(&reported));
    assert!(wire.session_is_finished());
    assert_eq!(wire.capacity(), 0);
    error
}

#[test]
fn broken_heads_are_refused_with_the_rule() {
    for (reply, rule) in [
        ("garbage", "begin with HTTP/1. (RFC 9112 section 4)"),
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", "begin with HTTP/1."),
        ("HTTP/2 200\r\n\r\n", "begin with HTTP/1."),
        ("http/1.1 200 OK\r\n\r\n", "begin with HTTP/1."),
        ("HTTP/1.2 200 OK\r\n\r\n", "RFC 9112 section 2.3"),
        ("HTTP/1.1 20 OK\r\n\r\n", "RFC 9112 section 4"),
        ("HTTP/1.1 2000 OK\r\n\r\n", "RFC 9112 section 4"),
        ("HTTP/1.1 abc OK\r\n\r\n", "RFC 9112 section 4"),
        ("HTTP/1.1 099 OK\r\n\r\n", "RFC 9110 section 15"),
        ("HTTP/1.1 101 Switching\r\n\r\n", "RFC 9110 section 15.2.2"),
        ("HTTP/1.1 200 O\rK\r\n\r\n", "RFC 9112 section"),
        ("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", "RFC 9112 section"),
        ("HTTP/1.1 200 OK\r\nA: b\x00c\r\n\r\n", "RFC 9112 section 5"),
        // Space after the status line continues no field (RFC 9112 section 2.2).
        (
            "HTTP/1.1 200 OK\r\n A: b\r\nB: c\r\n\r\n",
            "RFC 9112 section 5",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n",
            "decimal number",
        ),
        ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "RFC 9112 section 5"),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "RFC 9112 section 5"),
        ("HTTP/1.1 200 OK\r\n: b\r\n\r\n", "RFC 9112 section 5"),
    ] {
        let error = refusal_of(reply.as_bytes());
        assert!(error.rule.contains(rule), "{reply:?}: {error}");
    }
}

#[test]
fn lengths_that_contradict_are_refused_with_the_rule() {
    for (fields, rule) in [
        (
            "Content-Length: 1\r\nContent-Length: 2",
            "one content-length only (RFC 9112 section 6.3)",
        ),
        ("Content-Length: 1, 2", "one content-length only"),
        ("Content-Length: ", "decimal number"),
        ("Content-Length: +1", "decimal number"),
        ("Content-Length: -1", "decimal number"),
        ("Content-Length: 0x1", "decimal number"),
        ("Content-Length: 1 2", "decimal number"),
        ("Content-Length: 18446744073709551616", "decimal number"),
        (
            "Transfer-Encoding: gzip, chunked",
            "RFC 9112 sections 6.1 and 7.4",
        ),
        (
            "Transfer-Encoding: chunked, chunked",
            "RFC 9112 sections 6.1 and 7.4",
        ),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "sections 6.1",
        ),
        ("Transfer-Encoding: identity", "sections 6.1"),
        ("Transfer-Encoding:", "sections 6.1"),
    ] {
        let error = refusal_of(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\nabc").as_bytes());
        assert!(error.rule.contains(rule), "{fields:?}: {error}");
    }
    let error = refusal_of(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    assert!(
        error.rule.contains("HTTP/1.0 (RFC 9112 section 6.1)"),
        "{error}"
    );
}

#[test]
fn the_same_length_sent_twice_is_one_length() {
    for fields in [
        "Content-Length: 3\r\ncontent-length: 3",
        "Content-Length: 3, 3",
    ] {
        let mut wire = Wire::with_calls(Options::default(), 1);
        wire.receive(format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\nabc").as_bytes());
        assert_eq!(wire.events.last(), Some(&end(0)));
    }
}

#[test]
fn broken_chunks_are_refused_with_the_rule() {
    for (body, rule) in [
        ("\r\n", "hexadecimal digits"),
        ("g\r\n", "hexadecimal digits"),
        ("0x5\r\nhello", "hexadecimal digits"),
        ("-5\r\nhello", "hexadecimal digits"),
        ("+5\r\nhello", "hexadecimal digits"),
        (" 5\r\nhello", "hexadecimal digits"),
        ("10000000000000000\r\n", "at most 16 digits"),
        ("00000000000000005\r\n", "at most 16 digits"),
        ("5\nhello\r\n0\r\n\r\n", "hexadecimal digits"),
        ("5\rxhello", "end with CRLF (RFC 9112 section 7.1)"),
        ("5;a=\x01\r\nhello", "RFC 9112 section 7.1.1"),
        ("5;a\nhello", "RFC 9112 section 7.1.1"),
        ("5\r\nhelloworld", "chunk data end with CRLF"),
        ("5\r\nhello\n0\r\n\r\n", "chunk data end with CRLF"),
        ("5\r\nhello\rx", "chunk data end with CRLF"),
        ("0\r\nA: b\n\r\n", "trailer lines end with CRLF"),
        ("0\r\nno colon\r\n\r\n", "trailers are field lines"),
        ("0\r\nhello\r\n\r\n", "trailers are field lines"),
    ] {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let error = refusal_of(format!("{head}{body}").as_bytes());
        assert!(error.rule.contains(rule), "{body:?}: {error}");
    }
}

#[test]
fn limits_end_what_would_not_end() {
    let huge = format!(
        "HTTP/1.1 200 OK\r\nA: {}\r\n\r\n",
        "x".repeat(HEAD_BYTES_MAX)
    );
    assert!(refusal_of(huge.as_bytes()).found.contains("262144 bytes"));
    let open = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(HEAD_BYTES_MAX));
    assert!(refusal_of(open.as_bytes()).found.contains("262144 bytes"));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(257));
    assert!(refusal_of(many.as_bytes()).rule.contains("fields within"));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let extension = format!("{chunked}1;{}", "e".repeat(5_000));
    assert!(refusal_of(extension.as_bytes()).rule.contains("4096"));
    let trailers = format!("{chunked}0\r\n{}", "a: b\r\n".repeat(20_000));
    assert!(refusal_of(trailers.as_bytes()).rule.contains("65536"));
    let trailer = format!("{chunked}0\r\na: {}", "b".repeat(70_000));
    assert!(refusal_of(trailer.as_bytes()).rule.contains("65536"));
    let trailers = format!("{chunked}0\r\n{}\r\n", "a: b\r\n".repeat(65));
    assert!(refusal_of(trailers.as_bytes()).rule.contains("trailers"));
}

#[test]
fn a_limit_of_fields_is_that_of_the_options() {
    for (fields, limit, accepted) in [
        (65, 256, true),
        (256, 256, true),
        (257, 257, true),
        (258, 257, false),
    ] {
        let mut options = Options::default();
        options.head_limits.fields = limit;
        let mut wire = Wire::with_calls(options, 1);
        let head = format!("HTTP/1.1 204 -\r\n{}\r\n", "a: b\r\n".repeat(fields));
        let taken = wire.try_receive(head.as_bytes());
        assert_eq!(taken.is_ok(), accepted, "{fields} fields, {limit} allowed");
    }
}

/// RFC 9112 section 6.3, rule 3: the chunks count, whatever the length says.
#[test]
fn transfer_encoding_wins_over_content_length_and_ends_the_connection() {
    for fields in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 300",
    ] {
        let reply = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        let mut wire = Wire::with_calls(Options::default(), 1);
        wire.receive(reply.as_bytes());
        assert!(wire.events.contains(&Event::FramingConflict(0)));
        assert!(wire.events.contains(&Event::Body(0, b"hello".to_vec())));
        assert_eq!(wire.events.last(), Some(&end(0)));
        assert!(wire.session_is_finished());
        assert_eq!(wire.capacity(), 0);
    }
    let mut wire = Wire::with_calls(Options::default(), 1);
    wire.receive(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    assert!(!wire.events.contains(&Event::FramingConflict(0)));
    assert!(!wire.session_is_finished());
}

/// RFC 9112 section 5.2, in every way in which the head may be cut.
#[test]
fn a_folded_line_is_one_line_with_spaces() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type:\r\n\tapplication/json;\r\n charset=utf-8\r\n\
                Empty: a\r\n  \r\nContent-Encoding:\n gzip\r\nContent-Length:\r\n 3\r\n\r\n";
    let reply = format!("{head} \r\n");
    for piece in 1..=reply.len() {
        let mut wire = Wire::with_calls(Options::default(), 1);
        reply
            .as_bytes()
            .chunks(piece)
            .for_each(|chunk| wire.receive(chunk));
        let found = wire.events.iter().find_map(|event| match event {
            Event::Head(_, head) => Some(*head),
            _ => None,
        });
        let found = found.expect("a head");
        assert_eq!(found.content_type, ContentType::Body(Codec::Json));
        assert_eq!(found.encoding, Encoding::Gzip);
        assert_eq!(found.content_length, Some(3));
        assert_eq!(wire.events.last(), Some(&end(0)), "pieces of {piece}");
    }
}

#[test]
fn limits_hold_for_heads_in_pieces_and_let_the_largest_pass() {
    let head = |bytes: usize| {
        let fixed = "HTTP/1.1 204 -\r\nA: \r\n\r\n".len();
        format!("HTTP/1.1 204 -\r\nA: {}\r\n\r\n", "x".repeat(bytes - fixed))
    };
    // A bound that is checked only on whole heads could be passed by pieces.
    for piece in [1, 1_000, HEAD_BYTES_MAX - 1, HEAD_BYTES_MAX * 2] {
        let mut wire = Wire::with_calls(Options::default(), 1);
        head(HEAD_BYTES_MAX)
            .as_bytes()
            .chunks(piece)
            .for_each(|chunk| wire.receive(chunk));
        assert_eq!(wire.events.last(), Some(&end(0)));
        let mut wire = Wire::with_calls(Options::default(), 1);
        let over = head(HEAD_BYTES_MAX + 1);
        let refused = over
            .as_bytes()
            .chunks(piece)
            .any(|chunk| wire.try_receive(chunk).is_err());
        assert!(refused, "pieces of {piece}");
    }
}

#[test]
fn unsolicited_bytes_are_refused() {
    let mut idle = Wire::new(Options::default());
    let error = idle
        .try_receive(b"HTTP/1.1 408 Timeout\r\n\r\n")
        .unwrap_err();
    assert!(error.rule.contains("RFC 9112 section 9.2"), "{error}");

    let mut wire = Wire::with_calls(Options::default(), 1);
    let error = wire.try_receive(b"HTTP/1.1 204 -\r\n\r\nmore").unwrap_err();
    assert!(error.found.contains("more"), "{error}");
    assert_eq!(
        wire.events.last(),
        Some(&end(0)),
        "the reply itself was complete"
    );

    let mut unsent = Wire::new(Options::default());
    unsent.session_send_without_pump();
    assert!(unsent.try_receive(b"HTTP/1.1 204 -\r\n\r\n").is_err());
}

#[test]
fn the_calls_behind_a_broken_reply_are_reported() {
    let mut wire = Wire::with_calls(
        Options {
            pipeline: 3,
            ..Options::default()
        },
        3,
    );
    let error = wire.try_receive(b"HTTP/1.1 204 -\r\n\r\nXTTP").unwrap_err();
    let failures = [
        Event::Failed(1, Failure::Protocol(error)),
        Event::Failed(2, Failure::Closed),
    ];
    assert_eq!(wire.events[wire.events.len() - 2..], failures);
    let before = wire.events.clone();
    wire.receive(b"HTTP/1.1 204 -\r\n\r\n");
    wire.close();
    // After an error the session is over, whatever still comes.
    assert_eq!(wire.events, before, "nothing is reported twice");
}

/// Events of two pipelined calls for `input` cut at `cuts`, with the close.
fn events_with_cuts(input: &[u8], cuts: &[usize]) -> (Vec<Event>, bool) {
    let mut wire = Wire::with_calls(
        Options {
            pipeline: 2,
            ..Options::default()
        },
        2,
    );
    let mut refused = false;
    let mut start = 0;
    for end in cuts.iter().copied().chain([input.len()]) {
        refused |= wire.try_receive(&input[start..end]).is_err();
        start = end;
    }
    wire.close();
    (wire.events, refused)
}

fn reply() -> impl Strategy<Value = Vec<u8>> {
    let body = proptest::collection::vec(any::<u8>(), 0..60);
    let padding = proptest::collection::vec(0_u8..26, 0..40);
    (0..5, body, padding).prop_map(|(kind, body, padding)| {
        let padding: String = padding.iter().map(|k| char::from(b'a' + k)).collect();
        let head =
            |rest: &str| format!("HTTP/1.1 200 OK\r\nX-Pad: {padding}\r\n{rest}\r\n").into_bytes();
        match kind {
            0 => [head(&format!("Content-Length: {}\r\n", body.len())), body].concat(),
            1 => {
                let mut reply = head("Transfer-Encoding: chunked\r\n");
                for chunk in body.chunks(7) {
                    reply.extend(format!("{:X};{padding}\r\n", chunk.len()).into_bytes());
                    reply.extend_from_slice(chunk);
                    reply.extend(b"\r\n");
                }
                reply.extend(format!("0\r\nT: {padding}\r\n\r\n").into_bytes());
                reply
            }
            2 => b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 \r\n\r\n".to_vec(),
            3 => [head("Connection: close\r\n"), body].concat(),
            _ => {
                let both = format!(
                    "Content-Length: {}\r\nTransfer-Encoding: chunked\r\n",
                    body.len()
                );
                [head(&both), b"0\r\n\r\n".to_vec()].concat()
            }
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pieces_do_not_matter(
        first in reply(), second in reply(), fractions in proptest::collection::vec(0.0..1.0, 0..12)
    ) {
        let input = [first, second].concat();
        let mut cuts: Vec<usize> = fractions.iter().map(|p: &f64| (p * input.len() as f64) as usize).collect();
        cuts.sort_unstable();
        let whole = events_with_cuts(&input, &[]);
        prop_assert_eq!(&events_with_cuts(&input, &cuts), &whole);
        // The extreme: one byte at a time.
        let every: Vec<usize> = (0..input.len()).collect();
        prop_assert_eq!(&events_with_cuts(&input, &every), &whole);
    }

    #[test]
    fn a_damaged_reply_never_panics_and_ends_each_call_once(
        first in reply(), second in reply(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        cut in any::<prop::sample::Index>()
    ) {
        let mut input = [first, second].concat();
        let at = at.index(input.len());
        input[at] = byte;
        let cut = cut.index(input.len());
        let (events, _) = events_with_cuts(&input, &[cut]);
        for call in [0, 1] {
            let ends = events.iter().filter(|event| {
                matches!(event, Event::End(c, _) | Event::Failed(c, _) if *c == call)
            });
            prop_assert_eq!(ends.count(), 1);
        }
    }

    #[test]
    fn garbage_never_panics_and_is_never_a_reply(
        garbage in proptest::collection::vec(any::<u8>(), 1..300), cut in any::<prop::sample::Index>()
    ) {
        let (events, _) = events_with_cuts(&garbage, &[cut.index(garbage.len())]);
        prop_assert!(events.iter().all(|event| !matches!(event, Event::Head(..) | Event::End(..))));
    }

    #[test]
    fn garbage_after_a_chunked_head_never_panics(
        garbage in proptest::collection::vec(any::<u8>(), 0..300), cut in any::<prop::sample::Index>()
    ) {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let input = [&head[..], &garbage].concat();
        events_with_cuts(&input, &[cut.index(input.len())]);
    }
}
