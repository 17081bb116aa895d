//! One examination: its sections, and what they found.

use serde::Serialize;
use wirelab_contract::{Contract, State, Store};

use crate::numbers::Numbers;
use crate::subject::Subjects;
use crate::walk::Walk;
use crate::{calendar, charging, money, transfer};

/// What is examined of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Good calls, alone and in sequences.
    Operations,
    /// Calls that the contract refuses, alone and with several reasons at once.
    Errors,
    /// The largest messages and numbers, and the first beyond.
    Limits,
    /// Messages as other writers write them, and what is no message.
    Vectors,
    /// Many connections at once: money is neither lost nor made.
    Money,
}

/// One difference between subject and model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was tried.
    pub name: String,
    /// The call, shortened.
    pub call: String,
    /// What the model says, shortened.
    pub expected: String,
    /// What the subject said, shortened.
    pub found: String,
}

/// What a section found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exam {
    /// The section.
    pub section: Section,
    /// Calls made; 0: the stack has nothing to be examined there.
    pub calls: u64,
    /// The first differences; none: the section is passed.
    pub findings: Vec<Finding>,
    /// What was left out, with the reason.
    pub left_out: Vec<String>,
}

/// Examines a service that has just been started with `store`.
///
/// The same seed gives the same calls. `deep` also does what takes long: the
/// limits on numbers of things kept.
///
/// # Errors
/// When the service cannot be connected to, in words.
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
    if contract == Contract::Charging {
        exams.push(money::exam(&model, subjects)?);
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
        (_, Section::Vectors | Section::Money) => {}
    }
    Vec::new()
}

/// What only a deep examination does.
pub(crate) fn only_deep(what: &str) -> Vec<String> {
    vec![format!("{what}: takes long, examined with --deep only")]
}
