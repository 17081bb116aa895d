//! Mixes of operations and sequences, against the services in Rust.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::service::Service;
use crate::support::{drive, group, plan};

fn stack(binding: &str, codec: &str, transport: &str) -> Value {
    json!({"binding": binding, "codec": codec, "transport": transport})
}

fn contract(contract: &str, operation: &str, bytes: u64) -> Value {
    json!({"kind": "contract", "contract": contract, "operation": operation, "bytes": bytes})
}

fn part(weight: f64, workload: Value) -> Value {
    json!({"weight": weight, "workload": workload})
}

/// A plan of 200 arrivals of `parts` by three users.
fn mix(service: &Service, stack: &Value, parts: &[Value]) -> Value {
    let mut plan = plan(service.address());
    let group = &mut plan["groups"][0];
    group["stack"] = stack.clone();
    group["workload"] = json!({"kind": "mix", "seed": 5, "parts": parts});
    group["load"]["users"] = json!(3);
    group["window"] = json!({"calls": {"calls": 200, "max_s": 60.0}});
    group["timeout_s"] = json!(20.0);
    if let Some(ior) = service.ready.get("ior").filter(|ior| !ior.is_null()) {
        group["object"] = ior.clone();
    }
    plan
}

/// Calls that went well, by operation.
fn calls(group: &Value) -> BTreeMap<String, u64> {
    let operations = group["operations"].as_array().expect("a list");
    let calls = operations.iter().map(|one| {
        let name = one["operation"].as_str().expect("a name");
        assert_eq!(one["ok"], one["times"]["response"]["count"], "{group}");
        (name.to_owned(), one["ok"].as_u64().expect("a count"))
    });
    calls.collect()
}

fn assert_all_right(group: &Value, arrivals: u64, what: &str) {
    assert_eq!(group["errors"], 0, "{what}: {group}");
    assert_eq!(group["ok"], arrivals, "{what}: {group}");
    assert_eq!(calls(group).values().sum::<u64>(), arrivals, "{what}");
}

#[test]
fn operations_of_transfer_are_mixed_over_every_stack() {
    for (binding, codec, transport) in [
        ("rest", "json", "http/1.1"),
        ("rest", "protobuf", "http/2"),
        ("rest", "cbor", "http/1.1"),
        ("soap", "soap-literal", "http/1.1"),
        ("soap", "soap-rpc", "http/2"),
        ("grpc", "protobuf", "http/2"),
        ("iiop", "cdr", "tcp"),
        ("raw", "soap-literal", "tcp"),
        ("raw", "token-xml", "tcp"),
    ] {
        for work in ["decode", "frame"] {
            let stack = stack(binding, codec, transport);
            let config = json!({"store": {"hello_bytes": 200}});
            let service = Service::start("transfer", &stack, &config);
            let parts = [
                part(3.0, contract("transfer", "Hello", 200)),
                part(2.0, contract("transfer", "Submit", 300)),
                part(1.0, contract("transfer", "Submit", 5_000)),
                part(1.0, contract("transfer", "Upload", 20_000)),
            ];
            let mut plan = mix(&service, &stack, &parts);
            plan["groups"][0]["stack"]["work"] = json!(work);
            let group = group(&plan);
            assert_all_right(&group, 200, &format!("{work} {stack}"));
            let names: Vec<String> = calls(&group).into_keys().collect();
            assert_eq!(names, ["Hello", "Submit", "Upload"], "{stack}");
        }
    }
}

/// More kinds of requests than any one operation has, with methods and paths of their own.
#[test]
fn operations_of_petclinic_keep_their_methods_and_paths() {
    let operations = [
        "ListOwners",
        "GetOwner",
        "AddOwner",
        "UpdateOwner",
        "AddPetToOwner",
        "GetOwnersPet",
        "AddVisitToOwner",
        "ListPets",
        "GetPet",
        "UpdatePet",
        "AddPet",
        "ListPetTypes",
        "GetPetType",
        "AddPetType",
        "ListVets",
        "GetVet",
        "AddVet",
        "UpdateVet",
        "ListSpecialties",
        "AddSpecialty",
        "UpdateSpecialty",
        "ListVisits",
        "GetVisit",
        "AddVisit",
    ];
    for (binding, codec, transport) in [
        ("rest", "json", "http/1.1"),
        ("rest", "json", "http/2"),
        ("grpc", "protobuf", "http/2"),
    ] {
        let stack = stack(binding, codec, transport);
        let service = Service::start("petclinic", &stack, &json!({}));
        let parts = operations.map(|name| part(1.0, contract("petclinic", name, 0)));
        let mut plan = mix(&service, &stack, &parts);
        plan["groups"][0]["window"]["calls"]["calls"] = json!(600);
        let group = group(&plan);
        assert_all_right(&group, 600, &stack.to_string());
        assert_eq!(calls(&group).len(), operations.len(), "{group}");
    }
}

