use wirelab_contract::transfer::SubmitReply;
use wirelab_contract::{Operation, Reply, workload};
use wirelab_wire::codec::{Codec, Expected};
use wirelab_wire::grpc::frame;
use wirelab_wire::token_xml::{Document, Encoder, TokenCache};
use wirelab_wire::{End, gzip};

use super::*;
use crate::call::rejection::Rejection;
use crate::connection::tokens::Tokens;

fn expect_call(codec: Codec, operation: Operation, bytes: u64) -> Expectation {
    let call = workload::call(operation, bytes, 10, 0).unwrap();
    Expectation::Same(Box::new(Expected::of(codec, &call).unwrap()))
}

fn text(decode: bool) -> Validator {
    Validator::new(None, expect_call(Codec::Text, Operation::Hello, 14), decode)
}

fn reply(validator: &Validator, chunks: &[&[u8]], end: End) -> Result<(), Rejection> {
    validate_encoded(validator, Encoding::Identity, chunks, end)
}

fn validate_encoded(
    validator: &Validator,
    encoding: Encoding,
    chunks: &[&[u8]],
    end: End,
) -> Result<(), Rejection> {
    let mut state = ReplyState::default();
    let length = chunks.iter().map(|chunk| chunk.len() as u64).sum();
    validator.head(
        &mut state,
        &Head {
            status: 200,
            content_length: Some(length),
            encoding,
            ..Head::default()
        },
    );
    chunks.iter().for_each(|chunk| {
        validator.body(&mut state, chunk, None);
    });
    validator.end(&mut state, end, None)
}

fn kind(verdict: Result<(), Rejection>) -> Option<ErrorKind> {
    verdict.err().map(|rejection| rejection.kind)
}

fn fine() -> End {
    End {
        grpc_status: Some(0),
        grpc_message: None,
    }
}

#[test]
fn decode_finds_one_changed_letter_however_the_body_comes() {
    let validator = text(true);
    assert_eq!(
        reply(&validator, &[b"Hello, wirelab"], End::default()),
        Ok(())
    );
    assert_eq!(
        reply(&validator, &[b"Hello,", b" wirelab"], End::default()),
        Ok(())
    );
    assert_eq!(
        kind(reply(&validator, &[b"Hello, wirelaB"], End::default())),
        Some(ErrorKind::Wrong)
    );
    assert_eq!(
        kind(reply(&validator, &[b"Hello", b", wirelaB"], End::default())),
        Some(ErrorKind::Wrong)
    );
    assert_eq!(
        kind(reply(&validator, &[], End::default())),
        Some(ErrorKind::Wrong)
    );
}

#[test]
fn frame_learns_the_length_from_a_reply_that_was_right() {
    let validator = text(false);
    assert_eq!(
        kind(reply(&validator, &[b"Hello, wirela"], End::default())),
        Some(ErrorKind::Wrong)
    );
    assert_eq!(
        reply(&validator, &[b"Hello, wirelab"], End::default()),
        Ok(())
    );
    assert_eq!(
        kind(reply(&validator, &[b"Hello, wirela"], End::default())),
        Some(ErrorKind::Wrong)
    );
    // Content is not looked at any more: that is what work=frame says.
    assert_eq!(
        reply(&validator, &[b"Hello, wirelaB"], End::default()),
        Ok(())
    );
}

