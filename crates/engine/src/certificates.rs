//! Certificates for trials with TLS: an authority, a server's and a client's.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use wirelab_contract::print_error;

/// Names that the server's certificate is for.
// The last is the server's end of every link.
const SERVER_NAMES: [&str; 4] = ["localhost", "127.0.0.1", "::1", "198.18.0.2"];

/// Where to put them.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder; it is made if need be, and nothing in it is overwritten.
    folder: PathBuf,
}

/// Writes `ca.pem`, `ca.key`, `server.pem`, `server.key`, `client.pem` and
/// `client.key`; all are PEM, keys are readable by their owner alone.
pub(crate) fn make(arguments: &Arguments) -> ExitCode {
    let folder = &arguments.folder;
    let all = ["ca", "server", "client"].map(|name| files(folder, name));
    // All six are looked for first, so that no half set is written next to an old one.
    if let Some(file) = all.as_flattened().iter().find(|file| file.exists()) {
        let file = file.display();
        print_error!("wirelab-engine: {file} exists and is kept; name another folder");
        return ExitCode::from(2);
    }
    match make_in(folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error!("wirelab-engine: {error:#}");
            ExitCode::from(3)
        }
    }
}

fn make_in(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let authority_key = KeyPair::generate()?;
    let authority_params = authority()?;
    let authority_certificate = authority_params.self_signed(&authority_key)?;
    write(folder, "ca", &authority_certificate.pem(), &authority_key)?;
    let issuer = Issuer::new(authority_params, authority_key);
    let names = SERVER_NAMES.map(String::from).to_vec();
    let server = end_entity("server", names, ExtendedKeyUsagePurpose::ServerAuth)?;
    let client = end_entity("client", Vec::new(), ExtendedKeyUsagePurpose::ClientAuth)?;
    for (name, params) in [("server", server), ("client", client)] {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &issuer)?;
        write(folder, name, &certificate.pem(), &key)?;
    }
    Ok(())
}

fn authority() -> Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new())?;
    params
        .distinguished_name
        .push(DnType::CommonName, "wirelab authority for trials");
    // Path length 0: it signs end entities and no further authority (RFC 5280 section 4.2.1.9).
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn end_entity(
    name: &str,
    subjects: Vec<String>,
    usage: ExtendedKeyUsagePurpose,
) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(subjects)?;
    params
        .distinguished_name
        .push(DnType::CommonName, format!("wirelab {name} for trials"));
    // All that TLS 1.3 and ephemeral key exchange need (RFC 8446 section 4.4.2.2).
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    // RFC 5280 section 4.2.1.1 demands it; Java and OpenSSL find the issuer by it.
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn files(folder: &Path, name: &str) -> [PathBuf; 2] {
    ["pem", "key"].map(|ending| folder.join(format!("{name}.{ending}")))
}

fn write(folder: &Path, name: &str, certificate: &str, key: &KeyPair) -> Result<()> {
    let [certificate_file, key_file] = files(folder, name);
    write_new(&certificate_file, certificate, 0o644)?;
    write_new(&key_file, &key.serialize_pem(), 0o600)
}

fn write_new(file: &Path, text: &str, mode: u32) -> Result<()> {
    let mut options = OpenOptions::new();
    // The mode is set as the file is made: changed after, a key would be readable for a moment.
    let opened = options.write(true).create_new(true).mode(mode).open(file);
    opened
        .and_then(|mut opened| opened.write_all(text.as_bytes()))
        .with_context(|| file.display().to_string())
}
