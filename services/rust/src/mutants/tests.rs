use wirelab_contract::calendar::{BookRequest, DeployRequest, EntriesRequest};
use wirelab_contract::charging::{
    ConfirmActionRequest, CreditControlRequest, CreditRequest, DebitReservationRequest,
    DirectDebitRequest, ReleaseResRequest, ReserveRequest,
};
use wirelab_contract::transfer::{HelloRequest, Record, SubmitRequest, UploadRequest};
use wirelab_contract::{Store, ops};
use wirelab_wire_own::soap::FaultCode;

use super::*;

/// The text of the answer of a service, with and without a mutant.
struct Service {
    state: State,
    mutation: Option<Mutation>,
    answers: Vec<String>,
}

impl Service {
    fn new(mutant: Option<&str>) -> Self {
        let store = Store {
            balance: 1000,
            accounts: 3,
            ..Store::default()
        };
        Service {
            state: State::new(&store),
            mutation: mutant.map(|name| Mutation::new(name).expect("a name of the table")),
            answers: Vec::new(),
        }
    }

    fn ask<O: Unary>(&mut self, request: O::Request) -> Option<O::Reply> {
        let answer = match &self.mutation {
            None => O::answer(&self.state, request).map_err(|error| error.to_string()),
            Some(mutation) => mutation.answer::<O>(&self.state, request),
        };
        self.answers.push(format!("{answer:?}"));
        answer.ok()
    }

    /// Asks for the state of an account, without the numbers that a service may choose.
    fn account(&mut self, id: i32) {
        self.ask::<ops::CreditControl>(CreditControlRequest { id });
    }
}

fn transfer(service: &mut Service) {
    let record = |id, quantity, item: &str, remark: &str| Record {
        id,
        quantity,
        item: item.to_owned(),
        remark: remark.to_owned(),
    };
    let odd = i64::MAX - 1;
    let records = vec![
        record(1, i32::MAX, "a", "r"),
        record(2, 2, "b", ""),
        record(odd, 0, "c", "r"),
        record(4, 3, "", "r"),
        record(5, -1, "", "r"),
        record(6, i32::MAX, "z", "r"),
    ];
    let submit = |batch: &str, records| SubmitRequest {
        batch: batch.to_owned(),
        records,
    };
    service.ask::<ops::Submit>(submit(" batch ", records));
    service.ask::<ops::Submit>(submit("many", vec![record(1, 1, "a", "r"); 1001]));
    service.ask::<ops::Submit>(submit("", Vec::new()));
    service.ask::<ops::Submit>(submit("", vec![Record::default(); model_records() + 1]));
    for bytes in [3, (1 << 20) + 1] {
        service.ask::<ops::Upload>(UploadRequest {
            data: vec![7; bytes],
        });
    }
    service.ask::<ops::Hello>(HelloRequest {});
    service.ask::<ops::HelloBytes>(HelloRequest {});
}

fn model_records() -> usize {
    wirelab_contract::model::RECORDS_MAX
}

fn charging(service: &mut Service) {
    let credit = |id, am| CreditRequest { id, am };
    let debit = |id, am| DirectDebitRequest { id, am };
    let reserve = |id, am| ReserveRequest { id, am };
    let cn = service.ask::<ops::Credit>(credit(1, 147)).map(|r| r.cn);
    for _ in 0..2 {
        let cn = cn.unwrap_or(0);
        service.ask::<ops::ConfirmAction>(ConfirmActionRequest { cn });
    }
    service.ask::<ops::ConfirmAction>(ConfirmActionRequest { cn: 77_777 });
    for am in [0, -5, i32::MAX] {
        service.ask::<ops::Credit>(credit(1, am));
        service.account(1);
    }
    service.ask::<ops::DirectDebit>(debit(1, 438));
    service.account(1);
    service.ask::<ops::DirectDebit>(debit(99, 0));
    service.account(99);
    let first = service
        .ask::<ops::Reserve>(reserve(2, 600))
        .map_or(0, |r| r.res);
    service.account(2);
    service.ask::<ops::DirectDebit>(debit(2, 700));
    let foreign = DebitReservationRequest {
        id: 3,
        am: 100,
        res: first,
    };
    service.ask::<ops::DebitReservation>(foreign);
    service.ask::<ops::DebitReservation>(DebitReservationRequest { id: 2, ..foreign });
    service.account(2);
    let second = service
        .ask::<ops::Reserve>(reserve(3, 50))
        .map_or(0, |r| r.res);
    let first_again = second == first;
    service.answers.push(format!("reused: {first_again}"));
    service.ask::<ops::ReleaseRes>(ReleaseResRequest { res: second });
    service.account(3);
}

