//! The parsers of wirelab-wire under libFuzzer: every target is a program of this source.

#![no_main]

use wirelab_wire::fuzzing;

libfuzzer_sys::fuzz_target!(|data: &[u8]| match env!("CARGO_BIN_NAME") {
    "avro" => fuzzing::fuzz_avro(data),
    "cdr" => fuzzing::fuzz_cdr(data),
    "chat" => fuzzing::fuzz_chat(data),
    "giop_client" => fuzzing::fuzz_giop_client(data),
    "giop_server" => fuzzing::fuzz_giop_server(data),
    "connect" => fuzzing::fuzz_connect(data),
    "grpc" => fuzzing::fuzz_grpc(data),
    "gzip" => fuzzing::fuzz_gzip(data),
    "hpack" => fuzzing::fuzz_hpack(data),
    "http1" => fuzzing::fuzz_http1(data),
    "http2" => fuzzing::fuzz_http2(data),
    "ior" => fuzzing::fuzz_ior(data),
    "json" => fuzzing::fuzz_json(data),
    "ndjson" => fuzzing::fuzz_ndjson(data),
    "protobuf" => fuzzing::fuzz_protobuf(data),
    "raw_client" => fuzzing::fuzz_raw_client(data),
    "raw_server" => fuzzing::fuzz_raw_server(data),
    "soap" => fuzzing::fuzz_soap(data),
    "sse" => fuzzing::fuzz_sse(data),
    "token_xml" => fuzzing::fuzz_token_xml(data),
    "token_xml_text" => fuzzing::fuzz_token_xml_text(data),
    "unpacker" => fuzzing::fuzz_unpacker(data),
    "websocket" => fuzzing::fuzz_websocket(data),
    "xml" => fuzzing::fuzz_xml(data),
    "zstd" => fuzzing::fuzz_zstd(data),
    other => panic!("{other} is not a target"),
});
