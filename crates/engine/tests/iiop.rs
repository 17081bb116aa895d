//! Objects of CORBA that are elsewhere, and servers that break GIOP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::SeqCst;

use serde_json::{Value, json};
use wirelab_contract::charging::CreditControlReply;
use wirelab_wire::giop::{
    ClientMessage, Deframer, Ior, ReplyTo, SystemException, UserException, close_connection,
};

use crate::support;
use crate::support::{drive, group, plan, server};

/// Reads requests; `answer` appends what goes back for each, given its object
/// key, until it returns false.
fn each_call(mut stream: TcpStream, mut answer: impl FnMut(&[u8], ReplyTo, &mut Vec<u8>) -> bool) {
    let (mut deframer, mut buffer) = (Deframer::new(), [0u8; 4096]);
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        let mut input = &buffer[..length];
        while let Ok(Some(inbound)) = deframer.next(&mut input) {
            let ClientMessage::Request(request) = inbound else {
                continue;
            };
            let mut out = Vec::new();
            let proceed = answer(&request.object_key, request.reply_to, &mut out);
            if stream.write_all(&out).is_err() || !proceed {
                return;
            }
        }
    }
}

fn balance(to: ReplyTo, out: &mut Vec<u8>) -> bool {
    let reply = CreditControlReply {
        balance: 5,
        reserved: 0,
    };
    to.result(out, &reply).expect("numbers");
    true
}

fn ior(address: &str, key: &[u8]) -> Ior {
    let (host, port) = address.rsplit_once(':').expect("host:port");
    Ior::new("", host, port.parse().expect("a port"), key)
}

fn object(address: &str, key: &[u8]) -> String {
    ior(address, key).to_text().expect("text")
}

/// 20 calls of CreditControl by two users; the target is the object's own.
fn iiop_plan(object: &str) -> Value {
    let mut plan = plan("");
    let group = &mut plan["groups"][0];
    group["stack"] = json!({"binding": "iiop", "codec": "cdr", "transport": "tcp"});
    group["object"] = json!(object);
    group["workload"] = json!({"kind": "contract", "contract": "charging",
        "operation": "CreditControl"});
    group["load"]["users"] = json!(2);
    group["window"] = json!({"calls": {"calls": 20, "max_s": 20.0}});
    group["timeout_s"] = json!(10.0);
    plan
}

#[test]
fn an_object_is_called_at_the_address_of_its_reference() {
    let (address, seen) = server(|stream, _| {
        each_call(stream, |key, to, out| key == b"here" && balance(to, out));
    });
    let group = group(&iiop_plan(&object(&address, b"here")));
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(20), &json!(0)),
        "{group}"
    );
    // One per user.
    assert_eq!(seen.connections.load(SeqCst), 2);
    let corbaloc = format!("corbaloc:iiop:1.2@{address}/here");
    assert_eq!(support::group(&iiop_plan(&corbaloc))["ok"], 20);
}

#[test]
fn a_call_follows_its_object_and_later_ones_go_there_at_once() {
    let (new_address, at_new) = server(|stream, _| {
        each_call(stream, |key, to, out| key == b"moved" && balance(to, out));
    });
    let forward = ior(&new_address, b"moved");
    let (old, at_old) = server(move |stream, seen| {
        each_call(stream, |key, to, out| {
            seen.requests.fetch_add(1, SeqCst);
            assert_eq!(key, b"here");
            to.forward(out, &forward, false).expect("text");
            true
        });
    });
    let group = group(&iiop_plan(&object(&old, b"here")));
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(20), &json!(0)),
        "{group}"
    );
    // Each user's first call at most; never one for each call.
    assert!((1..=2).contains(&at_old.requests.load(SeqCst)), "{group}");
    assert!(at_new.connections.load(SeqCst) >= 1);
    assert_eq!(group["calls"], 20);
    assert_eq!(group["times"]["response"]["count"], 20);
}

#[test]
fn a_sequence_follows_too_and_loses_nothing() {
    use wirelab_contract::charging::{ConfirmActionReply, CreditReply};
    let (new_address, _) = server(|mut stream, _| {
        let (mut deframer, mut buffer) = (Deframer::new(), [0u8; 4096]);
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            let mut input = &buffer[..length];
            while let Ok(Some(ClientMessage::Request(request))) = deframer.next(&mut input) {
                let mut out = Vec::new();
                match request.operation.as_str() {
                    "credit" => request.reply_to.result(&mut out, &CreditReply { cn: 7 }),
                    _ => request
                        .reply_to
                        .result(&mut out, &ConfirmActionReply { cn: 7 }),
                }
                .expect("numbers");
                stream.write_all(&out).expect("a client that waits");
            }
        }
    });
    let forward = ior(&new_address, b"moved");
    let (old, _) = server(move |stream, _| {
        let mut calls = 0;
        each_call(stream, |_, to, out| {
            calls += 1;
            match calls {
                1 => to.result(out, &CreditReply { cn: 7 }).expect("numbers"),
                _ => to.forward(out, &forward, true).expect("text"),
            }
            true
        });
    });
    let mut plan = iiop_plan(&object(&old, b"here"));
    plan["groups"][0]["workload"] =
        json!({"kind": "sequence", "contract": "charging", "function": "Credit"});
    plan["groups"][0]["load"]["users"] = json!(1);
    let group = group(&plan);
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(40), &json!(0)),
        "{group}"
    );
    assert_eq!(group["sequences"]["count"], 20);
}

