//! Streams and errors of the Connect protocol, by the examples of its specification.

use wirelab_wire::connect::{Code, END_BYTES_MAX, Error, read_end, read_error};
use wirelab_wire::grpc::{Deframer, Piece};
use wirelab_wire::{ProtocolError, gzip};

/// Bytes of the longest message that the tests accept.
const MESSAGE_MAX: u32 = 1_000;

/// A message with its prefix.
fn envelop(flags: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&[flags][..], &length.to_be_bytes(), message].concat()
}

/// What came of a body: its messages, each with its flags, and how it ended.
type Found = (Vec<(bool, bool, Vec<u8>)>, Result<(), ProtocolError>);

/// Reads a body in chunks of `step` bytes.
fn read(body: &[u8], step: usize) -> Found {
    let (mut deframer, mut messages) = (Deframer::of_connect(MESSAGE_MAX), Vec::new());
    for mut chunk in body.chunks(step) {
        loop {
            match deframer.next(&mut chunk) {
                Ok(Some(Piece::Start {
                    compressed, is_end, ..
                })) => messages.push((compressed, is_end, Vec::new())),
                Ok(Some(Piece::Data(data))) => {
                    let (_, _, message) = messages.last_mut().unwrap();
                    message.extend_from_slice(data);
                }
                Ok(Some(Piece::End)) => {}
                Ok(None) => break,
                Err(error) => return (messages, Err(error)),
            }
        }
    }
    (messages, deframer.finish())
}

/// The same whatever the size of the chunks.
fn read_in_all_pieces(body: &[u8]) -> Found {
    let whole = read(body, body.len().max(1));
    for step in 1..=body.len() {
        let (messages, end) = read(body, step);
        assert_eq!(messages, whole.0, "pieces of {step} bytes");
        let rules = [&end, &whole.1].map(|end| end.as_ref().map_err(|error| error.rule));
        assert_eq!(rules[0], rules[1], "pieces of {step} bytes");
    }
    whole
}

/// The rule that a body breaks.
fn find_broken_rule(body: &[u8]) -> &'static str {
    let (_, end) = read_in_all_pieces(body);
    end.unwrap_err().rule
}

#[test]
fn the_client_stream_of_the_specification_is_read_in_pieces_of_every_size() {
    let greeting = br#"{"greeting": "Hello, Buf and Connect!"}"#;
    assert_eq!(greeting.len(), 39);
    let body = [envelop(0, greeting), envelop(2, b"{}")].concat();
    let (messages, end) = read_in_all_pieces(&body);
    let expected = [
        (false, false, greeting.to_vec()),
        (false, true, b"{}".to_vec()),
    ];
    assert_eq!(messages, expected);
    assert_eq!(end, Ok(()));
    assert_eq!(read_end(&messages[1].2), Ok(None));
}

#[test]
fn the_failed_stream_of_the_specification_has_its_error() {
    let error = br#"{"error": {"code": "unavailable", "message": "overloaded"}}"#;
    let (messages, end) = read_in_all_pieces(&envelop(2, error));
    assert_eq!(end, Ok(()));
    let found = read_end(&messages[0].2).unwrap().unwrap();
    assert_eq!(found.to_string(), "unavailable: overloaded");
    assert_eq!((found.code.status(), found.code.grpc_status()), (503, 14));
}

#[test]
fn messages_are_compressed_one_by_one_and_so_is_the_end() {
    let body = [
        envelop(1, &gzip::compress(b"a")),
        envelop(0, b""),
        envelop(3, &gzip::compress(b"{}")),
    ]
    .concat();
    let (messages, end) = read_in_all_pieces(&body);
    let flags: Vec<_> = messages.iter().map(|(one, two, _)| (*one, *two)).collect();
    assert_eq!(flags, [(true, false), (false, false), (true, true)]);
    assert_eq!(end, Ok(()));
    assert_eq!(gzip::decompress(&messages[2].2, 100).unwrap(), b"{}");
}

#[test]
fn a_stream_without_its_end_is_cut_off() {
    let body = [envelop(0, b"hello"), envelop(2, b"{}")].concat();
    for length in 0..body.len() {
        let (_, end) = read(&body[..length], 3);
        let rule = end.unwrap_err().rule;
        let expected = match length {
            0 | 10 => "a stream ends with an end-of-stream message",
            _ => "a body ends at the end of a message",
        };
        assert!(rule.starts_with(expected), "cut at {length}: {rule}");
    }
}

