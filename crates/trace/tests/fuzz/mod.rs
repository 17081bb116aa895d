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
mod tls;
#[macro_use]
#[path = "../../../wire/tests/fuzz/targets.rs"]
mod targets;

use wirelab_trace::fuzzing;

targets! {
    capture: fuzz_capture,
    conversations: fuzz_conversations,
    flows: fuzz_flows,
    tls: fuzz_tls,
}

#[test]
fn every_target_has_seeds() {
    corpus::check(&seeds::all(), TARGETS);
}

/// Tests in Python read these files. With WIRELAB_WRITE_CORPUS they are written first.
#[test]
fn the_captures_that_are_kept_are_those_of_the_seeds() {
    let seeds = seeds::all();
    for seed in seeds.iter().filter(|seed| seed.target == "capture") {
        let file = corpus::folder(seed.target).join(&seed.name);
        if std::env::var_os("WIRELAB_WRITE_CORPUS").is_some() {
            std::fs::write(&file, &seed.bytes).unwrap();
        }
        assert_eq!(
            std::fs::read(&file).ok().as_ref(),
            Some(&seed.bytes),
            "{} is not fresh; run with WIRELAB_WRITE_CORPUS=1",
            file.display()
        );
    }
}

#[test]
fn libfuzzer_has_every_target() {
    targets::libfuzzer_has(TARGETS, "trace.rs");
}
