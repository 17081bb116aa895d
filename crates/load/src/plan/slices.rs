//! Groups that take turns.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Group, Load, Plan, Window};
use crate::call::fault;
use crate::call::result::Fault;

/// How groups take turns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Slices {
    /// Seconds of a slice that are measured.
    pub length_s: f64,
    /// Seconds at its beginning that are not: caches are cold after the switch.
    #[serde(default)]
    pub skip_s: f64,
    /// Seconds after a slice for calls under way. If they take longer, the run ends, because
    /// the next group would be measured together with them.
    pub drain_s: f64,
    /// Number of the group that begins, from 0.
    #[serde(default)]
    pub first: u32,
}

impl Slices {
    /// Checks what groups that take turns cannot have.
    ///
    /// # Errors
    /// A [`Fault`] that names the property.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), Fault> {
        let problem = if plan.groups.len() < 2 {
            Some("at least two groups take turns")
        } else if !(self.length_s > 0.0 && self.length_s.is_finite()) {
            Some("length_s must be above 0")
        } else if !(self.skip_s >= 0.0 && self.skip_s.is_finite()) {
            Some("skip_s must be 0 or more")
        } else if !(self.drain_s > 0.0 && self.drain_s.is_finite()) {
            Some("drain_s must be above 0")
        } else if self.first as usize >= plan.groups.len() {
            Some("first names no group")
        } else {
            plan.groups.iter().find_map(own_problem)
        };
        match problem {
            None => Ok(()),
            Some(problem) => Err(fault::plan(
                format!("slices: {problem}"),
                "change it, or leave slices out",
            )),
        }
    }
}

/// Why a group cannot stop and go on.
fn own_problem(group: &Group) -> Option<&'static str> {
    let steady = match &group.load {
        Load::Closed {
            iterations, stages, ..
        } => iterations.is_none() && stages.is_empty(),
        Load::Constant { .. } | Load::Poisson { .. } => true,
        Load::Stages { .. } | Load::Bursts { .. } => false,
    };
    if !steady {
        return Some("the load of a group must stay the same: closed, constant or poisson");
    }
    if !matches!(group.window, Window::DurationS(_)) {
        return Some("time must close the window of each group");
    }
    (group.first_calls > 0).then_some("first calls of a group cannot be kept")
}
