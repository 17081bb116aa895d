//! Sequences of calls on a fresh store, with what they must be answered.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use wirelab_contract::{Contract, Operation, State, Store, TEXT_BYTES_MAX, workload};

/// One sequence.
#[derive(Debug, Serialize)]
pub struct Script {
    contract: &'static str,
    name: &'static str,
    store: Value,
    steps: Vec<Step>,
}

/// One call.
#[derive(Debug, Serialize)]
struct Step {
    operation: &'static str,
    /// In the JSON mapping; `$res1`, `$cn1` stand for numbers of earlier replies.
    request: Value,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// In the JSON mapping; a name that is new stands for any positive number
    /// that was never given.
    Reply(Value),
    /// The text of the application error.
    Error(String),
}

pub fn vectors() -> Vec<Script> {
    [charging(), calendar()].into_iter().flatten().collect()
}

/// Fields that hold numbers of the service's own choice.
// Only their equality is tested: a caller must not expect any particular number
// (contracts/README.md, charging).
const NUMBERS: [&str; 2] = ["res", "cn"];

/// Writes a script while the model answers it.
struct Writer {
    state: State,
    /// What each name stands for in the model.
    numbers: BTreeMap<String, Value>,
    script: Script,
}

impl Writer {
    fn new(contract: Contract, name: &'static str, accounts: i32, balance: i32) -> Self {
        let store = Store {
            accounts,
            balance,
            ..Store::default()
        };
        let store_document = match contract {
            Contract::Charging => json!({"accounts": accounts, "balance": balance}),
            _ => json!({}),
        };
        Writer {
            state: State::new(&store),
            numbers: BTreeMap::new(),
            script: Script {
                contract: contract.name(),
                name,
                store: store_document,
                steps: Vec::new(),
            },
        }
    }

    fn call(mut self, operation: Operation, request: Value) -> Self {
        let answer = operation.answer_object(&self.state, self.with_numbers(&request));
        let answer = answer.expect("scripts call unary operations");
        let answer = match answer.expect("scripts hold requests") {
            Ok(reply) => {
                let mut reply = reply.to_object().expect("replies of unary operations");
                reply.sort_all_objects();
                Answer::Reply(self.with_names(reply))
            }
            Err(error) => Answer::Error(error.to_string()),
        };
        let operation = operation.name();
        self.script.steps.push(Step {
            operation,
            request,
            answer,
        });
        self
    }

    fn with_numbers(&self, request: &Value) -> Value {
        let number = |value: &Value| value.as_str().and_then(|name| self.numbers.get(name));
        let fields = request.as_object().expect("requests are objects").iter();
        let fields = fields.map(|(field, value)| {
            let value = number(value).unwrap_or(value);
            (field.clone(), value.clone())
        });
        Value::Object(fields.collect())
    }

    fn with_names(&mut self, reply: Value) -> Value {
        let Value::Object(fields) = reply else {
            unreachable!("replies are objects")
        };
        let fields = fields.into_iter().map(|(field, value)| {
            let named = NUMBERS.contains(&field.as_str());
            let value = if named {
                self.name(&field, value)
            } else {
                value
            };
            (field, value)
        });
        Value::Object(fields.collect::<Map<_, _>>())
    }

    /// The name of a number, a new one when it was not given before.
    fn name(&mut self, field: &str, number: Value) -> Value {
        // ConfirmAction repeats its number, which must keep its name.
        let known = self.numbers.iter().find(|(_, known)| **known == number);
        if let Some((name, _)) = known {
            return json!(name);
        }
        let prefix = format!("${field}");
        let earlier = self.numbers.keys().filter(|name| name.starts_with(&prefix));
        let name = format!("{prefix}{}", earlier.count() + 1);
        self.numbers.insert(name.clone(), number);
        json!(name)
    }
}

fn charging() -> Vec<Script> {
    [
        functions(),
        partial_debit(),
        amounts_and_accounts(),
        credit_limits(),
        numbers_once(),
        foreign_reservation(),
    ]
    .map(|writer| writer.script)
    .into()
}

/// Every function of the study, then the balance.
fn functions() -> Writer {
    use Operation::{
        ConfirmAction, Credit, CreditControl, DebitReservation, DirectDebit, ReleaseRes, Reserve,
    };
    let control = json!({"id": 1});
    let set_aside = json!({"id": 1, "am": 520});
    Writer::new(
        Contract::Charging,
        "every function of the study",
        1_000,
        1_000_000_000,
    )
    .call(CreditControl, control.clone())
    .call(DirectDebit, json!({"id": 1, "am": 438}))
    .call(ConfirmAction, json!({"cn": "$cn1"}))
    .call(Credit, json!({"id": 1, "am": 147}))
    .call(ConfirmAction, json!({"cn": "$cn2"}))
    .call(Reserve, set_aside.clone())
    .call(ConfirmAction, json!({"cn": "$cn3"}))
    .call(CreditControl, control.clone())
    .call(ReleaseRes, json!({"res": "$res1"}))
    .call(ConfirmAction, json!({"cn": "$cn4"}))
    .call(CreditControl, control.clone())
    .call(Reserve, set_aside)
    .call(ConfirmAction, json!({"cn": "$cn5"}))
    .call(
        DebitReservation,
        json!({"id": 1, "am": 520, "res": "$res2"}),
    )
    .call(ConfirmAction, json!({"cn": "$cn6"}))
    .call(CreditControl, control)
    // The last account, to see that accounts are counted from 1.
    .call(CreditControl, json!({"id": 1000}))
}

