//! The values whose encodings are written down.

use serde_json::{Value, json};
use wirelab_contract::{allocations, workload};

/// Message, name, value in the JSON mapping.
pub type Named = (String, String, Value);

/// Every message of every contract, the awkward values among them.
pub fn all() -> Vec<Named> {
    let mut all = transfer();
    all.extend(charging());
    all.extend(calendar());
    all.extend(records());
    all
}

/// Those that `messages.json` holds.
fn transfer() -> Vec<Named> {
    let vectors = include_str!("../../../../contracts/vectors/messages.json");
    let vectors: Value = serde_json::from_str(vectors).expect("vectors are JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let accepted = vectors["accepted"].as_array().into_iter().flatten();
    accepted
        .map(|vector| {
            let value = serde_json::from_str(&text(&vector["json"])).expect("messages are JSON");
            (text(&vector["message"]), text(&vector["name"]), value)
        })
        .collect()
}

fn make_named(message: &str, name: &str, value: Value) -> Named {
    (message.to_owned(), name.to_owned(), value)
}

fn charging() -> Vec<Named> {
    let (least, most) = (i32::MIN, i32::MAX);
    let mut all = Vec::new();
    for message in [
        "CreditRequest",
        "DirectDebitRequest",
        "ReserveRequest",
        "CreditReply",
        "DirectDebitReply",
        "ReserveReply",
        "DebitReservationRequest",
        "DebitReservationReply",
        "ReleaseResRequest",
        "ReleaseResReply",
        "CreditControlRequest",
        "CreditControlReply",
        "ConfirmActionRequest",
        "ConfirmActionReply",
    ] {
        all.push(make_named(message, "empty", json!({})));
    }
    all.extend([
        make_named("CreditRequest", "the study's", json!({"id": 1, "am": 147})),
        make_named(
            "DirectDebitRequest",
            "the study's",
            json!({"id": 1, "am": 438}),
        ),
        make_named(
            "DirectDebitRequest",
            "limits",
            json!({"id": least, "am": most}),
        ),
        make_named("ReserveRequest", "the study's", json!({"id": 1, "am": 520})),
        make_named("ReserveReply", "usual", json!({"res": 12, "cn": 34567})),
        make_named(
            "DebitReservationRequest",
            "usual",
            json!({"id": 1000, "am": 520, "res": 12}),
        ),
        make_named("ReleaseResRequest", "largest", json!({"res": most})),
        make_named("CreditControlRequest", "usual", json!({"id": 7})),
        make_named(
            "CreditControlReply",
            "usual",
            json!({"balance": 999_999_709, "reserved": 520}),
        ),
        make_named("ConfirmActionRequest", "smallest", json!({"cn": least})),
        make_named("ConfirmActionReply", "minus one", json!({"cn": -1})),
    ]);
    all
}

fn records() -> Vec<Named> {
    let team = |group: i32| {
        json!({
            "member1": "Alice", "member2": "Derek", "member1id": 113_517, "member2id": 113_520,
            "courseCode": "CS31245", "groupId": group,
        })
    };
    let request = json!({"name": "Alice", "id": 113_517, "courseCode": "CS31245"});
    let odd = json!({"name": UNICODE, "id": i32::MIN, "courseCode": " "});
    let reply = json!({"message": allocations::MESSAGE, "teamDetails": team(879_253)});
    vec![
        make_named("AllocateRequest", "empty", json!({})),
        make_named("AllocateRequest", "the study's", request),
        make_named("AllocateRequest", "odd, but a message", odd),
        make_named("AllocateReply", "the study's", reply),
        make_named("Team", "largest group", team(i32::MAX)),
        make_named(
            "FindAllocationRequest",
            "usual",
            json!({"groupId": 879_253}),
        ),
        make_named(
            "FindAllocationReply",
            "usual",
            json!({"teamDetails": team(1)}),
        ),
        make_named("CountAllocationsRequest", "empty", json!({})),
        make_named(
            "CountAllocationsReply",
            "largest",
            json!({"count": i64::MAX}),
        ),
    ]
}

const UNICODE: &str = "é ナット 🔩 \"q\" ' a/b <&> ]]> \n\t\r \u{2028}";

fn calendar() -> Vec<Named> {
    let entry = |slot: i32, title: &str, weight: f64| json!({"slot": slot, "title": title, "open": slot % 2 == 1, "weight": weight});
    let book = json!(workload::book(7, 480));
    let odd = json!({
        "owner": UNICODE, "day": -1, "slot": i32::MIN, "title": " ", "open": true,
        "weight": 5e-324, "note": "",
    });
    let long = json!({"document": "é".repeat(300)});
    vec![
        make_named("DeployRequest", "empty", json!({})),
        make_named("DeployRequest", "the study's", json!(workload::deploy())),
        make_named("DeployRequest", "300 characters of two bytes", long),
        make_named(
            "DeployReply",
            "usual",
            json!({"status": "deployed 0123456789"}),
        ),
        make_named("BookRequest", "empty", json!({})),
        make_named("BookRequest", "of the workload", book),
        make_named("BookRequest", "odd, but a message", odd),
        make_named("BookReply", "empty", json!({})),
        make_named(
            "BookReply",
            "usual",
            json!({"number": 17_471, "owner": "a", "title": UNICODE}),
        ),
        make_named("EntriesRequest", "usual", json!({"owner": "a", "day": 364})),
        make_named("Entry", "largest double", entry(47, "t", f64::MAX)),
        make_named("Entry", "a double of 17 digits", entry(1, "t", 0.1 + 0.2)),
        make_named("Entry", "a whole double", entry(1, "t", -3.0)),
        make_named("EntriesReply", "no entries", json!({})),
        make_named(
            "EntriesReply",
            "three entries",
            json!({"entries": [entry(0, "", 0.0), entry(1, UNICODE, -0.25), entry(47, "x", 1e300)]}),
        ),
    ]
}
