//! What every right reply fulfils where the model cannot say what it is.

use wirelab_contract::allocations::ALLOCATIONS;
use wirelab_contract::{Call, Reply, SLOTS};

use super::Mismatch;

/// What the reply to a call must fulfil, whatever the service's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Numbers are positive; `0 <= reserved <= balance`; no team of the start is lost.
    Numbers,
    /// The number of the request comes back.
    Echo(i32),
    /// The slots are a day's, in their order.
    Slots,
}

impl Rule {
    /// The rule for an operation that is not pure.
    pub(super) fn of(call: &Call) -> Self {
        match call {
            Call::ConfirmAction(request) => Rule::Echo(request.cn),
            Call::Entries(_) => Rule::Slots,
            _ => Rule::Numbers,
        }
    }

    pub(super) fn check(self, reply: &Reply) -> Result<(), Mismatch> {
        match (self, reply) {
            (Rule::Echo(cn), Reply::ConfirmAction(reply)) if reply.cn != cn => {
                Err(Mismatch::number("cn", cn.into(), reply.cn.into()))
            }
            (_, Reply::Credit(reply)) => positive("cn", reply.cn),
            (_, Reply::DirectDebit(reply)) => positive("cn", reply.cn),
            (_, Reply::DebitReservation(reply)) => positive("cn", reply.cn),
            (_, Reply::ReleaseRes(reply)) => positive("cn", reply.cn),
            (_, Reply::Reserve(reply)) => {
                positive("res", reply.res)?;
                positive("cn", reply.cn)
            }
            (_, Reply::CreditControl(reply)) => {
                within("balance", reply.balance, 0, i32::MAX)?;
                within("reserved", reply.reserved, 0, reply.balance)
            }
            (_, Reply::CountAllocations(reply)) if reply.count < i64::from(ALLOCATIONS) => {
                let least = i64::from(ALLOCATIONS);
                Err(Mismatch::number("count", least, reply.count))
            }
            (_, Reply::Entries(reply)) => {
                let mut least = 0;
                for (k, entry) in reply.entries.iter().enumerate() {
                    within(&format!("entries[{k}].slot"), entry.slot, least, SLOTS - 1)?;
                    least = entry.slot + 1;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn positive(field: &str, found: i32) -> Result<(), Mismatch> {
    within(field, found, 1, i32::MAX)
}

fn within(field: &str, found: i32, least: i32, most: i32) -> Result<(), Mismatch> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(Mismatch::Differs {
        field: field.to_owned(),
        offset: 0,
        expected: format!("{least} to {most}"),
        found: found.to_string(),
    })
}
