//! Workloads made ready to send: one, or the parts of a mix.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use wirelab_wire::Request;
use wirelab_wire::codec::Expected;

use crate::call::result::Fault;
use crate::plan::RowPer;
use crate::request::head::{OWN_PATH, head_id};
use crate::request::mix::Chooser;
use crate::request::own_sequence::OwnSequence;
use crate::request::rows::{RowPicker, RowRequest, RowRequests};
use crate::request::script::{Mix, MixPart, RequestBuilder, Script, Varying};
use crate::validate::step::{Step, join_steps};

/// The requests of a group's workload, and what makes their replies right.
pub struct Prepared {
    parts: Vec<Part>,
    /// The steps of all parts, one part after another.
    pub(crate) steps: Vec<Step>,
    /// Which part an arrival is; None where there is one part.
    chooser: Option<Chooser>,
}

/// One workload made ready.
pub(crate) struct Part {
    /// By step; without an authority yet.
    pub(crate) requests: Vec<Request>,
    /// As many; they move to [`Prepared::steps`].
    pub(crate) steps: Vec<Step>,
    /// How bodies are made call by call; None: there is one request, and it is whole.
    pub(crate) builder: Option<RequestBuilder>,
    /// Whole requests, one for each row of data; of `requests` only the number counts then.
    pub(crate) rows: Option<PartRows>,
    /// Requests made call by call, of a service that is not of the lab.
    pub(crate) own: Option<OwnSequence>,
}

/// A request, and what its reply must say.
pub(crate) type PreparedRow = (Request, Option<Arc<Expected>>);

/// What makes the head of a row's request: path, fields, length of the body.
type Head<'a> = (&'a str, &'a [(String, String)], usize);

/// Requests for rows of data, without an authority yet.
pub(crate) struct PartRows {
    /// Of a service that is not of the lab without what it must say: that is the same for all.
    pub(crate) rows: Vec<PreparedRow>,
    pub(crate) per: RowPer,
}

impl Prepared {
    /// The only workload of a group.
    pub(crate) fn only(mut part: Part) -> Prepared {
        Prepared {
            steps: std::mem::take(&mut part.steps),
            parts: vec![part],
            chooser: None,
        }
    }

    /// The parts of a mix, each with its weight.
    ///
    /// # Errors
    /// A fault of the plan when a weight is not legal.
    pub(crate) fn mix(parts: Vec<(f64, Part)>, seed: u64) -> Result<Prepared, Fault> {
        let (weights, mut parts): (Vec<f64>, Vec<Part>) = parts.into_iter().unzip();
        let chooser = Chooser::new(&weights, seed)?;
        // Reported as that workload alone, without a list of operations.
        if parts.len() == 1 {
            return Ok(Prepared::only(parts.remove(0)));
        }
        Ok(Prepared {
            steps: join_steps(parts.iter_mut().flat_map(|part| part.steps.drain(..))),
            parts,
            chooser: Some(chooser),
        })
    }

    /// Names of the fields that replies to any of its steps are expected to have.
    pub(crate) fn watched(&self) -> BTreeSet<&str> {
        let steps = self.steps.iter();
        steps.flat_map(|step| step.validator.watched()).collect()
    }

    /// What a group sends to `authority`; each request must pass `check`.
    ///
    /// # Errors
    /// That of `check`.
    pub(crate) fn script(
        &self,
        authority: &str,
        check: impl Fn(&Request) -> Result<(), Fault>,
    ) -> Result<Script, Fault> {
        let mut first = 0;
        let mut parts = Vec::new();
        for part in &self.parts {
            let script = part.script(first, authority, &check)?;
            parts.push(MixPart { script, first });
            first += part.requests.len();
        }
        Ok(match &self.chooser {
            None => parts.remove(0).script,
            Some(chooser) => Script::Mix(Box::new(Mix::new(parts, chooser.clone()))),
        })
    }
}

impl Part {
    /// The script of a part whose first step has the number `first` in its group.
    fn script(
        &self,
        first: usize,
        authority: &str,
        check: impl Fn(&Request) -> Result<(), Fault>,
    ) -> Result<Script, Fault> {
        if let Some(rows) = &self.rows {
            return rows.script(first, authority, check);
        }
        let mut requests = Vec::new();
        for (at, request) in self.requests.iter().enumerate() {
            let request = Request {
                // Numbered through all parts: heads of two parts must not share an id.
                id: head_id(first + at, request.body.len()),
                authority: authority.to_owned(),
                ..request.clone()
            };
            check(&request)?;
            requests.push(Arc::new(request));
        }
        Ok(match (&self.builder, &self.own) {
            (_, Some(own)) => Script::Own(Box::new(own.clone().placed(first, authority, requests))),
            (None, None) => Script::Same(requests.remove(0)),
            (Some(builder), None) => {
                Script::Varying(Box::new(Varying::new(first, builder.clone(), requests)))
            }
        })
    }
}

impl PartRows {
    fn script(
        &self,
        step: usize,
        authority: &str,
        check: impl Fn(&Request) -> Result<(), Fault>,
    ) -> Result<Script, Fault> {
        // Equal heads, equal ids.
        let mut heads: HashMap<Head, u64> = HashMap::new();
        let rows = self.rows.iter().map(|(request, expected)| {
            let next = heads.len() as u64;
            let fields = request.fields.as_slice();
            let head = (request.path.as_str(), fields, request.body.len());
            let number = *heads.entry(head).or_insert(next);
            let request = Request {
                id: OWN_PATH | head_id(step, 0) | number,
                authority: authority.to_owned(),
                ..request.clone()
            };
            check(&request)?;
            Ok(RowRequest {
                request: Arc::new(request),
                expected: expected.clone(),
            })
        });
        let rows = rows.collect::<Result<Arc<[_]>, Fault>>()?;
        let picker = RowPicker::new(self.per, rows.len());
        let requests = RowRequests::new(step, rows, picker);
        Ok(Script::Rows(Box::new(requests)))
    }
}
