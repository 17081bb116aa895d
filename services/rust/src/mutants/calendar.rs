//! Mutants of the contract `calendar`.

use wirelab_contract::calendar::{
    BookReply, BookRequest, DeployReply, EntriesReply, EntriesRequest,
};
use wirelab_contract::{ApplicationError, Contract, DAYS, SLOTS, ops};

use super::{Act, Mutant, Scope, answer_to, ask, change};

/// Characters that `title-truncated` keeps.
const TITLE_KEPT: usize = 100;

const fn mutant(name: &'static str, breaks: &'static str, act: Act) -> Mutant {
    Mutant {
        name,
        breaks,
        contracts: &[Contract::Calendar],
        scope: Scope::Any,
        act,
    }
}

/// Changes Book's request.
macro_rules! booked {
    (|$request:ident| $change:expr) => {
        Act::Request(|request| {
            change(request, |$request: &mut BookRequest| {
                $change;
            });
        })
    };
}

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "slot-47-refused",
        "Book has no slot 47",
        Act::Around(|_, _, request| {
            answer_to::<ops::Book>(request, |request| {
                // Only where the contract would have looked at the slot: the order of
                // errors stays right, and one thing is wrong.
                let last = request.slot == SLOTS - 1 && !request.owner.is_empty();
                let last = last && (1..=DAYS).contains(&request.day);
                last.then_some(Err(ApplicationError::Slot))
            })
        }),
    ),
    mutant(
        "day-365-accepted",
        "Book has a day 365",
        Act::Around(|_, state, request| {
            answer_to::<ops::Book>(request, |request| {
                let day = (request.day == DAYS + 1).then_some(DAYS)?;
                let reply = ask::<ops::Book>(
                    state,
                    &BookRequest {
                        day,
                        ..request.clone()
                    },
                );
                Some(reply.map(|reply| BookReply {
                    number: reply.number + SLOTS,
                    ..reply
                }))
            })
        }),
    ),
    mutant(
        "entries-unsorted",
        "Entries lists the last slot first",
        Act::Reply(|_, reply| change(reply, |reply: &mut EntriesReply| reply.entries.reverse())),
    ),
    mutant(
        "title-truncated",
        "Book keeps 100 characters of a title",
        booked!(|request| request.title = request.title.chars().take(TITLE_KEPT).collect()),
    ),
    mutant(
        "weight-float32",
        "Book keeps a weight in 32 bits",
        booked!(|request| request.weight = f64::from(request.weight as f32)),
    ),
    mutant(
        "open-inverted",
        "Book keeps the opposite of open",
        booked!(|request| request.open = !request.open),
    ),
    mutant(
        "non-ascii-replaced",
        "Book keeps a question mark for every character beyond ASCII",
        booked!(|request| {
            let ascii = |c: char| if c.is_ascii() { c } else { '?' };
            request.title = request.title.chars().map(ascii).collect();
        }),
    ),
    mutant(
        "number-off-by-one",
        "Book numbers its slots from 1",
        Act::Reply(|_, reply| change(reply, |reply: &mut BookReply| reply.number += 1)),
    ),
    mutant(
        "first-booking-kept",
        "Book does not replace an entry",
        Act::Around(|_, state, request| {
            answer_to::<ops::Book>(request, |request| {
                let day = EntriesRequest {
                    owner: request.owner.clone(),
                    day: request.day,
                };
                // Asked before the booking, which replaces what was there.
                let entries = ask::<ops::Entries>(state, &day).ok()?.entries;
                let old = entries
                    .into_iter()
                    .find(|entry| entry.slot == request.slot)?;
                let reply = ask::<ops::Book>(state, request);
                let kept = BookRequest {
                    title: old.title,
                    open: old.open,
                    weight: old.weight,
                    ..request.clone()
                };
                Some(reply.inspect(|_| drop(ask::<ops::Book>(state, &kept))))
            })
        }),
    ),
    mutant(
        "unknown-owner-refused",
        "Entries refuses an owner without entries",
        Act::Around(|_, state, request| {
            answer_to::<ops::Entries>(request, |request| {
                let found = ask::<ops::Entries>(state, request);
                let none = found.is_ok_and(|reply| reply.entries.is_empty());
                none.then_some(Err(ApplicationError::EmptyOwner))
            })
        }),
    ),
    mutant(
        "digest-shortened",
        "Deploy returns 48 digits",
        Act::Reply(|_, reply| change(reply, |reply: &mut DeployReply| _ = reply.status.pop())),
    ),
    mutant(
        "title-before-slot",
        "Book reports an empty title before a bad slot",
        Act::Around(|_, _, request| {
            answer_to::<ops::Book>(request, |request| {
                let right = !request.owner.is_empty() && (1..=DAYS).contains(&request.day);
                let empty = right && request.title.is_empty();
                empty.then_some(Err(ApplicationError::EmptyTitle))
            })
        }),
    ),
];
