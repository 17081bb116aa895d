//! The engine with JSON Schema and JSONPath, as a process.

// The tests of the engine without one use more of it.
mod carry;
#[allow(dead_code)]
#[path = "../../engine/tests/support/engine.rs"]
mod engine;
mod expect;

/// The program under test.
const ENGINE: &str = env!("CARGO_BIN_EXE_wirelab-engine-json");
