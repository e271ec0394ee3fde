//! What does a factory learn of the conversation that its tools are made for?

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The state of a conversation, of whatever type its agent chose. Nothing here looks into it: it
/// is handed to whoever knows the type. Cheap to clone; clones share the state.
///
/// ```
/// use toolspan_core::tool::ConversationState;
///
/// struct Workspace { folder: String }
/// let state = ConversationState::new(Workspace { folder: "/srv".into() });
/// assert_eq!(state.get::<Workspace>().unwrap().folder, "/srv");
/// assert!(state.get::<u8>().is_none() && ConversationState::none().get::<u8>().is_none());
/// ```
#[derive(Clone, Default)]
pub struct ConversationState(Option<Arc<dyn Any + Send + Sync>>);

impl ConversationState {
    /// No conversation.
    pub const fn none() -> Self {
        Self(None)
    }

    /// A state that factories can read by its type.
    pub fn new<T: Any + Send + Sync>(state: T) -> Self {
        Self(Some(Arc::new(state)))
    }

    /// Whether there is none.
    pub const fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// The state, where it is of this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }

    /// A share of the state, where it is of this type, for a tool that keeps it.
    pub fn shared<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::downcast(Arc::clone(self.0.as_ref()?)).ok()
    }

    /// A share of the state, whatever it is.
    pub fn into_any(self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.0
    }
}

impl From<Arc<dyn Any + Send + Sync>> for ConversationState {
    fn from(state: Arc<dyn Any + Send + Sync>) -> Self {
        Self(Some(state))
    }
}

impl fmt::Debug for ConversationState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            Some(_) => "ConversationState(…)",
            None => "ConversationState(none)",
        })
    }
}
