//! The service with databases as a process.

// The tests of the service without databases use more of it.
#[allow(dead_code)]
#[path = "../../tests/harness/service.rs"]
mod harness;
mod petclinic;
mod records;

/// The program under test.
const SERVICE: &str = env!("CARGO_BIN_EXE_wirelab-rust-service-databases");
