//! Which certificates do the TLS tests use, and who signs them?

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;

/// An authority of its own for one test.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key.
pub(crate) struct Leaf {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
    /// Both as PEM, as a client is given them.
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("an authority")
    }

    pub(crate) fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        Self { issuer }
    }

    /// Its certificate, as `ca` of a config.
    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for a name, valid from 2020 until 2090.
    pub(crate) fn leaf(&self, name: &str) -> Leaf {
        self.leaf_between(name, 2020, 2090)
    }

    /// A certificate for a name, valid between the starts of two years.
    pub(crate) fn leaf_between(&self, name: &str, from: i32, until: i32) -> Leaf {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Leaf {
            pem: certificate.pem() + &key.serialize_pem(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }
}

impl Leaf {
    /// A certificate that nobody else signed.
    pub(crate) fn by_itself(name: &str) -> Self {
        let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }

    /// The same as an authority at once, valid between the starts of two years: what
    /// `openssl req -x509` makes.
    pub(crate) fn by_itself_as_authority(name: &str, from: i32, until: i32) -> Self {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }

    /// A server that shows this certificate; `clients` is who must have signed those of clients.
    pub(crate) fn acceptor(&self, clients: Option<&Authority>) -> TlsAcceptor {
        TlsAcceptor::from(Arc::new(self.config(clients)))
    }

    /// A server that speaks HTTP/2.
    pub(crate) fn acceptor_of_http2(&self) -> TlsAcceptor {
        let mut config = self.config(None);
        config.alpn_protocols = vec![b"h2".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }

    fn config(&self, clients: Option<&Authority>) -> ServerConfig {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("the default versions");
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = rustls::RootCertStore::empty();
                let root = authority.issuer.der().clone();
                roots.add(root).expect("an authority");
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                        .build()
                        .expect("an authority");
                builder.with_client_cert_verifier(verifier)
            }
        };
        builder
            .with_single_cert(vec![self.certificate.clone()], key)
            .expect("a certificate with its key")
    }
}
