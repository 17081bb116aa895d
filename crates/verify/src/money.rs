//! Many connections at once: money is neither lost nor made.

use std::thread;

use wirelab_contract::workload::{
    CREDIT_AMOUNT, Carried, DIRECT_DEBIT_AMOUNT, Function, RESERVED_AMOUNT,
};
use wirelab_contract::{Reply, State};

use crate::charging::control;
use crate::finding::{Exam, Finding, Section};
use crate::subject::{Response, Subject, Subjects};

/// Connections at the same time.
const CONNECTIONS: usize = 8;

/// Sequences that each of them makes.
const SEQUENCES: usize = 60;

/// Accounts that all of them share.
const ACCOUNTS: i32 = 3;

/// Accounts from here on are not touched by the other sections.
// 20 accounts exist at least; the sections before use the first four and the last two.
const FIRST: i32 = 11;

/// Sequences of all functions on few accounts; afterwards the balances are
/// what was there before, less debits, plus credits, and nothing is set aside.
pub(crate) fn exam(model: &State, subjects: &dyn Subjects) -> Result<Exam, String> {
    let mut findings = Vec::new();
    // No model here: the order of concurrent calls is not known. Sums do not depend on it,
    // so only they are compared.
    let made: Vec<Result<Vec<Finding>, String>> = thread::scope(|scope| {
        let connections: Vec<_> = (0..CONNECTIONS)
            .map(|k| scope.spawn(move || connection(subjects, k)))
            .collect();
        let ended = connections.into_iter().map(|thread| {
            thread
                .join()
                // A panic is a mistake of this crate. It must not look like a finding about
                // the service.
                .unwrap_or_else(|_| Err("the examiner itself failed".into()))
        });
        ended.collect()
    });
    for found in made {
        findings.extend(found?);
    }
    let mut subject = subjects.connect()?;
    for id in FIRST..FIRST + ACCOUNTS {
        findings.extend(balance(model, &mut *subject, id));
    }
    findings.truncate(20);
    Ok(Exam {
        section: Section::Money,
        calls: calls() + ACCOUNTS as u64,
        findings,
        left_out: Vec::new(),
    })
}

fn function(sequence: usize) -> Function {
    Function::ALL[sequence % Function::ALL.len()]
}

/// Calls of all connections.
fn calls() -> u64 {
    let one: usize = (0..SEQUENCES).map(|k| function(k).steps().len()).sum();
    (one * CONNECTIONS) as u64
}

fn connection(subjects: &dyn Subjects, number: usize) -> Result<Vec<Finding>, String> {
    let mut subject = subjects.connect()?;
    let mut findings = Vec::new();
    for k in 0..SEQUENCES {
        // Every function on every account; connections begin on different ones, so that
        // each account is always shared.
        let account = FIRST + ((k / Function::ALL.len() + number) as i32) % ACCOUNTS;
        findings.extend(sequence(&mut *subject, function(k), account));
    }
    Ok(findings)
}

/// One sequence with the subject's own numbers; its first wrong answer.
fn sequence(subject: &mut dyn Subject, function: Function, account: i32) -> Option<Finding> {
    let mut carried = Carried::default();
    for step in 0..function.steps().len() {
        let call = function.next(step, account, &carried)?;
        match subject.call(&call) {
            // The service's own numbers, without translation: no model shares this
            // sequence.
            Response::Reply(reply) => carried.take(&reply),
            other => {
                return Some(Finding {
                    name: format!("{function} next to {} other connections", CONNECTIONS - 1),
                    call: format!("{call:?}"),
                    expected: "a reply".into(),
                    found: format!("{other:?}"),
                });
            }
        }
    }
    None
}

/// The account as it must be now.
fn balance(model: &State, subject: &mut dyn Subject, id: i32) -> Option<Finding> {
    let call = control(id);
    // The model still has the balance at the start, since no section has called these
    // accounts. Its reserved amount, 0, must be there again.
    let Ok(Reply::CreditControl(mut expected)) = model.answer(&call) else {
        return None;
    };
    expected.balance += change(id);
    let response = subject.call(&call);
    let expected = Response::Reply(Reply::CreditControl(expected));
    (response != expected).then(|| Finding {
        name: "the balance after concurrent sequences".into(),
        call: format!("{call:?}"),
        expected: format!("{expected:?}"),
        found: format!("{response:?}"),
    })
}

/// What all sequences together change on an account.
fn change(id: i32) -> i32 {
    let mut change = 0;
    for number in 0..CONNECTIONS {
        for k in 0..SEQUENCES {
            let account = FIRST + ((k / Function::ALL.len() + number) as i32) % ACCOUNTS;
            if account == id {
                change += match function(k) {
                    Function::Credit => CREDIT_AMOUNT,
                    Function::DirectDebit => -DIRECT_DEBIT_AMOUNT,
                    Function::ReservationDebit => -RESERVED_AMOUNT,
                    // A release gives back all that was set aside.
                    Function::CreditControl | Function::ReservationRelease => 0,
                };
            }
        }
    }
    change
}