#[test]
fn nothing_may_follow_the_end() {
    let end = envelop(2, b"{}");
    for more in [&b"\0"[..], &end, &envelop(0, b"late")] {
        let body = [&end[..], more].concat();
        assert!(find_broken_rule(&body).starts_with("nothing follows"));
    }
}

#[test]
fn unknown_flags_are_refused() {
    for flags in [4, 8, 16, 32, 64, 128, 255] {
        let rule = find_broken_rule(&envelop(flags, b"{}"));
        assert!(rule.contains("Envelope-Flags"), "{flags}: {rule}");
    }
}

#[test]
fn lengths_that_lie_are_refused_before_memory_is_taken() {
    let longer = [&[0][..], &(MESSAGE_MAX + 1).to_be_bytes()].concat();
    assert!(find_broken_rule(&longer).contains("largest size"));
    let most = [&[0, 0xff, 0xff, 0xff, 0xff][..], b"x"].concat();
    assert!(find_broken_rule(&most).contains("largest size"));
    // 100 MB of an end, where messages may be as long.
    let mut deframer = Deframer::of_connect(u32::MAX);
    let end = [&[2][..], &100_000_000_u32.to_be_bytes()].concat();
    let error = deframer.next(&mut &end[..]).unwrap_err();
    assert_eq!(
        error.found,
        format!("100000000 bytes, {END_BYTES_MAX} accepted")
    );
    // A length that is too short makes a prefix of what follows it.
    let short = [&[0, 0, 0, 0, 1][..], b"hello", &envelop(2, b"{}")].concat();
    assert!(find_broken_rule(&short).contains("Envelope-Flags"));
}

#[test]
fn every_code_has_the_status_of_the_specification() {
    // Connect protocol, Error Codes.
    let table = [
        ("canceled", 499),
        ("unknown", 500),
        ("invalid_argument", 400),
        ("deadline_exceeded", 504),
        ("not_found", 404),
        ("already_exists", 409),
        ("permission_denied", 403),
        ("resource_exhausted", 429),
        ("failed_precondition", 400),
        ("aborted", 409),
        ("out_of_range", 400),
        ("unimplemented", 501),
        ("internal", 500),
        ("unavailable", 503),
        ("data_loss", 500),
        ("unauthenticated", 401),
    ];
    for (index, (code, (name, status))) in Code::ALL.into_iter().zip(table).enumerate() {
        let error = read_error(format!("{{\"code\":\"{name}\"}}").as_bytes()).unwrap();
        assert_eq!(error.code, code);
        assert_eq!((code.name(), code.status()), (name, status));
        assert_eq!(code.grpc_status() as usize, index + 1);
    }
}

#[test]
fn errors_with_details_are_read() {
    let body = br#"{"code": "unavailable", "message": "overloaded: back off and retry",
        "details": [{"type": "google.rpc.RetryInfo", "value": "CgIIPA",
                     "debug": {"retryDelay": "30s"}}]}"#;
    let expected = Error {
        code: Code::Unavailable,
        message: "overloaded: back off and retry".to_owned(),
    };
    assert_eq!(read_error(body), Ok(expected));
    let end =
        br#"{"error": {"code": "unavailable"}, "metadata": {"acme-operation-cost": ["237"]}}"#;
    assert_eq!(read_end(end).unwrap().unwrap().to_string(), "unavailable");
    let metadata = br#"{"metadata": {"a": ["1", "2"]}, "later": 1}"#;
    assert_eq!(read_end(metadata), Ok(None));
}

#[test]
fn bodies_other_than_errors_are_refused() {
    for body in [
        &b""[..],
        b"{}",
        br#"{"code":null}"#,
        br#"{"code":"no_such_code"}"#,
        br#"{"code":5}"#,
        br#"["unknown"]"#,
        br#"{"code":"unknown","message":5}"#,
        br#"{"code":"unknown","details":{}}"#,
        b"<html>502 Bad Gateway</html>",
        b"{\"code\":\"unknown\",\"message\":\"\xff\"}",
    ] {
        assert!(read_error(body).is_err(), "{}", body.escape_ascii());
    }
    for end in [
        &b""[..],
        b"[]",
        br#"{"error":null}"#,
        br#"{"error":{}}"#,
        br#"{"error":{"code":null}}"#,
        br#"{"metadata":{"a":"1"}}"#,
        b"{}{}",
    ] {
        assert!(read_end(end).is_err(), "{}", end.escape_ascii());
    }
    // An excerpt is shown, not all of it.
    let long = [b"<".as_slice(), &[b'x'; 1 << 20]].concat();
    assert!(read_error(&long).unwrap_err().to_string().len() < 400);
}
