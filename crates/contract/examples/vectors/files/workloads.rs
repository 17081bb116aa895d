//! Digests of requests, which all callers make alike for the same workload.

use serde::Serialize;
use wirelab_contract::model::sha256_hex;
use wirelab_contract::workload::{self, Carried, Function};
use wirelab_contract::{Call, Message, MessageVisitor, Operation};

/// One request of one arrival.
#[derive(Debug, Serialize)]
pub struct WorkloadVector {
    /// As in a plan.
    workload: Workload,
    /// Who calls, from 0.
    user: u32,
    /// How often that user has called before.
    arrival: u64,
    /// Of the first request as compact JSON.
    sha256: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Workload {
    Contract {
        contract: &'static str,
        operation: &'static str,
        bytes: u64,
    },
    Sequence {
        contract: &'static str,
        function: &'static str,
    },
}

/// Requests that are the same for all users, with the sizes of their large parts. A request of
/// 1,200,000 bytes and more has few and long records.
const SAME: [(Operation, u64); 15] = [
    (Operation::Hello, 14),
    (Operation::Submit, 100),
    (Operation::Submit, 101),
    (Operation::Submit, 200),
    (Operation::Submit, 2_000),
    (Operation::Submit, 150_000),
    (Operation::Submit, 1_200_000),
    (Operation::Upload, 0),
    (Operation::Upload, 1_000),
    (Operation::Deploy, 0),
    (Operation::Deploy, 5_000),
    (Operation::Entries, 0),
    (Operation::Allocate, 0),
    (Operation::FindAllocation, 0),
    (Operation::CountAllocations, 0),
];

/// Users and their arrivals: the slots of a calendar begin again after 17,472 bookings, and
/// owners after 9,000 users.
const BOOKINGS: [(u32, u64); 5] = [(0, 0), (1, 1), (9_001, 47), (3, 17_471), (0, 17_472)];

/// Accounts begin again after 1,000 users.
const USERS: [u32; 3] = [0, 999, 1_012];

const ACCOUNTS: u32 = 1_000;

pub fn vectors() -> Vec<WorkloadVector> {
    let same = SAME.into_iter().map(|(operation, bytes)| {
        let call = workload::call(operation, bytes, 1, 0).expect("sizes that exist");
        vector(of_operation(operation, bytes), (0, 0), &call)
    });
    let bookings = BOOKINGS.into_iter().map(|(user, arrival)| {
        let call = Call::Book(workload::book(user.into(), arrival));
        vector(of_operation(Operation::Book, 0), (user, arrival), &call)
    });
    let functions = USERS.into_iter().flat_map(|user| {
        Function::ALL.into_iter().map(move |function| {
            let account = (1 + user % ACCOUNTS) as i32;
            let call = function.next(0, account, &Carried::default());
            let workload = Workload::Sequence {
                contract: "charging",
                function: function.name(),
            };
            vector(workload, (user, 0), &call.expect("a first call"))
        })
    });
    same.chain(bookings).chain(functions).collect()
}

fn of_operation(operation: Operation, bytes: u64) -> Workload {
    Workload::Contract {
        contract: operation.contract().name(),
        operation: operation.name(),
        bytes,
    }
}

fn vector(workload: Workload, (user, arrival): (u32, u64), call: &Call) -> WorkloadVector {
    let text = call.visit(CompactJson).expect("one message");
    WorkloadVector {
        workload,
        user,
        arrival,
        sha256: sha256_hex(text.as_bytes()),
    }
}

struct CompactJson;

impl MessageVisitor for CompactJson {
    type Output = String;

    fn visit<M: Message>(self, message: &M) -> String {
        serde_json::to_string(message).expect("messages are maps with string keys")
    }
}
