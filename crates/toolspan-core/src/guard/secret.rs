//! A string that cannot be printed by accident.

/// A secret value. It has no `Display` and no `Serialize`, and its `Debug` says only that it is
/// one; whoever needs the value says so by calling [`Secret::reveal`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value)
    }
}

/// Words in the name of a variable, header, property or query key that say its value is a secret.
const SECRET_WORDS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "authorization",
    "cookie",
    "api_key",
    "apikey",
    "api-key",
    "private_key",
    "privatekey",
    "access_key",
    "accesskey",
    "signature",
    "bearer",
    "jwt",
];

/// Last words of such names: `key`, `DB_PASS`, `github-pat`.
const SECRET_ENDINGS: &[&str] = &["key", "pass", "pat"];

/// Whether a name says that its value is a secret: it contains a word such as `token`, or its
/// last word is one such as `key`. Case does not matter.
///
/// ```
/// use toolspan_core::guard::secret::names_a_secret;
/// assert!(names_a_secret("GITHUB_TOKEN"));
/// assert!(names_a_secret("x-api-key"));
/// assert!(names_a_secret("DB_PASS"));
/// assert!(!names_a_secret("timezone"));
/// assert!(!names_a_secret("path"));
/// ```
pub fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    name == "auth"
        || SECRET_ENDINGS.contains(&last)
        || SECRET_WORDS.iter().any(|word| name.contains(word))
}
