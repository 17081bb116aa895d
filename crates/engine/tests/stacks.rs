//! The engine against the services in Rust, over every stack.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};
use wirelab_stack::Binding;

use crate::support::certificates::Certificates;
use crate::support::service::Service;
use crate::support::{group, plan};

/// What services/rust/service.json offers, as far as it matters here.
#[derive(Deserialize)]
struct Manifest<'a> {
    #[serde(borrow)]
    defaults: Defaults<'a>,
    serves: Vec<Offer<'a>>,
}

#[derive(Deserialize)]
struct Defaults<'a> {
    #[serde(borrow)]
    transports: Vec<&'a str>,
    #[serde(borrow)]
    contracts: Vec<&'a str>,
}

#[derive(Deserialize)]
struct Offer<'a> {
    binding: &'a str,
    /// Where there are none: those of the binding that carry every message.
    codecs: Option<Vec<&'a str>>,
    transports: Option<Vec<&'a str>>,
    contracts: Option<Vec<&'a str>>,
}

/// Binding, codec and transport.
type Point = (&'static str, &'static str, &'static str);

/// Every form that contracts have, as offered. Text has a single operation.
fn stacks() -> Vec<Point> {
    stacks_of("transfer")
}

/// The forms that a contract has, as offered, without text.
fn stacks_of(contract: &str) -> Vec<Point> {
    let text = include_str!("../../../services/rust/service.json");
    let manifest: Manifest<'static> = serde_json::from_str(text).expect("the manifest");
    let mut found = Vec::new();
    for offer in manifest.serves {
        let contracts = offer.contracts.as_ref();
        if !contracts
            .unwrap_or(&manifest.defaults.contracts)
            .contains(&contract)
        {
            continue;
        }
        let transports = offer
            .transports
            .unwrap_or(manifest.defaults.transports.clone());
        let codecs = offer.codecs.unwrap_or_else(|| {
            let binding: Binding = offer.binding.parse().expect("a binding");
            binding
                .row()
                .codecs
                .iter()
                .map(|codec| codec.name())
                .collect()
        });
        for codec in codecs.into_iter().filter(|codec| *codec != "text") {
            found.extend(
                transports
                    .iter()
                    .map(|transport| (offer.binding, codec, *transport)),
            );
        }
    }
    found
}

#[test]
fn stacks_of_every_binding_are_driven() {
    let driven = stacks().into_iter().chain(stacks_of("stream"));
    let driven: BTreeSet<&str> = driven.map(|(binding, ..)| binding).collect();
    let every: BTreeSet<&str> = Binding::ALL.iter().map(|binding| binding.name()).collect();
    assert_eq!(driven, every);
    assert!(stacks().len() > 20, "{:?}", stacks());
}

fn stack((binding, codec, transport): Point) -> Value {
    json!({"binding": binding, "codec": codec, "transport": transport})
}

fn with(mut base: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().expect("options") {
        base[name] = value.clone();
    }
    base
}

/// 30 calls of `workload` by three users, and the group that came of it.
fn run(service: &Service, stack: Value, workload: Value, more: &Value) -> Value {
    let mut plan = plan(service.address());
    let group_plan = &mut plan["groups"][0];
    // Persistent connections came with HTTP/1.1 (RFC 9112 section 9.3).
    let closes = stack["transport"] == "http/1.0";
    group_plan["stack"] = stack;
    if closes {
        group_plan["stack"]["connection"] = json!("close");
    }
    group_plan["workload"] = workload;
    group_plan["load"]["users"] = json!(3);
    group_plan["window"] = json!({"calls": {"calls": 30, "max_s": 30.0}});
    group_plan["timeout_s"] = json!(20.0);
    if let Some(ior) = service.ready.get("ior").filter(|ior| !ior.is_null()) {
        group_plan["object"] = ior.clone();
    }
    plan["groups"][0] = with(plan["groups"][0].clone(), more);
    group(&plan)
}

fn all_right(group: &Value, calls: u64, what: &str) {
    assert_eq!(
        (group["ok"].as_u64(), group["errors"].as_u64()),
        (Some(calls), Some(0)),
        "{what}: {group}"
    );
}

fn contract(contract: &str, operation: &str, bytes: u64) -> Value {
    json!({"kind": "contract", "contract": contract, "operation": operation, "bytes": bytes})
}

#[test]
fn transfer_over_every_stack() {
    for of in stacks() {
        let service = Service::start(
            "transfer",
            &stack(of),
            &json!({"store": {"hello_bytes": 200}}),
        );
        for (operation, bytes) in [("Hello", 200), ("Submit", 5_000), ("Upload", 200_000)] {
            let group = run(
                &service,
                stack(of),
                contract("transfer", operation, bytes),
                &json!({}),
            );
            all_right(&group, 30, &format!("{operation} over {of:?}"));
        }
    }
}

#[test]
fn charging_s_sequences_over_every_stack() {
    for of in stacks() {
        let service = Service::start("charging", &stack(of), &json!({"store": {"accounts": 5}}));
        for (function, calls) in [
            ("ReservationDebit", 120),
            ("Credit", 60),
            ("CreditControl", 30),
        ] {
            let workload = json!({"kind": "sequence", "contract": "charging",
                "function": function, "accounts": 5});
            let group = run(&service, stack(of), workload, &json!({}));
            all_right(&group, calls, &format!("{function} over {of:?}"));
            assert_eq!(group["sequences"]["count"], 30, "{group}");
        }
    }
}

#[test]
fn calendar_over_every_stack() {
    for of in stacks() {
        let service = Service::start("calendar", &stack(of), &json!({}));
        for operation in ["Deploy", "Book", "Entries"] {
            let group = run(
                &service,
                stack(of),
                contract("calendar", operation, 0),
                &json!({}),
            );
            all_right(&group, 30, &format!("{operation} over {of:?}"));
        }
    }
}

#[test]
fn items_over_every_stack_of_streams() {
    assert_eq!(stacks_of("stream").len(), 9);
    for of in stacks_of("stream") {
        let service = Service::start("stream", &stack(of), &json!({}));
        let mut feed = contract("stream", "Feed", 50);
        feed["items"] = json!({"count": 4, "gap_us": 1_000, "pattern": "bursts"});
        let group = run(&service, stack(of), feed, &json!({}));
        all_right(&group, 30, &format!("Feed over {of:?}"));
        let streams = &group["streams"];
        assert_eq!(streams["messages"], json!(120), "{of:?}: {streams}");
    }
}

#[test]
fn frame_work_over_every_stack() {
    for of in stacks() {
        let service = Service::start("calendar", &stack(of), &json!({}));
        let framed = with(stack(of), &json!({"work": "frame"}));
        let group = run(
            &service,
            framed,
            contract("calendar", "Book", 0),
            &json!({}),
        );
        all_right(&group, 30, &format!("{of:?}"));
    }
}

#[test]
fn application_errors_are_reported_with_their_text_in_every_stack() {
    for of in stacks() {
        // One account only: the second user's does not exist.
        let service = Service::start("charging", &stack(of), &json!({"store": {"accounts": 1}}));
        for work in ["decode", "frame"] {
            let workload = json!({"kind": "sequence", "contract": "charging",
                "function": "CreditControl", "accounts": 2});
            let worked = with(stack(of), &json!({"work": work}));
            let more = json!({"load": {"kind": "constant", "rate": 100.0, "in_flight_max": 2}});
            let group = run(&service, worked, workload, &more);
            assert_eq!(
                group["errors_by_kind"],
                // 30 arrivals call for the two accounts in turn.
                json!({"application": 15}),
                "{of:?}: {group}"
            );
            let example = group["error_examples"][0].as_str().unwrap();
            assert!(example.contains("no such account"), "{of:?}: {example}");
        }
    }
}

#[test]
fn compression_in_both_ways() {
    for of in [
        ("rest", "json", "http/1.1"),
        ("rest", "xml", "http/2"),
        ("soap", "soap-literal", "http/1.1"),
        ("connect", "protobuf", "http/1.1"),
        ("raw", "soap-literal", "tcp"),
        ("raw", "token-xml", "tcp"),
    ] {
        let of_binding = match of.0 {
            "connect" => &["gzip"][..],
            _ => &["gzip", "zstd"],
        };
        for compression in of_binding {
            let compressed = with(stack(of), &json!({"compression": compression}));
            let service = Service::start("transfer", &compressed, &json!({}));
            let what = format!("{compression} over {of:?}");
            let submit = contract("transfer", "Submit", 5_000);
            let group = run(&service, compressed.clone(), submit, &json!({}));
            all_right(&group, 30, &what);
            let framed = with(compressed, &json!({"work": "frame"}));
            let submit = contract("transfer", "Submit", 5_000);
            all_right(&run(&service, framed, submit, &json!({})), 30, &what);
        }
    }
}

#[test]
fn options_of_single_stacks() {
    let mut cases = vec![
        (
            ("iiop", "cdr", "tcp"),
            json!({}),
            json!({"byte_order": "big"}),
        ),
        (
            ("iiop", "cdr", "tcp"),
            json!({}),
            json!({"connection": "pool=1", "in_flight": "multiplex=4"}),
        ),
        (
            ("iiop", "cdr", "tcp"),
            json!({}),
            json!({"connection": "close"}),
        ),
        (
            ("raw", "token-xml", "tcp"),
            json!({}),
            json!({"token_source": "text"}),
        ),
        (
            ("raw", "token-xml", "tcp"),
            json!({}),
            json!({"connection": "close"}),
        ),
        (
            ("raw", "token-xml", "tcp"),
            json!({}),
            json!({"connection": "pool=1", "in_flight": "pipeline=4"}),
        ),
    ];
    for codec in ["soap-literal", "soap-rpc"] {
        let version = json!({"soap": "1.2"});
        cases.push((("soap", codec, "http/1.1"), version.clone(), version));
    }
    for (of, served, client_stack) in cases {
        let service = Service::start("calendar", &with(stack(of), &served), &json!({}));
        let client_stack = with(stack(of), &client_stack);
        let what = client_stack.to_string();
        all_right(
            &run(
                &service,
                client_stack,
                contract("calendar", "Book", 0),
                &json!({}),
            ),
            30,
            &what,
        );
    }
}

#[test]
fn a_name_and_a_password_open_the_envelope() {
    let of = ("soap", "soap-literal", "http/1.1");
    let store = json!({"store": {"username": "erika", "password": "<&>"}});
    let service = Service::start("calendar", &stack(of), &store);
    let right = json!({"username": "erika", "password": "<&>"});
    let book = || contract("calendar", "Book", 0);
    all_right(&run(&service, stack(of), book(), &right), 30, "right");
    for wrong in [json!({}), json!({"username": "erika", "password": "?"})] {
        let group = run(&service, stack(of), book(), &wrong);
        assert_eq!(
            group["errors_by_kind"],
            json!({"application": 30}),
            "{group}"
        );
        let example = group["error_examples"][0].as_str().unwrap();
        assert!(example.contains("authentication failed"), "{example}");
    }
}

#[test]
fn tls_under_every_binding() {
    let certificates = Certificates::make();
    let file = |name: &str| certificates.file(name);
    for of in [
        ("rest", "json", "http/1.1"),
        ("rest", "json", "http/2"),
        ("soap", "soap-literal", "http/1.0"),
        ("grpc", "protobuf", "http/2"),
        ("iiop", "cdr", "tcp"),
        ("raw", "token-xml", "tcp"),
    ] {
        for (security, tls) in [
            ("tls", certificates.client()),
            ("mtls", certificates.mutual()),
        ] {
            let secured = with(stack(of), &json!({"security": security}));
            let mut files = json!({"certificate": file("server.pem"), "key": file("server.key")});
            if security == "mtls" {
                // One authority signs both ends.
                files["client_ca"] = json!(file("ca.pem"));
            }
            let service = Service::start("transfer", &secured, &json!({"tls": files}));
            let submit = contract("transfer", "Submit", 5_000);
            let group = run(&service, secured, submit, &json!({"tls": tls}));
            all_right(&group, 30, &format!("{security} under {of:?}"));
        }
    }
}

#[test]
fn unix_sockets_under_every_binding() {
    let folder = std::env::temp_dir();
    for (number, of) in [
        ("rest", "xml", "http/1.1"),
        ("rest", "cbor", "http/1.1"),
        ("rest", "msgpack", "http/2"),
        ("soap", "soap-rpc", "http/1.1"),
        ("grpc", "protobuf", "http/2"),
        ("iiop", "cdr", "tcp"),
        ("raw", "soap-literal", "tcp"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.join(format!("wirelab-{}-{number}", std::process::id()));
        let listen = json!({"listen": format!("unix:{}", path.display())});
        let service = Service::start("calendar", &stack(of), &listen);
        let group = run(
            &service,
            stack(of),
            contract("calendar", "Book", 0),
            &json!({}),
        );
        all_right(&group, 30, &format!("{of:?}"));
    }
}

#[test]
fn one_way_calls_end_when_they_have_been_processed() {
    for codec in ["soap-literal", "token-xml"] {
        let one_way = with(stack(("raw", codec, "tcp")), &json!({"reply": "one-way"}));
        let service = Service::start("calendar", &one_way, &json!({}));
        let more = json!({"report": service.ready["report"]});
        let windowed = with(
            one_way,
            &json!({"connection": "pool=2", "in_flight": "pipeline=16"}),
        );
        let load = json!({"kind": "closed", "users": 32});
        let more = with(more, &json!({"load": load}));
        let group = run(&service, windowed, contract("calendar", "Book", 0), &more);
        all_right(&group, 30, codec);
        // The report has the time of processing, not of writing.
        let wait = &group["times"]["wait"];
        assert!(wait["min_ns"].as_u64().unwrap() > 0, "{group}");
    }
}
