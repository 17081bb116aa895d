//! What the tests have in common.

pub mod certificates;
pub mod charging;
pub mod engine;
pub mod service;
#[path = "../../../contract/tests/skipped/mod.rs"]
mod skipped;

pub use engine::{drive, drive_limited, each_request, group, ok, plan, server};
pub use skipped::report_skip;
