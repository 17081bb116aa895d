//! What a group needs to speak TLS, read from its files.

use std::fmt::Display;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use wirelab_stack::{Security, Stack, Transport};

use crate::call::fault;
use crate::call::result::Fault;
use crate::connection::certificates;
use crate::connection::tls::Tls;
use crate::plan::{self, Group};

/// How the connections of one group are secured.
#[derive(Debug, Clone)]
pub(crate) struct Secure {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    /// The server must choose a protocol by ALPN (HTTP/2, RFC 9113 section 3.2).
    must_choose: bool,
}

impl Secure {
    /// None with security none. `authority` names the server where the plan
    /// does not.
    pub(crate) fn of(group: &Group, authority: &str) -> Result<Option<Secure>, Fault> {
        let (Some(files), true) = (&group.tls, group.stack.security != Security::None) else {
            return Ok(None);
        };
        let name = files.server_name.as_deref().unwrap_or(host(authority));
        let name = ServerName::try_from(name.to_owned()).map_err(|_| {
            fault::plan(
                format!("tls.server_name: {name:?} is neither a DNS name nor an IP address"),
                "write it as the server's certificate does",
            )
        })?;
        Ok(Some(Secure {
            config: Arc::new(config(files, &group.stack)?),
            name,
            must_choose: group.stack.transport == Transport::Http2,
        }))
    }

    /// The client's end of a new connection.
    ///
    /// # Errors
    /// As rustls says; none are known for a configuration that was accepted.
    pub(crate) fn connect(&self) -> Result<Tls, rustls::Error> {
        Tls::new(
            Arc::clone(&self.config),
            self.name.clone(),
            self.must_choose,
        )
    }
}

/// The host of `host:port`, of `[::1]:port` without its brackets.
fn host(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        // What follows the last colon of an IPv6 address without a port ends in a bracket.
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

fn config(files: &plan::Tls, stack: &Stack) -> Result<ClientConfig, Fault> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("ring has the suites of TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier(files, provider)?);
    let mut config = match (&files.certificate, &files.key) {
        (Some(chain), Some(key)) => {
            let secret = PrivateKeyDer::from_pem_file(key)
                .map_err(|error| unusable("tls.key", key, &error))?;
            builder
                .with_client_auth_cert(certificates("tls.certificate", chain)?, secret)
                .map_err(|error| unusable("tls.key", key, &error))?
        }
        _ => builder.with_no_client_auth(),
    };
    config.alpn_protocols = protocols(stack.transport);
    if !stack.client.tls_resumption {
        config.resumption = Resumption::disabled();
    }
    // For `wirelab dissect --keylog`. Without the variable no secret is derived for a log.
    if std::env::var_os("SSLKEYLOGFILE").is_some() {
        config.key_log = Arc::new(rustls::KeyLogFile::new());
    }
    Ok(config)
}

/// Only the plan's authorities and never the machine's: trials run on certificates of their
/// own.
fn verifier(
    files: &plan::Tls,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Fault> {
    let Some(file) = &files.ca else {
        return Ok(Arc::new(certificates::Verifier::insecure(provider)));
    };
    let given = certificates("tls.ca", file)?;
    let mut roots = RootCertStore::empty();
    for authority in &given {
        roots
            .add(authority.clone())
            .map_err(|error| unusable("tls.ca", file, &error))?;
    }
    let verifier = certificates::Verifier::of(given, roots, provider);
    let verifier = verifier.map_err(|error| unusable("tls.ca", file, &error))?;
    Ok(Arc::new(verifier))
}

fn certificates(option: &str, file: &str) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file)
        .map_err(|error| unusable(option, file, &error))?
        .collect();
    let found = found.map_err(|error| unusable(option, file, &error))?;
    match found.is_empty() {
        false => Ok(found),
        true => Err(unusable(option, file, &"it holds no certificate")),
    }
}

fn unusable(option: &str, file: &str, error: &dyn Display) -> Fault {
    fault::plan(
        format!("{option}: cannot use {file}: {error}"),
        "name a file in PEM; `wirelab-engine certificates DIR` makes a set for tests",
    )
}

/// Names for ALPN (RFC 7301); none where no HTTP is spoken.
fn protocols(transport: Transport) -> Vec<Vec<u8>> {
    let name: &[u8] = match transport {
        Transport::Http2 => b"h2",
        Transport::Http11 => b"http/1.1",
        Transport::Http10 => b"http/1.0",
        Transport::Tcp => return Vec::new(),
    };
    vec![name.to_vec()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_authority_has_neither_port_nor_brackets() {
        for (authority, expected) in [
            ("127.0.0.1:80", "127.0.0.1"),
            ("[::1]:80", "::1"),
            ("localhost", "localhost"),
            ("shop.example:8443", "shop.example"),
        ] {
            assert_eq!(host(authority), expected);
        }
    }
}
