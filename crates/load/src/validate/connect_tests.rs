//! Streams of the Connect protocol as a validator sees them, cut everywhere.

use wirelab_contract::Call;
use wirelab_contract::stream::FeedRequest;
use wirelab_contract::streams::{Schedule, sample};
use wirelab_wire::codec::{Codec, Expected, Mapping, MessageFormat};
use wirelab_wire::{End, gzip};

use super::items::{ItemFormat, ItemsDue};
use super::stream::StreamRule;
use super::*;
use crate::call::rejection::Rejection;
use crate::plan::{Stream, StreamFormat};

/// Bytes that one reply may make the engine keep.
const KEPT_BYTES_MAX: usize = 2 << 20;

fn envelop(flags: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&[flags][..], &length.to_be_bytes(), message].concat()
}

fn format() -> MessageFormat {
    MessageFormat::from(Codec::Json).in_mapping(Mapping::Connect)
}

/// The reply to a push of no items.
fn pushes() -> Validator {
    let expected = Expected::of(format(), &Call::Push(Vec::new())).unwrap();
    Validator::new(
        Some(Frames::Connect),
        Expectation::Same(Box::new(expected)),
        true,
    )
}

/// The digest of nothing (FIPS 180-4).
const PUSH_REPLY: &[u8] =
    br#"{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}"#;

/// A feed of two items.
fn feeds() -> Validator {
    let request = FeedRequest {
        count: 2,
        ..sample(4)
    };
    let schedule = Schedule::of(&request).unwrap();
    let rule = ItemRule::new(
        ItemFormat::Message(format()),
        ItemsDue::Scheduled,
        vec![schedule],
    );
    let mut validator = Validator::new(Some(Frames::Connect), Expectation::Items(rule), true);
    validator.stream = Some(StreamRule::of(&Stream::new(StreamFormat::Grpc)).unwrap());
    validator
}

