//! Raw messages: the session with every cut and fault, the deframer, the report.

use std::sync::Arc;

use proptest::prelude::*;
use wirelab_wire_own::raw::report::{Record, Records};
use wirelab_wire_own::raw::{CONTENT_BYTES_MAX, Deframer, Options, OptionsError, Raw, write};
use wirelab_wire_own::{CallId, Failure, Head, ProtocolError, Request, Session};

use crate::session_support::{Event, RecordedEvents, body, end, fail, first};

struct Wire {
    session: Raw,
    recorded: RecordedEvents,
}

impl Wire {
    /// Calls 0 to `calls` - 1 sent, their bytes pumped.
    fn with_calls(calls: u32, options: Options) -> Wire {
        let mut wire = Wire {
            session: Raw::new(options).unwrap(),
            recorded: RecordedEvents::default(),
        };
        for call in 0..calls {
            wire.session.send(call, &request(b"content"));
            assert!(!wire.session.started(call));
            let mut out = Vec::new();
            while wire.session.pump(&mut out) {}
            assert_eq!(out, b"7\ncontent");
            assert!(wire.session.started(call) && wire.session.flushed(call));
        }
        wire
    }

    fn receive(&mut self, input: &[u8]) -> Result<(), ProtocolError> {
        self.session.receive(input, &mut self.recorded)
    }

    fn events(&self) -> &[Event] {
        &self.recorded.0
    }
}

fn request(content: &[u8]) -> Arc<Request> {
    Arc::new(Request {
        body: Arc::from(content),
        ..Request::default()
    })
}

#[test]
fn contents_that_no_peer_accepts_are_not_sent() {
    use wirelab_wire_own::raw::{RequestError, check_request};
    assert_eq!(check_request(&request(b"no XML")), Ok(()));
    let long = request(&vec![b' '; CONTENT_BYTES_MAX + 1]);
    let refused = check_request(&long);
    assert_eq!(refused, Err(RequestError::TooLong(CONTENT_BYTES_MAX + 1)));
}

fn pipeline(pipeline: u32) -> Options {
    Options {
        pipeline,
        ..Options::default()
    }
}

fn one_way(pipeline: u32) -> Options {
    Options {
        one_way: true,
        ..self::pipeline(pipeline)
    }
}

fn good(call: CallId, content: &[u8]) -> Vec<Event> {
    let head = Head {
        status: 200,
        content_length: Some(content.len() as u64),
        ..Head::default()
    };
    let mut events = vec![first(call), Event::Head(call, head)];
    if !content.is_empty() {
        events.push(body(call, content));
    }
    events.push(end(call));
    events
}

#[test]
fn replies_come_in_order_in_any_two_pieces_or_byte_by_byte() {
    let input = b"5\nhello0\n2\nok";
    let expected = [good(0, b"hello"), good(1, b""), good(2, b"ok")].concat();
    for cut in 0..=input.len() {
        let mut wire = Wire::with_calls(3, pipeline(3));
        assert_eq!(wire.session.capacity(), 0);
        wire.receive(&input[..cut]).unwrap();
        wire.receive(&input[cut..]).unwrap();
        assert_eq!(wire.events(), expected, "cut at {cut}");
        assert_eq!(wire.session.capacity(), 3);
    }
    let mut wire = Wire::with_calls(3, pipeline(3));
    input
        .iter()
        .for_each(|byte| wire.receive(&[*byte]).unwrap());
    assert_eq!(wire.events(), expected);
}

#[test]
fn malformed_lengths_are_refused_at_once() {
    for input in [
        "\n",
        "a",
        "05\n",
        "00\n",
        "-1\n",
        "+1\n",
        " 1\n",
        "1 \n",
        "1\r\n",
        "1000000000",
    ] {
        let mut wire = Wire::with_calls(2, pipeline(2));
        let error = wire.receive(input.as_bytes()).unwrap_err();
        assert!(error.rule.contains("1 to 9 digits"), "{input:?}: {error}");
        let failures = [fail(0, Failure::Protocol(error)), fail(1, Failure::Closed)];
        assert_eq!(wire.events()[1..], failures);
        assert!(wire.session.finished());
    }
    let mut wire = Wire::with_calls(1, pipeline(1));
    let long = format!("{}\n", CONTENT_BYTES_MAX + 1);
    assert!(
        wire.receive(long.as_bytes())
            .unwrap_err()
            .rule
            .contains("largest size")
    );
}

#[test]
fn unsolicited_replies_are_refused() {
    let mut wire = Wire::with_calls(1, pipeline(1));
    assert!(
        wire.receive(b"2\nok2\nok")
            .unwrap_err()
            .rule
            .contains("one reply")
    );
    assert_eq!(wire.events(), good(0, b"ok"));
    let mut wire = Wire::with_calls(1, one_way(1));
    assert!(wire.receive(b"2\nok").is_err());
    let mut early = Wire::with_calls(0, pipeline(1));
    early.session.send(0, &request(b"x"));
    assert!(early.receive(b"2\nok").is_err());
}

