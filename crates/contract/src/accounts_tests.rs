//! Charging against the text of contracts/README.md.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::{Call, Reply, State, Store};

const BALANCE: i32 = 1_000;

fn state() -> State {
    State::new(&Store {
        accounts: 3,
        balance: BALANCE,
        ..Store::default()
    })
}

fn reserve(state: &State, id: i32, am: i32) -> Answer<ReserveReply> {
    state.accounts.reserve(&ReserveRequest { id, am })
}

fn debit_reservation(state: &State, id: i32, am: i32, res: i32) -> Answer<DebitReservationReply> {
    let request = DebitReservationRequest { id, am, res };
    state.accounts.debit_reservation(&request)
}

fn credit(state: &State, id: i32, am: i32) -> Answer<CreditReply> {
    state.accounts.credit(&CreditRequest { id, am })
}

fn debit(state: &State, id: i32, am: i32) -> Answer<DirectDebitReply> {
    state.accounts.direct_debit(&DirectDebitRequest { id, am })
}

fn release(state: &State, res: i32) -> Answer<ReleaseResReply> {
    state.accounts.release_res(&ReleaseResRequest { res })
}

fn confirm(state: &State, cn: i32) -> Answer<ConfirmActionReply> {
    state.accounts.confirm_action(&ConfirmActionRequest { cn })
}

/// Balance and reserved amount.
fn read_account(state: &State, id: i32) -> (i32, i32) {
    let reply = state.accounts.credit_control(&CreditControlRequest { id });
    let CreditControlReply { balance, reserved } = reply.unwrap();
    (balance, reserved)
}

#[test]
fn each_operation_moves_the_money_that_it_names() {
    let state = state();
    credit(&state, 1, 5).unwrap();
    assert_eq!(read_account(&state, 1), (BALANCE + 5, 0));
    debit(&state, 1, 10).unwrap();
    assert_eq!(read_account(&state, 1), (BALANCE - 5, 0));
    let reserved = reserve(&state, 1, 100).unwrap();
    assert_eq!(read_account(&state, 1), (BALANCE - 5, 100));
    release(&state, reserved.res).unwrap();
    assert_eq!(read_account(&state, 1), (BALANCE - 5, 0));
    let [first, second] = [30, 40].map(|am| reserve(&state, 1, am).unwrap().res);
    // Less than was set aside: the rest is released.
    debit_reservation(&state, 1, 25, first).unwrap();
    assert_eq!(read_account(&state, 1), (BALANCE - 30, 40));
    debit_reservation(&state, 1, 40, second).unwrap();
    assert_eq!(read_account(&state, 1), (BALANCE - 70, 0));
    assert_eq!([2, 3].map(|id| read_account(&state, id)), [(BALANCE, 0); 2]);
    assert_eq!(state.money(), i64::from(3 * BALANCE - 70));
}

#[test]
fn an_action_is_confirmed_once() {
    let state = state();
    let reserved = reserve(&state, 1, 5).unwrap();
    let numbers = [
        credit(&state, 1, 1).unwrap().cn,
        debit(&state, 1, 1).unwrap().cn,
        reserved.cn,
        release(&state, reserved.res).unwrap().cn,
    ];
    for cn in numbers {
        assert!(cn > 0);
        assert_eq!(confirm(&state, cn), Ok(ConfirmActionReply { cn }));
        let again = confirm(&state, cn);
        assert_eq!(again, Err(ApplicationError::UnknownConfirmation));
    }
    // A reservation is not an action, though both numbers come from one counter.
    for never in [0, -1, i32::MIN, i32::MAX, reserved.res] {
        let unknown = confirm(&state, never);
        assert_eq!(unknown, Err(ApplicationError::UnknownConfirmation));
    }
}

#[test]
fn a_reservation_ends_once_and_belongs_to_its_account() {
    let state = state();
    let res = reserve(&state, 1, 50).unwrap().res;
    let unknown = ApplicationError::UnknownReservation;
    assert_eq!(debit_reservation(&state, 2, 50, res), Err(unknown));
    assert_eq!(debit_reservation(&state, 1, 50, res + 10), Err(unknown));
    assert_eq!(read_account(&state, 1), (BALANCE, 50));
    debit_reservation(&state, 1, 50, res).unwrap();
    assert_eq!(debit_reservation(&state, 1, 50, res), Err(unknown));
    assert_eq!(release(&state, res), Err(unknown));
    let res = reserve(&state, 1, 50).unwrap().res;
    release(&state, res).unwrap();
    assert_eq!(release(&state, res), Err(unknown));
    assert_eq!(release(&state, 0), Err(unknown));
}

