//! Requests with values of rows, and with values of earlier replies.

use serde_json::{Value, json};

use crate::support::charging;
use crate::support::service::Service;
use crate::support::{drive, group, plan};

fn stack(binding: &str, codec: &str, transport: &str) -> Value {
    json!({"binding": binding, "codec": codec, "transport": transport})
}

/// 60 arrivals of `workload`, one after another.
fn plan_of(address: &str, stack: &Value, workload: Value) -> Value {
    let mut plan = plan(address);
    let group = &mut plan["groups"][0];
    group["stack"] = stack.clone();
    group["workload"] = workload;
    group["window"] = json!({"calls": {"calls": 60, "max_s": 60.0}});
    group["timeout_s"] = json!(20.0);
    plan
}

fn control(data: &Value) -> Value {
    json!({"kind": "contract", "contract": "charging", "operation": "CreditControl",
        "data": data})
}

/// A file of rows that is removed with this.
struct RowsFile(String);

impl RowsFile {
    fn new(name: &str, text: &str) -> RowsFile {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("wirelab-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        RowsFile(path.to_str().unwrap().to_owned())
    }

    fn data(&self) -> Value {
        json!({"rows": {"kind": "file", "path": self.0}})
    }
}

impl Drop for RowsFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The accounts that 60 calls asked for.
fn accounts(data: &Value, users: u32) -> Vec<i64> {
    let (address, requested) = charging::serve(|_, _, _, _| {});
    let mut plan = plan_of(&address, &stack("rest", "json", "http/1.1"), control(data));
    plan["groups"][0]["load"]["users"] = json!(users);
    let group = group(&plan);
    assert_eq!(
        (&group["ok"], &group["errors"]),
        (&json!(60), &json!(0)),
        "{group}"
    );
    let requested = requested.lock().unwrap();
    requested
        .iter()
        .map(|(_, r)| r["id"].as_i64().unwrap())
        .collect()
}

#[test]
fn each_call_takes_the_next_row_and_the_first_follows_the_last() {
    let expected: Vec<i64> = [7, 3, 500, 1].into_iter().cycle().take(60).collect();
    let csv = RowsFile::new("calls.csv", "id\n7\n3\n500\n1\n");
    assert_eq!(accounts(&csv.data(), 1), expected);
    let lines = "{\"id\":7}\n{\"id\":3}\n\n{\"id\":500}\n{\"id\":1}";
    let lines = RowsFile::new("calls.jsonl", lines);
    assert_eq!(accounts(&lines.data(), 1), expected);
}

#[test]
fn each_user_keeps_its_row() {
    let rows = RowsFile::new("users.csv", "id\n7\n3\n500\n");
    let mut data = rows.data();
    data["per"] = json!("user");
    let requested = accounts(&data, 2);
    assert!(requested.contains(&7) && requested.contains(&3) && !requested.contains(&500));
}

#[test]
fn random_rows_are_those_of_their_seed() {
    let data = |seed: u64| {
        json!({"rows": {"kind": "random", "count": 40, "seed": seed,
            "fields": {"id": {"kind": "integer", "min": 1, "max": 900}}}})
    };
    let requested = accounts(&data(1), 1);
    assert_eq!(requested[..20], requested[40..]);
    assert_eq!(requested, accounts(&data(1), 1));
    assert_ne!(requested, accounts(&data(2), 1));
}

/// A row that no owner has is answered with an error, so the rows do arrive.
#[test]
fn rows_arrive_over_every_stack_in_the_path_or_the_message() {
    for (binding, codec, transport) in [
        ("rest", "json", "http/1.1"),
        ("rest", "json", "http/2"),
        ("grpc", "protobuf", "http/2"),
    ] {
        let stack = stack(binding, codec, transport);
        let service = Service::start("petclinic", &stack, &json!({}));
        for operation in ["GetOwner", "UpdateOwner"] {
            let rows = RowsFile::new("owners.csv", "id\n1\n2\n999999\n10\n");
            let workload = json!({"kind": "contract", "contract": "petclinic",
                "operation": operation, "data": rows.data()});
            let group = group(&plan_of(service.address(), &stack, workload));
            let counts = (&group["ok"], &group["errors_by_kind"]);
            let expected = json!({"application": 15});
            assert_eq!(
                counts,
                (&json!(45), &expected),
                "{operation} {stack}: {group}"
            );
        }
    }
    for (binding, codec, transport) in [
        ("soap", "soap-literal", "http/1.1"),
        ("iiop", "cdr", "tcp"),
        ("raw", "soap-literal", "tcp"),
        ("raw", "token-xml", "tcp"),
    ] {
        let stack = stack(binding, codec, transport);
        let service = Service::start("charging", &stack, &json!({"store": {"accounts": 5}}));
        let rows = RowsFile::new("accounts.csv", "id\n1\n2\n6\n5\n");
        let mut plan = plan_of(service.address(), &stack, control(&rows.data()));
        if let Some(ior) = service.ready.get("ior").filter(|ior| !ior.is_null()) {
            plan["groups"][0]["object"] = ior.clone();
        }
        let group = group(&plan);
        let counts = (&group["ok"], &group["errors_by_kind"]);
        assert_eq!(
            counts,
            (&json!(45), &json!({"application": 15})),
            "{stack}: {group}"
        );
    }
}

/// Each owner can be deleted once, so its number must be that of the owner just stored.
#[test]
fn values_of_replies_go_into_later_requests() {
    for (binding, codec, transport) in [
        ("rest", "json", "http/1.1"),
        ("rest", "json", "http/2"),
        ("grpc", "protobuf", "http/2"),
    ] {
        for work in ["decode", "frame"] {
            let stack = stack(binding, codec, transport);
            let service = Service::start("petclinic", &stack, &json!({}));
            let rows = RowsFile::new("names.csv", "lastName,city\nMarti,Palma\nSoren,Aarhus\n");
            let workload = json!({"kind": "steps", "contract": "petclinic",
                "data": rows.data(), "steps": [
                {"operation": "AddOwner"},
                {"operation": "AddPetToOwner", "carry": [{"from": "id", "to": "ownerId"}]},
                {"operation": "GetOwnersPet", "carry": [
                    {"step": 0, "from": "id", "to": "ownerId"}, {"from": "id", "to": "petId"}]},
                {"operation": "ListOwners"},
                {"operation": "DeleteOwner", "carry": [{"step": 0, "from": "id", "to": "id"}]},
            ]});
            let mut plan = plan_of(service.address(), &stack, workload);
            plan["groups"][0]["stack"]["work"] = json!(work);
            plan["groups"][0]["load"]["users"] = json!(3);
            let group = group(&plan);
            assert_eq!(group["errors"], 0, "{work} {stack}: {group}");
            assert_eq!(group["ok"], 300, "{work} {stack}: {group}");
            assert_eq!(group["sequences"]["count"], 60, "{group}");
            assert_eq!(group["operations"].as_array().unwrap().len(), 5, "{group}");
        }
    }
}

#[test]
fn steps_and_rows_are_parts_of_a_mix() {
    let stack = stack("rest", "json", "http/1.1");
    let service = Service::start("petclinic", &stack, &json!({}));
    let rows = RowsFile::new("mixed.csv", "id\n1\n2\n3\n");
    let workload = json!({"kind": "mix", "parts": [
        {"weight": 2, "workload": {"kind": "contract", "contract": "petclinic",
            "operation": "GetOwner", "data": rows.data()}},
        {"weight": 1, "workload": {"kind": "contract", "contract": "petclinic",
            "operation": "GetOwner"}},
        {"weight": 1, "workload": {"kind": "steps", "contract": "petclinic", "steps": [
            {"operation": "AddOwner"},
            {"operation": "DeleteOwner", "carry": [{"from": "id", "to": "id"}]}]}},
    ]});
    let group = group(&plan_of(service.address(), &stack, workload));
    assert_eq!(group["errors"], 0, "{group}");
    let sequences = group["sequences"]["count"].as_u64().unwrap();
    assert_eq!(group["ok"].as_u64(), Some(60 + sequences), "{group}");
    assert!(sequences > 0, "{group}");
}

#[test]
fn data_that_do_not_fit_are_refused_before_the_load_by_name_and_line() {
    let steps = |steps: Value| json!({"kind": "steps", "contract": "petclinic", "steps": steps});
    let file = |name: &str, text: &str| RowsFile::new(name, text);
    let unknown = file("unknown.csv", "id,colour\n1,red\n");
    let typed = file("typed.csv", "id\n1\nx\n");
    let range = file("range.jsonl", "{\"id\": 1}\n{\"id\": 99999999999}\n");
    let empty = file("empty.csv", "id\n");
    let short = file("short.csv", "id,x\n1\n");
    let cases = [
        (
            control(&unknown.data()),
            "unknown.csv, line 2: CreditControlRequest has no field \"colour\"; it has id",
        ),
        (
            control(&typed.data()),
            "typed.csv, line 3: field id: \"x\" is not an integer",
        ),
        (
            control(&range.data()),
            "range.jsonl, line 2: field id: 99999999999 is not an integer",
        ),
        (control(&empty.data()), "empty.csv: there are no rows"),
        (
            control(&short.data()),
            "short.csv, line 2: 1 values for 2 fields",
        ),
        (
            control(&json!({"rows": {"kind": "file", "path": "/nonexistent.csv"}})),
            "/nonexistent.csv: No such file",
        ),
        (steps(json!([])), "steps: there are 0"),
        (
            steps(json!([{"operation": "AddOwner", "carry": [{"from": "id", "to": "city"}]}])),
            "steps[0]: carry: there is no earlier step",
        ),
        (
            steps(json!([{"operation": "AddOwner"},
            {"operation": "GetOwner", "carry": [{"from": "number", "to": "id"}]}])),
            "steps[1]: carry: Owner has no field \"number\"",
        ),
        (
            steps(json!([{"operation": "AddOwner"},
            {"operation": "GetOwner", "carry": [{"from": "city", "to": "id"}]}])),
            "steps[1]: carry: field id: \"\" is not an integer",
        ),
    ];
    for (workload, words) in cases {
        let plan = plan_of("127.0.0.1:9", &stack("rest", "json", "http/1.1"), workload);
        let (code, event, _) = drive(&plan);
        assert_eq!(code, 2, "{event}");
        assert!(
            event["message"].as_str().unwrap().contains(words),
            "{words}: {event}"
        );
    }
}
