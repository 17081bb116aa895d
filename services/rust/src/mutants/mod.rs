//! Seeded mistakes: what the differential test of `wirelab verify` must find.
//!
//! A mutant is one line of a table: its name, what it breaks, and the one
//! change that breaks it. There is one place for each kind of change: the
//! request before the model sees it, the reply after, the model's answer as a
//! whole, the text of an error, the bytes of a message, the status of an
//! error. A service has at most one mutant, and only when `faults.mutant`
//! names it.

mod calendar;
mod charging;
mod formats;
mod transfer;

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;
use wirelab_contract::charging::{
    ConfirmActionRequest, DebitReservationRequest, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use wirelab_contract::{ApplicationError, Contract, State, Unary};
use wirelab_wire_own::soap::Fault;

use crate::documents::config::Stack;
use crate::refusal::Refusal;
use wirelab_stack::{Binding, Codec};

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Mutant {
    /// What `faults.mutant` calls it.
    pub(crate) name: &'static str,
    /// What is wrong with such a service.
    pub(crate) breaks: &'static str,
    /// The contracts on which it shows.
    contracts: &'static [Contract],
    /// The stacks on which it shows.
    scope: Scope,
    act: Act,
}

/// Stacks on which a mutant shows.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// Every stack.
    Any,
    /// These codecs.
    Codecs(&'static [Codec]),
    /// These bindings.
    Bindings(&'static [Binding]),
}

/// The answer to a request that was answered otherwise.
// A mutant is a row of a table over all operations, so that its types are erased.
type Outcome = Result<Box<dyn Any>, ApplicationError>;

/// The one change that makes the mistake.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// The request is another one before the model sees it.
    Request(fn(&mut dyn Any)),
    /// The reply is changed, with the request in sight.
    Reply(fn(&dyn Any, &mut dyn Any)),
    /// The model is asked otherwise, or not at all; none: as always.
    Around(fn(&mut CallHistory, &State, &dyn Any) -> Option<Outcome>),
    /// An application error has another text.
    Error(fn(ApplicationError) -> Option<&'static str>),
    /// A reply or an error is written otherwise.
    Bytes(fn(&mut Vec<u8>)),
    /// The fault of an application error is another one.
    Fault(fn(&mut Fault)),
    /// An application error has another status.
    Status(u16),
}

/// Every mutant.
pub(crate) fn all() -> impl Iterator<Item = &'static Mutant> {
    [
        transfer::MUTANTS,
        charging::MUTANTS,
        calendar::MUTANTS,
        formats::MUTANTS,
    ]
    .into_iter()
    .flatten()
}

fn find_mutant(name: &str) -> Option<&'static Mutant> {
    all().find(|mutant| mutant.name == name)
}

/// Refuses a mutant that does not exist or would not show.
///
/// # Errors
/// With `faults.mutant` as the option at fault.
pub(crate) fn check(name: &str, contract: Contract, stack: &Stack) -> Result<(), Refusal> {
    let refuse = |message, remedy: String| Err(Refusal::new("faults.mutant", message, remedy));
    let Some(mutant) = find_mutant(name) else {
        let names: Vec<&str> = all().map(|mutant| mutant.name).collect();
        let message = format!("there is no mutant {name:?}");
        return refuse(message, format!("use one of {}", names.join(", ")));
    };
    // A mutant that cannot show would pass the examination and be taken for a gap in it.
    if !mutant.contracts.contains(&contract) {
        let message = format!("{name} does not show in {contract}: {}", mutant.breaks);
        return refuse(message, "use the contract that it breaks".to_owned());
    }
    if !mutant.scope.applies(stack) {
        let message = format!("{name} does not show in this stack: {}", mutant.breaks);
        return refuse(message, "use a stack that it breaks".to_owned());
    }
    Ok(())
}

impl Scope {
    fn applies(self, stack: &Stack) -> bool {
        match self {
            Scope::Any => true,
            Scope::Codecs(codecs) => codecs.contains(&stack.codec),
            Scope::Bindings(bindings) => bindings.contains(&stack.binding),
        }
    }
}

/// A mutant at work in one service.
#[derive(Debug)]
pub(crate) struct Mutation {
    mutant: &'static Mutant,
    history: Mutex<CallHistory>,
}

impl Mutation {
    /// The mutant of that name at work, if there is one.
    pub(crate) fn new(name: &str) -> Option<Self> {
        Some(Mutation {
            mutant: find_mutant(name)?,
            history: Mutex::default(),
        })
    }

