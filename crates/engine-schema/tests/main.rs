//! The engine with a validator of JSON Schema, as a process.

// The tests of the engine without one use more of it.
#[allow(dead_code)]
#[path = "../../engine/tests/support/engine.rs"]
mod engine;
mod expect;

/// The program under test.
const ENGINE: &str = env!("CARGO_BIN_EXE_wirelab-engine-schema");