fn partial_debit() -> Writer {
    use Operation::{CreditControl, DebitReservation, Reserve};
    Writer::new(
        Contract::Charging,
        "less is taken than was set aside",
        2,
        1_000,
    )
    .call(Reserve, json!({"id": 2, "am": 600}))
    .call(Reserve, json!({"id": 2, "am": 300}))
    .call(CreditControl, json!({"id": 2}))
    .call(DebitReservation, json!({"id": 2, "am": 1, "res": "$res1"}))
    .call(CreditControl, json!({"id": 2}))
    .call(
        DebitReservation,
        json!({"id": 2, "am": 301, "res": "$res2"}),
    )
    .call(
        DebitReservation,
        json!({"id": 2, "am": 300, "res": "$res2"}),
    )
    .call(CreditControl, json!({"id": 2}))
    .call(CreditControl, json!({"id": 1}))
}

/// Errors before anything else is looked at.
fn amounts_and_accounts() -> Writer {
    use Operation::{Credit, CreditControl, DebitReservation, DirectDebit, Reserve};
    let mut writer = Writer::new(
        Contract::Charging,
        "amounts and accounts that there are not",
        3,
        1_000,
    );
    for operation in [Credit, DirectDebit, Reserve, DebitReservation] {
        for (id, am) in [
            (1, 0),
            (0, -1),
            (1, i32::MIN),
            (0, 1),
            (-1, 1),
            (4, i32::MAX),
            // `id - 1` overflows for this one.
            (i32::MIN, 1),
        ] {
            let mut request = json!({"id": id, "am": am});
            if operation == DebitReservation {
                request["res"] = json!(1);
            }
            writer = writer.call(operation, request);
        }
    }
    for id in [0, 4, i32::MAX] {
        writer = writer.call(CreditControl, json!({"id": id}));
    }
    [1, 2, 3].into_iter().fold(writer, |writer, id| {
        writer.call(CreditControl, json!({"id": id}))
    })
}

fn credit_limits() -> Writer {
    use Operation::{Credit, CreditControl, DirectDebit, ReleaseRes, Reserve};
    // What still fits at the start; one debit and credit of 5 before leave the balance as
    // it was.
    let most = i32::MAX - 1_000;
    Writer::new(
        Contract::Charging,
        "no more than there is, and no more than fits",
        1,
        1_000,
    )
    .call(DirectDebit, json!({"id": 1, "am": 1_001}))
    .call(Reserve, json!({"id": 1, "am": 1_001}))
    .call(Reserve, json!({"id": 1, "am": 1_000}))
    // All is reserved: the balance would do, what is available does not.
    .call(DirectDebit, json!({"id": 1, "am": 1}))
    .call(Credit, json!({"id": 1, "am": 5}))
    .call(DirectDebit, json!({"id": 1, "am": 6}))
    .call(DirectDebit, json!({"id": 1, "am": 5}))
    .call(Credit, json!({"id": 1, "am": most + 1}))
    .call(Credit, json!({"id": 1, "am": most}))
    .call(Credit, json!({"id": 1, "am": 1}))
    .call(CreditControl, json!({"id": 1}))
    .call(ReleaseRes, json!({"res": "$res1"}))
    .call(DirectDebit, json!({"id": 1, "am": i32::MAX}))
    .call(DirectDebit, json!({"id": 1, "am": 1}))
    .call(CreditControl, json!({"id": 1}))
}

/// Confirmations and reservations are used up.
fn numbers_once() -> Writer {
    use Operation::{ConfirmAction, CreditControl, DebitReservation, ReleaseRes, Reserve};
    Writer::new(Contract::Charging, "every number once", 1, 1_000)
        .call(ConfirmAction, json!({"cn": 0}))
        .call(ConfirmAction, json!({"cn": -1}))
        .call(ReleaseRes, json!({"res": 0}))
        .call(ReleaseRes, json!({"res": i32::MIN}))
        .call(Reserve, json!({"id": 1, "am": 10}))
        .call(ConfirmAction, json!({"cn": "$cn1"}))
        .call(ConfirmAction, json!({"cn": "$cn1"}))
        .call(ReleaseRes, json!({"res": "$res1"}))
        .call(ReleaseRes, json!({"res": "$res1"}))
        .call(DebitReservation, json!({"id": 1, "am": 10, "res": "$res1"}))
        // Late, but still known.
        .call(ConfirmAction, json!({"cn": "$cn2"}))
        .call(CreditControl, json!({"id": 1}))
}

