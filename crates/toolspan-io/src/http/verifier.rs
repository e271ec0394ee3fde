//! Who decides whether a server's certificate is trusted?

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::Verifier;

use super::certificate::{Facts, facts};
use super::tls_problem::{NoAuthorities, SelfSigned};

/// The authorities of the system, read once per process: reading them takes some 30 ms, and each
/// server has a client of its own.
static OF_SYSTEM: OnceLock<Option<Arc<Verifier>>> = OnceLock::new();

/// The system's authorities and those of the config beside them, with reasons that can be told apart.
#[derive(Debug)]
pub(super) struct Trusting {
    /// `None` on a machine without any authority: that fails handshakes, not plain http.
    inner: Option<Arc<Verifier>>,
    /// The certificates of the config.
    named: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl Trusting {
    /// `extra` are the authorities of the config. An error when one of them cannot be used.
    pub(super) fn new(
        provider: &Arc<CryptoProvider>,
        extra: Vec<CertificateDer<'static>>,
    ) -> Result<Self, Error> {
        let named = extra.clone();
        let inner = if extra.is_empty() {
            let of_system = OF_SYSTEM.get_or_init(|| {
                let verifier = Verifier::new(provider.clone());
                verifier.ok().map(Arc::new)
            });
            of_system.clone()
        } else {
            // Whether these can be used at all is asked first, apart from the system's.
            extra
                .iter()
                .try_for_each(|certificate| RootCertStore::empty().add(certificate.clone()))?;
            Verifier::new_with_extra_roots(extra, provider.clone())
                .ok()
                .map(Arc::new)
        };
        Ok(Self {
            inner,
            named,
            provider: provider.clone(),
        })
    }
}

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else {
            return Err(other(NoAuthorities));
        };
        let checked =
            inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        // The library says "unknown issuer", or that it is an authority and no server.
        let Err(
            error @ Error::InvalidCertificate(
                CertificateError::UnknownIssuer
                | CertificateError::BadSignature
                | CertificateError::Other(_),
            ),
        ) = checked
        else {
            return checked;
        };
        match facts(end_entity) {
            Some(facts) if self.named.iter().any(|named| named == end_entity) => {
                itself_named(end_entity, &facts, server_name, now)
            }
            Some(facts) if facts.self_signed => Err(other(SelfSigned)),
            _ => Err(error),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// A certificate that the config names as it is, and that may be an authority's at once, as those are
/// that common tools make: trusted for the names in it, as long as it is valid. That its time has
/// begun is known: the library looks at that before anything else (a test holds that).
fn itself_named(
    certificate: &CertificateDer<'_>,
    facts: &Facts,
    server_name: &ServerName<'_>,
    now: UnixTime,
) -> Result<ServerCertVerified, Error> {
    if facts.expires_at < now.as_secs() {
        return Err(CertificateError::Expired.into());
    }
    verify_server_name(&ParsedCertificate::try_from(certificate)?, server_name)?;
    Ok(ServerCertVerified::assertion())
}

/// Takes every certificate, for whom the config says `insecure`. The signatures of the handshake
/// are still checked.
#[derive(Debug)]
pub(super) struct Unchecked(pub(super) Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn other(reason: impl std::error::Error + Send + Sync + 'static) -> Error {
    CertificateError::Other(OtherError(Arc::new(reason))).into()
}
