//! The distributions of a packet's delay.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where netem's tables end, in units of the jitter; those here end there, too.
pub(crate) const CUT: f64 = 4.0;

/// Shape of the Pareto distribution, and what moves it to a mean of zero and
/// stretches it: the same as netem's table.
pub(crate) const PARETO_SHAPE: f64 = 3.0;
pub(crate) const PARETO_MEAN: f64 = 1.5;
pub(crate) const PARETO_STRETCH: f64 = 4.0 / 3.0;

/// How a packet's delay varies around `delay_ms`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Not at all.
    #[default]
    None,
    /// Evenly between `delay_ms` - `jitter_ms` and `delay_ms` + `jitter_ms`.
    Uniform,
    /// Normal, `jitter_ms` the standard deviation, cut at four of them.
    Normal,
    /// A long tail to the right: `delay_ms` + `jitter_ms` * min(4, (x - 1.5) * 4 / 3),
    /// x of the Pareto distribution of shape 3 and scale 1. The least delay
    /// is `delay_ms` - 2/3 `jitter_ms`. The same as netem's.
    Pareto,
}

impl Distribution {
    /// How far below the delay a packet can come, in units of the jitter.
    pub(crate) fn reach(self) -> f64 {
        match self {
            Distribution::None => 0.0,
            Distribution::Uniform => 1.0,
            Distribution::Normal => CUT,
            Distribution::Pareto => (PARETO_MEAN - 1.0) * PARETO_STRETCH,
        }
    }

    /// Mean deviation, in units of the jitter. Only the cut of the Pareto
    /// distribution has one: minus the integral of x^-3 beyond the cut.
    pub(crate) fn mean(self) -> f64 {
        match self {
            Distribution::Pareto => {
                let cut = CUT / PARETO_STRETCH + PARETO_MEAN;
                -PARETO_STRETCH * cut.powf(1.0 - PARETO_SHAPE) / (PARETO_SHAPE - 1.0)
            }
            _ => 0.0,
        }
    }
}
