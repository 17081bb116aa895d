//! A load that several processes make together.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Plan;
use crate::call::clock::{now_ns, seconds};
use crate::call::fault;
use crate::call::result::Fault;
use crate::call::waiting::Numbers;

/// Processes that may make one load.
const PARTS_MAX: u32 = 1_000;

/// The load may begin this long from now, or have begun this long ago, seconds.
const START_S_MAX: f64 = 60.0;

/// The part of the load that this process makes, of several that make it together. Users,
/// arrivals, connections and calls of the plan are those of all: user k, and arrival k, belong to
/// part k modulo `of`. Seeds and rows of data therefore do not depend on the number of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its number, from 0.
    pub index: u32,
    /// Number of processes, at most 1,000.
    pub of: u32,
    /// When the load begins, nanoseconds of CLOCK_MONOTONIC, within a minute from now. The warm-up
    /// lasts `max_s`, so that all windows open together. Arrivals that were due before this
    /// process was ready are late, and counted from when they were due.
    pub start_ns: u64,
}

impl Part {
    /// # Errors
    /// A [`Fault`] that names the property.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), Fault> {
        let problem = if !(1..=PARTS_MAX).contains(&self.of) {
            format!("of = {}: 1 to {PARTS_MAX} processes", self.of)
        } else if self.index >= self.of {
            format!(
                "index = {}: the last of {} is {}",
                self.index,
                self.of,
                self.of - 1
            )
        } else if seconds(self.start_ns.abs_diff(now_ns())) > START_S_MAX {
            format!("start_ns is more than {START_S_MAX} s from now")
        } else if plan.slices.is_some() {
            "groups that take turns are called by one process".to_owned()
        } else {
            return Ok(());
        };
        Err(fault::plan(
            format!("part: {problem}"),
            "change it, or leave part out",
        ))
    }
}

impl Plan {
    /// What of the whole load's users, connections or calls falls to this process.
    pub(crate) fn own(&self, whole: u64) -> u64 {
        self.part
            .map_or(whole, |part| share(whole, part.index, part.of))
    }

    /// Numbers of the users and arrivals of one thread.
    pub(crate) fn numbers(&self, thread: u32) -> Numbers {
        let (index, of) = self.part.map_or((0, 1), |part| (part.index, part.of));
        Numbers {
            first: thread * of + index,
            step: self.threads * of,
        }
    }
}

/// The part of `whole` that falls to the `index`-th of `parts`.
pub(crate) fn share(whole: u64, index: u32, parts: u32) -> u64 {
    let (index, parts) = (u64::from(index), u64::from(parts));
    whole / parts + u64::from(index < whole % parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        for (whole, parts) in [(0, 1), (7, 3), (1_000_001, 4), (2, 5)] {
            let sum: u64 = (0..parts).map(|index| share(whole, index, parts)).sum();
            assert_eq!(sum, whole);
        }
    }

    #[test]
    fn each_number_belongs_to_one_thread_of_one_part() {
        let mut numbers: Vec<u32> = Vec::new();
        // Processes need not have the same number of threads.
        for (index, threads) in [(0, 1), (1, 3), (2, 2)] {
            let text = format!(
                r#"{{"threads": {threads}, "groups": [],
                    "part": {{"index": {index}, "of": 3, "start_ns": 0}}}}"#
            );
            let plan: Plan = serde_json::from_str(&text).unwrap();
            let mut own = 0;
            for thread in 0..threads {
                let Numbers { first, step } = plan.numbers(thread);
                let of_thread: Vec<u32> = (first..37).step_by(step as usize).collect();
                let expected = share(plan.own(37), thread, threads);
                assert_eq!(of_thread.len() as u64, expected, "{index} {thread}");
                own += of_thread.len() as u64;
                numbers.extend(of_thread);
            }
            assert_eq!(own, plan.own(37));
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..37).collect::<Vec<_>>());
    }
}
