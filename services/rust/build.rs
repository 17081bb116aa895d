//! Notes which compiler and library versions this build uses, for the ready line.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// The repository, seen from this crate.
const ROOT: &str = "../..";

fn main() -> Result<(), Box<dyn Error>> {
    let lock = Path::new(ROOT).join("Cargo.lock");
    println!("cargo:rerun-if-changed={}", lock.display());
    let lock = std::fs::read_to_string(lock)?;
    let manifest = std::fs::read_to_string("Cargo.toml")?;
    let versions: Vec<String> = libraries(&manifest)
        .map(|library| {
            Ok(format!(
                "{library}={}",
                find_locked_version(&lock, library)?
            ))
        })
        .collect::<Result<_, String>>()?;
    println!("cargo:rustc-env=WIRELAB_LIBRARIES={}", versions.join(","));
    println!("cargo:rustc-env=WIRELAB_RUSTC={}", compiler_version()?);
    Ok(())
}

/// What the services depend on, h2, which they use through hyper and tonic, and what the program
/// with databases adds.
fn libraries(manifest: &str) -> impl Iterator<Item = &str> {
    let (_, from) = manifest.split_once("[dependencies]\n").unwrap_or_default();
    let lines = from.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter(|name| !name.is_empty() && !name.starts_with("wirelab-"))
        // Neither is a dependency of its own, but both decide how a stack behaves, so the
        // ready line names them.
        .chain(["h2", "sqlx", "libsqlite3-sys"])
}

/// The version of `library` in a Cargo.lock, the newest where there are several.
fn find_locked_version(lock: &str, library: &str) -> Result<String, String> {
    let entry = format!("name = \"{library}\"\nversion = \"");
    let at = lock
        // Cargo.lock sorts entries of one name by version.
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
