//! Captures that hold the beginnings of packets only.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;

use super::script::{Client, MS, Script, Server, causes, finding, ms};

/// Calls whose reply waits for a delayed acknowledgment between its head and its body.
fn delay_acknowledgments(snap: usize) -> Script {
    let mut script = Script::new();
    script.snap = snap;
    let connection = script.open(300);
    for place in 0..20 {
        let request = format!("GET /{place} HTTP/1.1\r\nHost: a\r\n\r\n");
        script.wait(MS).send(connection, Client, request.as_bytes());
        let head = b"HTTP/1.1 200 OK\r\nServer: example\r\nContent-Type: text/plain\r\nContent-Length: 200\r\n\r\n";
        script.wait(400).send(connection, Server, head);
        script.wait(44 * MS).ack(connection, Client);
        script.wait(300).send(connection, Server, &[b'x'; 200]);
        script.wait(20).ack(connection, Client);
    }
    script
}

#[test]
fn the_account_rests_on_headers() {
    let whole = delay_acknowledgments(65_535).dissect();
    let parts = |part| ms(&whole, part);
    assert!(
        parts(Part::NagleDelayedAck) > 870,
        "{}",
        parts(Part::NagleDelayedAck)
    );
    for snap in [54 + 8, 96, 120, 150] {
        let cut = delay_acknowledgments(snap).dissect();
        for part in [
            Part::NagleDelayedAck,
            Part::ServerUnasked,
            Part::ServerStall,
        ] {
            let [whole, cut] = [&whole, &cut].map(|one| ms(one, part));
            assert!(
                whole.abs_diff(cut) <= 1,
                "{snap} {part:?}: {cut} of {whole}"
            );
        }
        assert!(causes(&cut).contains(&Cause::NagleDelayedAck), "{snap}");
        let [whole, cut] = [&whole, &cut].map(|one| finding(one, Cause::NagleDelayedAck).ms_total);
        assert!((whole - cut).abs() < 1.0, "{snap}: {cut} of {whole}");
    }
}

#[test]
fn a_cut_capture_without_delays_has_no_finding() {
    let mut script = Script::new();
    script.snap = 96;
    let connection = script.open(300);
    for _ in 0..20 {
        script
            .wait(MS)
            .send(connection, Client, super::script::REQUEST);
        let mut reply =
            b"HTTP/1.1 200 OK\r\nServer: example\r\nContent-Length: 200\r\n\r\n".to_vec();
        reply.resize(reply.len() + 200, b'x');
        script.wait(400).send(connection, Server, &reply);
        script.wait(20).ack(connection, Client);
    }
    assert_eq!(causes(&script.dissect()), []);
}