fn calendar(service: &mut Service) {
    let long = "é".repeat(50) + &"t".repeat(60);
    let book = |day, slot, title: &str| BookRequest {
        owner: "owner".to_owned(),
        day,
        slot,
        title: title.to_owned(),
        open: slot == 3,
        weight: 0.1,
        note: String::new(),
    };
    for (day, slot, title) in [
        (1, 3, long.as_str()),
        (1, 0, "early"),
        (1, 3, "again"),
        (1, 47, "last"),
        (365, 0, "next year"),
        (1, 48, ""),
    ] {
        service.ask::<ops::Book>(book(day, slot, title));
        service.ask::<ops::Entries>(EntriesRequest {
            owner: "owner".to_owned(),
            day: 1,
        });
    }
    service.ask::<ops::Entries>(EntriesRequest {
        owner: "nobody".to_owned(),
        day: 1,
    });
    service.ask::<ops::Deploy>(DeployRequest {
        document: "<a/>".to_owned(),
    });
}

/// All answers of a service that is asked everything.
fn answers(mutant: Option<&str>) -> Vec<String> {
    let mut service = Service::new(mutant);
    transfer(&mut service);
    charging(&mut service);
    calendar(&mut service);
    service.answers
}

#[test]
fn every_mutant_of_a_contract_answers_something_wrong() {
    let right = answers(None);
    assert_eq!(right, answers(None), "the script is not repeatable");
    let of_format = |act: &Act| matches!(act, Act::Bytes(_) | Act::Fault(_) | Act::Status(_));
    let models = all().filter(|mutant| !of_format(&mutant.act));
    for mutant in models {
        assert_ne!(right, answers(Some(mutant.name)), "{}", mutant.name);
    }
}

/// What a mutant of the formats makes of some bytes.
fn mutate(name: &str, bytes: &str) -> String {
    let mut bytes = bytes.as_bytes().to_vec();
    Mutation::new(name).expect(name).bytes(&mut bytes);
    String::from_utf8(bytes).expect("text")
}

#[test]
fn every_mutant_of_a_format_writes_something_wrong() {
    for (name, right, wrong) in [
        (
            "xml-zero-omitted",
            "<r><a>0</a><b>10</b></r>",
            "<r><b>10</b></r>",
        ),
        ("xml-cr-not-escaped", "<a>x&#13;y</a>", "<a>x\ry</a>"),
        ("xml-escaped-twice", "<a>&amp;</a>", "<a>&amp;amp;</a>"),
        (
            "json-int64-as-string",
            r#"{"quantity_total":-12,"refused":[{"id":1},{"id":2}]}"#,
            r#"{"quantity_total":"-12","refused":[{"id":"1"},{"id":"2"}]}"#,
        ),
        (
            "json-camel-case",
            r#"{"quantity_total":1}"#,
            r#"{"quantityTotal":1}"#,
        ),
        (
            "cdr-byte-order-flag",
            "GIOP\u{1}\u{2}\u{1}",
            "GIOP\u{1}\u{2}\u{0}",
        ),
    ] {
        assert_eq!(mutate(name, right), wrong, "{name}");
    }
}

#[test]
fn the_mutant_of_fault_codes_blames_the_service() {
    let mut fault = Fault::client("no such account");
    let mutation = Mutation::new("fault-code-server").expect("a mutant");
    mutation.fault(&mut fault);
    assert_eq!(fault.code, FaultCode::Server);
}

#[test]
fn names_are_distinct_and_there_are_enough() {
    let mut names: Vec<&str> = all().map(|mutant| mutant.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count >= 30, "{count} mutants");
    for mutant in all() {
        let well_named = mutant.name.split('-').all(|word| !word.is_empty());
        assert!(well_named && !mutant.breaks.is_empty(), "{}", mutant.name);
    }
}
