//! Clients whose first payload is in the packet that completes the handshake of TCP, or in the
//! SYN. The account is that of a client that acknowledges first and sends at once.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::Dissection;

use super::retries::{handshake, record};
use super::script::{Client, MS, REPLY, REQUEST, Script, Server, causes, finding, ms};

const RTT_US: u64 = 40 * MS;

/// How the client begins.
#[derive(Debug, Clone, Copy)]
struct First {
    /// The payload is in the packet that completes the handshake.
    is_joined: bool,
    /// The server acknowledges the payload at once.
    is_acknowledged: bool,
}

const ALL: [First; 4] = [
    first(false, false),
    first(false, true),
    first(true, false),
    first(true, true),
];

const fn first(is_joined: bool, is_acknowledged: bool) -> First {
    First {
        is_joined,
        is_acknowledged,
    }
}

/// Opens a connection and sends the first payload of its client.
fn open(first: First, payload: &[u8]) -> (Script, usize) {
    let mut script = Script::new();
    let connection = script.add();
    script.syn(connection);
    script.wait(RTT_US).syn_ack(connection);
    script.wait(20);
    if !first.is_joined {
        script.ack(connection, Client);
    }
    script.send(connection, Client, payload);
    script.wait(RTT_US);
    if first.is_acknowledged {
        script.ack(connection, Server);
    }
    (script, connection)
}

/// A call over TLS follows, and ends the script.
fn dissect_call(mut script: Script, connection: usize) -> Dissection {
    let (request, reply) = (record(23, &[0; 150]), record(23, &[0; 700]));
    script.send(connection, Client, &request);
    script
        .wait(RTT_US + 7 * MS)
        .send(connection, Server, &reply);
    script.wait(20).ack(connection, Client);
    script.dissect()
}

/// TLS 1.3; the server computes before its hello.
fn script_tls_1_3(first: First, computing_us: u64) -> Dissection {
    let (mut script, connection) = open(first, &handshake(1, 240));
    let hello = [handshake(2, 118), record(23, &[0; 900])].concat();
    script.wait(computing_us).send(connection, Server, &hello);
    let finished = record(23, &[0; 69]);
    script.wait(500).send(connection, Client, &finished);
    script.wait(200);
    dissect_call(script, connection)
}

/// TLS 1.2 without a session.
fn script_tls_1_2(first: First) -> Dissection {
    let (mut script, connection) = open(first, &handshake(1, 200));
    let certificate = [handshake(2, 80), handshake(11, 700)].concat();
    script.send(connection, Server, &certificate);
    let finished = [record(20, &[1]), record(22, &[0; 40])].concat();
    let own = [handshake(16, 66), finished.clone()].concat();
    script.wait(500).send(connection, Client, &own);
    script.wait(RTT_US).send(connection, Server, &finished);
    script.wait(20).ack(connection, Client);
    script.wait(3 * MS);
    dissect_call(script, connection)
}

/// HTTP/1, with a second call.
fn script_http(first: First) -> Dissection {
    let (mut script, connection) = open(first, REQUEST);
    script.wait(7 * MS).send(connection, Server, REPLY);
    script.wait(3 * MS).send(connection, Client, REQUEST);
    script.wait(RTT_US + 7 * MS).send(connection, Server, REPLY);
    script.wait(20).ack(connection, Client);
    script.dissect()
}

/// The preface of HTTP/2, whose client sends its call behind the settings of the server.
fn script_http2(first: First) -> Dissection {
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let preface = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &settings].concat();
    let (mut script, connection) = open(first, &preface);
    script.wait(5 * MS).send(connection, Server, &settings);
    let acknowledgment = [0, 0, 0, 4, 1, 0, 0, 0, 0];
    script.wait(900).send(connection, Client, &acknowledgment);
    script.wait(RTT_US).ack(connection, Server);
    script.dissect()
}

/// The account of a conversation is the same where the payload completes the handshake.
fn assert_same(conversation: impl Fn(First) -> Dissection) {
    for is_acknowledged in [false, true] {
        let [alone, joined] =
            [false, true].map(|is_joined| conversation(first(is_joined, is_acknowledged)));
        let [expected, found] = [&alone, &joined].map(|one| &one.waits.connections);
        assert_eq!(found.parts_ms, expected.parts_ms, "{is_acknowledged}");
        assert_eq!(found.elapsed_ms, expected.elapsed_ms);
        assert_eq!(causes(&joined), causes(&alone));
    }
}

#[test]
fn a_client_hello_that_completes_the_handshake_of_tcp_is_of_the_handshake_of_tls() {
    for first in ALL {
        let dissection = script_tls_1_3(first, 0);
        assert_eq!(ms(&dissection, Part::Connecting), 40, "{first:?}");
        assert_eq!(ms(&dissection, Part::TlsHandshake), 41, "{first:?}");
        assert_eq!(ms(&dissection, Part::Server), 7, "{first:?}");
        assert_eq!(causes(&dissection), [], "{first:?}");
    }
}

#[test]
fn a_slow_server_is_found_behind_a_client_hello_that_completes_the_handshake_of_tcp() {
    for first in ALL {
        let dissection = script_tls_1_3(first, 90 * MS);
        assert_eq!(causes(&dissection), [Cause::SlowTls], "{first:?}");
        let ns = finding(&dissection, Cause::SlowTls).ms_total;
        assert!((ns - 130.5).abs() < 1e-6, "{first:?} {ns}");
        assert_eq!(ms(&dissection, Part::TlsHandshake), 131, "{first:?}");
        assert_eq!(ms(&dissection, Part::Server), 7, "{first:?}");
    }
}

#[test]
fn the_account_is_that_of_an_acknowledgment_that_came_first() {
    assert_same(|first| script_tls_1_3(first, 3 * MS));
    assert_same(script_tls_1_2);
    assert_same(script_http);
    assert_same(script_http2);
}

#[test]
fn both_handshakes_of_tls_1_2_are_found() {
    let dissection = script_tls_1_2(first(true, false));
    assert_eq!(ms(&dissection, Part::TlsHandshake), 81);
    assert_eq!(ms(&dissection, Part::ClientBetweenRequests), 3);
    assert_eq!(ms(&dissection, Part::Server), 7);
}

/// TCP Fast Open (RFC 7413): the hello travels with the SYN, and its answer with no pause behind
/// the server's SYN.
#[test]
fn a_client_hello_in_the_syn_is_of_the_handshake_of_tls() {
    let mut script = Script::new();
    let connection = script.add();
    script.syn_with(connection, &handshake(1, 240));
    script.wait(RTT_US).syn_ack_all(connection);
    script.wait(20).ack(connection, Client);
    let hello = [handshake(2, 118), record(23, &[0; 900])].concat();
    script.wait(90 * MS).send(connection, Server, &hello);
    let finished = record(23, &[0; 69]);
    script.wait(500).send(connection, Client, &finished);
    let request = record(23, &[0; 150]);
    script.wait(200).send(connection, Client, &request);
    let reply = record(23, &[0; 700]);
    script
        .wait(RTT_US + 7 * MS)
        .send(connection, Server, &reply);
    script.wait(20).ack(connection, Client);
    let dissection = script.dissect();
    assert_eq!(ms(&dissection, Part::Connecting), 40);
    // From the packet that opens the connection on.
    assert_eq!(ms(&dissection, Part::TlsHandshake), 91);
    assert_eq!(ms(&dissection, Part::Server), 7);
    assert_eq!(causes(&dissection), [Cause::SlowTls]);
    let slow = finding(&dissection, Cause::SlowTls).ms_total;
    assert!((slow - 90.5).abs() < 1e-6, "{slow}");
}
