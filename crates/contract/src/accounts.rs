//! The accounts of `charging`.
//!
//! Every account has its own lock; reservations and unconfirmed actions lie in
//! shards with a lock each, taken only while their account's lock is held or
//! for a single step. The order is always account, then shard, so there is no
//! deadlock, and a call waits only for calls to its own account.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::charging::{
    ConfirmActionReply, ConfirmActionRequest, CreditControlReply, CreditControlRequest,
    CreditReply, CreditRequest, DebitReservationReply, DebitReservationRequest, DirectDebitReply,
    DirectDebitRequest, ReleaseResReply, ReleaseResRequest, ReserveReply, ReserveRequest,
};
use crate::error::ApplicationError;
use crate::numbered::Numbered;

/// Unconfirmed actions that a service keeps.
pub const ACTIONS_MAX: usize = 1_000_000;

/// Reservations that a service keeps.
pub const RESERVATIONS_MAX: usize = 1_000_000;

/// What one account holds: `0 <= reserved <= balance`.
#[derive(Debug, Clone, Copy)]
struct Account {
    balance: i32,
    reserved: i32,
}

impl Account {
    fn available(self) -> i32 {
        self.balance - self.reserved
    }
}

/// An amount set aside.
#[derive(Debug, Clone, Copy)]
struct Reservation {
    account: i32,
    amount: i32,
}

#[derive(Debug)]
pub(crate) struct Accounts {
    /// Account n at n - 1.
    accounts: Vec<Mutex<Account>>,
    actions: Numbered<()>,
    reservations: Numbered<Reservation>,
    /// Numbers given so far, for actions and reservations together: a caller
    /// that takes one for the other is always found out.
    given: AtomicU64,
}

type Answer<T> = Result<T, ApplicationError>;

impl Accounts {
    /// `count` accounts of `balance` units each; below 0 counts as 0.
    pub(crate) fn new(count: i32, balance: i32) -> Self {
        let full = |_| {
            Mutex::new(Account {
                balance: balance.max(0),
                reserved: 0,
            })
        };
        Accounts {
            accounts: (0..count.max(0)).map(full).collect(),
            actions: Numbered::new(ACTIONS_MAX),
            reservations: Numbered::new(RESERVATIONS_MAX),
            given: AtomicU64::new(0),
        }
    }

    /// The sum of all balances.
    pub(crate) fn money(&self) -> i64 {
        // int32 holds the balance of one account, not the sum of a thousand.
        let balance = |account| i64::from(lock(account).balance);
        self.accounts.iter().map(balance).sum()
    }

    pub(crate) fn credit(&self, request: &CreditRequest) -> Answer<CreditReply> {
        positive(request.am)?;
        let mut account = self.account(request.id)?;
        let balance = account.balance.checked_add(request.am);
        let balance = balance.ok_or(ApplicationError::BalanceLimit)?;
        // The number first: it can fail, and then the account must be as it was. From here
        // on nothing can.
        let cn = self.action()?;
        account.balance = balance;
        Ok(CreditReply { cn })
    }

    pub(crate) fn direct_debit(&self, request: &DirectDebitRequest) -> Answer<DirectDebitReply> {
        positive(request.am)?;
        let mut account = self.account(request.id)?;
        // Reserved money belongs to its reservations, although it is in the balance.
        check_covered(account.available(), request.am)?;
        let cn = self.action()?;
        account.balance -= request.am;
        Ok(DirectDebitReply { cn })
    }

    pub(crate) fn reserve(&self, request: &ReserveRequest) -> Answer<ReserveReply> {
        positive(request.am)?;
        let mut account = self.account(request.id)?;
        check_covered(account.available(), request.am)?;
        let action = self.actions.room();
        let action = action.ok_or(ApplicationError::TooManyActions)?;
        // Both places are held before a number is drawn. When one is missing, dropping the
        // other gives it back, and nothing was changed.
        let reservation = self.reservations.room();
        let reservation = reservation.ok_or(ApplicationError::TooManyReservations)?;
        let (res, cn) = (self.number()?, self.number()?);
        let kept = Reservation {
            account: request.id,
            amount: request.am,
        };
        reservation.fill(res, kept);
        action.fill(cn, ());
        account.reserved += request.am;
        Ok(ReserveReply { res, cn })
    }

