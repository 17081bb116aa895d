//! Which reply answers which request where messages are missing.

use wirelab_trace::output::Unpaired;
use wirelab_trace::protocol::exchange::{Ending, Exchange};

use super::packet_builder::{C, Dissected, PacketBuilder, S};

/// A request that says its number, and a reply that repeats it by its length.
type Words = fn(usize) -> [Vec<u8>; 2];

/// Protocols that number nothing.
const SPOKEN: [Words; 2] = [http, raw];

fn http(number: usize) -> [Vec<u8>; 2] {
    let body = "b".repeat(number);
    [
        format!("POST /{number} HTTP/1.1\r\nContent-Length: {number}\r\n\r\n{body}").into_bytes(),
        format!("HTTP/1.1 200 OK\r\nContent-Length: {number}\r\n\r\n{body}").into_bytes(),
    ]
}

fn raw(number: usize) -> [Vec<u8>; 2] {
    let said = format!("{number}\n{}", "b".repeat(number)).into_bytes();
    [said.clone(), said]
}

/// What the capture has of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Both,
    Request,
    Reply,
}

/// Calls one after the other, each acknowledged if `acknowledges`.
fn one_by_one(builder: &mut PacketBuilder, words: Words, seen: &[Seen], acknowledges: bool) {
    for (seen, number) in seen.iter().zip(1..) {
        let [requested, answered] = words(number);
        match seen {
            Seen::Reply => builder.lose(C, &requested),
            _ => builder.send(C, &requested),
        };
        match seen {
            Seen::Request => builder.lose(S, &answered),
            _ => builder.send(S, &answered),
        };
        if acknowledges {
            builder.ack(C);
        }
    }
}

/// The numbers of calls with a whole reply; none has the reply of another.
fn collect_paired(dissected: &Dissected) -> Vec<u64> {
    let whole = |exchange: &&Exchange| exchange.ending == Ending::Framed;
    let exchanges = dissected.events.exchanges.iter().filter(whole);
    exchanges
        .map(|exchange| {
            let number = exchange.request.message_bytes;
            let reply = exchange.reply.expect("a whole reply");
            // The length of the body is the number of the call: a wrong pair is seen at
            // once.
            assert_eq!(reply.message_bytes, number, "its own reply: {exchange:?}");
            number
        })
        .collect()
}

fn count_unpaired(dissected: &Dissected) -> (u64, u64) {
    let Unpaired { requests, replies } = dissected.dissection.exchanges.unpaired;
    (requests, replies)
}

/// The request behind the lost one waits for it in vain until its reply has passed,
/// so that call goes, too.
#[test]
fn after_a_lost_request_calls_are_paired_again() {
    for words in SPOKEN {
        for acknowledges in [true, false] {
            let mut seen = [Seen::Both; 12];
            seen[3] = Seen::Reply;
            let mut builder = PacketBuilder::new();
            one_by_one(&mut builder, words, &seen, acknowledges);
            let dissected = builder.close(C).dissect();
            assert_eq!(
                collect_paired(&dissected),
                [1, 2, 3, 6, 7, 8, 9, 10, 11, 12]
            );
            assert_eq!(count_unpaired(&dissected), (1, 2), "{acknowledges}");
        }
    }
}

#[test]
fn after_a_lost_reply_calls_are_paired_again() {
    for words in SPOKEN {
        let mut seen = [Seen::Both; 12];
        seen[3] = Seen::Request;
        seen[8] = Seen::Request;
        let mut builder = PacketBuilder::new();
        one_by_one(&mut builder, words, &seen, true);
        let dissected = builder.close(C).dissect();
        assert_eq!(
            collect_paired(&dissected),
            [1, 2, 3, 5, 6, 7, 8, 10, 11, 12]
        );
        assert_eq!(count_unpaired(&dissected), (2, 0));
    }
}

/// Whatever is lost: no call is given the reply of another, and of the last ones,
/// which are whole, none is lost.
#[test]
fn no_loss_pattern_pairs_a_reply_wrongly() {
    for words in SPOKEN {
        // All 243 ways in which five calls can be seen whole, or lack their request or
        // reply.
        for pattern in 0..3_usize.pow(5) {
            let digit = |place: u32| pattern / 3_usize.pow(place) % 3;
            let mut seen: Vec<Seen> = (0..5)
                .map(|place| [Seen::Both, Seen::Request, Seen::Reply][digit(place)])
                .collect();
            seen.extend([Seen::Both; 8]);
            let mut builder = PacketBuilder::new();
            one_by_one(&mut builder, words, &seen, true);
            let dissected = builder.close(C).dissect();
            let found = collect_paired(&dissected);
            assert!(
                found.ends_with(&[9, 10, 11, 12, 13]),
                "{pattern}: {found:?}"
            );
            let (requests, replies) = count_unpaired(&dissected);
            let requested = seen.iter().filter(|seen| **seen != Seen::Reply).count() as u64;
            let answered = seen.iter().filter(|seen| **seen != Seen::Request).count() as u64;
            let pairs = found.len() as u64;
            assert_eq!(
                (pairs + requests, pairs + replies),
                (requested, answered),
                "{pattern}"
            );
        }
    }
}

#[test]
fn a_capture_that_begins_with_a_reply_has_one_too_many() {
    for words in SPOKEN {
        let [_, answered] = words(30);
        let mut builder = PacketBuilder::middle();
        builder.send(S, &answered).ack(C);
        one_by_one(&mut builder, words, &[Seen::Both; 4], true);
        let dissected = builder.dissect();
        assert_eq!(collect_paired(&dissected), [1, 2, 3, 4]);
        assert_eq!(count_unpaired(&dissected), (0, 1));
    }
}

/// A client that asks before it is answered: which reply is whose, nothing shows
/// once a message is missing.
#[test]
fn ambiguous_pipelined_calls_are_not_paired() {
    for words in SPOKEN {
        let mut builder = PacketBuilder::new();
        for (numbers, lost) in [(1..4, 0), (4..7, 4), (7..10, 0)] {
            for number in numbers.clone() {
                let [requested, _] = words(number);
                if number == lost {
                    builder.lose(C, &requested);
                } else {
                    builder.send(C, &requested);
                }
            }
            for number in numbers {
                builder.send(S, &words(number)[1]);
            }
            builder.ack(C);
        }
        let dissected = builder.close(C).dissect();
        assert_eq!(collect_paired(&dissected), [1, 2, 3]);
        assert_eq!(count_unpaired(&dissected), (5, 6));
        assert_eq!(dissected.events.exchanges.len(), 8);
    }
}

#[test]
fn a_complete_capture_has_no_unpaired_messages() {
    for words in SPOKEN {
        let mut builder = PacketBuilder::new();
        one_by_one(&mut builder, words, &[Seen::Both; 5], true);
        let dissected = builder.send(C, &words(6)[0]).close(C).dissect();
        assert_eq!(collect_paired(&dissected), [1, 2, 3, 4, 5]);
        assert_eq!(count_unpaired(&dissected), (0, 0));
        let last = dissected.events.exchanges.last().expect("six calls");
        assert_eq!(last.ending, Ending::Broken, "a server that never answers");
    }
}
