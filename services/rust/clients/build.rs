//! Generates the clients from the contracts' sources.

use std::error::Error;
use std::path::Path;

/// The repository, seen from this crate.
const ROOT: &str = "../../..";

/// The contracts, by the names of their sources.
const CONTRACTS: [&str; 5] = ["transfer", "charging", "calendar", "records", "petclinic"];

fn main() -> Result<(), Box<dyn Error>> {
    let contracts = Path::new(ROOT).join("contracts");
    let sources = CONTRACTS.map(|name| contracts.join(format!("{name}.proto")));
    for source in &sources {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    let messages = |name: &str| {
        let package = format!(".wirelab.{name}.v1");
        (package, format!("::wirelab_contract::{name}"))
    };
    // No servers: the service dispatches by itself, once for all operations.
    let mut builder = tonic_prost_build::configure().build_server(false);
    for (package, module) in CONTRACTS.map(messages) {
        // Messages are those of wirelab-contract: a second set would need a conversion in
        // every test.
        builder = builder.extern_path(package, module);
    }
    builder.compile_fds(protox::compile(&sources, [&contracts])?)?;
    Ok(())
}
