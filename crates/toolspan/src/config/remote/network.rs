//! What stands between a host and its server: certificates and proxies?

use std::fmt;
use std::path::PathBuf;

use toolspan_core::guard::Secret;
use toolspan_io::http::Proxies;

use crate::config::field::Field;
use crate::config::keys::{self, warn_unknown};
use crate::config::problem::Problem;
use crate::config::surroundings::Filling;

/// What TLS needs beside the certificates that the system trusts. The files are read when the
/// server is connected to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsFiles {
    /// PEM file of certificates to trust, too.
    pub ca: Option<PathBuf>,
    /// PEM file of the certificate that this client shows.
    pub cert: Option<PathBuf>,
    /// PEM file of the private key to it; `None` when it is in the same file.
    pub key: Option<PathBuf>,
    /// Whether any certificate is taken: then nothing protects what is sent.
    pub insecure: bool,
}

/// Which proxy a server is reached through. `Debug` shows no user and no password.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyChoice {
    /// What `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say.
    #[default]
    Environment,
    /// None, whatever the variables say.
    Direct,
    /// This one: an `http`, `https`, `socks5` or `socks5h` URL; without a scheme it is `http`.
    Url(Secret),
}

impl fmt::Debug for ProxyChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Environment => "Environment",
            Self::Direct => "Direct",
            Self::Url(_) => "Url(…)",
        })
    }
}

/// Reads a server's `tls`.
pub(super) fn read_tls(
    field: &Field<'_>,
    filling: &mut Filling<'_, '_>,
) -> Result<TlsFiles, Problem> {
    let table = field.table()?;
    warn_unknown(&table, keys::TLS.iter().copied(), &[], filling.warnings);
    let mut file = |key| match table.get(key) {
        Some(field) => there(&field, filling).map(Some),
        None => Ok(None),
    };
    let files = TlsFiles {
        ca: file("ca")?,
        cert: file("cert")?,
        key: file("key")?,
        insecure: match table.get("insecure") {
            Some(insecure) => insecure.flag()?,
            None => false,
        },
    };
    if let (Some(_), None, Some(at)) = (&files.key, &files.cert, table.get("key")) {
        return Err(at
            .problem("a key is of no use without its certificate")
            .with_hint("name the certificate's file in \"cert\""));
    }
    if files.insecure {
        filling.warnings.add(|| {
            field
                .problem(
                    "certificates are not checked: whoever is in between can read and change \
                     everything, secrets included",
                )
                .with_hint("name the certificate to trust in \"ca\" and remove \"insecure\"")
        });
    }
    Ok(files)
}

/// The path of a file that is there now.
fn there(field: &Field<'_>, filling: &mut Filling<'_, '_>) -> Result<PathBuf, Problem> {
    let path = filling.path(field, "file")?;
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(path),
        Ok(_) => Err(field.problem("this is not a regular file, so it is not read")),
        Err(_) => Err(field.problem("there is no such file")),
    }
}

/// Reads a server's `proxy`: a URL, or `false` for none.
pub(super) fn read_proxy(
    field: &Field<'_>,
    filling: &mut Filling<'_, '_>,
) -> Result<ProxyChoice, Problem> {
    const WANTED: &str = "the URL of a proxy, or false for none";
    if !field.is_text() {
        return match field.flag() {
            Ok(false) => Ok(ProxyChoice::Direct),
            _ => Err(field.problem(format!("this must be {WANTED}"))),
        };
    }
    let text = filling.value(field)?;
    let text = text.trim();
    Proxies::one("the proxy", text).map_err(|error| {
        field
            .problem(error.to_string())
            .with_hint("write it as in http://127.0.0.1:3128")
    })?;
    filling.secrets.add_passwords(text);
    Ok(ProxyChoice::Url(Secret::new(text)))
}