    pub(crate) fn debit_reservation(
        &self,
        request: &DebitReservationRequest,
    ) -> Answer<DebitReservationReply> {
        positive(request.am)?;
        let mut account = self.account(request.id)?;
        let kept = self.reservations.peek(request.res);
        // The lock of the account that the caller named protects the reservation only when
        // it is that account's.
        let kept = kept.filter(|kept| kept.account == request.id);
        let kept = kept.ok_or(ApplicationError::UnknownReservation)?;
        check_covered(kept.amount, request.am)?;
        let cn = self.action()?;
        // Still there: it can only end under the lock of its account, which is held.
        self.reservations.take(request.res);
        account.balance -= request.am;
        // All that was set aside, even when less was taken.
        account.reserved -= kept.amount;
        Ok(DebitReservationReply { cn })
    }

    pub(crate) fn release_res(&self, request: &ReleaseResRequest) -> Answer<ReleaseResReply> {
        // The request does not name the account. It is looked up without the account's
        // lock, and again under it.
        let kept = || {
            let kept = self.reservations.peek(request.res);
            kept.ok_or(ApplicationError::UnknownReservation)
        };
        let mut account = self.account(kept()?.account)?;
        // Another call may have ended it before the account was locked.
        let amount = kept()?.amount;
        let cn = self.action()?;
        self.reservations.take(request.res);
        account.reserved -= amount;
        Ok(ReleaseResReply { cn })
    }

    pub(crate) fn credit_control(
        &self,
        request: &CreditControlRequest,
    ) -> Answer<CreditControlReply> {
        let Account { balance, reserved } = *self.account(request.id)?;
        Ok(CreditControlReply { balance, reserved })
    }

    pub(crate) fn confirm_action(
        &self,
        request: &ConfirmActionRequest,
    ) -> Answer<ConfirmActionReply> {
        // No lock of an account: an action belongs to none, and `take` is one step.
        let known = self.actions.take(request.cn);
        known.ok_or(ApplicationError::UnknownConfirmation)?;
        Ok(ConfirmActionReply { cn: request.cn })
    }

    fn account(&self, id: i32) -> Answer<MutexGuard<'_, Account>> {
        // In int64, since `i32::MIN - 1` overflows.
        let index = usize::try_from(i64::from(id) - 1).ok();
        let account = index.and_then(|index| self.accounts.get(index));
        account.map(lock).ok_or(ApplicationError::NoAccount)
    }

    /// Keeps a new unconfirmed action and returns its number.
    fn action(&self) -> Answer<i32> {
        let action = self.actions.room();
        let action = action.ok_or(ApplicationError::TooManyActions)?;
        let cn = self.number()?;
        action.fill(cn, ());
        Ok(cn)
    }

    /// A number that was never given before. Once all 2^31 - 1 are given, the
    /// service takes no more actions: a number given twice could confirm the
    /// wrong one.
    fn number(&self) -> Answer<i32> {
        // Relaxed: only that numbers differ matters, not which of two calls got the
        // smaller. 64 bits, so that the counter itself cannot wrap.
        let number = self.given.fetch_add(1, Ordering::Relaxed) + 1;
        i32::try_from(number).map_err(|_| ApplicationError::TooManyActions)
    }
}

fn positive(amount: i32) -> Answer<()> {
    match amount {
        1.. => Ok(()),
        _ => Err(ApplicationError::Amount),
    }
}

fn check_covered(held: i32, amount: i32) -> Answer<()> {
    match amount <= held {
        true => Ok(()),
        false => Err(ApplicationError::NotEnoughCredit),
    }
}

fn lock(account: &Mutex<Account>) -> MutexGuard<'_, Account> {
    // No step between two changes can panic, so a poisoned account is still consistent.
    account.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "accounts_tests.rs"]
mod tests;
