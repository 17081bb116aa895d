//! The binary `wirelab-engine`.
fn main() {}
