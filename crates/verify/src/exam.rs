//! One examination: its sections, one after the other.

use wirelab_contract::{Contract, State, Store};

use crate::finding::{Exam, Section};
use crate::numbers::Numbers;
use crate::subject::Subjects;
use crate::walk::Walk;
use crate::{calendar, charging, money, petclinic, records, streams, transfer};

/// What is examined.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// The same seed gives the same calls.
    pub seed: u64,
    /// Also what takes long: the limits on numbers of things kept.
    pub deep: bool,
    /// Whether the service checks requests of petclinic against the limits of fields.
    pub validation: bool,
}

/// Examines a service that has just been started with `store`.
///
/// # Errors
/// When no connection to the service can be made; the text states why.
pub fn examine(
    contract: Contract,
    store: &Store,
    subjects: &dyn Subjects,
    extent: Extent,
) -> Result<Vec<Exam>, String> {
    let model = State::new(store);
    let mut numbers = Numbers::default();
    let mut subject = subjects.connect()?;
    let mut exams = Vec::new();
    // One model, one service and one map of numbers for all sections: what an earlier one
    // left behind is part of the test. Limits go last, because they fill the store.
    for section in [Section::Operations, Section::Errors, Section::Limits] {
        let mut walk = Walk::new(&model, &mut *subject, &mut numbers);
        let left_out = run(contract, section, store, &mut walk, extent);
        exams.push(Exam {
            section,
            calls: walk.calls,
            findings: walk.findings,
            left_out,
        });
    }
    drop(subject);
    // Only these two keep numbers that concurrent calls compete for, and whose sums can be
    // checked in whatever order they ran.
    if contract == Contract::Charging {
        exams.push(money::exam(&model, subjects)?);
    }
    if contract == Contract::Records {
        exams.push(records::concurrency(subjects)?);
    }
    Ok(exams)
}

/// Runs one section; what it leaves out comes back with the reason.
fn run(
    contract: Contract,
    section: Section,
    store: &Store,
    walk: &mut Walk,
    extent: Extent,
) -> Vec<String> {
    let Extent {
        seed,
        deep,
        validation,
    } = extent;
    match (contract, section) {
        (Contract::Transfer, Section::Operations) => transfer::operations(walk, store, seed),
        (Contract::Transfer, Section::Errors) => transfer::errors(walk),
        (Contract::Transfer, Section::Limits) => return transfer::limits(walk, deep),
        (Contract::Charging, Section::Operations) => charging::operations(walk, seed),
        (Contract::Charging, Section::Errors) => charging::errors(walk, store),
        (Contract::Charging, Section::Limits) => return charging::limits(walk, store, deep),
        (Contract::Calendar, Section::Operations) => calendar::operations(walk, seed),
        (Contract::Calendar, Section::Errors) => calendar::errors(walk),
        (Contract::Calendar, Section::Limits) => return calendar::limits(walk, deep),
        (Contract::Records, Section::Operations) => records::operations(walk, seed),
        (Contract::Records, Section::Errors) => records::errors(walk),
        (Contract::Records, Section::Limits) => records::limits(walk),
        (Contract::Petclinic, Section::Operations) => petclinic::operations(walk, seed),
        (Contract::Petclinic, Section::Errors) => {
            return petclinic::errors(walk, validation);
        }
        (Contract::Petclinic, Section::Limits) => return petclinic::limits(walk, validation),
        (Contract::Stream, Section::Operations) => streams::operations(walk, seed),
        (Contract::Stream, Section::Errors) => streams::errors(walk),
        (Contract::Stream, Section::Limits) => streams::limits(walk),
        (_, Section::Vectors | Section::Money | Section::Concurrency) => {}
    }
    Vec::new()
}
