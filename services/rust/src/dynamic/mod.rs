//! One operation of a user's own contract, which is read from descriptors at the start.
//!
//! This is the program that `wirelab choose` generates in Rust, with values of prost-reflect in
//! place of generated types: it needs no compiler, and it is not what a user would deploy. The
//! modules that do not depend on the contract are those of the generated program.

#[path = "../../../../python/wirelab/data/generate/rust/src/codec.rs"]
mod codec;
#[path = "../../../../python/wirelab/data/generate/rust/src/compression.rs"]
mod compression;
mod contract;
mod digest;
#[expect(dead_code, reason = "faults are of SOAP")]
#[path = "../../../../python/wirelab/data/generate/rust/src/exchange.rs"]
mod exchange;
#[path = "../../../../python/wirelab/data/generate/rust/src/grpc.rs"]
mod grpc;
#[expect(
    clippy::result_large_err,
    reason = "a refusal is a reply, as handlers of axum have it"
)]
#[path = "../../../../python/wirelab/data/generate/rust/src/http.rs"]
mod http;
mod model;
mod operation;
#[path = "../../../../python/wirelab/data/generate/rust/src/options.rs"]
mod options;
#[path = "../../../../python/wirelab/data/generate/rust/src/program.rs"]
mod program;
mod read;
#[allow(dead_code, reason = "generated messages use all of it")]
#[path = "../../../../python/wirelab/data/generate/rust/src/rules.rs"]
mod rules;
#[allow(dead_code, reason = "generated messages use all of it")]
#[path = "../../../../python/wirelab/data/generate/rust/src/values.rs"]
mod values;
mod write;

use std::process::ExitCode;

use wirelab_contract::print_error;

/// Serves an operation of a contract until SIGTERM. The arguments are a file with a serialized
/// `FileDescriptorSet`, the operation as `package.Service/Method`, and the options of a generated
/// service, such as `--binding rest --codec json --port 8080 --reply reply.json`.
///
/// Returns exit code 0 after SIGTERM, 2 for arguments that cannot be honoured, 1 when the machine
/// failed.
pub fn serve_contract(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let (Some(file), Some(method)) = (arguments.next(), arguments.next()) else {
        print_error!("service: the descriptors and the operation are needed");
        return ExitCode::from(program::REFUSED_EXIT);
    };
    let defined = std::fs::read(&file)
        .map_err(|error| error.to_string())
        .and_then(|descriptors| operation::define(&descriptors, &method));
    if let Err(error) = defined {
        print_error!("service: {file}: {error}");
        return ExitCode::from(program::REFUSED_EXIT);
    }
    program::run(arguments)
}
