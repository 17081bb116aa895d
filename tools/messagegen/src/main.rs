//! Writes Rust from the contracts: the message types of `crates/contract`, and the gRPC clients that
//! the tests of the services use.
//!
//! `make generate` calls it: `messagegen CONTRACTS MESSAGES CLIENTS`, three folders. The results are
//! committed, so that building wirelab needs no compiler of Protobuf. Exit codes: 0 done, 1 with the
//! reason.

mod messages;

use std::error::Error;
use std::path::Path;

use protox::prost_reflect::prost_types::FileDescriptorSet;

/// The contracts, by the names of their sources.
const CONTRACTS: [&str; 6] = [
    "transfer",
    "charging",
    "calendar",
    "records",
    "petclinic",
    "stream",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [contracts, messages, clients] = arguments.as_slice() else {
        return Err("usage: messagegen CONTRACTS MESSAGES CLIENTS".into());
    };
    generate(contracts.as_ref(), messages.as_ref(), clients.as_ref())
}

fn generate(contracts: &Path, messages: &Path, clients: &Path) -> Result<(), Box<dyn Error>> {
    let sources = CONTRACTS.map(|name| contracts.join(format!("{name}.proto")));
    let files = protox::compile(sources, [contracts])?;
    messages::write(files.clone(), messages)?;
    write_clients(files, clients)
}

/// Messages are those of wirelab-contract: a second set would need a conversion in every test.
fn write_clients(files: FileDescriptorSet, out: &Path) -> Result<(), Box<dyn Error>> {
    // No servers: the service dispatches by itself, once for all operations.
    let mut builder = tonic_prost_build::configure()
        .build_server(false)
        .out_dir(out);
    for name in CONTRACTS {
        let module = format!("::wirelab_contract::{name}");
        builder = builder.extern_path(format!(".wirelab.{name}.v1"), module);
    }
    Ok(builder.compile_fds(files)?)
}
