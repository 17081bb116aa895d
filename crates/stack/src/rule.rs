//! One rule: the conditions of a combination that cannot exist, and how it is written.

use serde::Serialize;

use crate::axes::find;
use crate::axis_map::AxisMap;

/// One combination that cannot exist: all conditions hold.
#[derive(Debug, Clone, Serialize)]
pub struct Rule {
    /// When it is broken.
    pub when: Vec<Condition>,
    /// Why it cannot exist.
    pub reason: String,
    /// The smallest change that makes it legal: an axis, and its value. A value that takes a
    /// number keeps the number that was given.
    pub repair: (&'static str, &'static str),
}

/// A condition on one axis.
#[derive(Debug, Clone, Serialize)]
pub struct Condition {
    /// The axis.
    pub axis: &'static str,
    /// Whether its value is one of `values`, or none of them.
    pub is: bool,
    /// Values; `pool` stands for `pool=N`.
    pub values: Vec<&'static str>,
}

impl Condition {
    fn holds(&self, axes: &AxisMap) -> bool {
        let value = axes.value(self.axis);
        // The word of a counted value: a rule on `pool` holds for every `pool=N`.
        let word = value.split('=').next().unwrap_or(value);
        (self.values.contains(&value) || self.values.contains(&word)) == self.is
    }
}

impl Rule {
    /// Whether these axes break it.
    #[must_use]
    pub fn is_broken(&self, axes: &AxisMap) -> bool {
        self.when.iter().all(|condition| condition.holds(axes))
    }
}

pub(crate) fn is(axis: &'static str, values: &[&'static str]) -> Condition {
    Condition {
        axis,
        is: true,
        values: values.to_vec(),
    }
}

pub(crate) fn not(axis: &'static str, values: &[&'static str]) -> Condition {
    Condition {
        is: false,
        ..is(axis, values)
    }
}

pub(crate) fn rule(
    when: impl Into<Vec<Condition>>,
    reason: impl Into<String>,
    repair: (&'static str, &'static str),
) -> Rule {
    Rule {
        when: when.into(),
        reason: reason.into(),
        repair,
    }
}

/// The axis has its default wherever `elsewhere` holds.
pub(crate) fn belongs(
    axis: &'static str,
    elsewhere: &[Condition],
    reason: impl Into<String>,
) -> Rule {
    // Right for all axes but codec and transport, whose default depends on the binding;
    // these two have rules of their own.
    let default = find(axis).expect("an axis of the table").default;
    // An axis that nobody named has its default, so a rule of this kind never refuses it.
    let mut when = vec![not(axis, &[default])];
    when.extend_from_slice(elsewhere);
    rule(when, reason, (axis, default))
}
