//! What held messages of streams up, and what only looks like it.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::Dissection;

use super::message_scripts::{
    EVENTS, ask, data, dissect, event, messages, open_http2, open_proxy, open_stream,
    open_websocket, push, text,
};
use super::script::{Client, MS, SECOND, Script, Server, causes, finding};

const INTERVAL_US: u64 = 20 * MS;
const MADE_MS: u64 = 1_700_000_090_000;

fn has(dissection: &Dissection, cause: Cause) -> bool {
    causes(dissection).contains(&cause)
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.5, "{found} is not {expected}");
}

/// Three events of which the first is lost before the capture, and comes again after 200 ms.
fn lose_first(script: &mut Script, connection: usize, pieces: &[Vec<u8>; 3], pause_us: u64) {
    script.lose(connection, Server, &pieces[0]);
    let behind = pieces[1].len() + pieces[2].len();
    script.wait(pause_us).send(connection, Server, &pieces[1]);
    let missing = pieces[0].len() + pieces[1].len();
    script.wait(20).ack_without(connection, Client, missing);
    script.wait(pause_us).send(connection, Server, &pieces[2]);
    let missing = missing + pieces[2].len();
    script.wait(20).ack_without(connection, Client, missing);
    script
        .wait(200 * MS)
        .fill(connection, Server, &pieces[0], behind);
    script.wait(20).ack(connection, Client);
}

#[test]
fn messages_behind_a_loss_that_were_sent_apart_are_read_together() {
    let mut script = Script::new();
    let connection = open_stream(&mut script, EVENTS);
    push(&mut script, connection, INTERVAL_US, &event(0));
    script.wait(INTERVAL_US);
    lose_first(
        &mut script,
        connection,
        &[event(1), event(2), event(3)],
        INTERVAL_US,
    );
    push(&mut script, connection, INTERVAL_US, &event(4));
    push(&mut script, connection, INTERVAL_US, &event(5));
    let dissection = dissect(&script);
    let found = finding(&dissection, Cause::MessagesCoalesced);
    assert_eq!(found.occurrences, 1);
    // Since the second came; the third came 20 ms later.
    assert_near(found.ms_total, 220.04);
    assert!(!has(&dissection, Cause::H2HeadOfLine));
    // All three could be read when the first came again: its wait was loss recovery.
    let slowest = &messages(&dissection).slowest[0];
    assert_eq!(slowest.number, 2);
    assert!(
        slowest.time.parts_ms[&Part::LossRecovery] > 190.0,
        "{slowest:?}"
    );
    let together = messages(&dissection).slowest.iter();
    let none = together.filter(|one| one.time.elapsed_ms == 0.0).count();
    assert_eq!(none, 2);
}

#[test]
fn messages_behind_a_loss_that_were_sent_at_once_are_not_coalesced() {
    let mut script = Script::new();
    let connection = open_stream(&mut script, EVENTS);
    push(&mut script, connection, INTERVAL_US, &event(0));
    script.wait(INTERVAL_US);
    lose_first(
        &mut script,
        connection,
        &[event(1), event(2), event(3)],
        100,
    );
    push(&mut script, connection, INTERVAL_US, &event(4));
    push(&mut script, connection, INTERVAL_US, &event(5));
    assert!(!has(&dissect(&script), Cause::MessagesCoalesced));
}

#[test]
fn messages_that_pass_a_capture_before_the_loss_are_coalesced_behind_it() {
    let mut script = Script::new();
    let connection = open_websocket(&mut script);
    push(&mut script, connection, INTERVAL_US, &text(b"first"));
    let [lost, second, third] = [b"lost  ", b"second", b"third "].map(|payload| text(payload));
    script.wait(INTERVAL_US).send(connection, Server, &lost);
    let mut missing = lost.len();
    for after in [&second, &third] {
        script.wait(INTERVAL_US).send(connection, Server, after);
        missing += after.len();
        script.wait(300).ack_without(connection, Client, missing);
    }
    let behind = second.len() + third.len();
    script
        .wait(200 * MS)
        .fill(connection, Server, &lost, behind);
    script.wait(300).ack(connection, Client);
    push(&mut script, connection, INTERVAL_US, &text(b"last"));
    push(&mut script, connection, INTERVAL_US, &text(b"very last"));
    let dissection = dissect(&script);
    let found = finding(&dissection, Cause::MessagesCoalesced);
    assert_near(found.ms_total, 220.6);
}

