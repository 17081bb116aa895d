//! Lookups of names that connections waited for.

use wirelab_trace::diagnosis::Cause;
use wirelab_trace::diagnosis::waits::Part;
use wirelab_trace::output::Dissection;

use super::script::{Client, MS, REPLY, REQUEST, SECOND, Script, Server, causes, ms};

const A: u16 = 1;
const AAAA: u16 = 28;
const NAME: &str = "shop.example.net";

fn call(script: &mut Script) {
    let connection = script.open(300);
    script.wait(MS).send(connection, Client, REQUEST);
    script.wait(400).send(connection, Server, REPLY);
}

#[track_caller]
fn assert_lookup(dissection: &Dissection, charged_ms: u64) {
    assert_eq!(ms(dissection, Part::NameResolution), charged_ms);
    let expected: &[Cause] = if charged_ms >= 100 {
        &[Cause::SlowDns]
    } else {
        &[]
    };
    assert_eq!(causes(dissection), expected);
    assert_eq!(dissection.waits.lookups_ms, 0.0, "all of it was waited for");
}

#[test]
fn a_connection_waits_for_both_kinds_of_addresses() {
    for (lost, other) in [(A, AAAA), (AAAA, A)] {
        let mut script = Script::new();
        let id = |kind| if kind == A { 7 } else { 8 };
        script.query(7, NAME, A);
        script.query(8, NAME, AAAA);
        script.wait(200);
        script.answer(id(other), NAME, other, other == A, 0);
        script.wait(5 * SECOND).query(id(lost), NAME, lost);
        script.wait(200);
        script.answer(id(lost), NAME, lost, lost == A, 0);
        script.wait(100);
        call(&mut script);
        assert_lookup(&script.dissect(), 5_000);
    }
}

#[test]
fn a_resolver_that_asks_for_both_again_is_one_lookup() {
    let mut script = Script::new();
    script.query(7, NAME, A);
    script.wait(50).answer(7, NAME, A, true, 0);
    script.wait(10).query(8, NAME, AAAA);
    script.wait(5 * SECOND).query(7, NAME, A);
    script.wait(150).answer(7, NAME, A, true, 0);
    script.wait(180).query(8, NAME, AAAA);
    script.wait(25).answer(8, NAME, AAAA, false, 0);
    script.wait(3 * MS);
    call(&mut script);
    assert_lookup(&script.dissect(), 5_000);
}

#[test]
fn an_answer_that_never_comes_is_waited_for() {
    let mut script = Script::new();
    script.query(7, NAME, A);
    script.query(8, NAME, AAAA);
    script.wait(200).answer(7, NAME, A, true, 0);
    script.wait(5 * SECOND).query(8, NAME, AAAA);
    script.wait(5 * SECOND);
    call(&mut script);
    assert_lookup(&script.dissect(), 10_000);
}

#[test]
fn the_names_of_a_search_list_are_one_lookup() {
    let mut script = Script::new();
    for (place, suffix) in [".default.svc.cluster.local", ".svc.cluster.local", ""]
        .into_iter()
        .enumerate()
    {
        let name = &format!("{NAME}{suffix}");
        let id = 10 * place as u16;
        script.query(id, name, A);
        script.query(id + 1, name, AAAA);
        let code = if suffix.is_empty() { 0 } else { 3 };
        script.wait(60 * MS).answer(id, name, A, code == 0, code);
        script.wait(20).answer(id + 1, name, AAAA, false, code);
        script.wait(30);
    }
    call(&mut script);
    assert_lookup(&script.dissect(), 180);
}

#[test]
fn a_fast_lookup_is_not_reported() {
    let mut script = Script::new();
    script.query(7, NAME, A);
    script.query(8, NAME, AAAA);
    script.wait(2 * MS).answer(7, NAME, A, true, 0);
    script.wait(20).answer(8, NAME, AAAA, false, 0);
    call(&mut script);
    assert_lookup(&script.dissect(), 2);
}

#[test]
fn a_connection_long_after_a_lookup_did_not_wait_for_it() {
    let mut script = Script::new();
    script.query(7, NAME, A);
    script.wait(300 * MS).answer(7, NAME, A, true, 0);
    script.wait(8 * SECOND);
    call(&mut script);
    let dissection = script.dissect();
    assert_eq!(ms(&dissection, Part::NameResolution), 0);
    assert_eq!(causes(&dissection), []);
    assert!((dissection.waits.lookups_ms - 300.0).abs() < 0.1);
}

#[test]
fn lookups_without_a_connection_are_added_up_once() {
    let mut script = Script::new();
    script.query(7, NAME, A);
    script.query(8, NAME, AAAA);
    script.wait(400 * MS).answer(7, NAME, A, false, 3);
    script.wait(20).answer(8, NAME, AAAA, false, 3);
    script.wait(SECOND).query(9, "gone.example.net", A);
    script.wait(5 * SECOND).query(9, "gone.example.net", A);
    let dissection = script.dissect();
    let sum = dissection.waits.lookups_ms;
    assert!((sum - 5_400.0).abs() < 1.0, "{sum}");
}

#[test]
fn a_lookup_that_continues_over_tcp_is_one_lookup() {
    let mut script = Script::new();
    script.query(7, NAME, A);
    // The answer was cut, and has no address.
    script.wait(40 * MS).answer(7, NAME, A, false, 0);
    let resolver = script.add();
    script.connections[resolver].ask_name_server();
    script.handshake(resolver, 40 * MS, 20);
    let [query, answer] =
        [None, Some(())].map(|has| super::script::dns_over_tcp(9, NAME, has.is_some()));
    script.wait(10).send(resolver, Client, &query);
    script.wait(300 * MS).send(resolver, Server, &answer[..30]);
    script.wait(10).send(resolver, Server, &answer[30..]);
    script.wait(20);
    call(&mut script);
    let dissection = script.dissect();
    // 40 ms over UDP, 300 over TCP; the connection to the name server is in its own account.
    let charged = ms(&dissection, Part::NameResolution);
    assert_eq!(charged, 380);
}
