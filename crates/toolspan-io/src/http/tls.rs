//! How is TLS set up from the keys of a config?

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::error::HttpError;
use super::verifier::{Trusting, Unchecked};

/// Most certificates that one file may hold.
const CERTIFICATES: usize = 1000;
/// The library's own words would quote a line of the file, which may be of a key.
const NOT_PEM: &str = "it is missing or not in PEM form";

/// The keys of a config that concern TLS.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct TlsSettings {
    /// Certificates of further authorities to trust, as PEM. The system's stay trusted.
    pub ca: Option<Vec<u8>>,
    /// The client's own certificate chain with its private key, as PEM, both in one.
    pub identity: Option<Vec<u8>>,
    /// Take any certificate. Whoever is on the way can then read and change everything, so this is
    /// named in [`warnings`](super::HttpClient::warnings).
    pub insecure: bool,
}

impl TlsSettings {
    /// Trusts the authorities in this PEM text beside the system's.
    #[must_use]
    pub fn with_ca(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca = Some(pem.into());
        self
    }

    /// Shows the server this certificate, whose private key is in the same PEM text.
    #[must_use]
    pub fn with_identity(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.identity = Some(pem.into());
        self
    }

    /// Takes any certificate.
    #[must_use]
    pub fn with_insecure(mut self, insecure: bool) -> Self {
        self.insecure = insecure;
        self
    }
}

impl std::fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TlsSettings")
            .field("ca", &self.ca.is_some())
            .field("identity", &self.identity.is_some())
            .field("insecure", &self.insecure)
            .finish()
    }
}

/// TLS 1.2 and 1.3 as the settings say, for requests and for the steps of a diagnosis alike.
pub(super) fn client_config(settings: &TlsSettings) -> Result<ClientConfig, HttpError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid("TLS cannot be set up", &error))?
        .dangerous();
    let builder = if settings.insecure {
        builder.with_custom_certificate_verifier(Arc::new(Unchecked(provider)))
    } else {
        builder.with_custom_certificate_verifier(Arc::new(verifier(settings, &provider)?))
    };
    let mut config = match &settings.identity {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let chain = certificates(pem, "`tls.cert`")?;
            let key =
                PrivateKeyDer::from_pem_slice(pem).map_err(|_| invalid("`tls.key`", &NOT_PEM))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| invalid("`tls.cert` with `tls.key`", &error))?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn verifier(settings: &TlsSettings, provider: &Arc<CryptoProvider>) -> Result<Trusting, HttpError> {
    let extra = match &settings.ca {
        None => Vec::new(),
        Some(pem) => certificates(pem, "`tls.ca`")?,
    };
    Trusting::new(provider, extra).map_err(|error| invalid("`tls.ca`", &error))
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, HttpError> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .take(CERTIFICATES)
        .collect::<Result<_, _>>()
        .map_err(|_| invalid(what, &NOT_PEM))?;
    if found.is_empty() {
        return Err(invalid(what, &"it holds no certificate in PEM form"));
    }
    Ok(found)
}

/// Neither a key nor a certificate is in these errors of the library.
fn invalid(what: &str, problem: &dyn std::fmt::Display) -> HttpError {
    HttpError::Invalid {
        problem: format!("{what} cannot be used: {problem}"),
    }
}
