//! The search of `crates/wire/tests/fuzz`, for captures and connections: each
//! for a second, or for WIRELAB_FUZZ_SECONDS.

mod conversations;
#[path = "../../../wire/tests/fuzz/corpus.rs"]
mod corpus;
#[path = "../../../wire/tests/fuzz/memory.rs"]
mod memory;
#[path = "../../../wire/tests/fuzz/mutate.rs"]
mod mutate;
#[path = "../../../wire/tests/fuzz/run.rs"]
mod run;
mod seeds;

use wirelab_trace::fuzzing;

const TARGETS: [&str; 3] = ["capture", "conversations", "flows"];

#[test]
fn capture() {
    run::fuzz("capture", fuzzing::fuzz_capture);
}

#[test]
fn conversations() {
    run::fuzz("conversations", fuzzing::fuzz_conversations);
}

#[test]
fn flows() {
    run::fuzz("flows", fuzzing::fuzz_flows);
}

#[test]
fn the_corpus_holds_every_seed() {
    let seeds = seeds::all();
    if std::env::var_os("WIRELAB_WRITE_CORPUS").is_some() {
        corpus::write(&seeds);
    }
    for seed in &seeds {
        assert!(TARGETS.contains(&seed.target), "{}", seed.target);
        let file = corpus::folder(seed.target).join(&seed.name);
        assert_eq!(
            std::fs::read(&file).ok().as_ref(),
            Some(&seed.bytes),
            "{} is not fresh; run with WIRELAB_WRITE_CORPUS=1",
            file.display()
        );
    }
}

/// The same targets exist for libFuzzer.
#[test]
fn libfuzzer_has_every_target() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz");
    let manifest = std::fs::read_to_string(format!("{root}/Cargo.toml")).unwrap();
    for target in TARGETS {
        let path = format!("trace_targets/{target}.rs");
        let source = std::fs::read_to_string(format!("{root}/{path}")).expect(&path);
        assert!(source.contains(&format!("fuzz_{target}(")), "{target}");
        assert!(manifest.contains(&path), "{path}");
    }
}
