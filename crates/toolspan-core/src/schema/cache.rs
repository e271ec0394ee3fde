//! Which definitions does the process have already?
//!
//! Two servers with the same schema, or a list that was refreshed, share one compiled validator.
//! The cache holds weak references only: it keeps nothing alive.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use super::definition::{Definition, SchemaHash};
use super::limits::SchemaLimits;

/// Entries of the cache, living or not. A definition that finds no room works, unshared.
const CAPACITY: usize = 16_384;

type Key = (SchemaHash, SchemaLimits);

/// The lock is held for a look-up or an insertion, never for a compile.
static DEFINITIONS: LazyLock<Mutex<HashMap<Key, Weak<Definition>>>> = LazyLock::new(Mutex::default);

/// The living definition of these bytes under these limits.
pub(super) fn find(hash: &SchemaHash, limits: &SchemaLimits) -> Option<Arc<Definition>> {
    let definitions = DEFINITIONS.lock().unwrap_or_else(PoisonError::into_inner);
    definitions.get(&(*hash, limits.clone()))?.upgrade()
}

/// Shares `definition`, or returns the one that another thread has shared meanwhile.
pub(super) fn share(definition: Definition) -> Arc<Definition> {
    let definition = Arc::new(definition);
    let key = (definition.hash, definition.limits.clone());
    let mut definitions = DEFINITIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(other) = definitions.get(&key).and_then(Weak::upgrade) {
        return other;
    }
    if definitions.len() >= CAPACITY {
        definitions.retain(|_, definition| definition.strong_count() > 0);
    }
    if definitions.len() < CAPACITY {
        definitions.insert(key, Arc::downgrade(&definition));
    }
    definition
}
