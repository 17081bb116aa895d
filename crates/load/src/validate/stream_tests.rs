//! Streams as a validator sees them, cut everywhere.

use wirelab_wire::grpc::frame;
use wirelab_wire::{ContentType, Encoding, End, Head, gzip, zstd};

use super::stream::StreamRule;
use super::*;
use crate::call::rejection::Rejection;
use crate::plan::{Stream, StreamFormat};

/// A validator of streams of that format, as the plan's key changes it.
fn validator(format: StreamFormat, change: impl FnOnce(&mut Stream)) -> Validator {
    let mut stream = Stream::new(format);
    change(&mut stream);
    let frames = match format {
        StreamFormat::Grpc => Some(Frames::Grpc),
        _ => None,
    };
    let mut validator = Validator::new(frames, Expectation::Anything, true);
    validator.stream = Some(StreamRule::of(&stream).unwrap());
    validator
}

fn plain(format: StreamFormat) -> Validator {
    validator(format, |_| ())
}

/// What came of a stream in those chunks, each read at another time, that ended with its body.
struct Read {
    verdict: Result<(), Rejection>,
    state: ReplyState,
    /// When messages came, and how many.
    arrivals: Vec<(u64, u64)>,
    stopped: bool,
}

fn read<'a>(validator: &Validator, chunks: impl IntoIterator<Item = &'a [u8]>) -> Read {
    read_encoded(validator, Encoding::Identity, chunks)
}

fn read_encoded<'a>(
    validator: &Validator,
    encoding: Encoding,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Read {
    let rule = validator.stream.as_ref().unwrap();
    let (mut state, mut arrivals, mut stopped) = (ReplyState::default(), Vec::new(), false);
    let head = Head {
        status: 200,
        content_type: ContentType::EventStream,
        encoding,
        ..Head::default()
    };
    validator.head(&mut state, &head);
    for (at, chunk) in (1..).zip(chunks) {
        if chunk.is_empty() || stopped {
            continue;
        }
        let arrival = validator.stream_body(rule, &mut state, chunk, at, 0);
        let messages = arrival.map_or(0, |arrival| arrival.counts.messages);
        if messages > 0 {
            arrivals.push((at, messages));
        }
        stopped = state
            .stream
            .as_ref()
            .is_some_and(|stream| stream.is_stopped);
    }
    let verdict = match stopped {
        true => validator.check_stopped(rule, &mut state),
        false => {
            let last = validator.take_last_line(rule, &mut state);
            arrivals.extend(last.map(|arrival| (arrival.at, arrival.counts.messages)));
            let end = End {
                grpc_status: Some(0),
                grpc_message: None,
            };
            validator.end(&mut state, end, None)
        }
    };
    Read {
        verdict,
        state,
        arrivals,
        stopped,
    }
}

fn reason(validator: &Validator, body: &[u8]) -> (ErrorKind, String) {
    let rejection = read(validator, [body]).verdict.unwrap_err();
    (rejection.kind, rejection.reason)
}

/// Three messages in each format, and the places behind their last bytes.
fn three() -> Vec<(StreamFormat, Vec<u8>, [usize; 3])> {
    let grpc: Vec<Vec<u8>> = ["a", "", "bcd"]
        .iter()
        .map(|text| frame(text.as_bytes(), false))
        .collect();
    let chunk = |text: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let chat = [
        chunk("a"),
        chunk("b"),
        chunk("c"),
        "data: [DONE]\n\n".to_owned(),
    ];
    let ends = |parts: &[usize]| {
        [
            parts[0],
            parts[0] + parts[1],
            parts[0] + parts[1] + parts[2],
        ]
    };
    let lengths: Vec<usize> = chat.iter().map(String::len).collect();
    vec![
        (
            StreamFormat::Sse,
            b"data: a\n\n: x\ndata: b\n\ndata: c\n\n".to_vec(),
            [9, 22, 31],
        ),
        (
            StreamFormat::Ndjson,
            b"1\n{\"a\":2}\n[3]\n".to_vec(),
            [2, 10, 14],
        ),
        (StreamFormat::OpenAi, chat.concat().into(), ends(&lengths)),
        (StreamFormat::Grpc, grpc.concat(), ends(&[6, 5, 8])),
    ]
}

