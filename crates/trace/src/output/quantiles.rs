//! Quantiles of a distribution, as documents have them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Quantiles, microseconds, to three digits.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Quantiles {
    /// Smallest; 0 in a document that was made before it was there.
    #[serde(default)]
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 90 %.
    pub p90: f64,
    /// 99 %.
    pub p99: f64,
    /// Largest.
    pub max: f64,
    /// Over how many.
    pub n: u64,
}