/// Events on streams 1 and 3 of a connection, of which the first of these pieces is lost.
fn dissect_loss(pieces: &[Vec<u8>; 3]) -> Dissection {
    let mut script = Script::new();
    let connection = open_http2(&mut script, 2, EVENTS);
    let push_to_both = |script: &mut Script, number: u64| {
        for stream in [1, 3] {
            let bytes = data(stream, &event(number));
            push(script, connection, INTERVAL_US, &bytes);
        }
    };
    push_to_both(&mut script, 0);
    script.wait(INTERVAL_US);
    lose_first(&mut script, connection, pieces, INTERVAL_US);
    push_to_both(&mut script, 4);
    dissect(&script)
}

#[test]
fn a_loss_on_one_stream_blocks_messages_on_another() {
    let pieces = [data(1, &event(1)), data(3, &event(2)), data(3, &event(3))];
    let dissection = dissect_loss(&pieces);
    let found = finding(&dissection, Cause::H2HeadOfLine);
    assert_eq!(found.occurrences, 1);
    assert_near(found.ms_total, 220.04);
    assert!(
        found.words.contains("another HTTP/2 stream"),
        "{}",
        found.words
    );
}

#[test]
fn a_loss_blocks_nothing_on_another_stream_where_its_own_bytes_were_lost() {
    let pieces = [data(3, &event(1)), data(3, &event(2)), data(3, &event(3))];
    let dissection = dissect_loss(&pieces);
    assert!(!has(&dissection, Cause::H2HeadOfLine));
    assert!(has(&dissection, Cause::MessagesCoalesced));
}

/// A message that states when it was made.
fn text_with_time(made_ms: u64) -> Vec<u8> {
    text(format!("{{\"at\": {}}}", MADE_MS + made_ms).as_bytes())
}

/// Messages of WebSocket every 100 ms, of which some come together; `made_ms` by number.
fn push_in_groups(groups: &[u64], made_ms: impl Fn(u64) -> u64) -> Dissection {
    let mut script = Script::new();
    let connection = open_websocket(&mut script);
    let mut number = 0;
    for count in groups {
        let together =
            (number + 1..=number + count).flat_map(|number| text_with_time(made_ms(number)));
        let together: Vec<u8> = together.collect();
        number += count;
        push(&mut script, connection, count * 100 * MS - 20, &together);
    }
    dissect(&script)
}

#[test]
fn messages_that_were_made_apart_and_come_together_are_coalesced() {
    let dissection = push_in_groups(&[1, 1, 1, 4, 1, 1, 3, 1], |number| number * 100);
    let found = finding(&dissection, Cause::MessagesCoalesced);
    assert_eq!(found.occurrences, 2);
    // The first of four waited for three intervals, the first of three for two.
    assert_near(found.ms_total, 500.0);
}

#[test]
fn a_history_and_messages_that_were_made_together_are_not_coalesced() {
    let history = push_in_groups(&[20, 1, 1, 1], |number| match number {
        1..=20 => number * 10,
        _ => 1_000_000 + number * 100,
    });
    assert!(!has(&history, Cause::MessagesCoalesced));
    let together = push_in_groups(&[1, 1, 4, 4, 1], |number| 100 * (number / 3) + number);
    assert!(!has(&together, Cause::MessagesCoalesced));
}

