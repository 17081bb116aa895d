//! Mutants of the contract `charging`. Money that they make or lose is made
//! and lost by further operations on the model.

use wirelab_contract::charging::{
    ConfirmActionReply, ConfirmActionRequest, CreditControlReply, CreditControlRequest,
    CreditReply, CreditRequest, DebitReservationReply, DebitReservationRequest, DirectDebitReply,
    DirectDebitRequest, ReleaseResReply, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use wirelab_contract::{ApplicationError, Contract, State, ops};

use super::CallHistory;
use super::{Act, Mutant, Scope, answer_to, ask, change};

const fn mutant(name: &'static str, breaks: &'static str, act: Act) -> Mutant {
    Mutant {
        name,
        breaks,
        contracts: &[Contract::Charging],
        scope: Scope::Any,
        act,
    }
}

type Answer<T> = Option<Result<T, ApplicationError>>;

/// Answers one operation otherwise.
macro_rules! instead {
    ($operation:ident, $answer:expr) => {
        Act::Around(|history, state, request| {
            answer_to::<ops::$operation>(request, |request| $answer(history, state, request))
        })
    };
}

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "unknown-confirmation-accepted",
        "ConfirmAction confirms any number",
        instead!(ConfirmAction, |_, state, request| {
            confirm_anyway(state, request, true)
        }),
    ),
    mutant(
        "confirmation-kept",
        "ConfirmAction confirms a number twice",
        instead!(
            ConfirmAction,
            |history: &mut CallHistory, state, request: &ConfirmActionRequest| {
                confirm_anyway(state, request, history.confirmed.contains(&request.cn))
            }
        ),
    ),
    mutant(
        "release-keeps-reserved",
        "ReleaseRes sets the amount aside again",
        instead!(ReleaseRes, release_keeps),
    ),
    mutant(
        "release-adds",
        "ReleaseRes credits what it releases",
        instead!(ReleaseRes, release_adds),
    ),
    mutant(
        "debit-doubled",
        "DirectDebit takes the amount twice",
        instead!(DirectDebit, debit_twice),
    ),
    mutant(
        "foreign-reservation-accepted",
        "DebitReservation debits a reservation of another account",
        instead!(DebitReservation, debit_foreign),
    ),
    mutant(
        "rest-kept-reserved",
        "DebitReservation does not release the rest",
        instead!(DebitReservation, debit_keeps_rest),
    ),
    mutant(
        "zero-accepted",
        "Credit takes an amount of 0",
        instead!(Credit, |_, state, request: &CreditRequest| {
            (request.am == 0).then(|| nothing(state, request.id).map(|cn| CreditReply { cn }))
        }),
    ),
    mutant(
        "negative-accepted",
        "Credit of a negative amount debits",
        instead!(Credit, |_, state, request: &CreditRequest| {
            // i32::MIN has no positive counterpart.
            let am = request.am.checked_neg().filter(|am| *am > 0)?;
            let debit = DirectDebitRequest { id: request.id, am };
            let reply = ask::<ops::DirectDebit>(state, &debit);
            Some(reply.map(|reply| CreditReply { cn: reply.cn }))
        }),
    ),
    mutant(
        "balance-wraps",
        "Credit beyond the largest balance begins again at 0",
        instead!(Credit, credit_wraps),
    ),
    mutant(
        "credit-lost",
        "Credit answers and adds nothing",
        instead!(Credit, |_, state, request: &CreditRequest| {
            let reply = ask::<ops::Credit>(state, request);
            Some(reply.inspect(|_| take(state, request.id, request.am)))
        }),
    ),
    mutant(
        "available-ignores-reserved",
        "DirectDebit accepts what only the reserved amount covers",
        instead!(DirectDebit, debit_reserved),
    ),
    mutant(
        "reservation-number-reused",
        "Reserve gives the number of an ended reservation again",
        Act::Around(|history, state, request| {
            answer_to::<ops::Reserve>(request, |request| reserve_again(history, state, request))
                // Later calls name the old number, which the model does not know.
                .or_else(|| {
                    answer_to::<ops::ReleaseRes>(request, |request| {
                        let res = history.real(request.res);
                        Some(ask::<ops::ReleaseRes>(state, &ReleaseResRequest { res }))
                    })
                })
                .or_else(|| {
                    answer_to::<ops::DebitReservation>(request, |request| {
                        let res = history.real(request.res);
                        let request = DebitReservationRequest { res, ..*request };
                        Some(ask::<ops::DebitReservation>(state, &request))
                    })
                })
        }),
    ),
    mutant(
        "amount-rounded",
        "DirectDebit and Credit round the amount to tens",
        Act::Request(|request| {
            change(request, |request: &mut CreditRequest| {
                request.am = tens(request.am)
            });
            change(request, |request: &mut DirectDebitRequest| {
                request.am = tens(request.am)
            });
        }),
    ),
    mutant(
        "error-text-changed",
        "an unknown account is reported with another text",
        Act::Error(|error| (error == ApplicationError::NoAccount).then_some("account not found")),
    ),
    mutant(
        "error-order-changed",
        "an unknown account is reported before a bad amount",
        Act::Around(|_, state, request| {
            answer_to::<ops::DirectDebit>(request, |request| {
                let known = control(state, request.id).is_some();
                (!known).then_some(Err(ApplicationError::NoAccount))
            })
        }),
    ),
    mutant(
        "balance-without-reserved",
        "CreditControl takes the reserved amount off the balance",
        Act::Reply(|_, reply| {
            change(reply, |reply: &mut CreditControlReply| {
                reply.balance -= reply.reserved
            });
        }),
    ),
    mutant(
        "reserved-unreported",
        "CreditControl returns a reserved amount of 0",
        Act::Reply(|_, reply| change(reply, |reply: &mut CreditControlReply| reply.reserved = 0)),
    ),
    mutant(
        "unknown-account-opened",
        "CreditControl returns an unknown account's balance as 0",
        instead!(CreditControl, |_, state, request: &CreditControlRequest| {
            let known = control(state, request.id).is_some();
            (!known).then_some(Ok(CreditControlReply::default()))
        }),
    ),
    mutant(
        "confirmation-other-number",
        "ConfirmAction answers the next number",
        Act::Reply(|_, reply| change(reply, |reply: &mut ConfirmActionReply| reply.cn += 1)),
    ),
];

