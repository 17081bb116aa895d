//! Numbers that a service chooses, beside those that the model chose.

use std::collections::{HashMap, HashSet};

use wirelab_contract::{Call, Reply};

/// One kind of number.
#[derive(Debug, Default)]
struct Kind {
    /// The model's number to the subject's.
    of_model: HashMap<i32, i32>,
    /// Numbers that the subject has given.
    given: HashSet<i32>,
}

impl Kind {
    fn translate(&self, number: &mut i32) {
        if let Some(theirs) = self.of_model.get(number) {
            *number = *theirs;
        }
    }

    /// Takes a number that the subject gave where the model gave `model`, and
    /// puts the model's in its place.
    fn learn(&mut self, what: &str, model: i32, subject: &mut i32) -> Result<(), String> {
        if *subject <= 0 {
            return Err(format!("{what} {subject} is not positive"));
        }
        if !self.given.insert(*subject) {
            return Err(format!("{what} {subject} was given before"));
        }
        self.of_model.insert(model, *subject);
        *subject = model;
        Ok(())
    }
}

/// The reservations, confirmations and groups of one service.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    reservations: Kind,
    confirmations: Kind,
    groups: Kind,
}

impl Numbers {
    /// The call with the subject's numbers in place of the model's.
    pub(crate) fn translated(&self, call: &Call) -> Call {
        let mut call = call.clone();
        match &mut call {
            Call::ConfirmAction(request) => self.confirmations.translate(&mut request.cn),
            Call::ReleaseRes(request) => self.reservations.translate(&mut request.res),
            Call::DebitReservation(request) => self.reservations.translate(&mut request.res),
            Call::FindAllocation(request) => self.groups.translate(&mut request.group_id),
            _ => {}
        }
        call
    }

    /// Learns the numbers of a reply, and puts the model's in their place so
    /// that the two replies can be compared. `sent` is the call as it was sent.
    ///
    /// # Errors
    /// When a number is not positive, or was given before.
    pub(crate) fn learn(
        &mut self,
        model: &Reply,
        subject: &mut Reply,
        sent: &Call,
    ) -> Result<(), String> {
        match (model, subject) {
            (Reply::Credit(model), Reply::Credit(subject)) => {
                self.confirm(model.cn, &mut subject.cn)
            }
            (Reply::DirectDebit(model), Reply::DirectDebit(subject)) => {
                self.confirm(model.cn, &mut subject.cn)
            }
            (Reply::DebitReservation(model), Reply::DebitReservation(subject)) => {
                self.confirm(model.cn, &mut subject.cn)
            }
            (Reply::ReleaseRes(model), Reply::ReleaseRes(subject)) => {
                self.confirm(model.cn, &mut subject.cn)
            }
            (Reply::Reserve(model), Reply::Reserve(subject)) => {
                self.reservations
                    .learn("reservation", model.res, &mut subject.res)?;
                self.confirm(model.cn, &mut subject.cn)
            }
            (Reply::ConfirmAction(model), Reply::ConfirmAction(subject)) => {
                if let Call::ConfirmAction(request) = sent
                    && request.cn == subject.cn
                {
                    subject.cn = model.cn;
                }
                Ok(())
            }
            (Reply::Allocate(model), Reply::Allocate(subject)) => {
                match (&model.team_details, &mut subject.team_details) {
                    (Some(model), Some(subject)) => {
                        self.groups
                            .learn("group", model.group_id, &mut subject.group_id)
                    }
                    _ => Ok(()),
                }
            }
            (Reply::FindAllocation(model), Reply::FindAllocation(subject)) => {
                if let (Some(model), Some(subject)) =
                    (&model.team_details, &mut subject.team_details)
                    && let Call::FindAllocation(request) = sent
                    && request.group_id == subject.group_id
                {
                    subject.group_id = model.group_id;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn confirm(&mut self, model: i32, subject: &mut i32) -> Result<(), String> {
        self.confirmations.learn("confirmation", model, subject)
    }
}