#[test]
fn a_message_comes_with_its_last_byte_wherever_the_body_is_cut() {
    for (format, body, ends) in three() {
        let validator = plain(format);
        for cut in 0..=body.len() {
            let (one, other) = body.split_at(cut);
            let found = read(&validator, [one, other]);
            assert_eq!(found.verdict, Ok(()), "{format:?} cut at {cut}");
            let before = ends.iter().filter(|end| **end <= cut).count() as u64;
            let expected = [(1, before), (2, 3 - before)];
            let expected: Vec<_> = expected
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .collect();
            assert_eq!(found.arrivals, expected, "{format:?} cut at {cut}");
        }
        let found = read(&validator, body.chunks(1));
        let expected = ends.map(|end| (end as u64, 1));
        assert_eq!(found.arrivals, expected, "{format:?} byte by byte");
        let stamps = found.state.stream.unwrap().stamps;
        let longest = (ends[1] - ends[0]).max(ends[2] - ends[1]);
        assert_eq!(stamps.longest_gap_ns, longest as u64, "{format:?}");
    }
}

#[test]
fn messages_of_a_compressed_stream_are_those_of_its_content() {
    for (format, body, _) in three() {
        if format == StreamFormat::Grpc {
            continue;
        }
        let validator = plain(format);
        for (encoding, packed) in [
            (Encoding::Gzip, gzip::compress(&body)),
            (Encoding::Zstd, zstd::compress(&body)),
        ] {
            for length in [1, 2, 7, packed.len()] {
                let found = read_encoded(&validator, encoding, packed.chunks(length));
                assert!(found.verdict.is_ok(), "{format:?} {encoding:?} {length}");
                let messages: u64 = found.arrivals.iter().map(|(_, count)| count).sum();
                assert_eq!(messages, 3, "{format:?} {encoding:?} {length}");
                let stamps = found.state.stream.unwrap().stamps;
                assert_eq!(stamps.counts.bytes, body.len() as u64);
            }
        }
    }
}

#[test]
fn a_compressed_stream_that_is_cut_broken_or_a_bomb_is_named() {
    let validator = validator(StreamFormat::Ndjson, |stream| {
        stream.message_bytes_max = 1000
    });
    let packed = gzip::compress(b"{}\n{}\n");
    let mut broken = packed.clone();
    // Of its checksum: what is in it is right.
    broken[packed.len() - 8] ^= 0xFF;
    // 10 MiB in one line, of some 10 kB.
    let bomb = gzip::compress(&vec![b'1'; 10 << 20]);
    for (body, part) in [
        (&packed[..packed.len() - 1], "ends too early"),
        (&packed[..0], "ends too early"),
        (&broken, "another checksum"),
        (b"{}\n".as_slice(), "no header of a member"),
        (&bomb, "more than 1000 bytes"),
    ] {
        let found = read_encoded(&validator, Encoding::Gzip, body.chunks(100));
        let reason = found.verdict.err().map(|rejection| rejection.reason);
        let reason = reason.unwrap_or_default();
        let is_named = reason.contains(part) || (body.is_empty() && reason.contains("no message"));
        assert!(is_named, "{reason} instead of {part}");
    }
}

#[test]
fn the_last_line_without_its_line_feed_came_with_its_last_byte() {
    let found = read(&plain(StreamFormat::Ndjson), [&b"1\n2"[..], b"3", b""]);
    assert_eq!(found.verdict, Ok(()));
    assert_eq!(found.arrivals, [(1, 1), (2, 1)]);
}

#[test]
fn a_stream_that_is_cut_or_wrong_is_named() {
    use StreamFormat::{Grpc, Ndjson, OpenAi, Sse};
    let token = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n";
    let after = format!("{token}data: [DONE]\n\n{token}");
    let error = format!("{token}data: {{\"error\":{{\"message\":\"out of memory\"}}}}\n\n");
    let done = format!("{role}data: [DONE]\n\n");
    for (format, body, kind, part) in [
        (
            Sse,
            "data: a\n\ndata: b\n",
            ErrorKind::Protocol,
            "of an event",
        ),
        (Sse, ": nothing\n\n", ErrorKind::Wrong, "no message came"),
        (Sse, "", ErrorKind::Wrong, "no message came"),
        (
            Ndjson,
            "1\n{\"a\":\n",
            ErrorKind::Wrong,
            "a line is not JSON",
        ),
        (Ndjson, "1\n{\"a\":", ErrorKind::Wrong, "a line is not JSON"),
        (OpenAi, token, ErrorKind::Wrong, "without [DONE]"),
        (OpenAi, &after, ErrorKind::Wrong, "an event after [DONE]"),
        (
            OpenAi,
            &error,
            ErrorKind::Application,
            "an event with an error: out of memory",
        ),
        (OpenAi, &done, ErrorKind::Wrong, "no token came"),
        (OpenAi, "data: hello\n\n", ErrorKind::Wrong, "a chunk"),
        // Claims 256 MiB and more, and a part of a message.
        (
            Grpc,
            "\0\u{11}\0\0\0",
            ErrorKind::Protocol,
            "largest size accepted",
        ),
        (
            Grpc,
            "\0\0\0\0\u{9}abc",
            ErrorKind::Protocol,
            "6 bytes missing",
        ),
    ] {
        let (found, text) = reason(&plain(format), body.as_bytes());
        assert_eq!(found, kind, "{body:?}: {text}");
        assert!(text.contains(part), "{body:?}: {text}");
    }
    let invalid = reason(&plain(Sse), b"data: \xFF\n\n");
    assert!(invalid.1.contains("UTF-8"), "{}", invalid.1);
}

