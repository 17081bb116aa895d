//! Makes the gRPC service trait from the contract's source, and notes which
//! compiler and library versions this build uses, for the ready line.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// The repository, seen from this crate.
const ROOT: &str = "../..";

/// Libraries that the services are made of.
const LIBRARIES: [&str; 6] = ["axum", "hyper", "h2", "tokio", "tonic", "prost"];

fn main() -> Result<(), Box<dyn Error>> {
    generate_service()?;
    let lock = Path::new(ROOT).join("Cargo.lock");
    println!("cargo:rerun-if-changed={}", lock.display());
    let lock = std::fs::read_to_string(lock)?;
    let versions: Vec<String> = LIBRARIES
        .iter()
        .map(|library| Ok(format!("{library}={}", locked_version(&lock, library)?)))
        .collect::<Result<_, String>>()?;
    println!("cargo:rustc-env=WIRELAB_LIBRARIES={}", versions.join(","));
    println!("cargo:rustc-env=WIRELAB_RUSTC={}", compiler_version()?);
    Ok(())
}

fn generate_service() -> Result<(), Box<dyn Error>> {
    let contracts = Path::new(ROOT).join("contracts");
    let source = contracts.join("transfer.proto");
    println!("cargo:rerun-if-changed={}", source.display());
    tonic_prost_build::configure()
        .build_client(true)
        .extern_path(".wirelab.transfer.v1", "::wirelab_contract::transfer")
        .compile_fds(protox::compile([&source], [&contracts])?)?;
    Ok(())
}

/// The version of `library` in a Cargo.lock, the newest where there are several.
fn locked_version(lock: &str, library: &str) -> Result<String, String> {
    let entry = format!("name = \"{library}\"\nversion = \"");
    let at = lock
        .rfind(&entry)
        .ok_or_else(|| format!("Cargo.lock has no {library}"))?;
    let version = &lock[at + entry.len()..];
    Ok(version.split('"').next().unwrap_or_default().to_owned())
}

/// What `rustc --version` says, without the word and the date: `1.95.0`.
fn compiler_version() -> Result<String, Box<dyn Error>> {
    let output = Command::new(std::env::var("RUSTC")?)
        .arg("--version")
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text
        .split(' ')
        .nth(1)
        .ok_or("rustc --version says nothing")?
        .to_owned())
}
