//! `schemagen contracts`: files, exit codes and messages of the real binary.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn contracts(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_schemagen"))
        .arg("contracts")
        .args(arguments)
        .output()
        .expect("schemagen")
}

#[test]
fn every_schema_of_a_contract_is_written() {
    let into = folder("contracts-written");
    let source = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../contracts/charging.proto"
    );
    let done = contracts(&[source, "--into", &into.to_string_lossy()]);
    assert!(done.status.success(), "{done:?}");
    for path in [
        "xsd/charging.xsd",
        "wsdl/charging-encoded.wsdl",
        "idl/charging.idl",
    ] {
        assert!(into.join(path).is_file(), "{path}");
    }
}

#[test]
fn a_contract_outside_the_profile_is_refused_with_the_remedy() {
    let source = folder("contracts-refused").join("bad.proto");
    let text = "syntax = \"proto3\"; package wirelab.bad.v1; message M { uint32 n = 1; }";
    fs::write(&source, text).expect("a file");
    let done = contracts(&[&source.to_string_lossy()]);
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(
        said.contains("wirelab.bad.v1.M.n") && said.contains("use int64"),
        "{said}"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_the_machines_fault() {
    let source = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../contracts/charging.proto"
    );
    let done = contracts(&[source, "--into", "/dev/null/nowhere"]);
    assert_eq!(done.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&done.stderr).contains("/dev/null/nowhere/xsd"));
}
