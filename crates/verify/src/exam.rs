//! One examination: its sections, one after the other.

use wirelab_contract::{Contract, State, Store};

use crate::finding::{Exam, Section};
use crate::numbers::Numbers;
use crate::subject::Subjects;
use crate::walk::Walk;
use crate::{calendar, charging, money, petclinic, records, transfer};

/// Examines a service that has just been started with `store`.
///
/// The same seed gives the same calls. `deep` also does what takes long: the
/// limits on numbers of things kept.
///
/// # Errors
/// When no connection to the service can be made; the text states why.
pub fn examine(
    contract: Contract,
    store: &Store,
    subjects: &dyn Subjects,
    seed: u64,
    deep: bool,
) -> Result<Vec<Exam>, String> {
    let model = State::new(store);
    let mut numbers = Numbers::default();
    let mut subject = subjects.connect()?;
    let mut exams = Vec::new();
    // One model, one service and one map of numbers for all sections: what an earlier one
    // left behind is part of the test. Limits go last, because they fill the store.
    for section in [Section::Operations, Section::Errors, Section::Limits] {
        let mut walk = Walk::new(&model, &mut *subject, &mut numbers);
        let left_out = run(contract, section, store, &mut walk, seed, deep);
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
    seed: u64,
    deep: bool,
) -> Vec<String> {
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
        (Contract::Petclinic, Section::Errors) => petclinic::errors(walk),
        (Contract::Petclinic, Section::Limits) => petclinic::limits(walk),
        (_, Section::Vectors | Section::Money | Section::Concurrency) => {}
    }
    Vec::new()
}