#[test]
fn small_frames_wait_in_nagles_algorithm() {
    let mut script = Script::new();
    let connection = open_websocket(&mut script);
    for _ in 0..20 {
        script
            .wait(INTERVAL_US)
            .send(connection, Server, &text(b"a"));
        // Written 5 ms later, and held until the delayed acknowledgment.
        script.wait(40 * MS).ack(connection, Client);
        script.wait(300).send(connection, Server, &text(b"b"));
        script.wait(20).ack(connection, Client);
    }
    let dissection = dissect(&script);
    let found = finding(&dissection, Cause::NagleDelayedAck);
    assert_near(found.ms_total / 20.0, 40.3);
    let group = &messages(&dissection).groups[0];
    assert_near(group.time.parts_ms[&Part::NagleDelayedAck], 20.0 * 40.3);
    assert!(!has(&dissection, Cause::MessagesCoalesced));
}

#[test]
fn a_client_that_does_not_read_holds_messages_up() {
    let mut script = Script::new();
    let connection = open_stream(&mut script, EVENTS);
    let large = [b"data: ", &[b'x'; 1_452][..], b"\n\n"].concat();
    for left in (0..3).rev() {
        script.window(connection, Client, left * 1_460);
        push(&mut script, connection, INTERVAL_US, &large);
    }
    script.wait(SECOND).window(connection, Client, 60_000);
    script.ack(connection, Client);
    push(&mut script, connection, 300, &event(1));
    push(&mut script, connection, INTERVAL_US, &event(2));
    let dissection = dissect(&script);
    let slowest = &messages(&dissection).slowest[0];
    assert_eq!(slowest.number, 4);
    assert!(
        slowest.time.parts_ms[&Part::WindowClosed] > 990.0,
        "{slowest:?}"
    );
}

/// Events through a proxy of which both sides are captured: `count` go on together.
fn push_through_proxy(count: usize) -> Dissection {
    let mut script = Script::new();
    let [front, back] = open_proxy(&mut script, EVENTS);
    let mut held = Vec::new();
    for number in 0..40 {
        let event = event(number);
        push(&mut script, back, INTERVAL_US, &event);
        held.extend(event);
        if (number as usize + 1).is_multiple_of(count) {
            push(&mut script, front, 100, &held);
            held.clear();
        }
    }
    dissect(&script)
}

#[test]
fn a_proxy_that_collects_messages_is_shown_by_both_of_its_sides() {
    let dissection = push_through_proxy(4);
    let found = finding(&dissection, Cause::StreamBuffered);
    // Of four the first three waited, 60, 40 and 20 ms.
    assert_eq!(found.occurrences, 30);
    assert!((found.ms_total - 10.0 * 120.0).abs() < 15.0, "{found:?}");
    let groups = &messages(&dissection).groups;
    assert_eq!((groups[0].count, groups[0].forwarded), (80, 40));
    let slowest = &messages(&dissection).slowest[0];
    assert!((slowest.proxy_ms.expect("forwarded") - 60.0).abs() < 1.0);
}

#[test]
fn a_proxy_that_passes_messages_on_is_not_a_buffer() {
    let dissection = push_through_proxy(1);
    assert!(!has(&dissection, Cause::StreamBuffered));
    assert_eq!(messages(&dissection).groups[0].forwarded, 40);
}

#[test]
fn two_servers_that_send_the_same_are_not_a_proxy() {
    let mut script = Script::new();
    let [one, other] = [8_000, 9_000].map(|port| {
        let connection = script.add();
        script.place(connection, 7, 7, port);
        script.handshake(connection, 300, 20);
        ask(&mut script, connection, EVENTS);
        connection
    });
    for number in 0..10 {
        let together: Vec<u8> = (0..4).flat_map(|place| event(4 * number + place)).collect();
        let (first, second) = if number % 2 == 0 {
            (one, other)
        } else {
            (other, one)
        };
        for place in 0..4 {
            push(&mut script, first, INTERVAL_US, &event(4 * number + place));
        }
        push(&mut script, second, MS, &together);
    }
    assert!(!has(&dissect(&script), Cause::StreamBuffered));
}
