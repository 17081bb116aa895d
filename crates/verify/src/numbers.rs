//! Numbers that a service chooses, mapped to those of the model.

use std::collections::{HashMap, HashSet};

use wirelab_contract::{Call, Reply};

use crate::clinic_ids::{self, Row};

/// A number that no subject has given.
const NEVER_GIVEN: i32 = i32::MAX - 7;

/// One kind of number.
#[derive(Debug, Default)]
struct Kind {
    /// The model's number to the subject's.
    of_model: HashMap<i32, i32>,
    /// The subject's number to the model's.
    of_subject: HashMap<i32, i32>,
    /// Numbers that the subject has given.
    given: HashSet<i32>,
}

impl Kind {
    /// Puts the subject's number in place of the model's.
    fn translate(&self, number: &mut i32) {
        match self.of_model.get(number) {
            Some(theirs) => *number = *theirs,
            // It would name another thing at the subject.
            None if self.given.contains(number) => *number = NEVER_GIVEN,
            // Rows of the start, whose ids both sides share, and numbers that nobody has
            // given: the subject gets them as they are.
            None => {}
        }
    }

    /// Puts the model's number in place of the subject's.
    fn restore(&self, number: &mut i32) {
        if let Some(ours) = self.of_subject.get(number) {
            *number = *ours;
        }
    }

    /// Takes a number that the subject gave where the model gave `model`, and
    /// puts the model's in its place.
    fn learn(&mut self, what: &str, model: i32, subject: &mut i32) -> Result<(), String> {
        // Both are the contract's rules (contracts/README.md, charging): positive, and
        // never given twice in the life of a process. `given` is never emptied for that
        // reason.
        if *subject <= 0 {
            return Err(format!("{what} {subject} is not positive"));
        }
        if !self.given.insert(*subject) {
            return Err(format!("{what} {subject} was given before"));
        }
        self.of_model.insert(model, *subject);
        self.of_subject.insert(*subject, model);
        *subject = model;
        Ok(())
    }
}

/// The reservations, confirmations, groups and rows of one service.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    reservations: Kind,
    confirmations: Kind,
    groups: Kind,
    rows: HashMap<Row, Kind>,
}

impl Numbers {
    /// The call with the subject's numbers in place of the model's.
    pub(crate) fn translate_call(&self, call: &Call) -> Call {
        let mut call = call.clone();
        match &mut call {
            Call::ConfirmAction(request) => self.confirmations.translate(&mut request.cn),
            Call::ReleaseRes(request) => self.reservations.translate(&mut request.res),
            Call::DebitReservation(request) => self.reservations.translate(&mut request.res),
            Call::FindAllocation(request) => self.groups.translate(&mut request.group_id),
            // One map per kind of row: ids of owners and of pets may be equal.
            _ => clinic_ids::of_call(&mut call, &mut |row, id| {
                if let Some(kind) = self.rows.get(&row) {
                    kind.translate(id);
                }
            }),
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
                // Only an echo of the number that was sent becomes the model's. Any other
                // stays, and shows in the comparison.
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
            (model, subject) => self.learn_row(model, subject, sent),
        }
    }

    /// The same of a reply of petclinic: an addition gives its row a new id.
    fn learn_row(&mut self, model: &Reply, subject: &mut Reply, sent: &Call) -> Result<(), String> {
        // By the operation: the same message answers Get, where an id that was given before
        // is right.
        if sent.operation().name().starts_with("Add")
            && let Some((row, id)) = clinic_ids::of_row(&mut model.clone())
            && let Some((_, theirs)) = clinic_ids::of_row(subject)
        {
            let kind = self.rows.entry(row).or_default();
            // The id is restored below, with all others.
            kind.learn("id", *id, &mut theirs.clone())?;
        }
        clinic_ids::of_reply(subject, &mut |row, id| {
            if let Some(kind) = self.rows.get(&row) {
                kind.restore(id);
            }
        });
        Ok(())
    }

    fn confirm(&mut self, model: i32, subject: &mut i32) -> Result<(), String> {
        self.confirmations.learn("confirmation", model, subject)
    }
}
