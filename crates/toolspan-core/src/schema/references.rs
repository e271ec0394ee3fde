//! Which schema does a `$ref` mean? Answered inside the document only.

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::{Uri, uri};
use serde_json::Value;

/// The base of a document that names none, the same one that the validator uses.
static UNNAMED: LazyLock<Option<Uri<String>>> =
    LazyLock::new(|| uri::from_str("json-schema:///").ok());

/// A part of a document with its own base URI: the root, and every schema with an `$id`.
pub(super) type ScopeId = usize;

/// Why a reference has no target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoTarget {
    /// It names another document.
    Remote,
    /// It names a place of this document that does not exist or is not a schema.
    Nowhere,
}

struct Scope<'a> {
    root: &'a Value,
    /// `None` where the URI does not parse; the validator's own compile reports that.
    base: Option<Uri<String>>,
}

/// The names that references of one document can point to.
pub(super) struct Scopes<'a> {
    scopes: Vec<Scope<'a>>,
    by_uri: HashMap<String, ScopeId>,
    anchors: HashMap<(ScopeId, &'a str), &'a Value>,
}

impl<'a> Scopes<'a> {
    /// The scope of the root, which has id 0.
    pub(super) fn new(root: &'a Value) -> Self {
        let scopes = vec![Scope {
            root,
            base: UNNAMED.clone(),
        }];
        Self {
            scopes,
            by_uri: HashMap::new(),
            anchors: HashMap::new(),
        }
    }

    /// Opens a scope for a schema whose `$id` is `id`.
    pub(super) fn open(&mut self, parent: ScopeId, id: &str, root: &'a Value) -> ScopeId {
        let base = self
            .scopes
            .get(parent)
            .and_then(|scope| absolute(scope, id));
        let scope = self.scopes.len();
        if let Some(base) = &base {
            let (document, _) = split(base.as_str());
            self.by_uri.entry(document.to_owned()).or_insert(scope);
        }
        self.scopes.push(Scope { root, base });
        scope
    }

    /// Records a schema that can be reached as `#name`.
    pub(super) fn anchor(&mut self, scope: ScopeId, name: &'a str, target: &'a Value) {
        self.anchors.entry((scope, name)).or_insert(target);
    }

    /// The target of a reference written in `scope`, and the scope that the target lies in (where
    /// its pointer passes no other `$id`).
    pub(super) fn resolve(
        &self,
        scope: ScopeId,
        reference: &str,
    ) -> Result<(&'a Value, ScopeId), NoTarget> {
        if let Some(fragment) = reference.strip_prefix('#') {
            return self.fragment(scope, fragment);
        }
        if reference.is_empty() {
            return self.fragment(scope, "");
        }
        let from = self.scopes.get(scope).ok_or(NoTarget::Nowhere)?;
        let full = absolute(from, reference).ok_or(NoTarget::Remote)?;
        let (document, fragment) = split(full.as_str());
        let target = self.by_uri.get(document).ok_or(NoTarget::Remote)?;
        self.fragment(*target, fragment)
    }

    fn fragment(&self, scope: ScopeId, fragment: &str) -> Result<(&'a Value, ScopeId), NoTarget> {
        let root = self.scopes.get(scope).ok_or(NoTarget::Nowhere)?.root;
        let decoded = percent_decoded(fragment).ok_or(NoTarget::Nowhere)?;
        let target = if decoded.is_empty() || decoded.starts_with('/') {
            root.pointer(&decoded)
        } else {
            self.anchors.get(&(scope, decoded.as_str())).copied()
        };
        match target {
            Some(schema @ (Value::Object(_) | Value::Bool(_))) => Ok((schema, scope)),
            _ => Err(NoTarget::Nowhere),
        }
    }
}

fn absolute(scope: &Scope<'_>, reference: &str) -> Option<Uri<String>> {
    let base = scope.base.as_ref()?;
    uri::resolve_against(&base.borrow(), reference).ok()
}

fn split(full: &str) -> (&str, &str) {
    full.split_once('#').unwrap_or((full, ""))
}

/// `%41` becomes `A` (RFC 3986, section 2.1); `None` where the result is not UTF-8.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = match (first, tail.get(..2)) {
            (b'%', Some(digits)) => std::str::from_utf8(digits).ok(),
            _ => None,
        };
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
