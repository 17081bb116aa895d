//! TLS (RFC 8446) on accepted connections, by rustls.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use crate::connection::plain_socket::PlainSocket;
use crate::documents::config::ServiceConfig;
use crate::refusal::Refusal;
use wirelab_stack::{Security, Transport};

/// Time that a client has for its handshake.
// Long enough for a loaded machine; a peer that never speaks must not hold a descriptor for ever.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// What wraps accepted connections; none with security none.
///
/// # Errors
/// When a file is missing or cannot be used; its option is named.
pub(crate) fn tls_config(config: &ServiceConfig) -> Result<Option<Arc<ServerConfig>>, Refusal> {
    if config.stack.security == Security::None {
        return Ok(None);
    }
    let certificates = certificates("tls.certificate", config.tls.certificate.as_deref())?;
    let key_file = given("tls.key", config.tls.key.as_deref())?;
    let key = PrivateKeyDer::from_pem_file(key_file)
        .map_err(|error| unusable("tls.key", key_file, &error))?;
    // Named and not the process default: rustls panics where a program links two providers.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        // TLS 1.3 and 1.2; older versions are forbidden (RFC 8996).
        .with_safe_default_protocol_versions()
        .expect("ring has the suites of TLS 1.2 and 1.3");
    let builder = match client_verifier(config)? {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    let mut tls = builder
        .with_single_cert(certificates, key)
        .map_err(|error| unusable("tls.key", key_file, &error))?;
    // Without a match rustls ends the handshake with no_application_protocol (RFC 7301 section 3.2).
    tls.alpn_protocols = protocols(config.stack.transport);
    Ok(Some(Arc::new(tls)))
}

/// Names for ALPN (RFC 7301); none where no HTTP is spoken.
fn protocols(transport: Transport) -> Vec<Vec<u8>> {
    let names: &[&[u8]] = match transport {
        Transport::Http2 => &[b"h2"],
        Transport::Http11 => &[b"http/1.1"],
        // Clients that offer ALPN seldom name HTTP/1.0, so that 1.1 is accepted for it too.
        Transport::Http10 => &[b"http/1.0", b"http/1.1"],
        Transport::Tcp => &[],
    };
    names.iter().map(|name| name.to_vec()).collect()
}

/// Judges clients' certificates, with mtls.
fn client_verifier(config: &ServiceConfig) -> Result<Option<Arc<dyn ClientCertVerifier>>, Refusal> {
    if config.stack.security != Security::Mtls {
        return Ok(None);
    }
    let file = config.tls.client_ca.as_deref();
    // The lab's own authority alone: the system's authorities sign no client of a measurement.
    let mut roots = RootCertStore::empty();
    for authority in certificates("tls.client_ca", file)? {
        roots
            .add(authority)
            .map_err(|error| unusable("tls.client_ca", file.unwrap_or(Path::new("")), &error))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map(Some)
        .map_err(|error| unusable("tls.client_ca", file.unwrap_or(Path::new("")), &error))
}

/// The path of a file that security needs.
fn given<'a>(option: &str, file: Option<&'a Path>) -> Result<&'a Path, Refusal> {
    file.ok_or_else(|| {
        let message = "this security needs the file, and none is named";
        Refusal::new(option, message, "name a file in PEM, or use security=none")
    })
}

fn certificates(
    option: &str,
    file: Option<&Path>,
) -> Result<Vec<CertificateDer<'static>>, Refusal> {
    let file = given(option, file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file)
        .map_err(|error| unusable(option, file, &error))?
        .collect();
    let found = found.map_err(|error| unusable(option, file, &error))?;
    if found.is_empty() {
        return Err(unusable(option, file, &"it holds no certificate"));
    }
    Ok(found)
}

fn unusable(option: &str, file: &Path, error: &dyn std::fmt::Display) -> Refusal {
    let message = format!("cannot use {}: {error}", file.display());
    Refusal::new(
        option,
        message,
        "name a file in PEM that this service can read",
    )
}

/// A connection under TLS. The handshake happens in its first read or write,
/// so that accepting the next connection does not wait for it.
pub(crate) enum TlsSocket {
    /// Within the handshake, and the time left for it.
    Handshake(Box<Accept<PlainSocket>>, Pin<Box<Sleep>>),
    /// After it.
    Open(Box<TlsStream<PlainSocket>>),
    /// It failed.
    Failed,
}

impl TlsSocket {
    /// Will make the handshake over `socket`.
    pub(crate) fn new(config: &Arc<ServerConfig>, socket: PlainSocket) -> Self {
        let acceptor = TlsAcceptor::from(Arc::clone(config));
        TlsSocket::Handshake(
            Box::new(acceptor.accept(socket)),
            Box::pin(sleep(HANDSHAKE_TIMEOUT)),
        )
    }

    /// The stream, once the handshake is done.
    pub(crate) fn poll_open(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<Pin<&mut TlsStream<PlainSocket>>>> {
        if let TlsSocket::Handshake(accept, deadline) = self {
            let handshake = match Pin::new(accept).poll(context) {
                Poll::Ready(handshake) => handshake,
                // The timer is polled too, or its expiry would not wake the task.
                Poll::Pending => {
                    ready!(deadline.as_mut().poll(context));
                    Err(io::ErrorKind::TimedOut.into())
                }
            };
            match handshake {
                Ok(stream) => *self = TlsSocket::Open(Box::new(stream)),
                Err(error) => {
                    *self = TlsSocket::Failed;
                    return Poll::Ready(Err(error));
                }
            }
        }
        match self {
            TlsSocket::Open(stream) => Poll::Ready(Ok(Pin::new(stream))),
            _ => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    /// The TCP connection below, if there is one.
    pub(crate) fn tcp(&self) -> Option<&TcpStream> {
        match self {
            TlsSocket::Open(stream) => stream.get_ref().0.tcp(),
            // Options of the socket (quickack, linger) are set before the handshake too.
            TlsSocket::Handshake(accept, _) => accept.get_ref()?.tcp(),
            // The stream is gone with the handshake.
            TlsSocket::Failed => None,
        }
    }
}

impl std::fmt::Debug for TlsSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TlsSocket::Handshake(..) => "TlsSocket::Handshake",
            TlsSocket::Open(_) => "TlsSocket::Open",
            TlsSocket::Failed => "TlsSocket::Failed",
        })
    }
}

/// Files that were named although security none reads none.
pub(crate) fn find_file(config: &ServiceConfig) -> Option<(&'static str, &PathBuf)> {
    [
        ("tls.certificate", &config.tls.certificate),
        ("tls.key", &config.tls.key),
        ("tls.client_ca", &config.tls.client_ca),
    ]
    .into_iter()
    .find_map(|(option, file)| Some((option, file.as_ref()?)))
}
