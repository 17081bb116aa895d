//! The parsers of wirelab-trace under libFuzzer: every target is a program of this source.

#![no_main]

use wirelab_trace::fuzzing;

libfuzzer_sys::fuzz_target!(|data: &[u8]| match env!("CARGO_BIN_NAME") {
    "capture" => fuzzing::fuzz_capture(data),
    "conversations" => fuzzing::fuzz_conversations(data),
    "flows" => fuzzing::fuzz_flows(data),
    "tls" => fuzzing::fuzz_tls(data),
    other => panic!("{other} is not a target"),
});
