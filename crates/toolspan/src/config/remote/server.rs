//! How is a server reached over HTTP?

use std::fmt;

use toolspan_core::guard::secret::names_a_secret;
use toolspan_core::guard::{Redactor, Secret};
use toolspan_mcp::transport::RemoteKind;
use url::Url;

use super::address::{self, AddressFault, PLAIN_HTTP, USE_HTTPS};
use super::headers::{self, AUTHORIZATION};
use super::network::{self, ProxyChoice, TlsFiles};
use crate::config::field::{Field, Table};
use crate::config::problem::Problem;
use crate::config::secrets::Collected;
use crate::config::surroundings::Filling;

/// What to connect to. `Debug` shows of the URL what is no secret, of headers the names alone.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteConfig {
    /// Where it is: http or https, without user, password and fragment.
    pub url: Url,
    /// What is spoken there.
    pub kind: RemoteKind,
    /// Headers for each request, names in lower case and each once, values filled in.
    pub headers: Vec<(String, Secret)>,
    /// The token that is sent as `Authorization: Bearer …`; then `headers` has no `authorization`.
    pub auth: Option<Secret>,
    /// What TLS needs beside what the system trusts.
    pub tls: TlsFiles,
    /// Which proxy is used.
    pub proxy: ProxyChoice,
    /// Values that are secrets, for redacting: those of headers, the token, query values whose keys
    /// say so, and variables whose names say so. None is empty.
    pub secrets: Vec<Secret>,
}

impl RemoteConfig {
    /// A server at this address, without headers, over a proxy if the environment has one.
    pub fn new(url: Url) -> Self {
        let mut secrets = Collected::default();
        address::add_secrets(&url, &mut secrets);
        Self {
            url,
            kind: RemoteKind::Auto,
            headers: Vec::new(),
            auth: None,
            tls: TlsFiles::default(),
            proxy: ProxyChoice::Environment,
            secrets: secrets.finish(),
        }
    }

    /// Sets the headers of each request; their values become secrets.
    #[must_use]
    pub(in crate::config) fn with_headers(mut self, headers: Vec<(String, Secret)>) -> Self {
        let mut secrets = Collected::default();
        for secret in self
            .secrets
            .iter()
            .chain(headers.iter().map(|(_, value)| value))
        {
            secrets.add_with_parts(secret.reveal());
        }
        self.secrets = secrets.finish();
        self.headers = headers;
        self
    }

    /// Values that open something: those of headers whose names say that they are secret, the token,
    /// and query values whose keys say so. They are hidden in what the server says back, too; other
    /// headers may be plain words that results are full of.
    pub(crate) fn credentials(&self) -> Vec<Secret> {
        let mut credentials = Collected::default();
        address::add_secrets(&self.url, &mut credentials);
        let secret_headers = self
            .headers
            .iter()
            .filter(|(name, _)| names_a_secret(name))
            .map(|(_, value)| value);
        for value in secret_headers.chain(&self.auth) {
            credentials.add_with_parts(value.reveal());
        }
        credentials.finish()
    }

    /// The URL as it may be shown: secrets hidden.
    pub fn shown_url(&self) -> String {
        let secrets = self.secrets.iter().map(Secret::reveal);
        let redactor = Redactor::new(secrets).hiding_urls();
        redactor.redact(self.url.as_str()).into_owned()
    }
}

impl fmt::Debug for RemoteConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("RemoteConfig")
            .field("url", &self.shown_url())
            .field("kind", &self.kind)
            .field("headers", &names)
            .field("auth", &self.auth.is_some())
            .field("tls", &self.tls)
            .field("proxy", &self.proxy)
            .field("secrets", &self.secrets.len())
            .finish()
    }
}

/// Reads the keys of a server that is reached over HTTP. `url` is the member that has its address.
pub(in crate::config) fn read(
    table: &Table<'_>,
    url: &Field<'_>,
    kind: RemoteKind,
    filling: &mut Filling<'_, '_>,
) -> Result<RemoteConfig, Problem> {
    let text = filling.value(url)?;
    let mut server = RemoteConfig::new(address::parse(&text).map_err(|fault| at(&fault, url))?);
    server.kind = kind;
    if address::is_open_to_all(&server.url) {
        filling
            .warnings
            .add(|| url.problem(PLAIN_HTTP).with_hint(USE_HTTPS));
    }
    if let Some(headers) = table.get("headers") {
        server.headers = headers::read(&headers, filling)?;
    }
    if let Some(auth) = table.get("auth") {
        server.auth = Some(read_auth(&auth, &server, filling)?);
    }
    if let Some(tls) = table.get("tls") {
        server.tls = network::read_tls(&tls, filling)?;
    }
    if let Some(proxy) = table.get("proxy") {
        server.proxy = network::read_proxy(&proxy, filling)?;
    }
    for secret in &server.secrets {
        filling.secrets.add(secret.reveal());
    }
    server.secrets = std::mem::take(&mut filling.secrets).finish();
    Ok(server)
}

fn at(fault: &AddressFault, field: &Field<'_>) -> Problem {
    let problem = field.problem(fault.to_string());
    match fault.hint() {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}

/// The bearer token; a `Bearer` before it is not taken twice.
fn read_auth(
    field: &Field<'_>,
    server: &RemoteConfig,
    filling: &mut Filling<'_, '_>,
) -> Result<Secret, Problem> {
    let no_oauth = || {
        field
            .problem("OAuth is not supported by this version")
            .with_hint("get a token and set \"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}")
    };
    if !field.is_text() {
        // Other programs describe an OAuth client here.
        return Err(match field.table() {
            Ok(_) => no_oauth(),
            Err(_) => field.wrong_type("a bearer token"),
        });
    }
    let text = filling.value(field)?;
    let text = text.trim();
    if text == "oauth" {
        return Err(no_oauth());
    }
    if server.headers.iter().any(|(name, _)| name == AUTHORIZATION) {
        return Err(field
            .problem("\"auth\" and the header \"authorization\" contradict each other")
            .with_hint("keep one"));
    }
    let token = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => text,
    };
    if token.is_empty() {
        return Err(field.problem("the token is empty"));
    }
    headers::check_value(token).map_err(|message| field.problem(message))?;
    filling.secrets.add(token);
    Ok(Secret::new(token))
}
