//! Connections that come to be behind a RST or an older connection with the same ends: each has
//! sequence numbers of its own.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::{Dissection, HowClosed};

use super::script::{Client, MS, REPLY, REQUEST, SECOND, Script, Server, causes, ms};

const RTT_US: u64 = 300;

/// A number of the server that is before 0 on the circle of sequence numbers (RFC 9293 section
/// 3.4), which a refusal has.
const BEFORE_ZERO: u32 = 4_056_368_679;

fn make_calls(script: &mut Script, connection: usize, count: usize) {
    for _ in 0..count {
        script.wait(MS).send(connection, Client, REQUEST);
        script.wait(2 * MS).send(connection, Server, REPLY);
        script.wait(20).ack(connection, Client);
    }
}

fn close(script: &mut Script, connection: usize) {
    script.wait(MS).fin(connection, Client);
    script.wait(RTT_US).fin(connection, Server);
    script.wait(20).ack(connection, Client);
}

/// Connections, of those how many were opened, retransmissions, packets out of order, exchanges.
fn count(dissection: &Dissection) -> [u64; 5] {
    let (flows, tcp) = (&dissection.flows, &dissection.capture.tcp);
    [
        flows.count,
        flows.opened,
        tcp.retransmissions,
        tcp.out_of_order,
        dissection.exchanges.count,
    ]
}

fn list_closings(dissection: &Dissection) -> Vec<HowClosed> {
    dissection
        .flows
        .list
        .iter()
        .map(|one| one.closing)
        .collect()
}

#[test]
fn segments_behind_a_refusal_are_not_retransmissions() {
    for server in [500_000, BEFORE_ZERO] {
        let mut script = Script::new();
        let connection = script.add();
        script.renumber(connection, Server, server);
        script.syn(connection);
        script.wait(RTT_US).refuse(connection);
        script.wait(500 * MS).syn(connection);
        script.wait(RTT_US).syn_ack(connection);
        script.wait(20).ack(connection, Client);
        make_calls(&mut script, connection, 10);
        close(&mut script, connection);
        let dissection = script.dissect();
        // The same SYN, which is sent again.
        assert_eq!(count(&dissection), [1, 1, 1, 0, 10], "{server}");
        assert_eq!(dissection.flows.list[0].retransmissions, 1, "{server}");
        assert_eq!(dissection.flows.refused, 1, "{server}");
        assert_eq!(causes(&dissection), [Cause::ConnectionRefused], "{server}");
        assert_eq!(ms(&dissection, Part::SynRetransmission), 500, "{server}");
        assert_eq!(ms(&dissection, Part::LossRecovery), 0, "{server}");
        assert_eq!(list_closings(&dissection), [HowClosed::Orderly], "{server}");
    }
}

#[test]
fn a_connection_behind_a_refusal_is_open() {
    let mut script = Script::new();
    let connection = script.add();
    script.syn(connection);
    script.wait(RTT_US).refuse(connection);
    script.wait(500 * MS).syn(connection);
    script.wait(RTT_US).syn_ack(connection);
    script.wait(20).ack(connection, Client);
    // Longer than a closed connection is kept, with calls of others meanwhile.
    for _ in 0..2 {
        make_calls(&mut script, connection, 1);
        script.wait(100 * SECOND);
        script.open(RTT_US);
    }
    make_calls(&mut script, connection, 1);
    script.wait(MS).fin(connection, Server);
    let dissection = script.dissect();
    assert_eq!(count(&dissection), [3, 3, 1, 0, 3]);
    assert_eq!(list_closings(&dissection), [HowClosed::Unseen; 3]);
    let uses = &dissection.exchanges.connections;
    assert_eq!((uses.ended_by_server, uses.ended_by_client), (1, 0));
    assert_eq!(dissection.load.connections_open_max, 3);
}

#[test]
fn an_attempt_with_another_number_is_another_connection() {
    let mut script = Script::new();
    let connection = script.add();
    script.renumber(connection, Server, BEFORE_ZERO);
    script.syn(connection);
    script.wait(RTT_US).refuse(connection);
    script.wait(500 * MS);
    // Before the number of the first attempt.
    script.renumber(connection, Client, BEFORE_ZERO);
    script.handshake(connection, RTT_US, 20);
    make_calls(&mut script, connection, 10);
    let dissection = script.dissect();
    assert_eq!(count(&dissection), [2, 2, 0, 0, 10]);
    assert_eq!(dissection.flows.refused, 1);
    let expected = [HowClosed::ResetByServer, HowClosed::Unseen];
    assert_eq!(list_closings(&dissection), expected);
}