#[test]
fn of_several_errors_the_first_is_reported() {
    use ApplicationError::{Amount, NoAccount, NotEnoughCredit, UnknownReservation};
    let state = state();
    // Each call breaks every later rule too.
    for am in [0, -1, i32::MIN] {
        assert_eq!(credit(&state, 0, am), Err(Amount));
        assert_eq!(debit(&state, 0, am), Err(Amount));
        assert_eq!(reserve(&state, 0, am), Err(Amount));
        assert_eq!(debit_reservation(&state, 0, am, 0), Err(Amount));
    }
    for id in [0, -1, i32::MIN, 4, i32::MAX] {
        assert_eq!(credit(&state, id, i32::MAX), Err(NoAccount));
        assert_eq!(debit(&state, id, i32::MAX), Err(NoAccount));
        assert_eq!(reserve(&state, id, i32::MAX), Err(NoAccount));
        assert_eq!(debit_reservation(&state, id, i32::MAX, 0), Err(NoAccount));
        let control = state.accounts.credit_control(&CreditControlRequest { id });
        assert_eq!(control, Err(NoAccount));
    }
    let taken = debit_reservation(&state, 1, i32::MAX, 0);
    assert_eq!(taken, Err(UnknownReservation));
    let limit = credit(&state, 1, i32::MAX - BALANCE + 1);
    assert_eq!(limit, Err(ApplicationError::BalanceLimit));
    assert!(credit(&state, 1, i32::MAX - BALANCE).is_ok());
    let res = reserve(&state, 2, 600).unwrap().res;
    assert_eq!(debit(&state, 2, 401), Err(NotEnoughCredit));
    assert_eq!(reserve(&state, 2, 401), Err(NotEnoughCredit));
    assert_eq!(debit_reservation(&state, 2, 601, res), Err(NotEnoughCredit));
    assert!(debit(&state, 2, 400).is_ok());
    assert_eq!(read_account(&state, 2), (600, 600));
}

#[test]
fn a_million_unconfirmed_actions_are_kept_and_no_more() {
    let state = State::new(&Store::default());
    let first = reserve(&state, 1, 1).unwrap();
    for _ in 1..ACTIONS_MAX {
        credit(&state, 2, 1).unwrap();
    }
    let full = ApplicationError::TooManyActions;
    let money = state.money();
    assert_eq!(credit(&state, 2, 1), Err(full));
    assert_eq!(debit(&state, 2, 1), Err(full));
    assert_eq!(reserve(&state, 1, 1), Err(full));
    assert_eq!(debit_reservation(&state, 1, 1, first.res), Err(full));
    assert_eq!(release(&state, first.res), Err(full));
    // What comes before it in the contract is reported first.
    let short = debit(&state, 3, 1_000_000_001);
    assert_eq!(short, Err(ApplicationError::NotEnoughCredit));
    let unknown = release(&state, 0);
    assert_eq!(unknown, Err(ApplicationError::UnknownReservation));
    assert_eq!((state.money(), read_account(&state, 1).1), (money, 1));
    // One confirmation makes room for one action, and the release is one.
    confirm(&state, first.cn).unwrap();
    release(&state, first.res).unwrap();
    assert_eq!(credit(&state, 2, 1), Err(full));
}

#[test]
fn a_million_reservations_are_kept_and_no_more() {
    let state = State::new(&Store::default());
    let first = reserve(&state, 1, 1).unwrap();
    for _ in 1..RESERVATIONS_MAX {
        confirm(&state, reserve(&state, 2, 1).unwrap().cn).unwrap();
    }
    let full = ApplicationError::TooManyReservations;
    // A refused call leaves no action behind.
    for _ in 0..3 {
        assert_eq!(reserve(&state, 1, 1), Err(full));
    }
    release(&state, first.res).unwrap();
    assert!(reserve(&state, 1, 1).is_ok());
    assert_eq!(reserve(&state, 1, 1), Err(full));
}

#[test]
fn numbers_run_out_rather_than_be_given_twice() {
    let state = state();
    state
        .accounts
        .given
        // Counting there from 1 would take 2^31 calls.
        .store(i32::MAX as u64 - 2, Ordering::Relaxed);
    let last = reserve(&state, 1, 10).unwrap();
    assert_eq!((last.res, last.cn), (i32::MAX - 1, i32::MAX));
    let full = ApplicationError::TooManyActions;
    assert_eq!(credit(&state, 1, 1), Err(full));
    assert_eq!(reserve(&state, 1, 1), Err(full));
    assert_eq!(read_account(&state, 1), (BALANCE, 10));
    assert!(confirm(&state, last.cn).is_ok());
}

#[test]
fn no_money_is_lost_or_made_by_eight_threads_on_three_accounts() {
    let state = state();
    let (before, shared) = (state.money(), &state);
    let (moved, numbers): (Vec<i64>, Vec<Vec<i32>>) = std::thread::scope(|scope| {
        let threads = (0..8).map(|seed| scope.spawn(move || random_calls(shared, seed)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|t| t.join().unwrap()).unzip()
    });
    assert_eq!(state.money(), before + moved.iter().sum::<i64>());
    let all: Vec<i32> = numbers.into_iter().flatten().collect();
    let distinct: HashSet<i32> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len(), "a number was given twice");
    assert!(all.iter().all(|&number| number > 0));
    for id in 1..=3 {
        let (balance, reserved) = read_account(&state, id);
        assert!(
            reserved == 0 && balance >= 0,
            "account {id}: {reserved} of {balance}"
        );
    }
    // Places that a refused call had held must be free again.
    assert_eq!(state.accounts.actions.held(), 0);
    assert_eq!(state.accounts.reservations.held(), 0);
}