#[test]
fn a_sequence_of_a_mix_is_one_arrival() {
    for (binding, codec, transport) in [
        ("rest", "json", "http/1.1"),
        ("grpc", "protobuf", "http/2"),
        ("soap", "soap-literal", "http/1.1"),
        ("raw", "token-xml", "tcp"),
    ] {
        let stack = stack(binding, codec, transport);
        let service = Service::start("charging", &stack, &json!({"store": {"accounts": 5}}));
        let parts = [
            part(
                1.0,
                json!({"kind": "contract", "contract": "charging",
                "operation": "CreditControl", "accounts": 5}),
            ),
            part(
                1.0,
                json!({"kind": "sequence", "contract": "charging",
                "function": "ReservationDebit", "accounts": 5}),
            ),
            part(
                1.0,
                json!({"kind": "sequence", "contract": "charging",
                "function": "Credit", "accounts": 5}),
            ),
        ];
        let group = group(&mix(&service, &stack, &parts));
        assert_eq!(group["errors"], 0, "{group}");
        let calls = calls(&group);
        let (reserved, credited) = (calls["Reserve"], calls["Credit"]);
        assert_eq!(calls["CreditControl"] + reserved + credited, 200, "{group}");
        assert_eq!(calls["DebitReservation"], reserved);
        assert_eq!(calls["ConfirmAction"], 2 * reserved + credited);
        assert_eq!(group["sequences"]["count"], reserved + credited, "{group}");
        assert!(reserved > 20 && credited > 20, "{group}");
    }
}

#[test]
fn a_seed_repeats_the_choices_of_an_open_load() {
    let stack = stack("grpc", "protobuf", "http/2");
    let service = Service::start("transfer", &stack, &json!({"store": {"hello_bytes": 14}}));
    let parts = [
        part(0.7, contract("transfer", "Hello", 14)),
        part(0.3, contract("transfer", "Submit", 200)),
    ];
    let run = |seed: u64| {
        let mut plan = mix(&service, &stack, &parts);
        let group_plan = &mut plan["groups"][0];
        group_plan["workload"]["seed"] = json!(seed);
        group_plan["load"] = json!({"kind": "constant", "rate": 2_000.0, "in_flight_max": 8});
        group_plan["window"] = json!({"calls": {"calls": 1_000, "max_s": 60.0}});
        let group = group(&plan);
        assert_all_right(&group, 1_000, "");
        calls(&group)["Hello"]
    };
    let hellos = run(1);
    assert_eq!(run(1), hellos);
    assert_ne!(run(2), hellos);
    // Five standard deviations of 1,000 choices.
    assert!(hellos.abs_diff(700) < 73, "{hellos}");
}

#[test]
fn calls_that_are_never_sent_are_recorded_as_what_they_would_have_been() {
    let stack = stack("rest", "json", "http/1.1");
    let service = Service::start("transfer", &stack, &json!({"store": {"hello_bytes": 14}}));
    let parts = [
        part(1.0, contract("transfer", "Hello", 14)),
        part(1.0, contract("transfer", "Submit", 200)),
    ];
    let mut plan = mix(&service, &stack, &parts);
    drop(service);
    let group_plan = &mut plan["groups"][0];
    group_plan["load"] = json!({"kind": "constant", "rate": 500.0, "in_flight_max": 8});
    group_plan["window"] = json!({"duration_s": 0.4});
    group_plan["drain_s"] = json!(0.2);
    let group = group(&plan);
    assert_eq!(group["ok"], 0, "{group}");
    for operation in group["operations"].as_array().unwrap() {
        let errors = operation["errors"].as_u64().unwrap();
        // 200 arrivals, half of them of each part: 100, and five standard deviations of 7.
        assert!((60..140).contains(&errors), "{group}");
    }
}

#[test]
fn a_mix_of_one_part_is_that_part() {
    let stack = stack("rest", "json", "http/1.1");
    let service = Service::start("transfer", &stack, &json!({"store": {"hello_bytes": 14}}));
    let parts = [part(0.5, contract("transfer", "Hello", 14))];
    let group = group(&mix(&service, &stack, &parts));
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(200), &json!(0)),
        "{group}"
    );
    assert_eq!(group["operations"], json!([]));
}

#[test]
fn mixes_that_make_no_sense_are_refused_by_their_part() {
    let hello = || part(1.0, contract("transfer", "Hello", 14));
    let cases = [
        (vec![], "there are no parts"),
        (
            vec![hello(), part(0.0, contract("transfer", "Hello", 14))],
            "parts[1]: weight = 0",
        ),
        (
            vec![hello(), part(1.0, contract("transfer", "Download", 14))],
            "parts[1]: ",
        ),
        (
            vec![
                hello(),
                part(1.0, json!({"kind": "grpc", "method": "a.B/C"})),
            ],
            "parts[1]: ",
        ),
        (
            vec![part(1.0, json!({"kind": "mix", "parts": [hello()]}))],
            "parts[0]: a mix within a mix",
        ),
    ];
    for (parts, text) in cases {
        let mut plan = plan("127.0.0.1:9");
        plan["groups"][0]["stack"] = stack("rest", "json", "http/1.1");
        plan["groups"][0]["workload"] = json!({"kind": "mix", "parts": parts});
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 2, "{event}");
        assert!(event["message"].as_str().unwrap().contains(text), "{event}");
    }
}
