//! Requests whose body waits for the server's 100 (Continue), RFC 9110 section 10.1.1.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::Dissection;

use super::script::{Client, MS, REPLY, SECOND, Script, Server, causes, finding, ms};

const HEAD: &[u8] =
    b"POST /item HTTP/1.1\r\nHost: a\r\nContent-Length: 600\r\nexpect: 100-Continue\r\n\r\n";
const BODY: &[u8] = &[b'x'; 600];
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// An upload: the head, the server's 100 after `permitted_us` where it sends one, and the body
/// `patience_us` after the head, or at once after the 100.
fn upload(head: &[u8], permitted_us: Option<u64>, patience_us: u64) -> Dissection {
    let mut script = Script::new();
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, head);
    script.wait(300).ack(connection, Server);
    match permitted_us {
        Some(us) => {
            script.wait(us).send(connection, Server, CONTINUE);
            script.wait(50);
        }
        None => {
            script.wait(patience_us);
        }
    }
    script.send(connection, Client, BODY);
    script.wait(500).send(connection, Server, REPLY);
    script.wait(20).ack(connection, Client);
    script.dissect()
}

#[test]
fn a_client_that_waits_in_vain_for_100_is_not_stalled_by_itself() {
    let dissection = upload(HEAD, None, SECOND);
    assert_eq!(causes(&dissection), [Cause::ExpectContinue]);
    let found = finding(&dissection, Cause::ExpectContinue);
    assert!((found.ms_total - 1_000.3).abs() < 0.01, "{found:?}");
    assert_eq!(found.examples[0].packets, [4, 6]);
    assert_eq!(ms(&dissection, Part::ExpectContinue), 1_000);
    assert_eq!(ms(&dissection, Part::ClientStall), 0);
}

#[test]
fn a_late_100_delays_the_body_and_is_not_think_time() {
    let dissection = upload(HEAD, Some(400 * MS), 0);
    assert_eq!(causes(&dissection), [Cause::ExpectContinue]);
    assert_eq!(ms(&dissection, Part::ExpectContinue), 400);
    assert_eq!(ms(&dissection, Part::Server), 0);
}

#[test]
fn a_100_at_once_delays_nothing_that_matters() {
    let dissection = upload(HEAD, Some(50), 0);
    assert_eq!(causes(&dissection), []);
    assert_eq!(ms(&dissection, Part::ExpectContinue), 0);
}

#[test]
fn a_pause_without_the_expectation_is_the_clients_own() {
    let head = b"POST /item HTTP/1.1\r\nHost: a\r\nContent-Length: 600\r\nx-expect: 100\r\n\r\n";
    let dissection = upload(head, None, SECOND);
    assert_eq!(causes(&dissection), [Cause::SenderStalled]);
    assert_eq!(ms(&dissection, Part::ExpectContinue), 0);
    assert_eq!(ms(&dissection, Part::ClientStall), 1_000);
}

#[test]
fn a_refused_expectation_has_no_body_to_wait_for() {
    let mut script = Script::new();
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, HEAD);
    let refusal = b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n";
    script.wait(400).send(connection, Server, refusal);
    script.wait(20).fin(connection, Client);
    assert_eq!(causes(&script.dissect()), []);
}

#[test]
fn a_body_in_the_packet_of_its_head_waited_for_nothing() {
    let whole = [HEAD, &BODY[..300]].concat();
    let mut script = Script::new();
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, &whole);
    script.wait(SECOND).send(connection, Client, &BODY[..300]);
    script.wait(500).send(connection, Server, REPLY);
    assert_eq!(causes(&script.dissect()), [Cause::SenderStalled]);
}

#[test]
fn a_client_waits_for_the_server_after_an_interim_reply() {
    let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
    let mut script = Script::new();
    let connection = script.open(300);
    script
        .wait(MS)
        .send(connection, Client, super::script::REQUEST);
    script.wait(400).send(connection, Server, hints);
    script.wait(20).ack(connection, Client);
    script.wait(700 * MS).send(connection, Server, REPLY);
    let dissection = script.dissect();
    assert_eq!(causes(&dissection), [Cause::ServerThinkTime]);
    assert_eq!(ms(&dissection, Part::Server), 700);
    assert_eq!(ms(&dissection, Part::ServerStall), 0);
}
