//! A deterministic mutational fuzzer on stable Rust: every parser of this
//! crate for a second, or for WIRELAB_FUZZ_SECONDS each.
//!
//! It begins with seeds made from the golden vectors and by our own writers
//! (`seeds.rs`), and with the inputs of `corpus/TARGET.base64`, and changes
//! them at random from a fixed seed. No
//! input may panic, take longer than a bound, or hold more memory than a
//! multiple of its length. `/fuzz` has the same targets for libFuzzer, which
//! also measures coverage; its findings are in those files.

mod corpus;
pub mod memory;
mod mutate;
mod run;
mod seeds;
#[macro_use]
mod targets;

use wirelab_wire::fuzzing;

targets! {
    avro: fuzz_avro,
    cdr: fuzz_cdr,
    chat: fuzz_chat,
    connect: fuzz_connect,
    giop_client: fuzz_giop_client,
    giop_server: fuzz_giop_server,
    grpc: fuzz_grpc,
    gzip: fuzz_gzip,
    hpack: fuzz_hpack,
    http1: fuzz_http1,
    http2: fuzz_http2,
    ior: fuzz_ior,
    json: fuzz_json,
    ndjson: fuzz_ndjson,
    protobuf: fuzz_protobuf,
    raw_client: fuzz_raw_client,
    raw_server: fuzz_raw_server,
    soap: fuzz_soap,
    sse: fuzz_sse,
    websocket: fuzz_websocket,
    token_xml: fuzz_token_xml,
    token_xml_text: fuzz_token_xml_text,
    unpacker: fuzz_unpacker,
    xml: fuzz_xml,
    zstd: fuzz_zstd,
}

#[test]
fn every_target_has_seeds() {
    corpus::check(&seeds::all(), TARGETS);
}

#[test]
fn libfuzzer_has_every_target() {
    targets::libfuzzer_has(TARGETS, "wire.rs");
}

/// The fuzzer itself finds what it is there to find.
mod the_fuzzer {
    use std::panic::catch_unwind;

    use super::run::{Limits, search};

    fn find_crash(target: fn(&[u8])) -> String {
        let seeds = [b"a perfectly good seed".to_vec()];
        let limits = Limits {
            inputs: 200_000,
            ..Limits::default()
        };
        let panic = catch_unwind(|| search("itself", target, &seeds, limits)).unwrap_err();
        panic.downcast_ref::<String>().unwrap().clone()
    }

    #[test]
    fn finds_panics() {
        let message = find_crash(|data| assert!(!data.ends_with(b"seed\0"), "found it"));
        assert!(message.contains("found it"), "{message}");
    }

    #[test]
    fn finds_memory_that_lengths_are_trusted_with() {
        let message = find_crash(|data| {
            let length = data
                .first_chunk()
                .map_or(0, |bytes| u32::from_le_bytes(*bytes));
            if length == 0x7FFF_FFFF {
                drop(Vec::<u8>::with_capacity(length as usize));
            }
        });
        assert!(message.contains("bytes of memory"), "{message}");
    }

    #[test]
    fn finds_inputs_that_take_long() {
        let message = find_crash(|data| {
            if data.len() > 60 {
                std::thread::sleep(Limits::default().time_max);
            }
        });
        assert!(message.contains("took"), "{message}");
    }
}
