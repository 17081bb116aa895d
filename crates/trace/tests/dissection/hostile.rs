//! Bounds.

use wirelab_trace::protocol::exchange::Ending;

use crate::tape::{C, S, Tape};

#[test]
fn calls_that_are_never_answered_are_given_up_in_time() {
    let asked = b"GET / HTTP/1.1\r\n\r\n".repeat(3_000);
    let played = Tape::new().ack(S).pieces(C, &asked, 1_400).ack(S).play();
    assert_eq!(played.heard.exchanges.len(), 3_000);
    assert!(
        played
            .heard
            .exchanges
            .iter()
            .all(|e| e.ending == Ending::Unseen)
    );
    assert!(played.dissection.exchanges.connections.in_flight_max <= 1_024);
}

#[test]
fn a_head_that_does_not_end_is_given_up() {
    let head = [&b"GET / HTTP/1.1\r\nX: "[..], &[b'x'; 100_000]].concat();
    let played = Tape::new().pieces(C, &head, 1_400).close(C).play();
    assert_eq!(played.exchange().ending, Ending::Unseen);
    assert_eq!(played.exchange().status, None);
}

#[test]
fn names_are_cut_and_few() {
    let mut tape = Tape::new();
    for call in 0..200 {
        let path = format!("/{call}/{}", "ä".repeat(300));
        tape.send(C, format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes());
        tape.send(S, b"HTTP/1.1 204 No Content\r\n\r\n");
    }
    let played = tape.close(C).play();
    let by_name = &played.dissection.exchanges.by_name;
    assert_eq!(by_name.len(), 65);
    assert_eq!(by_name[0].name, "(others)");
    assert_eq!(by_name.iter().map(|named| named.count).sum::<u64>(), 200);
    assert!(by_name.iter().all(|named| named.name.len() < 130));
}