/// A host between the two resets the attempt, whose answer comes nevertheless.
#[test]
fn an_answer_behind_a_reset_opens_the_connection() {
    let mut script = Script::new();
    let connection = script.add();
    script.renumber(connection, Server, BEFORE_ZERO);
    script.syn(connection);
    script.wait(RTT_US).refuse(connection);
    script.wait(RTT_US).syn_ack(connection);
    script.wait(20).ack(connection, Client);
    make_calls(&mut script, connection, 5);
    script.wait(100 * SECOND);
    script.open(RTT_US);
    make_calls(&mut script, connection, 5);
    close(&mut script, connection);
    let dissection = script.dissect();
    assert_eq!(count(&dissection), [2, 2, 0, 0, 10]);
    let expected = [HowClosed::Orderly, HowClosed::Unseen];
    assert_eq!(list_closings(&dissection), expected);
}

/// The server has a connection that its client lost: it answers the SYN with an acknowledgment,
/// the client that with RST, and sends the SYN again (RFC 9293 section 3.5.1, figure 9).
/// `client`: where the older connection was.
fn attempt_half_open(client: u32) -> Dissection {
    let mut script = Script::new();
    let connection = script.add();
    script.syn(connection);
    script.wait(RTT_US);
    script.renumber(connection, Client, client);
    script.renumber(connection, Server, BEFORE_ZERO);
    script.ack(connection, Server);
    script.wait(20).rst_alone(connection, Client);
    script.renumber(connection, Client, 1_000);
    script.renumber(connection, Server, 500_000);
    script.wait(SECOND).syn(connection);
    script.wait(RTT_US).syn_ack(connection);
    script.wait(20).ack(connection, Client);
    make_calls(&mut script, connection, 10);
    close(&mut script, connection);
    script.dissect()
}

#[test]
fn the_numbers_of_a_connection_that_its_client_lost_are_not_those_of_the_next() {
    for client in [3_000_000_000, 2_000_000_000] {
        let dissection = attempt_half_open(client);
        assert_eq!(count(&dissection), [1, 1, 1, 0, 10], "{client}");
        assert_eq!(dissection.flows.list[0].retransmissions, 1, "{client}");
        assert_eq!(list_closings(&dissection), [HowClosed::Orderly], "{client}");
        assert_eq!(ms(&dissection, Part::SynRetransmission), 1_000, "{client}");
        assert_eq!(ms(&dissection, Part::LossRecovery), 0, "{client}");
        assert_eq!(causes(&dissection), [], "{client}");
    }
}

/// How a connection ends before its ends are used again.
#[derive(Debug, Clone, Copy)]
enum End {
    Closed,
    Reset,
}

/// Two connections with the same ends; the second one has those numbers of its SYN and of the
/// server's, and begins that much later.
fn use_ends_again(end: End, numbers: [u32; 2], pause_us: u64) -> Dissection {
    let mut script = Script::new();
    let connection = script.open(RTT_US);
    make_calls(&mut script, connection, 3);
    match end {
        End::Closed => close(&mut script, connection),
        End::Reset => script.rst(connection, Server),
    }
    script.wait(pause_us);
    script.renumber(connection, Client, numbers[0]);
    script.renumber(connection, Server, numbers[1]);
    script.handshake(connection, RTT_US, 20);
    make_calls(&mut script, connection, 3);
    close(&mut script, connection);
    script.dissect()
}

#[test]
fn a_syn_behind_the_end_begins_another_connection() {
    // The last is the number of the first connection: some hosts always begin with the same.
    for numbers in [[900_000, BEFORE_ZERO], [BEFORE_ZERO, 3], [1_000, 500_000]] {
        for pause_us in [MS, 10 * SECOND, 59 * SECOND, 61 * SECOND, 600 * SECOND] {
            for end in [End::Closed, End::Reset] {
                let dissection = use_ends_again(end, numbers, pause_us);
                let case = format!("{end:?} {numbers:?} {pause_us}");
                assert_eq!(count(&dissection), [2, 2, 0, 0, 6], "{case}");
                assert_eq!(ms(&dissection, Part::SynRetransmission), 0, "{case}");
                assert_eq!(ms(&dissection, Part::LossRecovery), 0, "{case}");
                let first = match end {
                    End::Closed => HowClosed::Orderly,
                    End::Reset => HowClosed::ResetByServer,
                };
                assert_eq!(
                    list_closings(&dissection),
                    [first, HowClosed::Orderly],
                    "{case}"
                );
            }
        }
    }
}
