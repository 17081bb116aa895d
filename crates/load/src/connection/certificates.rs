//! Which certificates of a server are accepted.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

/// Verifies certificates of servers. Signatures of the handshake are verified in any case, so
/// that it costs the same.
#[derive(Debug)]
pub(super) struct Verifier {
    provider: Arc<CryptoProvider>,
    /// None: any certificate for any name is accepted.
    accepted: Option<Accepted>,
}

/// What the given authorities have signed, and the given certificates themselves.
#[derive(Debug)]
struct Accepted {
    webpki: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// Accepts what the authorities among `given` have signed, and `given` itself. `roots` are
    /// these authorities.
    pub(super) fn of(
        given: Vec<CertificateDer<'static>>,
        roots: RootCertStore,
        provider: Arc<CryptoProvider>,
    ) -> Result<Verifier, VerifierBuilderError> {
        let builder =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let webpki = builder.build()?;
        Ok(Verifier {
            provider,
            accepted: Some(Accepted { webpki, given }),
        })
    }

    /// Accepts any certificate for any name.
    pub(super) fn insecure(provider: Arc<CryptoProvider>) -> Verifier {
        Verifier {
            provider,
            accepted: None,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(Accepted { webpki, given }) = &self.accepted else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            webpki.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // `openssl req -x509` marks what it makes as an authority, and RFC 5280 lets none
            // be a server. webpki looks at the time before, so that it has not expired.
            Err(error)
                if refuses_authority_as_server(&error)
                    && given.iter().any(|own| own == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Whether the server was refused because its own certificate is marked as an authority.
fn refuses_authority_as_server(error: &Error) -> bool {
    // rustls has no variant for it: the cause is the error of its verifier.
    let Error::InvalidCertificate(CertificateError::Other(OtherError(other))) = error else {
        return false;
    };
    matches!(other.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
