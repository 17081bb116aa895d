//! Streams of events that a buffer holds, and others that look like it.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::output::Dissection;

use super::script::{Client, MS, REQUEST, SECOND, Script, Server, causes, finding};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
/// The clock of the server is ahead of that of the capture by a minute.
const SERVER_MS: u64 = 1_700_000_060_000;
const INTERVAL_MS: u64 = 100;

/// A connection with a request for events and the head of the reply.
fn request_events(script: &mut Script) -> usize {
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, REQUEST);
    script.wait(400).send(connection, Server, HEAD);
    script.wait(20).ack(connection, Client);
    connection
}

/// An event of 64 bytes with the time at which it was made.
fn event(made_ms: u64) -> Vec<u8> {
    let mut event = format!("id: {}\ndata: ", SERVER_MS + made_ms).into_bytes();
    event.resize(62, b'x');
    event.extend(b"\n\n");
    event
}

/// The same without a time.
fn event_without_time(number: u64) -> Vec<u8> {
    let mut event = format!("id: {number}\ndata: ").into_bytes();
    event.resize(62, b'x');
    event.extend(b"\n\n");
    event
}

/// Sends bytes after a pause, and acknowledges them.
fn send(script: &mut Script, connection: usize, pause_us: u64, bytes: &[u8]) {
    script.wait(pause_us).send(connection, Server, bytes);
    script.wait(20).ack(connection, Client);
}

/// Events that are made every 100 ms and come ten at a time.
fn stream_in_tens(made_ms: impl Fn(u64) -> u64) -> Dissection {
    let mut script = Script::new();
    let connection = request_events(&mut script);
    for burst in 0..6 {
        let events = (0..10).flat_map(|place| event(made_ms(10 * burst + place)));
        let events: Vec<u8> = events.collect();
        send(&mut script, connection, 10 * INTERVAL_MS * MS, &events);
    }
    script.fin(connection, Server);
    script.dissect()
}

#[test]
fn events_that_come_together_and_were_made_one_by_one_were_held() {
    let dissection = stream_in_tens(|number| (number + 1) * INTERVAL_MS);
    let found = finding(&dissection, Cause::EventsInBursts);
    // Of each burst the first event waited for nine others.
    assert!((found.ms_total - 6.0 * 900.0).abs() < 1.0, "{found:?}");
    assert!(found.words.contains("buffer"), "{}", found.words);
    assert!(!causes(&dissection).contains(&Cause::UnevenStream));
}

#[test]
fn events_that_come_as_they_are_made_were_not_held() {
    let mut script = Script::new();
    let connection = request_events(&mut script);
    for number in 0..60 {
        let pause = INTERVAL_MS * MS - 20;
        send(
            &mut script,
            connection,
            pause,
            &event((number + 1) * INTERVAL_MS),
        );
    }
    script.fin(connection, Server);
    assert!(!causes(&script.dissect()).contains(&Cause::EventsInBursts));
}

#[test]
fn events_that_are_made_together_were_not_held() {
    let dissection = stream_in_tens(|number| (number / 10 + 1) * 10 * INTERVAL_MS + number % 10);
    assert!(!causes(&dissection).contains(&Cause::EventsInBursts));
}

#[test]
fn a_history_that_is_sent_again_was_not_held() {
    // Events of one hour, ten for each second of the reply.
    let dissection = stream_in_tens(|number| number * 60_000);
    assert!(!causes(&dissection).contains(&Cause::EventsInBursts));
}

#[test]
fn a_single_clump_is_not_taken_for_a_buffer() {
    let mut script = Script::new();
    let connection = request_events(&mut script);
    for number in 0..40 {
        if (20..29).contains(&number) {
            continue;
        }
        let first = if number == 29 { 20 } else { number };
        let made = (first..=number).flat_map(|place| event((place + 1) * INTERVAL_MS));
        let made: Vec<u8> = made.collect();
        let pause = (number - first + 1) * INTERVAL_MS * MS - 20;
        send(&mut script, connection, pause, &made);
    }
    script.fin(connection, Server);
    assert!(!causes(&script.dissect()).contains(&Cause::EventsInBursts));
}

/// Events without times, in pieces of `bytes`, one every second.
fn stream_in_pieces(bytes: impl Fn(u64) -> usize, is_closed: bool) -> Dissection {
    let mut script = Script::new();
    let connection = request_events(&mut script);
    let stream: Vec<u8> = (0..400).flat_map(event_without_time).collect();
    let mut rest = &stream[..];
    for piece in 0..8 {
        let (now, later) = rest.split_at(bytes(piece));
        send(&mut script, connection, SECOND, now);
        rest = later;
    }
    if is_closed {
        send(&mut script, connection, SECOND, &rest[..rest.len() % 64]);
        script.fin(connection, Server);
    }
    script.dissect()
}

#[test]
fn pieces_of_one_size_that_end_inside_events_are_those_of_a_buffer() {
    for is_closed in [true, false] {
        let dissection = stream_in_pieces(|_| 1_000, is_closed);
        let found = finding(&dissection, Cause::EventsInBursts);
        // The rest of an event waited for each of the pieces but the first two.
        assert!(found.ms_total >= 5_990.0, "{found:?}");
    }
}

#[test]
fn pieces_that_end_with_events_are_those_of_a_server() {
    let dissection = stream_in_pieces(|_| 15 * 64, true);
    assert!(!causes(&dissection).contains(&Cause::EventsInBursts));
}

#[test]
fn pieces_of_unequal_sizes_are_not_taken_for_full_buffers() {
    let dissection = stream_in_pieces(|piece| 700 + 130 * (piece as usize * 5 % 8), true);
    assert!(!causes(&dissection).contains(&Cause::EventsInBursts));
}

#[test]
fn a_clock_that_steps_back_and_extreme_times_are_not_taken_for_a_buffer() {
    for extreme in ["9999999999999999999", "9999999999999", "1000000000000"] {
        let mut script = Script::new();
        let connection = request_events(&mut script);
        for _ in 0..8 {
            let event = |time: &str| format!("id: {time}\ndata: {}\n\n", "x".repeat(300));
            let events = [extreme, "1764405695123", "1764405695124"].map(event);
            send(
                &mut script,
                connection,
                100 * MS,
                events.concat().as_bytes(),
            );
            script.step_back(2 * MS);
            send(&mut script, connection, 0, event(extreme).as_bytes());
        }
        script.fin(connection, Server);
        let dissection = script.dissect();
        assert!(!causes(&dissection).contains(&Cause::EventsInBursts));
    }
}
