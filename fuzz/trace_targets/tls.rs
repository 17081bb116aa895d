#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wirelab_trace::fuzzing::fuzz_tls(data));