/// The nearest multiple of 10.
fn tens(amount: i32) -> i32 {
    // Integer division truncates: adding 5 first rounds to the nearest.
    amount.saturating_add(5) / 10 * 10
}

fn control(state: &State, id: i32) -> Option<CreditControlReply> {
    ask::<ops::CreditControl>(state, &CreditControlRequest { id }).ok()
}

/// Takes an amount without leaving an action behind.
fn take(state: &State, id: i32, am: i32) {
    if let Ok(reply) = ask::<ops::DirectDebit>(state, &DirectDebitRequest { id, am }) {
        forget(state, reply.cn);
    }
}

/// Confirms an action that no caller knows of.
fn forget(state: &State, cn: i32) {
    let known = ask::<ops::ConfirmAction>(state, &ConfirmActionRequest { cn });
    debug_assert!(known.is_ok(), "an action that was just made");
}

/// A new confirmation number for nothing.
fn nothing(state: &State, id: i32) -> Result<i32, ApplicationError> {
    // One unit there and back: the balance stays, and a number has been given.
    let debited = ask::<ops::DirectDebit>(state, &DirectDebitRequest { id, am: 1 })?;
    let credited = ask::<ops::Credit>(state, &CreditRequest { id, am: 1 })?;
    forget(state, credited.cn);
    Ok(debited.cn)
}

fn confirm_anyway(
    state: &State,
    request: &ConfirmActionRequest,
    anyway: bool,
) -> Answer<ConfirmActionReply> {
    let known = ask::<ops::ConfirmAction>(state, request);
    let cn = request.cn;
    Some(if anyway {
        known.or(Ok(ConfirmActionReply { cn }))
    } else {
        known
    })
}

