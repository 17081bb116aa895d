//! Makes the message types of `transfer` from the contract's source.

use std::error::Error;
use std::path::Path;

/// Where the contracts lie, seen from this crate.
const CONTRACTS: &str = "../../contracts";

fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(CONTRACTS).join("transfer.proto");
    println!("cargo:rerun-if-changed={}", source.display());
    let files = protox::compile([&source], [CONTRACTS])?;
    prost_build::Config::new()
        .type_attribute(".", "#[derive(serde::Serialize, serde::Deserialize)]")
        .type_attribute(".", "#[serde(default)]")
        .field_attribute(HELLO_BYTES_TEXT, BASE64)
        .field_attribute(UPLOAD_DATA, BASE64)
        .field_attribute(UPLOAD_CHUNK_DATA, BASE64)
        .field_attribute(DOWNLOAD_CHUNK_DATA, BASE64)
        .field_attribute(SUBMIT_RECORDS, OBJECTS)
        .field_attribute(SUBMIT_REFUSED, OBJECTS)
        .compile_fds(files)?;
    Ok(())
}

const HELLO_BYTES_TEXT: &str = ".wirelab.transfer.v1.HelloBytesReply.text";
const UPLOAD_DATA: &str = ".wirelab.transfer.v1.UploadRequest.data";
const UPLOAD_CHUNK_DATA: &str = ".wirelab.transfer.v1.UploadChunk.data";
const DOWNLOAD_CHUNK_DATA: &str = ".wirelab.transfer.v1.DownloadChunk.data";
const BASE64: &str = "#[serde(with = \"crate::json_bytes\")]";

const SUBMIT_RECORDS: &str = ".wirelab.transfer.v1.SubmitRequest.records";
const SUBMIT_REFUSED: &str = ".wirelab.transfer.v1.SubmitReply.refused";
const OBJECTS: &str = "#[serde(deserialize_with = \"crate::json::objects\")]";
