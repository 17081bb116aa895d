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
fn the_corpus_holds_every_seed() {
    corpus::holds(&seeds::all(), TARGETS);
}

#[test]
fn libfuzzer_has_every_target() {
    targets::libfuzzer_has(TARGETS, "trace_targets");
}