/// Calls at random; returns what they credited less what they debited, and
/// the numbers that they were given.
fn random_calls(state: &State, seed: u64) -> (i64, Vec<i32>) {
    let mut generator = crate::texts::SplitMix64::new(seed);
    let (mut moved, mut numbers) = (0, Vec::new());
    for _ in 0..5_000 {
        let random = generator.next_u64();
        // Amounts of 0 too: refused calls run between the others.
        let (id, am) = ((random % 3) as i32 + 1, (random >> 8) as i32 % 400);
        let given = match random >> 40 & 3 {
            0 => credit(state, id, am).map(|r| (vec![r.cn], i64::from(am))),
            1 => debit(state, id, am).map(|r| (vec![r.cn], -i64::from(am))),
            kind => reserve(state, id, am).map(|r| {
                let (cn, moved) = end_twice(state, id, am / 2 + 1, r.res, kind == 2);
                (vec![r.res, r.cn, cn], moved)
            }),
        };
        let Ok((given, change)) = given else { continue };
        moved += change;
        // With three numbers the first is the reservation, which is not confirmed.
        let actions = &given[usize::from(given.len() == 3)..];
        for cn in actions {
            confirm(state, *cn).unwrap();
        }
        numbers.extend(given);
    }
    (moved, numbers)
}

/// Ends a reservation; the second end must fail.
fn end_twice(state: &State, id: i32, am: i32, res: i32, by_debit: bool) -> (i32, i64) {
    let ended = match by_debit {
        true => (
            debit_reservation(state, id, am, res).unwrap().cn,
            -i64::from(am),
        ),
        false => (release(state, res).unwrap().cn, 0),
    };
    assert_eq!(
        release(state, res),
        Err(ApplicationError::UnknownReservation)
    );
    ended
}

#[test]
fn of_threads_that_end_one_reservation_one_succeeds() {
    let state = state();
    // Many rounds, because a race need not happen in one.
    for _ in 0..200 {
        let res = reserve(&state, 1, 10).unwrap().res;
        let ended: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| release(&state, res)))
                .collect();
            let ends = threads.into_iter().map(|t| t.join().unwrap());
            ends.filter(Result::is_ok).count()
        });
        assert_eq!((ended, read_account(&state, 1)), (1, (BALANCE, 0)));
    }
}

/// What an account should hold, kept by adding and subtracting alone.
#[derive(Default)]
struct Expected {
    balance: i64,
    reserved: i64,
}

proptest! {
    #[test]
    fn any_sequence_keeps_balances_and_reservations(
        steps in prop::collection::vec((0_u8..6, 1_i32..4, -5_i32..700, 0_usize..4), 0..120)
    ) {
        let state = state();
        let mut accounts: Vec<Expected> = (0..3)
            .map(|_| Expected { balance: BALANCE.into(), reserved: 0 })
            .collect();
        let mut open: Vec<(i32, i32, i32)> = Vec::new();
        for (kind, id, am, pick) in steps {
            let at = pick.checked_rem(open.len()).unwrap_or(0);
            let chosen = open.get(at).copied();
            let (owner, res) = chosen.map_or((id, 0), |(owner, _, res)| (owner, res));
            let call = match kind {
                0 => Call::Credit(CreditRequest { id, am }),
                1 => Call::DirectDebit(DirectDebitRequest { id, am }),
                2 | 3 => Call::Reserve(ReserveRequest { id, am }),
                4 => Call::DebitReservation(DebitReservationRequest { id: owner, am, res }),
                _ => Call::ReleaseRes(ReleaseResRequest { res }),
            };
            let expected = &mut accounts[(owner - 1) as usize];
            match state.answer(&call) {
                Ok(Reply::DebitReservation(_)) => {
                    expected.balance -= i64::from(am);
                    expected.reserved -= i64::from(open.remove(at).1);
                }
                Ok(Reply::ReleaseRes(_)) => expected.reserved -= i64::from(open.remove(at).1),
                Ok(Reply::Credit(_)) => accounts[(id - 1) as usize].balance += i64::from(am),
                Ok(Reply::DirectDebit(_)) => accounts[(id - 1) as usize].balance -= i64::from(am),
                Ok(Reply::Reserve(reply)) => {
                    accounts[(id - 1) as usize].reserved += i64::from(am);
                    open.push((id, am, reply.res));
                }
                Ok(other) => prop_assert!(false, "{:?}", other),
                Err(_) => {}
            }
            for (id, expected) in (1..).zip(&accounts) {
                let (balance, reserved) = read_account(&state, id);
                prop_assert_eq!((expected.balance, expected.reserved), (balance.into(), reserved.into()));
                prop_assert!(0 <= reserved && reserved <= balance);
            }
        }
    }
}
