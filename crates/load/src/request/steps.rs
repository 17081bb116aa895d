//! The kinds of calls that a group makes, and sequences of them with values of rows and of
//! earlier replies.

use std::sync::Arc;

use serde_json::Value;
use wirelab_contract::{Call as Typed, Operation, Reply};

use crate::call::fault;
use crate::call::result::Fault;
use crate::call::waiting::{Numbers, Waiting};
use crate::request::data::Cell;
use crate::request::rows::RowPicker;
use crate::request::sequences::{Sequence, Sequences};
use crate::validate::Validator;

/// Steps of a sequence at most.
const STEPS_MAX: usize = 100;

/// # Errors
/// When a sequence cannot have so many steps.
pub(crate) fn check_count(steps: usize) -> Result<(), Fault> {
    match (1..=STEPS_MAX).contains(&steps) {
        true => Ok(()),
        false => Err(fault::plan(
            format!("steps: there are {steps}"),
            format!("give 1 to {STEPS_MAX} steps"),
        )),
    }
}

/// Steps in one list. Those of one operation are recorded together.
pub(crate) fn joined(parts: impl Iterator<Item = Step>) -> Vec<Step> {
    let mut names: Vec<String> = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    for step in parts {
        let place = names.iter().position(|name| *name == step.name);
        let operation = place.unwrap_or_else(|| {
            names.push(step.name.clone());
            names.len() - 1
        });
        let step = step.numbered(steps.len());
        steps.push(Step { operation, ..step });
    }
    steps
}

/// One kind of call.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Under which operation it is recorded; an operation may have several steps.
    pub(crate) operation: usize,
    /// The operation's name.
    pub(crate) name: String,
    pub(crate) validator: Arc<Validator>,
}

impl Step {
    /// The same as step `number` of its group.
    ///
    /// # Panics
    /// When its validator is in use already.
    pub(crate) fn numbered(mut self, number: usize) -> Step {
        let validator = Arc::get_mut(&mut self.validator);
        validator.expect("steps are numbered before a run").step = number;
        self
    }
}

/// The calls of a sequence, or one call again and again.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    /// By row, the call of each step. One row where there are no data.
    rows: Arc<[Vec<Typed>]>,
    carried: Arc<[CarriedField]>,
    picker: RowPicker,
    /// Its calls make up sequences that are recorded.
    pub(crate) is_sequence: bool,
}

/// A value that goes from a reply into a later request.
#[derive(Debug)]
pub(crate) struct CarriedField {
    pub(crate) from_step: usize,
    pub(crate) from: String,
    pub(crate) to_step: usize,
    pub(crate) to: String,
}

impl CarriedField {
    /// What stands for its value while that is not known: null fits every field of proto3 JSON.
    pub(crate) fn sample(&self) -> (Arc<str>, Cell) {
        (Arc::from(self.to.as_str()), Cell::Json(Value::Null))
    }
}

impl Steps {
    pub(crate) fn new(
        rows: Vec<Vec<Typed>>,
        carried: Vec<CarriedField>,
        picker: RowPicker,
        is_sequence: bool,
    ) -> Steps {
        Steps {
            rows: rows.into(),
            carried: carried.into(),
            picker,
            is_sequence,
        }
    }

    pub(crate) fn number(&mut self, numbers: Numbers) {
        self.picker.number(numbers);
    }

    /// The calls of the first row.
    pub(crate) fn calls(&self) -> &[Typed] {
        &self.rows[0]
    }

    pub(crate) fn operations(&self) -> Vec<Operation> {
        self.calls().iter().map(Typed::operation).collect()
    }

    /// The next step, and its call.
    pub(crate) fn next(
        &mut self,
        waiting: &mut Waiting,
        sequences: &mut Sequences,
    ) -> (usize, Typed) {
        if !self.is_sequence {
            return (0, self.rows[self.picker.pick(waiting.user)][0].clone());
        }
        let state = sequences.of(&mut waiting.sequence);
        let (step, picker) = (state.step, &mut self.picker);
        let row = *state.row.get_or_insert_with(|| picker.pick(waiting.user));
        let call = &self.rows[row][step];
        let mut carried = state.values.iter().filter_map(|(at, value)| {
            let field = &self.carried[*at];
            (field.to_step == step).then_some((field.to.as_str(), value))
        });
        let Some(first) = carried.next() else {
            return (step, call.clone());
        };
        let call = call.with_fields(std::iter::once(first).chain(carried));
        (step, call.expect("both fields have one type"))
    }

    /// Notes what later requests need of the reply to a step.
    pub(crate) fn take(&self, step: usize, state: &mut Sequence, reply: &Reply) {
        for (at, field) in self.carried.iter().enumerate() {
            if field.from_step == step
                && let Some(value) = reply.field(&field.from)
            {
                state.values.push((at, value));
            }
        }
    }
}
