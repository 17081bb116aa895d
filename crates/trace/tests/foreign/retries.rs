//! Handshakes of TLS 1.3 in which the server asks for another ClientHello (RFC 8446 section 4.1.4),
//! and those of TLS 1.2 that have longer messages before their Finished.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::Dissection;

use super::script::{Client, MS, Script, Server, causes, ms};

const RTT_US: u64 = 40 * MS;

pub(super) fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    let [high, low] = (body.len() as u16).to_be_bytes();
    [&[kind, 3, 3, high, low][..], body].concat()
}

/// A message of the handshake, whose content does not matter.
pub(super) fn handshake(kind: u8, bytes: usize) -> Vec<u8> {
    let mut body = vec![kind, 0, 0, bytes as u8, 3, 3];
    body.resize(4 + bytes, 0);
    record(22, &body)
}

/// `computing_us`: time that the server computes before its second answer.
fn retry_hello(computing_us: u64) -> Dissection {
    let mut script = Script::new();
    let connection = script.open(RTT_US);
    let change = record(20, &[1]);
    script
        .wait(300)
        .send(connection, Client, &handshake(1, 240));
    let retry = [handshake(2, 84), change.clone()].concat();
    script.wait(RTT_US).send(connection, Server, &retry);
    let again = [change, handshake(1, 250)].concat();
    script.wait(200).send(connection, Client, &again);
    let answer = [handshake(2, 118), record(23, &[0; 900])].concat();
    script
        .wait(RTT_US + computing_us)
        .send(connection, Server, &answer);
    script
        .wait(500)
        .send(connection, Client, &record(23, &[0; 69]));
    script
        .wait(200)
        .send(connection, Client, &record(23, &[0; 150]));
    script
        .wait(RTT_US)
        .send(connection, Server, &record(23, &[0; 700]));
    script.wait(20).ack(connection, Client);
    script.dissect()
}

#[test]
fn a_second_client_hello_does_not_end_the_handshake() {
    let dissection = retry_hello(0);
    assert_eq!(ms(&dissection, Part::TlsHandshake), 81);
    assert_eq!(causes(&dissection), [], "two round trips are what it takes");
}

#[test]
fn a_slow_server_is_found_behind_a_second_client_hello() {
    let dissection = retry_hello(90 * MS);
    assert_eq!(causes(&dissection), [Cause::SlowTls]);
    assert_eq!(ms(&dissection, Part::TlsHandshake), 171);
}

/// A full handshake of TLS 1.2 (RFC 5246 section 7.3) with a certificate of the client and a session
/// ticket (RFC 5077). The client pauses before its first request.
#[test]
fn a_ticket_and_a_certificate_before_the_finished_of_tls_1_2_are_not_a_retry() {
    let mut script = Script::new();
    let connection = script.open(RTT_US);
    let finished = [record(20, &[1]), record(22, &[0; 40])].concat();
    script
        .wait(300)
        .send(connection, Client, &handshake(1, 200));
    let certificate = [handshake(2, 80), handshake(11, 700)].concat();
    script.wait(RTT_US).send(connection, Server, &certificate);
    let own = [handshake(11, 600), handshake(16, 66), finished.clone()].concat();
    script.wait(500).send(connection, Client, &own);
    let ticket = [handshake(4, 192), finished].concat();
    script.wait(RTT_US).send(connection, Server, &ticket);
    script.wait(20).ack(connection, Client);
    script
        .wait(900 * MS)
        .send(connection, Client, &record(23, &[0; 150]));
    script
        .wait(RTT_US)
        .send(connection, Server, &record(23, &[0; 700]));
    script.wait(20).ack(connection, Client);
    let dissection = script.dissect();
    assert_eq!(ms(&dissection, Part::TlsHandshake), 81);
    assert_eq!(causes(&dissection), []);
}
