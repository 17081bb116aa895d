//! The committed vectors are those that the model makes, and the messages
//! read them.

#[path = "../examples/vectors/files/mod.rs"]
mod files;

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use prost::Message;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wirelab_contract::json::Object;
use wirelab_contract::transfer::{
    DownloadChunk, DownloadRequest, HelloBytesReply, HelloReply, HelloRequest, Record, Refusal,
    SubmitReply, SubmitRequest, UploadChunk, UploadReply, UploadRequest,
};

#[test]
fn the_committed_vectors_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/vectors");
    for (name, content) in files::all() {
        let committed = fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            committed == content,
            "contracts/vectors/{name} is stale; run cargo run -p wirelab-contract --example vectors"
        );
    }
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../contracts/vectors/messages.json")).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
}

fn assert_one_value<M>(vector: &Value)
where
    M: Message + Default + PartialEq + DeserializeOwned + Debug,
{
    let protobuf = vector["protobuf"].as_str().unwrap();
    let value = M::decode(&bytes(protobuf)[..]).unwrap();
    let json = std::iter::once(vector["json"].as_str().unwrap());
    for text in json.chain(strings(&vector["json_variants"])) {
        assert_eq!(
            serde_json::from_str::<Object<M>>(text).unwrap().0,
            value,
            "{text}"
        );
    }
    for hex in strings(&vector["protobuf_variants"]) {
        assert_eq!(M::decode(&bytes(hex)[..]).unwrap(), value, "{hex}");
    }
}

#[test]
fn every_encoding_of_a_vector_is_the_same_value() {
    for vector in vectors()["accepted"].as_array().unwrap() {
        match vector["message"].as_str().unwrap() {
            "HelloRequest" => assert_one_value::<HelloRequest>(vector),
            "HelloReply" => assert_one_value::<HelloReply>(vector),
            "HelloBytesReply" => assert_one_value::<HelloBytesReply>(vector),
            "Record" => assert_one_value::<Record>(vector),
            "SubmitRequest" => assert_one_value::<SubmitRequest>(vector),
            "Refusal" => assert_one_value::<Refusal>(vector),
            "SubmitReply" => assert_one_value::<SubmitReply>(vector),
            "UploadRequest" => assert_one_value::<UploadRequest>(vector),
            "UploadChunk" => assert_one_value::<UploadChunk>(vector),
            "UploadReply" => assert_one_value::<UploadReply>(vector),
            "DownloadRequest" => assert_one_value::<DownloadRequest>(vector),
            "DownloadChunk" => assert_one_value::<DownloadChunk>(vector),
            other => panic!("a vector for {other}, which the contract has not"),
        }
    }
}

fn refuses<M: Message + Default + DeserializeOwned>(json: Option<&str>, hex: &str) -> bool {
    match json {
        Some(text) => serde_json::from_str::<Object<M>>(text).is_err(),
        None => M::decode(&bytes(hex)[..]).is_err(),
    }
}

#[test]
fn what_must_be_refused_is_refused() {
    let vectors = vectors();
    for (list, is_json) in [("refused_json", true), ("refused_protobuf", false)] {
        for vector in vectors[list].as_array().unwrap() {
            let input = vector["input"].as_str().unwrap();
            let json = is_json.then_some(input);
            let refused = match vector["message"].as_str().unwrap() {
                "SubmitRequest" => refuses::<SubmitRequest>(json, input),
                "HelloReply" => refuses::<HelloReply>(json, input),
                "Record" => refuses::<Record>(json, input),
                "UploadRequest" => refuses::<UploadRequest>(json, input),
                "UploadReply" => refuses::<UploadReply>(json, input),
                other => panic!("a vector for {other}, which is not read here"),
            };
            assert!(refused, "{}: {}", vector["why"], input);
        }
    }
}