#[test]
fn a_line_without_an_end_is_refused_and_not_kept() {
    for format in [
        StreamFormat::Sse,
        StreamFormat::Ndjson,
        StreamFormat::OpenAi,
    ] {
        let validator = validator(format, |stream| stream.message_bytes_max = 100_000);
        let piece = vec![b'7'; 10_000];
        let found = read(&validator, (0..10_000).map(|_| &piece[..]));
        let rejection = found.verdict.unwrap_err();
        assert_eq!(rejection.kind, ErrorKind::Protocol);
        assert!(
            rejection.reason.contains("more than 100000 bytes"),
            "{}",
            rejection.reason
        );
        // It is ended from this side instead of being read to its end.
        assert!(found.stopped);
        assert_eq!(found.state.stream.unwrap().stamps.counts.messages, 0);
    }
}

#[test]
fn a_stream_ends_after_exactly_as_many_messages_as_the_plan_says() {
    for (format, body, ends) in three() {
        let validator = validator(format, |stream| stream.stop_messages = Some(2));
        let found = read(&validator, [&body[..]]);
        assert_eq!(
            (found.verdict, found.arrivals),
            (Ok(()), vec![(1, 2)]),
            "{format:?}"
        );
        assert!(found.stopped);
        let stamps = found.state.stream.unwrap().stamps;
        assert_eq!(stamps.counts.bytes, ends[1] as u64, "{format:?}");
    }
    let by_bytes = validator(StreamFormat::Ndjson, |stream| stream.stop_bytes = Some(3));
    assert_eq!(read(&by_bytes, [&b"1\n2\n3\n"[..]]).arrivals, [(1, 2)]);
}

#[test]
fn an_expected_text_is_found_across_messages_and_nothing_else() {
    let expect = |text: &str| {
        let text = text.to_owned();
        validator(StreamFormat::Sse, |stream| stream.expect_text = Some(text))
    };
    let body = b"data: one tw\n\ndata: o thr\n\ndata: ee\n\n";
    for text in ["one", "two three", "e", ""] {
        assert_eq!(
            read(&expect(text), body.chunks(1)).verdict,
            Ok(()),
            "{text}"
        );
    }
    for text in ["two  three", "eee", "data"] {
        let found = read(&expect(text), [&body[..]]);
        let rejection = found.verdict.unwrap_err();
        assert!(
            rejection.reason.ends_with(&format!(": {text}")),
            "{}",
            rejection.reason
        );
        assert!(found.state.stream.unwrap().tail.len() < text.len());
    }
    let counted = |count| {
        validator(StreamFormat::Sse, |stream| {
            stream.expect_messages = Some(count)
        })
    };
    assert_eq!(read(&counted(3), [&body[..]]).verdict, Ok(()));
    let (_, text) = reason(&counted(4), body);
    assert_eq!(text, "3 messages instead of 4");
}

#[test]
fn tokens_are_those_that_the_server_counted_last() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"completion_tokens\":3}}\n\n\
                data: {\"choices\":[],\"usage\":{\"completion_tokens\":17}}\n\ndata: [DONE]\n\n";
    let found = read(&plain(StreamFormat::OpenAi), [body.as_bytes()]);
    assert_eq!(found.verdict, Ok(()));
    let stamps = found.state.stream.unwrap().stamps;
    let counts = stamps.counts;
    assert_eq!((counts.messages, counts.items, stamps.tokens), (2, 1, 17));
}

#[test]
fn rules_that_cannot_be_kept_are_refused() {
    let refusals: [fn(&mut Stream); 5] = [
        |stream| stream.message_bytes_max = 0,
        |stream| stream.message_bytes_max = 300 << 20,
        |stream| stream.stop_messages = Some(0),
        |stream| stream.stop_s = Some(f64::NAN),
        |stream| stream.expect_text = Some("a".into()),
    ];
    for change in refusals {
        let mut stream = Stream::new(StreamFormat::Grpc);
        change(&mut stream);
        assert!(StreamRule::of(&stream).is_err(), "{stream:?}");
    }
}
