#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wirelab_wire::fuzzing::fuzz_hpack(data));
