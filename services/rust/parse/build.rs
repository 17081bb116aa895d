//! Passes the versions of the parsers on to the program, from Cargo.lock.

use std::path::Path;
use std::{env, fs};

const LIBRARIES: [&str; 5] = ["quick-xml", "roxmltree", "serde_json", "prost", "ciborium"];

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let lock = Path::new(&folder).join("../../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(&lock).expect("the workspace has a Cargo.lock");
    for library in LIBRARIES {
        let entry = format!("name = \"{library}\"\nversion = \"");
        let start = text.find(&entry).expect("a dependency is in Cargo.lock") + entry.len();
        let version = text[start..]
            .split('"')
            .next()
            .expect("split gives one part");
        let name = library.replace('-', "_").to_uppercase();
        println!("cargo::rustc-env=VERSION_{name}={version}");
    }
}