#[test]
fn grpc_needs_status_messages_and_content() {
    let validator = Validator::new(
        Some(Frames::Grpc),
        expect_call(Codec::Protobuf, Operation::Hello, 14),
        true,
    );
    let right = frame(b"\x0a\x0eHello, wirelab", false);
    assert_eq!(reply(&validator, &[&right], fine()), Ok(()));
    assert_eq!(
        reply(
            &validator,
            // Cut within the prefix of five bytes, and within the message.
            &[&right[..3], &right[3..9], &right[9..]],
            fine()
        ),
        Ok(())
    );
    let wrong = frame(b"\x0a\x0eHello, wirelaB", false);
    assert_eq!(
        kind(reply(&validator, &[&wrong], fine())),
        Some(ErrorKind::Wrong)
    );
    assert_eq!(
        kind(reply(&validator, &[&right], End::default())),
        Some(ErrorKind::Protocol)
    );
    let failed = End {
        grpc_status: Some(2),
        grpc_message: Some("no".into()),
    };
    assert_eq!(
        kind(reply(&validator, &[], failed)),
        Some(ErrorKind::Application)
    );
    assert_eq!(kind(reply(&validator, &[], fine())), Some(ErrorKind::Wrong));
    assert_eq!(
        kind(reply(&validator, &[&right, &right], fine())),
        Some(ErrorKind::Wrong)
    );
    assert_eq!(
        kind(reply(&validator, &[&right[..7]], fine())),
        Some(ErrorKind::Protocol)
    );
}

#[test]
fn compressed_messages_are_judged_by_what_is_in_them() {
    let validator = Validator::new(
        Some(Frames::Grpc),
        expect_call(Codec::Protobuf, Operation::Hello, 14),
        true,
    );
    let right = frame(&gzip::compress(b"\x0a\x0eHello, wirelab"), true);
    assert_eq!(
        validate_encoded(&validator, Encoding::Gzip, &[&right], fine()),
        Ok(())
    );
    let wrong = frame(&gzip::compress(b"\x0a\x0eHello, wirelaB"), true);
    assert_eq!(
        kind(validate_encoded(
            &validator,
            Encoding::Gzip,
            &[&wrong],
            fine()
        )),
        Some(ErrorKind::Wrong)
    );
}

#[test]
fn compression_is_taken_only_as_asked_for_and_as_announced() {
    let mut validator = Validator::new(
        Some(Frames::Grpc),
        expect_call(Codec::Protobuf, Operation::Hello, 14),
        true,
    );
    let right = frame(&gzip::compress(b"\x0a\x0eHello, wirelab"), true);
    assert_eq!(
        kind(reply(&validator, &[&right], fine())),
        Some(ErrorKind::Protocol)
    );
    assert_eq!(
        validate_encoded(&validator, Encoding::Gzip, &[&right], fine()),
        Ok(())
    );
    validator.encoding = Some(Encoding::Identity);
    assert_eq!(
        kind(validate_encoded(
            &validator,
            Encoding::Gzip,
            &[&right],
            fine()
        )),
        Some(ErrorKind::Wrong)
    );
}

#[test]
fn streams_are_judged_message_by_message() {
    let validator = Validator::new(
        Some(Frames::Grpc),
        expect_call(Codec::Protobuf, Operation::Download, 25),
        true,
    );
    let data = wirelab_contract::texts::pattern(25);
    let message = |part: &[u8]| frame(&[&[0x0a, part.len() as u8], part].concat(), false);
    let all: Vec<Vec<u8>> = data.chunks(10).map(message).collect();
    let [a, b, c] = [&all[0][..], &all[1][..], &all[2][..]];
    assert_eq!(reply(&validator, &[a, b, c], fine()), Ok(()));
    assert_eq!(
        kind(reply(&validator, &[a, b], fine())),
        Some(ErrorKind::Wrong)
    );
    assert_eq!(
        kind(reply(&validator, &[b, a, c], fine())),
        Some(ErrorKind::Wrong)
    );
}

#[test]
fn an_error_shows_what_the_service_said_escaped() {
    let validator = text(true);
    let mut state = ReplyState::default();
    validator.head(
        &mut state,
        &Head {
            status: 500,
            ..Head::default()
        },
    );
    validator.body(&mut state, b"<b>\x00oops", None);
    let rejection = validator.end(&mut state, End::default(), None).unwrap_err();
    assert_eq!(rejection.kind, ErrorKind::Application);
    assert_eq!(rejection.reason, "HTTP status 500: <b>\\0oops");
}

