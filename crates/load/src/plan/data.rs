//! Values of requests that differ from call to call.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows of values. The columns of a row replace fields of the request message by name
/// (`lastName`; `type.id` is a field of a nested message). In a sequence a column replaces
/// the field of every request that has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Where the rows come from.
    pub rows: Rows,
    /// Who takes the next row.
    #[serde(default)]
    pub per: RowPer,
}

/// Where rows come from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rows {
    /// A file, read once before the load: at most 64 MiB and 1,000,000 rows.
    File {
        /// Its path. `.csv`: RFC 4180, the first line names the fields. `.jsonl`: one JSON
        /// object per line.
        path: String,
    },
    /// The lines of a text file that are not empty, each the value of field `line`; with the same
    /// limits.
    Lines {
        /// Its path.
        path: String,
    },
    /// Random values, made before the load.
    Random {
        /// How many rows.
        count: u32,
        /// Seed of the values.
        #[serde(default)]
        seed: u64,
        /// Fields, each with the values that it may have.
        fields: BTreeMap<String, RandomValue>,
    },
}

/// Which values a field may have, all with the same probability.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RandomValue {
    /// Integers from `min` to `max`, both included.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// Lower-case letters.
    Text {
        /// How many, at most 65,536.
        length: u32,
    },
    /// One of these.
    Choice {
        /// The values.
        values: Vec<serde_json::Value>,
    },
}

/// Who takes the next row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RowPer {
    /// Each call, or each sequence: row after row, and from the first again after the last.
    /// Thread k of T takes every T-th row from row k on.
    #[default]
    Call,
    /// Each user always has the same row: user k row k mod the number of rows. In an open
    /// load each arrival is a user of its own.
    User,
}
