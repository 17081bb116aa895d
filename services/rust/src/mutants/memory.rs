//! What a mutant of charging remembers of its calls.

use std::any::Any;
use std::collections::{HashMap, HashSet};

use wirelab_contract::charging::{
    ConfirmActionRequest, DebitReservationRequest, ReleaseResRequest, ReserveReply, ReserveRequest,
};

/// What a mutant of charging remembers of its calls.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Account and amount of each reservation ever made.
    pub(super) reservations: HashMap<i32, (i32, i32)>,
    /// Numbers that were confirmed.
    pub(super) confirmed: HashSet<i32>,
    /// Numbers of reservations that have ended.
    pub(super) ended: Vec<i32>,
    /// What a number that was given again stands for.
    pub(super) aliases: HashMap<i32, i32>,
}

impl Memory {
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
        self.aliases.get(&res).copied().unwrap_or(res)
    }
}