#[test]
fn a_forward_to_a_closed_port_leads_back_to_where_the_object_was() {
    use std::sync::atomic::AtomicBool;
    let closed_port = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let dead = ior(
        &closed_port.local_addr().expect("bound").to_string(),
        b"gone",
    );
    drop(closed_port);
    let forwarded = AtomicBool::new(false);
    let (address, _) = server(move |stream, _| {
        each_call(stream, |key, to, out| {
            assert_eq!(key, b"here");
            if forwarded.swap(true, SeqCst) {
                return balance(to, out);
            }
            to.forward(out, &dead, false).expect("text");
            true
        });
    });
    let mut plan = iiop_plan(&object(&address, b"here"));
    plan["groups"][0]["load"]["users"] = json!(1);
    let group = group(&plan);
    // The call that found the port closed; the others go to the first address again.
    assert_eq!(group["errors_by_kind"], json!({"refused": 1}), "{group}");
    assert_eq!(group["ok"], 19, "{group}");
}

#[test]
fn a_circle_of_forwards_ends() {
    let (address, seen) = server(|stream, seen| {
        let own = stream.local_addr().expect("bound").to_string();
        let forward = ior(&own, b"here");
        each_call(stream, |_, to, out| {
            seen.requests.fetch_add(1, SeqCst);
            to.forward(out, &forward, false).expect("text");
            true
        });
    });
    let mut plan = iiop_plan(&object(&address, b"here"));
    plan["groups"][0]["load"]["users"] = json!(1);
    plan["groups"][0]["window"] = json!({"calls": {"calls": 2, "max_s": 20.0}});
    let group = group(&plan);
    assert_eq!(group["errors_by_kind"], json!({"protocol": 2}), "{group}");
    let example = group["error_examples"][0].as_str().unwrap();
    assert!(example.contains("more than 8 times"), "{example}");
    // Two calls, each made once and forwarded eight times.
    assert_eq!(seen.requests.load(SeqCst), 18);
}

#[test]
fn no_service_sends_the_load_to_another_machine() {
    let (address, _) = server(|stream, _| {
        each_call(stream, |_, to, out| {
            // TEST-NET-1, which is never routed (RFC 5737).
            let elsewhere = Ior::new("", "192.0.2.1", 9, b"trap");
            to.forward(out, &elsewhere, true).expect("text");
            true
        });
    });
    let group = group(&iiop_plan(&object(&address, b"here")));
    assert_eq!(group["errors_by_kind"], json!({"protocol": 20}), "{group}");
    let example = group["error_examples"][0].as_str().unwrap();
    assert!(
        example.contains("192.0.2.1:9 is not a loopback"),
        "{example}"
    );
}

#[test]
fn a_reference_to_another_machine_is_refused_before_anything_is_sent() {
    for object in [
        object("192.0.2.1:9", b"trap"),
        "corbaloc:iiop:1.2@192.0.2.1:9/trap".into(),
    ] {
        let (code, event, _) = drive(&iiop_plan(&object));
        assert_eq!(code, 2, "{event}");
        assert!(
            event["message"].as_str().unwrap().contains("loopback"),
            "{event}"
        );
    }
    let (code, event, _) = drive(&iiop_plan("IOR:nonsense"));
    assert_eq!(code, 2, "{event}");
    assert!(
        event["message"].as_str().unwrap().contains("object"),
        "{event}"
    );
}

#[test]
fn exceptions_are_application_errors_with_their_text() {
    let (address, _) = server(|stream, _| {
        let mut number = 0;
        each_call(stream, |_, to, out| {
            number += 1;
            let done = match number % 2 {
                1 => to.system_exception(out, &SystemException::object_not_exist()),
                _ => to.user_exception(
                    out,
                    &UserException {
                        id: UserException::application_error_id("charging"),
                        message: Some("no such account".into()),
                    },
                ),
            };
            done.is_ok()
        });
    });
    let mut plan = iiop_plan(&object(&address, b"here"));
    plan["groups"][0]["load"]["users"] = json!(1);
    let group = group(&plan);
    assert_eq!(
        group["errors_by_kind"],
        json!({"application": 20}),
        "{group}"
    );
    let examples = group["error_examples"].to_string();
    assert!(
        examples.contains("OBJECT_NOT_EXIST, minor code 0x0"),
        "{examples}"
    );
    assert!(
        examples.contains("GIOP user exception: no such account"),
        "{examples}"
    );
}

#[test]
fn a_server_may_close_between_calls_and_garbage_is_a_protocol_error() {
    let (address, _) = server(|stream, _| {
        each_call(stream, |_, to, out| {
            balance(to, out);
            close_connection(out, to.version);
            false
        });
    });
    assert_eq!(group(&iiop_plan(&object(&address, b"here")))["ok"], 20);
    let (address, _) = server(|stream, _| {
        each_call(stream, |_, _, out| {
            out.extend_from_slice(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            true
        });
    });
    let group = group(&iiop_plan(&object(&address, b"here")));
    assert_eq!(group["errors_by_kind"], json!({"protocol": 20}), "{group}");
}