#[test]
fn every_truncation_fails_the_call() {
    let whole = b"5\nhello";
    for cut in 0..whole.len() {
        let mut wire = Wire::with_calls(2, pipeline(2));
        wire.receive(&whole[..cut]).unwrap();
        wire.session.closed(&mut wire.recorded);
        let failure = if cut == 0 {
            Failure::Closed
        } else {
            Failure::Truncated
        };
        let events = &wire.events()[wire.events().len() - 2..];
        assert_eq!(
            events,
            [fail(0, failure), fail(1, Failure::Closed)],
            "cut at {cut}"
        );
    }
}

#[test]
fn one_call_per_connection_closes_it() {
    let mut wire = Wire::with_calls(
        1,
        Options {
            close: true,
            ..pipeline(1)
        },
    );
    assert!(wire.session.finished());
    wire.receive(b"2\nok").unwrap();
    assert_eq!(wire.events(), good(0, b"ok"));
    assert_eq!(wire.session.capacity(), 0);
}

#[test]
fn split_writes_are_two_sends() {
    let mut session = Raw::new(Options {
        split_writes: true,
        ..pipeline(2)
    })
    .unwrap();
    session.send(0, &request(b"abc"));
    session.send(1, &request(b""));
    let mut sends = Vec::new();
    for more in [true, true, false] {
        let mut out = Vec::new();
        assert_eq!(session.pump(&mut out), more);
        sends.push(out);
    }
    assert_eq!(sends, [&b"3\n"[..], b"abc", b"0\n"]);
}

#[test]
fn one_way_calls_end_when_they_are_reported() {
    let mut wire = Wire::with_calls(3, one_way(4));
    assert_eq!(wire.session.capacity(), 1);
    wire.session.processed(0, &mut wire.recorded).unwrap();
    wire.session.processed(2, &mut wire.recorded).unwrap();
    assert_eq!(wire.events(), [end(0), end(1)]);
    wire.session.processed(3, &mut wire.recorded).unwrap();
    assert_eq!(wire.session.capacity(), 4);
    assert!(!wire.session.finished());
}

#[test]
fn reports_that_cannot_be_are_refused() {
    for (calls, reports) in [(1, vec![2]), (3, vec![2, 1]), (0, vec![1])] {
        let mut wire = Wire::with_calls(calls, one_way(4));
        let (last, before) = reports.split_last().unwrap();
        for count in before {
            wire.session.processed(*count, &mut wire.recorded).unwrap();
        }
        assert!(wire.session.processed(*last, &mut wire.recorded).is_err());
        assert!(wire.session.finished());
    }
    let mut unsent = Wire::with_calls(0, one_way(1));
    unsent.session.send(0, &request(b"x"));
    assert!(unsent.session.processed(1, &mut unsent.recorded).is_err());
    let mut two_way = Wire::with_calls(1, pipeline(1));
    assert!(two_way.session.processed(1, &mut two_way.recorded).is_err());
}

#[test]
fn a_call_given_up_ends_the_connection() {
    let mut wire = Wire::with_calls(2, pipeline(2));
    wire.receive(b"5\nhe").unwrap();
    assert!(!wire.session.cancel(0));
    wire.receive(b"llo").unwrap();
    wire.session.closed(&mut wire.recorded);
    assert_eq!(wire.events().last(), Some(&fail(1, Failure::Closed)));
    assert!(wire.session.cancel(7), "an unknown call changes nothing");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    assert_eq!(Raw::new(pipeline(0)).unwrap_err(), OptionsError::NoCalls);
    let both = Options {
        close: true,
        ..pipeline(2)
    };
    assert_eq!(
        Raw::new(both).unwrap_err(),
        OptionsError::PipelineWithClose(2)
    );
}

#[test]
fn records_are_found_whatever_their_pieces() {
    let records = [
        Record {
            port: 65535,
            count: 1,
        },
        Record {
            port: 1,
            count: u64::MAX,
        },
    ];
    assert_eq!(
        records[0].bytes(),
        [0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1]
    );
    let bytes = records.map(|record| record.bytes()).concat();
    for step in 1..=bytes.len() {
        let (mut reader, mut found) = (Records::new(), Vec::new());
        for mut piece in bytes.chunks(step) {
            while let Some(record) = reader.next(&mut piece).unwrap() {
                found.push(record);
            }
        }
        assert_eq!(found, records);
    }
    assert!(
        Records::new()
            .next(&mut &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1][..])
            .is_err()
    );
}

proptest! {
    #[test]
    fn what_is_written_is_found(
        contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..8),
        step in 1_usize..60,
    ) {
        let mut stream = Vec::new();
        contents.iter().for_each(|content| write(content, &mut stream));
        let (mut deframer, mut found) = (Deframer::new(), Vec::new());
        for mut piece in stream.chunks(step) {
            while let Some(content) = deframer.next(&mut piece).unwrap() {
                found.push(content);
            }
        }
        prop_assert_eq!(&found[..], &contents[..found.len()]);
        prop_assert_eq!(found.len(), contents.len());
        prop_assert!(deframer.is_idle());
    }
}
