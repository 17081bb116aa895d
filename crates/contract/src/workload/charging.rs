//! The sequences of `charging` (Elfwing and Paulsson 2002, appendix B.2) with
//! the amounts of their appendix C.

use std::fmt;
use std::str::FromStr;

use crate::call::{Call, Reply};
use crate::charging::{
    ConfirmActionRequest, CreditControlRequest, CreditRequest, DebitReservationRequest,
    DirectDebitRequest, ReleaseResRequest, ReserveRequest,
};
use crate::operation::Operation;

/// What a Credit adds.
pub const CREDIT_AMOUNT: i32 = 147;

/// What a DirectDebit takes.
pub const DIRECT_DEBIT_AMOUNT: i32 = 438;

/// What is set aside, and then taken by DebitReservation.
pub const RESERVED_AMOUNT: i32 = 520;

/// A function of the charging system: a sequence of calls, in which each
/// reply's numbers are carried into the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// One call that returns the balance.
    CreditControl,
    /// Takes an amount: 2 calls.
    DirectDebit,
    /// Adds an amount: 2 calls.
    Credit,
    /// Sets an amount aside and gives it back: 4 calls.
    ReservationRelease,
    /// Sets an amount aside and takes it: 4 calls.
    ReservationDebit,
}

/// The numbers that a sequence carries from replies into requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Carried {
    /// The reservation; 0 before there was one.
    pub res: i32,
    /// The last confirmation number; 0 before there was one.
    pub cn: i32,
}

impl Carried {
    /// Notes the numbers that a reply brings.
    pub fn take(&mut self, reply: &Reply) {
        match reply {
            Reply::Credit(reply) => self.cn = reply.cn,
            Reply::DirectDebit(reply) => self.cn = reply.cn,
            Reply::Reserve(reply) => (self.res, self.cn) = (reply.res, reply.cn),
            Reply::DebitReservation(reply) => self.cn = reply.cn,
            Reply::ReleaseRes(reply) => self.cn = reply.cn,
            // ConfirmAction only repeats its number, and the others bring none.
            _ => {}
        }
    }
}

impl Function {
    /// Every function, in the order of contracts/README.md.
    pub const ALL: [Function; 5] = [
        Function::CreditControl,
        Function::DirectDebit,
        Function::Credit,
        Function::ReservationRelease,
        Function::ReservationDebit,
    ];

    /// The name: `ReservationDebit`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Function::CreditControl => "CreditControl",
            Function::DirectDebit => "DirectDebit",
            Function::Credit => "Credit",
            Function::ReservationRelease => "ReservationRelease",
            Function::ReservationDebit => "ReservationDebit",
        }
    }

    /// The operations that are called, in their order.
    #[must_use]
    pub fn steps(self) -> &'static [Operation] {
        use Operation::{ConfirmAction, DebitReservation, ReleaseRes, Reserve};
        match self {
            Function::CreditControl => &[Operation::CreditControl],
            Function::DirectDebit => &[Operation::DirectDebit, ConfirmAction],
            Function::Credit => &[Operation::Credit, ConfirmAction],
            Function::ReservationRelease => &[Reserve, ConfirmAction, ReleaseRes, ConfirmAction],
            Function::ReservationDebit => {
                &[Reserve, ConfirmAction, DebitReservation, ConfirmAction]
            }
        }
    }

    /// The call of step `step`, counted from 0, for `account`, after the
    /// replies that `carried` has taken; `None` behind the last step.
    #[must_use]
    pub fn next(self, step: usize, account: i32, carried: &Carried) -> Option<Call> {
        let operation = *self.steps().get(step)?;
        request(operation, account, carried)
    }
}

/// A request of a charging operation; `None` for other contracts' operations.
pub(super) fn request(operation: Operation, id: i32, carried: &Carried) -> Option<Call> {
    let Carried { res, cn } = *carried;
    Some(match operation {
        Operation::Credit => Call::Credit(CreditRequest {
            id,
            am: CREDIT_AMOUNT,
        }),
        Operation::DirectDebit => Call::DirectDebit(DirectDebitRequest {
            id,
            am: DIRECT_DEBIT_AMOUNT,
        }),
        Operation::Reserve => Call::Reserve(ReserveRequest {
            id,
            am: RESERVED_AMOUNT,
        }),
        Operation::DebitReservation => Call::DebitReservation(DebitReservationRequest {
            id,
            am: RESERVED_AMOUNT,
            res,
        }),
        Operation::ReleaseRes => Call::ReleaseRes(ReleaseResRequest { res }),
        Operation::CreditControl => Call::CreditControl(CreditControlRequest { id }),
        Operation::ConfirmAction => Call::ConfirmAction(ConfirmActionRequest { cn }),
        _ => return None,
    })
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no function has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "charging has no function {0:?}; use CreditControl, DirectDebit, Credit, \
     ReservationRelease or ReservationDebit"
)]
pub struct UnknownFunction(pub String);

impl FromStr for Function {
    type Err = UnknownFunction;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Function::ALL
            .into_iter()
            .find(|function| function.name() == name);
        found.ok_or_else(|| UnknownFunction(name.to_owned()))
    }
}

#[cfg(test)]
#[path = "charging_tests.rs"]
mod tests;
