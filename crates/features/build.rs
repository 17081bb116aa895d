//! Only so that cargo considers the dependencies of build scripts.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
