//! Requests to a service that is not of the lab in a fixed order, with values of rows and of
//! earlier replies.

use std::fmt;
use std::sync::Arc;

use wirelab_wire::Request;

use crate::call::calls::Call;
use crate::call::error::ErrorKind;
use crate::call::result::Fault;
use crate::call::waiting::{Numbers, Waiting};
use crate::request::data::{Cell, Row};
use crate::request::head::{OWN_PATH, head_id};
use crate::request::rows::RowPicker;
use crate::request::sequences::{Ended, Next, Sequences};
use crate::request::steps::CarriedField;

/// Makes a request with the values of a row; without one as it is written.
#[derive(Clone)]
pub(crate) struct Template(pub(crate) Arc<Make>);

type Make = dyn Fn(Option<&Row>) -> Result<Request, Fault> + Send + Sync;

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Template")
    }
}

/// The requests of a sequence.
#[derive(Debug, Clone)]
pub(crate) struct OwnSequence {
    /// Number of its first step among those of the group.
    first: usize,
    authority: Arc<str>,
    templates: Arc<[Template]>,
    /// By step, what is sent where a value does not fit, to end the sequence.
    samples: Arc<[Arc<Request>]>,
    carried: Arc<[CarriedField]>,
    /// One without columns where there are no data.
    rows: Arc<[Row]>,
    picker: RowPicker,
    /// Requests so far.
    made: u64,
}

impl OwnSequence {
    /// Of `templates`, each with one request as a sample in its place.
    pub(crate) fn new(
        templates: Vec<Template>,
        carried: Vec<CarriedField>,
        rows: Vec<Row>,
        picker: RowPicker,
    ) -> OwnSequence {
        OwnSequence {
            first: 0,
            authority: Arc::from(""),
            templates: templates.into(),
            samples: Arc::from([]),
            carried: carried.into(),
            rows: rows.into(),
            picker,
            made: 0,
        }
    }

    /// Where it goes, and the number of its first step in the group.
    pub(crate) fn placed(
        mut self,
        first: usize,
        authority: &str,
        samples: Vec<Arc<Request>>,
    ) -> OwnSequence {
        (self.first, self.authority) = (first, Arc::from(authority));
        self.samples = samples.into();
        self
    }

    pub(crate) fn number(&mut self, numbers: Numbers) {
        self.picker.number(numbers);
    }

    /// The step of a call that will not be sent.
    pub(crate) fn unsent(&self, waiting: &Waiting, sequences: &Sequences) -> usize {
        self.first + sequences.step(waiting.sequence)
    }

    pub(crate) fn request<'a>(
        &'a mut self,
        call: &'a mut Call,
        sequences: &mut Sequences,
    ) -> &'a Arc<Request> {
        let state = sequences.of(&mut call.waiting.sequence);
        let (step, picker) = (state.step, &mut self.picker);
        let row = *state
            .row
            .get_or_insert_with(|| picker.pick(call.waiting.user));
        call.step = self.first + step;
        let mut row = self.rows[row].clone();
        let carried = state.values.iter().filter_map(|(at, value)| {
            let field = &self.carried[*at];
            let cell = Cell::Json(value.clone());
            (field.to_step == step).then(|| (Arc::from(field.to.as_str()), cell))
        });
        row.values.extend(carried);
        match (self.templates[step].0)(Some(&row)) {
            Ok(request) => {
                self.made += 1;
                let varied = call.reply.varied.get_or_insert_default();
                // A call before in the same place may have failed after its values were read.
                varied.values.clear();
                varied.request.insert(Arc::new(Request {
                    // Every head may be another one.
                    id: OWN_PATH | head_id(self.first, 0) | self.made,
                    authority: self.authority.to_string(),
                    ..request
                }))
            }
            Err(fault) => {
                call.reply.fail(ErrorKind::Wrong, fault.message);
                &self.samples[step]
            }
        }
    }

    pub(crate) fn find_next(&self, call: &mut Call, sequences: &mut Sequences) -> Next {
        let ended = Ended {
            is_last: call.step + 1 == self.first + self.templates.len(),
            failed: call.failed,
            done: call.done,
        };
        let next = sequences.find_next(&mut call.waiting, ended);
        if let Next::Another(_) = next
            && let Some(varied) = call.reply.varied.as_mut()
        {
            let state = sequences.of(&mut call.waiting.sequence);
            state.values.append(&mut varied.values);
        }
        next
    }
}