fn release_keeps(
    history: &mut CallHistory,
    state: &State,
    request: &ReleaseResRequest,
) -> Answer<ReleaseResReply> {
    let reply = ask::<ops::ReleaseRes>(state, request);
    if let (Ok(_), Some((id, am))) = (&reply, history.reservations.get(&request.res)) {
        aside(state, *id, *am);
    }
    Some(reply)
}

/// Reserves an amount under a number that no caller has.
fn aside(state: &State, id: i32, am: i32) {
    if let Ok(reply) = ask::<ops::Reserve>(state, &ReserveRequest { id, am }) {
        forget(state, reply.cn);
    }
}

fn release_adds(
    history: &mut CallHistory,
    state: &State,
    request: &ReleaseResRequest,
) -> Answer<ReleaseResReply> {
    let reply = ask::<ops::ReleaseRes>(state, request);
    if let (Ok(_), Some((id, am))) = (&reply, history.reservations.get(&request.res))
        && let Ok(added) = ask::<ops::Credit>(state, &CreditRequest { id: *id, am: *am })
    {
        forget(state, added.cn);
    }
    Some(reply)
}

fn debit_twice(
    _: &mut CallHistory,
    state: &State,
    request: &DirectDebitRequest,
) -> Answer<DirectDebitReply> {
    let reply = ask::<ops::DirectDebit>(state, request);
    Some(reply.inspect(|_| take(state, request.id, request.am)))
}

fn debit_foreign(
    history: &mut CallHistory,
    state: &State,
    request: &DebitReservationRequest,
) -> Answer<DebitReservationReply> {
    let (owner, _) = *history.reservations.get(&request.res)?;
    // An unknown account is refused as always, or the mutant would break two things.
    control(state, request.id)?;
    let request = DebitReservationRequest {
        id: owner,
        ..*request
    };
    Some(ask::<ops::DebitReservation>(state, &request))
}

fn debit_keeps_rest(
    history: &mut CallHistory,
    state: &State,
    request: &DebitReservationRequest,
) -> Answer<DebitReservationReply> {
    let reply = ask::<ops::DebitReservation>(state, request);
    if let (Ok(_), Some((id, am))) = (&reply, history.reservations.get(&request.res)) {
        aside(state, *id, am - request.am);
    }
    Some(reply)
}

fn credit_wraps(
    _: &mut CallHistory,
    state: &State,
    request: &CreditRequest,
) -> Answer<CreditReply> {
    let reply = ask::<ops::Credit>(state, request);
    if reply != Err(ApplicationError::BalanceLimit) {
        return Some(reply);
    }
    let held = control(state, request.id)?;
    // Down to what is reserved, below which the model lets no debit go.
    take(state, request.id, held.balance - held.reserved);
    Some(nothing_but_a_number(state).map(|cn| CreditReply { cn }))
}

/// A new confirmation number from any account that can be debited.
fn nothing_but_a_number(state: &State) -> Result<i32, ApplicationError> {
    let mut last = Err(ApplicationError::NoAccount);
    // Bounded by the number of accounts: the first unknown one ends it with NoAccount.
    for id in 1.. {
        last = nothing(state, id);
        if last != Err(ApplicationError::NotEnoughCredit) {
            break;
        }
    }
    last
}

fn debit_reserved(
    _: &mut CallHistory,
    state: &State,
    request: &DirectDebitRequest,
) -> Answer<DirectDebitReply> {
    let reply = ask::<ops::DirectDebit>(state, request);
    let held = control(state, request.id)?;
    if reply != Err(ApplicationError::NotEnoughCredit) || held.balance < request.am {
        return Some(reply);
    }
    Some(nothing_but_a_number(state).map(|cn| DirectDebitReply { cn }))
}

fn reserve_again(
    history: &mut CallHistory,
    state: &State,
    request: &ReserveRequest,
) -> Answer<ReserveReply> {
    let reply = ask::<ops::Reserve>(state, request);
    Some(reply.map(|reply| match history.ended.pop() {
        Some(old) => {
            // Later calls with the old number reach the reservation that really exists.
            history.aliases.insert(old, reply.res);
            ReserveReply { res: old, ..reply }
        }
        None => reply,
    }))
}
