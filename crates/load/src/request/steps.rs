//! Sequences of calls, with values of rows and of earlier replies.

use std::sync::Arc;

use serde_json::Value;
use wirelab_contract::{Call as Typed, Operation, Reply};

use crate::call::fault;
use crate::call::result::Fault;
use crate::call::waiting::{Numbers, Waiting};
use crate::request::data::Cell;
use crate::request::rows::RowPicker;
use crate::request::sequences::{Sequence, Sequences};

/// Steps of a sequence at most.
const STEPS_MAX: usize = 100;

/// # Errors
/// When a sequence cannot have that number of steps.
pub(crate) fn check_count(steps: usize) -> Result<(), Fault> {
    match (1..=STEPS_MAX).contains(&steps) {
        true => Ok(()),
        false => Err(fault::plan(
            format!("steps: there are {steps}"),
            format!("give 1 to {STEPS_MAX} steps"),
        )),
    }
}

/// The calls of a sequence, or one call again and again.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    /// By row, the call of each step. One row where there are no data.
    rows: Arc<[Vec<Typed>]>,
    carried: Arc<[CarriedField]>,
    picker: RowPicker,
    /// The row that was picked last.
    pub(crate) picked: usize,
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
    /// Its value while that is not known: null fits every field of proto3 JSON.
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
            picked: 0,
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

    /// The row of a call that is made again. A sequence keeps its row.
    pub(crate) fn take_back(&mut self, row: usize) {
        if !self.is_sequence {
            self.picker.give_back(row);
        }
    }

    /// The next step, and its call.
    pub(crate) fn next(
        &mut self,
        waiting: &mut Waiting,
        sequences: &mut Sequences,
    ) -> (usize, Typed) {
        if !self.is_sequence {
            self.picked = self.picker.pick(waiting.user);
            return (0, self.rows[self.picked][0].clone());
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
