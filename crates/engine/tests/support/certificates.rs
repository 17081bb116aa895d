//! Certificates for servers of the tests, good and bad ones.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};

/// A folder that the engine filled; it is removed in the end.
pub struct Certificates {
    pub folder: PathBuf,
}

impl Certificates {
    /// Has the engine make a set.
    pub fn make() -> Certificates {
        // Tests of one binary run in threads of one process: each needs a folder of its own.
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::SeqCst);
        let name = format!("wirelab-tls-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let made = Command::new(crate::ENGINE)
            .arg("certificates")
            .arg(&folder)
            .status();
        assert!(made.expect("the engine starts").success());
        Certificates { folder }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The `tls` of a group.
    pub fn client(&self) -> Value {
        json!({"ca": self.file("ca.pem")})
    }

    /// The same with a certificate of its own.
    pub fn mutual(&self) -> Value {
        json!({
            "ca": self.file("ca.pem"),
            "certificate": self.file("client.pem"),
            "key": self.file("client.key"),
        })
    }

    /// A certificate of the same authority for `name` that expired in 2001.
    pub fn issue_expired(
        &self,
        name: &str,
    ) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        self.sign(name, |params| {
            params.not_before = date_time_ymd(2000, 1, 1);
            params.not_after = date_time_ymd(2001, 1, 1);
        })
    }

    /// A certificate for `name` that signed itself, is marked as an authority and expired in
    /// 2001; it is in `file` too.
    pub fn issue_expired_authority(
        &self,
        name: &str,
        file: &str,
    ) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
        let key = KeyPair::generate().expect("randomness");
        let certificate = params.self_signed(&key).expect("a certificate");
        std::fs::write(self.file(file), certificate.pem()).expect("a folder of the test");
        let secret = PrivateKeyDer::try_from(key.serialize_der()).expect("PKCS #8");
        (vec![certificate.der().clone()], secret)
    }

    /// A certificate of the same authority for `name`.
    pub fn sign(
        &self,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let secret = std::fs::read_to_string(self.file("ca.key")).expect("a file of the set");
        let secret = KeyPair::from_pem(&secret).expect("a key");
        // Of the authority, only its name and its key are in what it signs.
        let mut authority = CertificateParams::new(Vec::new()).expect("no names");
        let name_of_ca = "wirelab authority for trials";
        authority
            .distinguished_name
            .push(DnType::CommonName, name_of_ca);
        let issuer = Issuer::new(authority, secret);
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        change(&mut params);
        let key = KeyPair::generate().expect("randomness");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");
        let secret = PrivateKeyDer::try_from(key.serialize_der()).expect("PKCS #8");
        (vec![certificate.der().clone()], secret)
    }

    /// The server's own, good one.
    pub fn good(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (
            chain(&self.file("server.pem")),
            key(&self.file("server.key")),
        )
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        // Best effort: the folder is in the machine's own place for such.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn chain(file: &Path) -> Vec<CertificateDer<'static>> {
    let found = CertificateDer::pem_file_iter(file).expect("a file of the set");
    found.map(|one| one.expect("PEM")).collect()
}

fn key(file: &Path) -> PrivateKeyDer<'static> {
    PrivateKeyDer::from_pem_file(file).expect("a file of the set")
}

/// A server's configuration with that certificate, and ALPN if any.
pub fn server_config(
    (chain, key): (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>),
    alpn: &[&str],
) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has them")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a certificate with its key");
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}
