//! Calls of `charging`.

use wirelab_contract::charging::{
    ConfirmActionRequest, CreditControlRequest, CreditRequest, DebitReservationRequest,
    DirectDebitRequest, ReleaseResRequest, ReserveRequest,
};
use wirelab_contract::texts::SplitMix64;
use wirelab_contract::workload::{Carried, Function};
use wirelab_contract::{ACTIONS_MAX, Call, Reply, Store};

use crate::finding::only_deep;
use crate::walk::Walk;

/// Calls of the generated sequence.
const GENERATED: usize = 600;

/// Accounts that the generated sequence uses.
const ACCOUNTS: i32 = 4;

/// A number that no service gives early.
const NEVER_GIVEN: i32 = i32::MAX - 7;

pub(crate) fn operations(walk: &mut Walk, seed: u64) {
    // A balance after each, or one error could make up for another.
    for function in Function::ALL {
        sequence(walk, function, 1);
        let _ = walk.step(&format!("the balance after {function}"), &control(1));
    }
    partial_debit(walk);
    generate(walk, seed);
    for id in 1..=ACCOUNTS {
        let _ = walk.step("the balance after generated calls", &control(id));
    }
}

/// One function of the study, its numbers carried along.
fn sequence(walk: &mut Walk, function: Function, account: i32) {
    let mut carried = Carried::default();
    for step in 0..function.steps().len() {
        let Some(call) = function.next(step, account, &carried) else {
            return;
        };
        match walk.step(&format!("{function}, step {}", step + 1), &call) {
            Ok(reply) => carried.take(&reply),
            Err(_) => return,
        }
    }
}

/// Less than was set aside is taken: the rest is free again.
fn partial_debit(walk: &mut Walk) {
    let Some((res, _)) = reserve(walk, "set aside", 2, 1_000) else {
        return;
    };
    let _ = walk.step("the balance while an amount is set aside", &control(2));
    let _ = walk.step("a part of what was set aside", &debit(2, 999, res));
    let _ = walk.step("the balance after a part was taken", &control(2));
    // 999 of 1,000: a service that keeps the rest reserved would take one unit more.
    let _ = walk.step("a reservation ends with its debit", &debit(2, 1, res));
    if let Some((res, _)) = reserve(walk, "set aside again", 2, 7) {
        let _ = walk.step("one unit of a reservation", &debit(2, 1, res));
        let _ = walk.step(
            "a reservation ends, however little was taken",
            &release(res),
        );
    }
    let _ = walk.step("the balance after all", &control(2));
}

/// What a generated sequence remembers of its own calls, in the model's numbers.
#[derive(Default)]
struct Memory {
    reservations: Vec<i32>,
    confirmations: Vec<i32>,
    /// Numbers that were used up.
    spent: Vec<i32>,
}

fn generate(walk: &mut Walk, seed: u64) {
    let mut random = SplitMix64::new(seed ^ 0xC4A6);
    let mut memory = Memory::default();
    for _ in 0..GENERATED {
        let call = next(&mut random, &mut memory);
        if let Ok(reply) = walk.step("a generated sequence", &call) {
            remember(&mut memory, &reply);
        }
    }
}

fn next(random: &mut SplitMix64, memory: &mut Memory) -> Call {
    let mut below = |n: u64| random.next_u64() % n;
    // One account in eight is unknown, one amount in eight impossible.
    let id = match below(8) {
        0 => 1_000_000 + below(3) as i32,
        _ => 1 + below(ACCOUNTS as u64) as i32,
    };
    let am = match below(8) {
        0 => -(below(3) as i32),
        // Two of these with the balance at the start pass int32, and two debits exhaust it:
        // a sequence meets both bounds.
        1 => 900_000_000,
        _ => 1 + below(1_000) as i32,
    };
    match below(9) {
        0 => credit(id, am),
        1 => Call::DirectDebit(DirectDebitRequest { id, am }),
        2 | 3 => Call::Reserve(ReserveRequest { id, am }),
        4 => debit(
            id,
            am,
            pick(&mut memory.reservations, &memory.spent, below(16)),
        ),
        5 => release(pick(&mut memory.reservations, &memory.spent, below(16))),
        6 => control(id),
        _ => confirm(pick(&mut memory.confirmations, &[], below(16))),
    }
}