fn foreign_reservation() -> Writer {
    use Operation::{CreditControl, DebitReservation, ReleaseRes, Reserve};
    Writer::new(
        Contract::Charging,
        "a reservation of another account",
        2,
        1_000,
    )
    .call(Reserve, json!({"id": 1, "am": 10}))
    // Ownership is checked before the amount, which the next call shows.
    .call(DebitReservation, json!({"id": 2, "am": 10, "res": "$res1"}))
    .call(
        DebitReservation,
        json!({"id": 2, "am": 2_000, "res": "$res1"}),
    )
    .call(CreditControl, json!({"id": 1}))
    .call(CreditControl, json!({"id": 2}))
    .call(ReleaseRes, json!({"res": "$res1"}))
    .call(CreditControl, json!({"id": 1}))
}

fn calendar() -> Vec<Script> {
    [deployments(), bookings(), booking_errors(), booking_order()]
        .map(|writer| writer.script)
        .into()
}

fn fresh(name: &'static str) -> Writer {
    Writer::new(Contract::Calendar, name, 0, 0)
}

fn deployments() -> Writer {
    let document = |text: &str| json!({ "document": text });
    fresh("documents")
        .call(Operation::Deploy, document("abc"))
        .call(Operation::Deploy, document("abc"))
        .call(Operation::Deploy, document(""))
        .call(
            Operation::Deploy,
            document("<a>Größe &amp; ナット 🔩</a>\n\t"),
        )
        .call(Operation::Deploy, json!(workload::deploy()))
        .call(Operation::Deploy, document(&"é".repeat(300)))
}

/// An entry that nothing is wrong with.
fn entry(owner: &str, day: i32, slot: i32) -> Value {
    json!({
        "owner": owner, "day": day, "slot": slot, "title": format!("{day}/{slot}"),
        "open": slot % 2 == 0, "weight": f64::from(slot) / 4.0, "note": "n",
    })
}

fn bookings() -> Writer {
    let day = |owner: &str, day: i32| json!({"owner": owner, "day": day});
    let mut replaced = entry("Jürgen", 364, 0);
    replaced["title"] = json!("ΔT < 40 & more");
    replaced["weight"] = json!(-1.5e-300);
    fresh("entries by slot, the latest counts")
        .call(Operation::Entries, day("Jürgen", 364))
        .call(Operation::Book, entry("Jürgen", 364, 47))
        .call(Operation::Book, entry("Jürgen", 364, 0))
        .call(Operation::Book, entry("Jürgen", 1, 0))
        .call(Operation::Book, entry("Jürgen", 1, 47))
        .call(Operation::Book, entry("Jürgen", 2, 0))
        // Owners are compared byte by byte: another case is another owner.
        .call(Operation::Book, entry("jürgen", 1, 5))
        .call(Operation::Entries, day("Jürgen", 364))
        .call(Operation::Book, replaced)
        .call(Operation::Entries, day("Jürgen", 364))
        .call(Operation::Entries, day("Jürgen", 1))
        .call(Operation::Entries, day("Jürgen", 3))
        .call(Operation::Entries, day("jürgen", 1))
        .call(Operation::Entries, day("nobody", 1))
        .call(Operation::Book, json!(workload::book(1, 17_471)))
}

fn booking_errors() -> Writer {
    let long = "é".repeat(TEXT_BYTES_MAX / 2) + ".";
    let most = "é".repeat(TEXT_BYTES_MAX / 2);
    let mut writer = fresh("what cannot be booked");
    for (field, value) in [
        ("owner", json!("")),
        ("owner", json!(long)),
        ("day", json!(0)),
        ("day", json!(365)),
        ("day", json!(i32::MIN)),
        ("slot", json!(-1)),
        ("slot", json!(48)),
        ("title", json!("")),
        ("title", json!(long)),
        ("title", json!(most)),
        ("note", json!(long)),
        ("note", json!(most)),
        ("note", json!("")),
        ("weight", json!(f64::MAX)),
        ("weight", json!(5e-324)),
    ] {
        let mut request = entry("a", 1, 1);
        request[field] = value;
        writer = writer.call(Operation::Book, request);
    }
    writer
        .call(Operation::Entries, json!({"owner": "", "day": 0}))
        .call(Operation::Entries, json!({"owner": "a", "day": 0}))
        .call(Operation::Entries, json!({"owner": "a", "day": 365}))
        .call(Operation::Entries, json!({"owner": "a", "day": 1}))
}

/// Everything is wrong, and then less and less.
fn booking_order() -> Writer {
    let long = "x".repeat(TEXT_BYTES_MAX + 1);
    let mut request = json!({
        "owner": "", "day": 0, "slot": 48, "title": "", "open": true, "weight": 1.0, "note": long,
    });
    let mut writer = fresh("the first of several errors is reported");
    for (field, repaired) in [
        ("owner", json!("a")),
        ("day", json!(1)),
        ("slot", json!(0)),
        ("title", json!("t")),
        ("note", json!("")),
    ] {
        writer = writer.call(Operation::Book, request.clone());
        request[field] = repaired;
    }
    let document = "x".repeat(2_000);
    writer
        .call(Operation::Book, request)
        .call(Operation::Deploy, json!({ "document": document }))
}