/// Its items as a library of Protocol Buffers writes them: received at 1,000 ns, each sent 5 ns
/// after it was due.
fn feed_messages() -> Vec<Vec<u8>> {
    let request = FeedRequest {
        count: 2,
        ..sample(4)
    };
    let schedule = Schedule::of(&request).unwrap();
    let items = schedule.clone().map(|due| {
        let text = schedule.text(due.index);
        let sent = 1_005 + due.due_ns;
        let item = match due.index {
            0 => format!(r#"{{"sentNs":"{sent}","receivedNs":"1000","text":"{text}"}}"#),
            index => format!(
                r#"{{"index":{index}, "dueNs":"{}", "sentNs":"{sent}", "text":"{text}"}}"#,
                due.due_ns
            ),
        };
        envelop(0, item.as_bytes())
    });
    items.collect()
}

/// What came of a body in chunks of `step` bytes, and how many items.
fn read(
    validator: &Validator,
    head: Head,
    body: &[u8],
    step: usize,
) -> (Result<(), Rejection>, u64) {
    let (mut state, mut items) = (ReplyState::default(), 0);
    validator.head(&mut state, &head);
    for chunk in body.chunks(step) {
        match &validator.stream {
            Some(rule) => {
                let arrival = validator.stream_body(rule, &mut state, chunk, 1 << 40, 0);
                items += arrival.map_or(0, |arrival| arrival.counts.items);
            }
            None => items += validator.body(&mut state, chunk, None),
        }
        assert!(state.kept.capacity() <= KEPT_BYTES_MAX);
    }
    (validator.end(&mut state, End::default(), None), items)
}

fn head(encoding: Encoding) -> Head {
    Head {
        status: 200,
        encoding,
        ..Head::default()
    }
}

/// The same whatever the size of the chunks; the reason of a refusal.
fn verdict(validator: &Validator, body: &[u8]) -> (Option<(ErrorKind, String)>, u64) {
    let mut verdicts = (1..=body.len().clamp(1, 300)).map(|step| {
        let (verdict, items) = read(validator, head(Encoding::Identity), body, step);
        let refused = verdict
            .err()
            .map(|rejection| (rejection.kind, rejection.reason));
        (refused, items)
    });
    let first = verdicts.next().unwrap();
    let kind = |verdict: &(Option<(ErrorKind, String)>, u64)| verdict.0.as_ref().map(|bad| bad.0);
    for (step, other) in (2..).zip(verdicts) {
        assert_eq!(
            kind(&other),
            kind(&first),
            "pieces of {step} bytes: {other:?}"
        );
    }
    first
}

fn refusal(validator: &Validator, body: &[u8]) -> (ErrorKind, String) {
    verdict(validator, body).0.expect("a refusal")
}

#[test]
fn items_are_counted_and_the_end_is_none() {
    let body = [feed_messages().concat(), envelop(2, b"{}")].concat();
    assert_eq!(verdict(&feeds(), &body), (None, 2));
}

#[test]
fn a_stream_without_its_end_is_not_a_success() {
    let (kind, reason) = refusal(&feeds(), &feed_messages().concat());
    assert_eq!(kind, ErrorKind::Protocol);
    assert!(reason.contains("EndStreamResponse"), "{reason}");
    let (kind, _) = refusal(&feeds(), b"");
    assert_eq!(kind, ErrorKind::Protocol);
}

#[test]
fn an_error_at_the_end_is_the_services_word() {
    let end = br#"{"error":{"code":"invalid_argument","message":"count must be 1 to 1000000"}}"#;
    let (kind, reason) = refusal(&feeds(), &envelop(2, end));
    assert_eq!(kind, ErrorKind::Application);
    assert!(
        reason.contains("invalid_argument: count must be 1 to 1000000"),
        "{reason}"
    );
    let late = [feed_messages()[0].clone(), envelop(2, end)].concat();
    assert_eq!(refusal(&feeds(), &late).0, ErrorKind::Application);
}

#[test]
fn an_end_before_the_last_item_is_wrong() {
    let body = [feed_messages()[0].clone(), envelop(2, b"{}")].concat();
    let (kind, reason) = refusal(&feeds(), &body);
    assert_eq!(kind, ErrorKind::Wrong);
    assert!(reason.contains("1 of 2 items"), "{reason}");
}

#[test]
fn a_push_has_one_reply_before_the_end() {
    let (reply, end) = (envelop(0, PUSH_REPLY), envelop(2, b"{}"));
    let of = |parts: &[&Vec<u8>]| {
        verdict(
            &pushes(),
            &parts.iter().copied().flatten().copied().collect::<Vec<_>>(),
        )
    };
    assert_eq!(of(&[&reply, &end]), (None, 1));
    assert_eq!(of(&[&end]).0.unwrap().0, ErrorKind::Wrong);
    assert_eq!(of(&[&reply, &reply, &end]).0.unwrap().0, ErrorKind::Wrong);
    assert_eq!(of(&[&end, &reply]).0.unwrap().0, ErrorKind::Protocol);
    let other = envelop(0, br#"{"count":1}"#);
    assert_eq!(of(&[&other, &end]).0.unwrap().0, ErrorKind::Wrong);
}

#[test]
fn messages_may_be_compressed_where_the_head_names_it() {
    let body = [
        envelop(1, &gzip::compress(PUSH_REPLY)),
        envelop(3, &gzip::compress(b"{}")),
    ]
    .concat();
    let mut validator = pushes();
    validator.encoding = Some(Encoding::Gzip);
    for step in [1, 7, body.len()] {
        let (verdict, _) = read(&validator, head(Encoding::Gzip), &body, step);
        assert_eq!(verdict, Ok(()));
    }
    let (kind, reason) = refusal(&validator, &body);
    assert_eq!(kind, ErrorKind::Protocol);
    assert!(reason.contains("connect-content-encoding"), "{reason}");
}

#[test]
fn hostile_bodies_are_named_in_bounded_memory() {
    let reply = envelop(0, PUSH_REPLY);
    let long_end = [&[2][..], &100_000_000_u32.to_be_bytes(), &[b' '; 5_000]].concat();
    let long_message = [&[0][..], &0x7fff_ffff_u32.to_be_bytes(), b"x"].concat();
    for (body, named) in [
        (envelop(4, b"{}"), "Envelope-Flags"),
        (envelop(0xff, b"{}"), "Envelope-Flags"),
        (long_end, "100000000 bytes, 1048576 accepted"),
        (long_message, "largest size"),
        (
            [&reply[..], &envelop(2, b"[]")].concat(),
            "EndStreamResponse",
        ),
        ([&reply[..], &envelop(2, b"")].concat(), "EndStreamResponse"),
        (
            [&reply[..], &envelop(2, br#"{"error":{}}"#)].concat(),
            "EndStreamResponse",
        ),
        (
            [&reply[..], &envelop(2, b"{}"), b"more"].concat(),
            "nothing follows",
        ),
        (reply[..20].to_vec(), "bytes missing"),
    ] {
        let (kind, reason) = refusal(&pushes(), &body);
        assert_eq!(kind, ErrorKind::Protocol, "{reason}");
        assert!(reason.contains(named), "{reason} instead of {named}");
    }
}