/// One of the numbers, or now and then one that is no longer known.
fn pick(numbers: &mut [i32], spent: &[i32], which: u64) -> i32 {
    // Three in sixteen. More would leave too few calls that do something.
    let known = if which < 3 && !spent.is_empty() {
        spent
    } else {
        numbers
    };
    match known.len() {
        0 => NEVER_GIVEN,
        n => known[(which as usize * 7) % n],
    }
}

fn remember(memory: &mut Memory, reply: &Reply) {
    let mut carried = Carried::default();
    carried.take(reply);
    if carried.res != 0 {
        memory.reservations.push(carried.res);
    }
    if carried.cn != 0 {
        memory.confirmations.push(carried.cn);
    }
    // Reservations that are not used stay with the service, so an old number is spent or
    // open. The model knows which.
    if memory.reservations.len() > 12 {
        memory.spent.push(memory.reservations.remove(0));
    }
    if memory.confirmations.len() > 12 {
        memory.confirmations.remove(0);
    }
}

pub(crate) fn errors(walk: &mut Walk, store: &Store) {
    unknown_accounts(walk, store);
    // The order of the errors is part of the contract: the amount is checked before the
    // account, the account before the reservation.
    for (id, name) in [(1, "a known account"), (i32::MAX, "an unknown one")] {
        for am in [0, -1, i32::MIN] {
            let name = format!("{am} units of {name}: the amount comes first");
            let _ = walk.step(&name, &credit(id, am));
            let _ = walk.step(&name, &Call::DirectDebit(DirectDebitRequest { id, am }));
            let _ = walk.step(&name, &Call::Reserve(ReserveRequest { id, am }));
            let _ = walk.step(&name, &debit(id, am, NEVER_GIVEN));
        }
    }
    let _ = walk.step(
        "the account before the reservation",
        &debit(i32::MAX, 1, NEVER_GIVEN),
    );
    for number in [NEVER_GIVEN, 0, -1, i32::MIN] {
        let _ = walk.step("an unknown reservation", &debit(1, 1, number));
        let _ = walk.step("an unknown reservation", &release(number));
        let _ = walk.step("an unknown confirmation", &confirm(number));
    }
    reservations(walk);
    confirmations(walk);
    let _ = walk.step("the balance after errors", &control(1));
    let _ = walk.step("the balance after errors", &control(3));
}

fn unknown_accounts(walk: &mut Walk, store: &Store) {
    for id in [0, -1, store.accounts + 1, i32::MAX, i32::MIN] {
        let _ = walk.step("an unknown account", &control(id));
        let _ = walk.step("an unknown account", &credit(id, 1));
        let _ = walk.step(
            "an unknown account",
            &Call::DirectDebit(DirectDebitRequest { id, am: 1 }),
        );
        let _ = walk.step(
            "an unknown account",
            &Call::Reserve(ReserveRequest { id, am: 1 }),
        );
        let _ = walk.step("an unknown account", &debit(id, 1, NEVER_GIVEN));
    }
    let _ = walk.step("the last account", &control(store.accounts));
}