    /// The answer of a service with this mistake.
    pub(crate) fn answer<O: Unary>(
        &self,
        state: &State,
        mut request: O::Request,
    ) -> Result<O::Reply, String> {
        // One lock for the whole answer: a mutant that compares calls needs them in one order.
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        if let Act::Request(change) = self.mutant.act {
            change(&mut request);
        }
        let otherwise = match self.mutant.act {
            Act::Around(act) => act(&mut history, state, &request),
            _ => None,
        };
        let mut answer = match otherwise {
            Some(outcome) => outcome.map(reply_of::<O>),
            None => ask::<O>(state, &request),
        };
        if let (Act::Reply(change), Ok(reply)) = (self.mutant.act, &mut answer) {
            change(&request, reply);
        }
        // Refused calls leave no trace: a mutant repeats only numbers that were given.
        if let Ok(reply) = &answer {
            history.note(&request, reply);
        }
        answer.map_err(|error| self.text(error))
    }

    fn text(&self, error: ApplicationError) -> String {
        let other = match self.mutant.act {
            Act::Error(other) => other(error),
            _ => None,
        };
        other.map_or_else(|| error.to_string(), str::to_owned)
    }

    /// Writes a reply's or an error's bytes otherwise, where that is the mistake.
    pub(crate) fn bytes(&self, bytes: &mut Vec<u8>) {
        if let Act::Bytes(change) = self.mutant.act {
            change(bytes);
        }
    }

    /// Changes the fault of an application error, where that is the mistake.
    pub(crate) fn fault(&self, fault: &mut Fault) {
        if let Act::Fault(change) = self.mutant.act {
            change(fault);
        }
    }

    /// Gives an application error another status, where that is the mistake.
    pub(crate) fn status(&self, status: &mut StatusCode) {
        if let Act::Status(code) = self.mutant.act
            && let Ok(code) = StatusCode::from_u16(code)
        {
            *status = code;
        }
    }
}

/// What a mutant of charging remembers of its calls.
#[derive(Debug, Default)]
pub(super) struct CallHistory {
    /// Account and amount of each reservation ever made.
    pub(super) reservations: HashMap<i32, (i32, i32)>,
    /// Numbers that were confirmed.
    pub(super) confirmed: HashSet<i32>,
    /// Numbers of reservations that have ended.
    pub(super) ended: Vec<i32>,
    /// What a number that was given again stands for.
    pub(super) aliases: HashMap<i32, i32>,
}

impl CallHistory {
    /// Remembers a call that was not refused.
    pub(super) fn note(&mut self, request: &dyn Any, reply: &dyn Any) {
        if let (Some(request), Some(reply)) = (
            request.downcast_ref::<ReserveRequest>(),
            reply.downcast_ref::<ReserveReply>(),
        ) {
            let what = (request.id, request.am);
            self.reservations.insert(reply.res, what);
        }
        if let Some(request) = request.downcast_ref::<ConfirmActionRequest>() {
            self.confirmed.insert(request.cn);
        }
        if let Some(request) = request.downcast_ref::<ReleaseResRequest>() {
            self.ended.push(request.res);
        }
        if let Some(request) = request.downcast_ref::<DebitReservationRequest>() {
            self.ended.push(request.res);
        }
    }

    /// The reservation that a number stands for.
    pub(super) fn real(&self, res: i32) -> i32 {
        // Most numbers stand for themselves.
        self.aliases.get(&res).copied().unwrap_or(res)
    }
}

// `Any` has lost the type; the table's macros make sure that it is the operation's own.
fn reply_of<O: Unary>(reply: Box<dyn Any>) -> O::Reply {
    *reply
        .downcast()
        .expect("a mutant answers with the reply of its operation")
}

/// Changes a message where it is an `M`.
fn change<M: Any>(message: &mut dyn Any, change: impl FnOnce(&mut M)) {
    if let Some(message) = message.downcast_mut::<M>() {
        change(message);
    }
}

/// Changes a reply where the request and it are `R` and `M`.
fn change_reply<R: Any, M: Any>(
    request: &dyn Any,
    reply: &mut dyn Any,
    change: impl FnOnce(&R, &mut M),
) {
    if let (Some(request), Some(reply)) = (request.downcast_ref(), reply.downcast_mut()) {
        change(request, reply);
    }
}

/// Asks the model.
fn ask<O: Unary>(state: &State, request: &O::Request) -> Result<O::Reply, ApplicationError> {
    O::answer(state, request.clone())
}

/// Answers where the request is that of `O`.
fn answer_to<O: Unary>(
    request: &dyn Any,
    answer: impl FnOnce(&O::Request) -> Option<Result<O::Reply, ApplicationError>>,
) -> Option<Outcome> {
    // None for another operation's request: the mutant leaves it alone.
    let outcome = answer(request.downcast_ref()?)?;
    Some(outcome.map(|reply| Box::new(reply) as Box<dyn Any>))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
