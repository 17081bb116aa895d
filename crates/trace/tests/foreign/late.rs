//! Packets that come long after their connection was closed. They open no other connection.

use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::Dissection;

use super::script::{Client, MS, REPLY, REQUEST, SECOND, Script, Server, Side, causes, ms};

const RTT_US: u64 = 300;

/// A connection with a call, which both sides closed; the client does not acknowledge the
/// server's FIN.
fn close_both() -> (Script, usize) {
    let mut script = Script::new();
    let connection = script.open(RTT_US);
    call(&mut script, connection);
    script.wait(MS).fin(connection, Client);
    script.wait(RTT_US).fin(connection, Server);
    (script, connection)
}

fn call(script: &mut Script, connection: usize) {
    script.wait(MS).send(connection, Client, REQUEST);
    script.wait(2 * MS).send(connection, Server, REPLY);
    script.wait(20).ack(connection, Client);
}

/// Connections, retransmissions, and packets of all connections.
fn count(dissection: &Dissection) -> [u64; 3] {
    let packets = dissection.accounting.total.all.packets.packets;
    assert_eq!(packets, dissection.capture.tcp_packets);
    let tcp = &dissection.capture.tcp;
    [dissection.flows.count, tcp.retransmissions, packets]
}

/// Pauses between sendings of a FIN: a timer that doubles, up to 64 s or 120 s.
const PAUSES: [&[u64]; 2] = [
    &[24, 48, 64, 64, 64],
    &[1, 2, 4, 8, 16, 32, 64, 120, 120, 120],
];

#[test]
fn a_fin_that_is_sent_again_belongs_to_the_connection_that_it_closed() {
    for pauses in PAUSES {
        for side in [Client, Server] {
            let (mut script, connection) = close_both();
            for pause in pauses {
                script.wait(pause * SECOND).fin_again(connection, side);
            }
            let dissection = script.dissect();
            let again = pauses.len() as u64;
            assert_eq!(count(&dissection), [1, again, 8 + again], "{side:?}");
            assert_eq!(dissection.flows.closed, 1);
            assert_eq!(ms(&dissection, Part::Connecting), 0);
            let fins = dissection.accounting.total.fin.packets.packets;
            assert_eq!(fins, 2 + again);
        }
    }
}

fn acknowledge(script: &mut Script, connection: usize, side: Side) {
    script.ack(connection, side);
}

fn reset(script: &mut Script, connection: usize, side: Side) {
    script.rst(connection, side);
}

fn reset_alone(script: &mut Script, connection: usize, side: Side) {
    script.rst_alone(connection, side);
}

/// A RST with numbers that the connection never had.
fn reset_elsewhere(script: &mut Script, connection: usize, side: Side) {
    script.renumber(connection, side, 3_000_000_000);
    script.rst_alone(connection, side);
}

/// A probe of a connection that the other side has closed.
fn probe(script: &mut Script, connection: usize, side: Side) {
    script.keep_alive(connection, side);
}

fn send_again(script: &mut Script, connection: usize, side: Side) {
    script.fill(connection, side, b"ok", 1);
}

#[test]
fn late_packets_of_a_closed_connection_open_no_other_one() {
    type Late = fn(&mut Script, usize, Side);
    let all: [(&str, Late, u64); 6] = [
        ("acknowledgment", acknowledge, 0),
        ("reset", reset, 0),
        ("reset alone", reset_alone, 0),
        ("reset elsewhere", reset_elsewhere, 0),
        ("probe", probe, 0),
        ("sent again", send_again, 1),
    ];
    for (name, late, retransmissions) in all {
        for side in [Client, Server] {
            for pause in [1, 59, 61, 7_200] {
                let (mut script, connection) = close_both();
                script.wait(pause * SECOND);
                late(&mut script, connection, side);
                let dissection = script.dissect();
                let expected = [1, retransmissions, 9];
                assert_eq!(count(&dissection), expected, "{name} {side:?} {pause}");
            }
        }
    }
}

#[test]
fn a_reset_connection_is_not_opened_by_what_its_sender_repeats() {
    let mut script = Script::new();
    let connection = script.open(RTT_US);
    call(&mut script, connection);
    script.wait(MS).rst(connection, Client);
    for pause in [1, 61, 120, 120] {
        script.wait(pause * SECOND);
        script.fill(connection, Server, b"ok", 0);
        script.wait(RTT_US).rst_alone(connection, Client);
    }
    let dissection = script.dissect();
    assert_eq!(count(&dissection), [1, 4, 15]);
    assert_eq!(dissection.flows.refused, 0);
}

#[test]
fn a_syn_behind_late_packets_opens_another_connection() {
    for first in [1_000, 900_000, 4_000_000_000] {
        let (mut script, connection) = close_both();
        for pause in [61, 120] {
            script.wait(pause * SECOND).fin_again(connection, Server);
        }
        script.wait(SECOND);
        script.renumber(connection, Client, first);
        script.renumber(connection, Server, 2_000_000);
        script.handshake(connection, RTT_US, 20);
        call(&mut script, connection);
        let dissection = script.dissect();
        assert_eq!(count(&dissection), [2, 2, 16], "{first}");
        assert_eq!(dissection.flows.opened, 2, "{first}");
        assert_eq!(dissection.exchanges.count, 2, "{first}");
    }
}

/// The capture lacks the handshake of a later connection.
#[test]
fn data_that_was_never_seen_opens_another_connection() {
    for side in [Client, Server] {
        let (mut script, connection) = close_both();
        script.wait(300 * SECOND);
        script.renumber(connection, Client, 900_000);
        script.renumber(connection, Server, 2_000_000);
        if side == Client {
            script.ack(connection, Client);
        }
        call(&mut script, connection);
        script.wait(MS).fin(connection, side);
        let dissection = script.dissect();
        let packets = if side == Client { 13 } else { 12 };
        assert_eq!(count(&dissection), [2, 0, packets], "{side:?}");
        assert_eq!(dissection.flows.opened, 1, "{side:?}");
        assert_eq!(dissection.exchanges.count, 2, "{side:?}");
    }
}

/// What comes later than a minute is counted, and is not time of the connection.
#[test]
fn the_account_ends_with_what_belongs_to_the_end() {
    let (mut script, connection) = close_both();
    script.wait(20).ack(connection, Client);
    let alone = script.clone().dissect();
    script.wait(200 * SECOND).fin_again(connection, Server);
    script.wait(20).ack(connection, Client);
    let dissection = script.dissect();
    let [expected, found] = [&alone, &dissection].map(|one| &one.waits.connections);
    assert_eq!(found.parts_ms, expected.parts_ms);
    assert_eq!(found.elapsed_ms, expected.elapsed_ms);
    assert_eq!(causes(&dissection), causes(&alone));
}
