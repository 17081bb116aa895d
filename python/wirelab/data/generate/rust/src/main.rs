//! Answers one operation: reads its sample reply, listens, and ends on SIGTERM.

mod avro;
mod avro_model;
mod avro_values;
mod codec;
mod compression;
mod contract;
mod exchange;
mod grpc;
mod http;
mod model;
mod options;
mod program;
mod rules;
mod soap;
mod values;
mod xml;
mod xml_model;

use std::process::ExitCode;

fn main() -> ExitCode {
    program::run(std::env::args().skip(1))
}
