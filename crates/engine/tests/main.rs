//! The engine as a process, against servers of the tests and the services in Rust.

mod call_log;
mod capture;
mod data;
mod dissect;
mod dissect_refusals;
mod error_handling;
mod expect;
mod failed_calls;
mod iiop;
mod mix;
mod one_way;
mod open_files;
mod parts;
mod policies;
mod sequences;
mod slices;
mod stacks;
mod support;
mod third_party;
mod tls;

/// The program under test.
const ENGINE: &str = env!("CARGO_BIN_EXE_wirelab-engine");
