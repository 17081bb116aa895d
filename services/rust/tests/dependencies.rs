//! What the services are built from.

use std::process::Command;

/// The crates below `wirelab-services`, tests and build scripts aside.
fn tree() -> String {
    let cargo = std::env::var("CARGO").expect("cargo runs the tests");
    let output = Command::new(cargo)
        .args(["tree", "--package", "wirelab-services", "--edges", "normal"])
        .args(["--prefix", "none", "--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo tree");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn services_are_built_on_public_libraries_and_not_on_the_codecs_of_the_engine() {
    let tree = tree();
    let crates: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    for library in ["axum", "tonic", "serde_json", "prost", "quick-xml"] {
        assert!(crates.contains(&library), "{library} is not used");
    }
    // services/rust/databases has the drivers, which take long to compile.
    assert!(!crates.contains(&"sqlx-core"), "drivers for databases");
    let mut ours: Vec<&str> = crates
        .into_iter()
        .filter(|name| name.starts_with("wirelab"))
        .collect();
    ours.sort_unstable();
    ours.dedup();
    let allowed = [
        "wirelab-contract",
        "wirelab-features",
        "wirelab-services",
        "wirelab-stack",
        "wirelab-wire-own",
    ];
    assert_eq!(ours, allowed);
}