#[test]
fn frame_work_reads_unequal_content_where_only_it_shows_an_error() {
    use wirelab_contract::{Reply, ops};
    use wirelab_wire::codec::MessageFormat;
    use wirelab_wire::soap::{self, Fault};

    let call = workload::call(Operation::Deploy, 0, 1, 0).unwrap();
    let format = MessageFormat::from(Codec::SoapLiteral);
    let expectation = Expectation::Same(Box::new(Expected::of(format, &call).unwrap()));
    let mut validator = Validator::new(None, expectation, false);
    (validator.status, validator.imposed) = (Some(200), Some(Encoding::Identity));
    validator.errors = Some((format, Operation::Deploy));
    let Ok(Reply::Deploy(right)) = call.answer() else {
        panic!("a right call");
    };
    let right = format.write_reply::<ops::Deploy>(&right);
    let mut fault = Vec::new();
    soap::write_fault(
        soap::EnvelopeFormat::DOCUMENT_LITERAL,
        &Fault::client("no room"),
        &mut fault,
    );
    for _ in 0..2 {
        assert_eq!(reply(&validator, &[&right], End::default()), Ok(()));
        let rejection = reply(&validator, &[&fault], End::default()).unwrap_err();
        assert_eq!(rejection.kind, ErrorKind::Application);
        assert!(rejection.reason.contains("no room"), "{rejection:?}");
        let (one, other) = fault.split_at(40);
        let rejection = reply(&validator, &[one, other], End::default()).unwrap_err();
        assert_eq!(rejection.kind, ErrorKind::Application);
    }
    let mut altered = right.clone();
    let letter = altered.windows(9).position(|w| w == b"deployed ").unwrap();
    // As long as a right reply, so that frame work cannot tell it from one.
    altered[letter] = b'D';
    assert_eq!(reply(&validator, &[&altered], End::default()), Ok(()));
}

/// With work=frame a reply of tokens that repeats the last right one is taken
/// as it is; every other one is read.
#[test]
fn tokens_that_differ_or_mean_something_else_are_read() {
    let call = workload::call(Operation::Submit, 200, 10, 0).unwrap();
    let mut validator = Validator::new(
        None,
        expect_call(Codec::TokenXml, Operation::Submit, 200),
        true,
    );
    validator.accepts_repeats = true;
    let (mut encoder, mut tokens) = (
        Encoder::new(TokenCache::NamesAndTexts),
        Tokens::new(TokenCache::NamesAndTexts),
    );
    let mut verdict = |reply: &[u8]| {
        let mut state = ReplyState::default();
        let content_length = Some(reply.len() as u64);
        let head = Head {
            status: 200,
            content_length,
            ..Head::default()
        };
        validator.head(&mut state, &head);
        validator.body(&mut state, reply, Some(&mut tokens));
        let end = validator.end(&mut state, End::default(), Some(&mut tokens));
        kind(end)
    };
    let Ok(Reply::Submit(right)) = call.answer() else {
        panic!("a request of the workload is taken");
    };
    let mut other = right.clone();
    other.batch = "other".to_owned();
    let mut tokens_of = |reply: &SubmitReply| {
        let mut out = Vec::new();
        encoder.encode(&Document::of_reply(Operation::Submit, reply), &mut out);
        out
    };
    let mut last = Vec::new();
    for _ in 0..3 {
        last = tokens_of(&right);
        assert_eq!(verdict(&last), None);
    }
    assert_eq!(verdict(&tokens_of(&other)), Some(ErrorKind::Wrong));
    assert_eq!(verdict(&tokens_of(&right)), None);
    assert_eq!(verdict(&tokens_of(&other)), Some(ErrorKind::Wrong));
    assert_eq!(verdict(&tokens_of(&right)), None);
    // Out of step nothing is right any more, not even what was.
    assert_eq!(verdict(&last[1..]), Some(ErrorKind::Wrong));
    assert_eq!(verdict(&last), Some(ErrorKind::Wrong));
}
