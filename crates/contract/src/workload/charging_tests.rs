//! The sequences of contracts/README.md.

use super::*;
use crate::{Contract, State, Store};

/// Makes all calls of a function and returns them with their replies.
fn run(function: Function, state: &State, account: i32) -> Vec<(Call, Reply)> {
    let (mut carried, mut made) = (Carried::default(), Vec::new());
    while let Some(call) = function.next(made.len(), account, &carried) {
        let reply = state.answer(&call).unwrap();
        carried.take(&reply);
        made.push((call, reply));
    }
    made
}

#[test]
fn every_function_makes_its_calls_and_is_answered() {
    let state = State::new(&Store::default());
    let calls = Function::ALL.map(|function| {
        let made = run(function, &state, 1_000);
        let operations = made.iter().map(|(call, _)| call.operation());
        assert!(operations.eq(function.steps().iter().copied()));
        made.len()
    });
    assert_eq!(calls, [1, 2, 2, 4, 4]);
}

#[test]
fn each_reply_s_numbers_are_in_the_next_request() {
    let state = State::new(&Store::default());
    let made = run(Function::ReservationDebit, &state, 7);
    let [
        (Call::Reserve(reserve), Reply::Reserve(reserved)),
        (Call::ConfirmAction(first), _),
        (Call::DebitReservation(debit), Reply::DebitReservation(debited)),
        (Call::ConfirmAction(second), _),
    ] = &made[..]
    else {
        panic!("{made:?}");
    };
    assert_eq!((reserve.id, reserve.am), (7, 520));
    assert_eq!((debit.id, debit.am, debit.res), (7, 520, reserved.res));
    assert_eq!((first.cn, second.cn), (reserved.cn, debited.cn));
}

#[test]
fn functions_move_the_amounts_of_the_study() {
    for (function, change) in [
        (Function::CreditControl, 0),
        (Function::DirectDebit, -438),
        (Function::Credit, 147),
        (Function::ReservationRelease, 0),
        (Function::ReservationDebit, -520),
    ] {
        let state = State::new(&Store::default());
        let before = state.money();
        run(function, &state, 1);
        assert_eq!(state.money() - before, change, "{function}");
    }
}

#[test]
fn names_lead_back_to_their_functions() {
    for function in Function::ALL {
        assert_eq!(function.name().parse(), Ok(function));
        let own = function.steps().iter().map(|step| step.contract());
        assert!(
            own.into_iter()
                .all(|contract| contract == Contract::Charging)
        );
    }
    let unknown = "credit".parse::<Function>().unwrap_err().to_string();
    assert!(unknown.contains("ReservationRelease"), "{unknown}");
}