fn reservations(walk: &mut Walk) {
    if let Some((res, _)) = reserve(walk, "set aside", 3, 50) {
        let _ = walk.step("another account's reservation", &debit(1, 50, res));
        let _ = walk.step("more than was set aside", &debit(3, 51, res));
        let _ = walk.step("the balance after refused debits", &control(3));
        let _ = walk.step("a release", &release(res));
        let _ = walk.step("a second release", &release(res));
        let _ = walk.step("a debit after the release", &debit(3, 50, res));
    }
    if let Some((res, _)) = reserve(walk, "set aside", 3, 60) {
        let _ = walk.step("all that was set aside", &debit(3, 60, res));
        let _ = walk.step("a second debit", &debit(3, 60, res));
        let _ = walk.step("a release after the debit", &release(res));
    }
    let _ = walk.step("the balance after reservations", &control(3));
}

fn confirmations(walk: &mut Walk) {
    let reply = walk.step("a credit to confirm", &credit(1, 5));
    if let Ok(Reply::Credit(reply)) = reply {
        let _ = walk.step("a confirmation", &confirm(reply.cn));
        let _ = walk.step("a second confirmation", &confirm(reply.cn));
    }
}

pub(crate) fn limits(walk: &mut Walk, store: &Store, deep: bool) -> Vec<String> {
    // No other section touches this account. So it has the balance that it started with,
    // and the bound is hit to the unit.
    let id = store.accounts - 1;
    let _ = walk.step(
        "up to the highest balance",
        &credit(id, i32::MAX - store.balance),
    );
    let _ = walk.step("one unit beyond the highest balance", &credit(id, 1));
    let _ = walk.step("all of int32 beyond it", &credit(id, i32::MAX));
    let _ = walk.step("the highest balance", &control(id));
    let _ = walk.step(
        "more than there is",
        &Call::DirectDebit(DirectDebitRequest {
            id: 4,
            am: i32::MAX,
        }),
    );
    if let Some((res, _)) = reserve(walk, "all of it set aside", id, i32::MAX) {
        let _ = walk.step(
            "nothing is available",
            &Call::DirectDebit(DirectDebitRequest { id, am: 1 }),
        );
        let _ = walk.step(
            "nothing can be set aside",
            &Call::Reserve(ReserveRequest { id, am: 1 }),
        );
        // Reserved units are still in the balance, so they count towards its bound.
        let _ = walk.step("one unit beyond while all is set aside", &credit(id, 1));
        let _ = walk.step("all of it is given back", &release(res));
    }
    let _ = walk.step(
        "the last unit",
        &Call::DirectDebit(DirectDebitRequest { id, am: i32::MAX }),
    );
    let _ = walk.step("an empty account", &control(id));
    let _ = walk.step(
        "one unit of an empty account",
        &Call::DirectDebit(DirectDebitRequest { id, am: 1 }),
    );
    if !deep {
        return only_deep("a million unconfirmed actions");
    }
    // Actions of the sections before were not all confirmed, so the error comes earlier.
    // The bound only ends the loop for a service that has no limit.
    let last = walk.calls + ACTIONS_MAX as u64;
    while walk.findings.is_empty() && walk.calls <= last {
        if walk
            .step("as many unconfirmed actions as may be", &credit(5, 1))
            .is_err()
        {
            break;
        }
    }
    Vec::new()
}

/// Sets an amount aside; the model's reservation and confirmation come back.
fn reserve(walk: &mut Walk, name: &str, id: i32, am: i32) -> Option<(i32, i32)> {
    match walk.step(name, &Call::Reserve(ReserveRequest { id, am })) {
        Ok(Reply::Reserve(reply)) => Some((reply.res, reply.cn)),
        _ => None,
    }
}

fn credit(id: i32, am: i32) -> Call {
    Call::Credit(CreditRequest { id, am })
}

fn debit(id: i32, am: i32, res: i32) -> Call {
    Call::DebitReservation(DebitReservationRequest { id, am, res })
}

fn release(res: i32) -> Call {
    Call::ReleaseRes(ReleaseResRequest { res })
}

fn confirm(cn: i32) -> Call {
    Call::ConfirmAction(ConfirmActionRequest { cn })
}

pub(crate) fn control(id: i32) -> Call {
    Call::CreditControl(CreditControlRequest { id })
}
