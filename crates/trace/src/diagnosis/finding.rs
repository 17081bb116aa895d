//! What is said of one cause, over a whole capture.

use crate::diagnosis::cause::Cause;
use crate::flow::event::FlowId;

/// One cause, all its occurrences together.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Finding {
    /// Why time was lost.
    pub cause: Cause,
    /// How often. One occurrence is an exchange, or an opening of a connection.
    pub occurrences: u64,
    /// Exchanges among them.
    pub exchanges: u64,
    /// Time charged, in all, milliseconds.
    pub ms_total: f64,
    /// Of the occurrences' times, milliseconds.
    pub ms_median: f64,
    /// Part of the time that all exchanges took, openings included, 0 to 1.
    /// Exchanges at the same time each count.
    pub share_of_latency: f64,
    /// The longest occurrences, in the order of the capture.
    #[serde(rename = "where")]
    pub examples: Vec<Where>,
    /// One or two sentences with the figures.
    pub words: String,
    /// The switch that the finding blames; None where the lab has none.
    pub test: Option<Test>,
}

/// One occurrence.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Where {
    /// The connection's number.
    pub flow: FlowId,
    /// The exchange's on that connection, from 0; None where messages cannot be read.
    pub exchange: Option<u64>,
    /// Numbers of the packets that show it.
    pub packets: Vec<u64>,
    /// Time charged, milliseconds.
    pub ms: f64,
}

/// What to flip, and what should follow if the finding is right.
#[derive(
    Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct Test {
    /// An axis of stacks, as in references.
    pub axis: String,
    /// The value to set.
    pub value: String,
    /// The prediction.
    pub predict: String,
}
