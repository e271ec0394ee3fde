//! What is wrong with a TLS handshake, in words that somebody who knows no TLS can act on?

use std::time::Duration;

use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};

/// Why a TLS handshake failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsProblem {
    /// The certificate's time is over.
    #[error("the certificate of the server has expired; its owner has to renew it")]
    Expired,
    /// The certificate's time has not begun.
    #[error("the certificate of the server is not valid yet; check the clock of this machine")]
    NotValidYet,
    /// The certificate is for other names.
    #[error("the certificate of the server is for another name; check the host in the URL")]
    WrongHost,
    /// The server signed its certificate itself.
    #[error(
        "the server signed its certificate itself; if that is meant to be so, name the certificate \
         as `tls.ca`"
    )]
    SelfSigned,
    /// Nobody that is trusted signed the certificate.
    #[error(
        "the certificate of the server is signed by an authority that this machine does not trust; \
         name the authority's certificate as `tls.ca`"
    )]
    UnknownIssuer,
    /// The certificate was withdrawn.
    #[error("the certificate of the server was revoked; its owner has to replace it")]
    Revoked,
    /// The certificate is wrong in another way.
    #[error("the certificate of the server is not usable: {detail}")]
    BadCertificate {
        /// What the verifier says.
        detail: String,
    },
    /// No version of TLS is spoken by both.
    #[error("the server speaks no version of TLS from 1.2 on; its owner has to update it")]
    OldVersion,
    /// No cipher or key exchange is known to both.
    #[error("the server and this program have no way of encryption in common")]
    NothingInCommon,
    /// The server wants a certificate of ours.
    #[error(
        "the server asks for a certificate of the client; name one as `tls.cert`, with its key as \
         `tls.key`"
    )]
    ClientCertificateNeeded,
    /// The server does not take the certificate that was given.
    #[error("the server does not accept the client certificate (`tls.cert`)")]
    ClientCertificateRefused,
    /// What came is not TLS.
    #[error("the server does not speak TLS at this port; is the URL meant to be http?")]
    NotTls,
    /// The connection ended within the handshake.
    #[error("the server ended the connection in the handshake")]
    Ended,
    /// The handshake took too long.
    #[error("the handshake did not end within {} s", after.as_secs_f64())]
    Slow {
        /// The limit.
        after: Duration,
    },
    /// The certificates that this machine trusts could not be read.
    #[error(
        "this machine has no certificates of authorities; install them (often a package \
         `ca-certificates`) or name one as `tls.ca`"
    )]
    NoAuthorities,
    /// The server refused without a known reason.
    #[error("the server refused the handshake: {detail}")]
    RefusedByServer {
        /// The alert's name.
        detail: String,
    },
    /// Anything else.
    #[error("{detail}")]
    Other {
        /// What the library says.
        detail: String,
    },
}

/// The certificate is its own issuer.
#[derive(Debug, thiserror::Error)]
#[error("the certificate is signed by itself")]
pub(super) struct SelfSigned;

/// There is no authority to check by.
#[derive(Debug, thiserror::Error)]
#[error("no certificates of authorities")]
pub(super) struct NoAuthorities;

impl TlsProblem {
    /// The problem behind an error of the library.
    pub(super) fn of(error: &Error) -> Self {
        match error {
            Error::InvalidCertificate(error) => Self::of_certificate(error),
            Error::PeerIncompatible(
                PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
            )
            | Error::AlertReceived(AlertDescription::ProtocolVersion) => Self::OldVersion,
            Error::PeerIncompatible(_)
            | Error::AlertReceived(
                AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity,
            ) => Self::NothingInCommon,
            Error::AlertReceived(AlertDescription::CertificateRequired) => {
                Self::ClientCertificateNeeded
            }
            Error::AlertReceived(alert) if judges_client(*alert) => Self::ClientCertificateRefused,
            Error::AlertReceived(AlertDescription::UnrecognisedName) => Self::WrongHost,
            Error::AlertReceived(alert) => Self::RefusedByServer {
                detail: format!("{alert:?}"),
            },
            Error::InvalidMessage(_) | Error::InappropriateMessage { .. } => Self::NotTls,
            other => Self::Other {
                detail: other.to_string(),
            },
        }
    }

    fn of_certificate(error: &CertificateError) -> Self {
        match error {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                Self::NotValidYet
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Self::WrongHost
            }
            // A bad signature is mostly of an authority that was made anew under its old name.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownIssuer,
            CertificateError::Revoked => Self::Revoked,
            CertificateError::Other(other) if other.0.is::<SelfSigned>() => Self::SelfSigned,
            CertificateError::Other(other) if other.0.is::<NoAuthorities>() => Self::NoAuthorities,
            other => Self::BadCertificate {
                detail: other.to_string(),
            },
        }
    }
}

/// Whether a server says with this alert that it does not take the client's certificate.
pub(super) fn judges_client(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            // The signature was made by another authority of the same name.
            | AlertDescription::DecryptError
    )
}
