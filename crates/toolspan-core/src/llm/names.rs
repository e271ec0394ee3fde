//! What is a tool called where an API refuses its exposed name, and which tool does such a name mean?
//!
//! Gemini alone has a rule that exposed names may break: on their first character. The other names
//! follow from the names of a snapshot, whichever of its tools are given, and none is the exposed
//! name of another tool; so a call can be led back without the projection that it was made from.

use std::collections::HashMap;
use std::sync::Arc;

use super::form::Api;
use crate::registry::{RegisteredTool, Snapshot};

/// Why a tool has another name.
pub(super) const WHY: &str = "a name begins with a letter or `_` for Gemini";

/// Characters of a tool's name.
const LENGTH: usize = 64;

/// The other names that the tools of a snapshot have for an API, by their exposed ones.
pub(super) fn given(snapshot: &Snapshot, api: Api) -> HashMap<&str, Arc<str>> {
    match api {
        Api::Gemini | Api::GeminiOpenApi => of_all(snapshot)
            .map(|(tool, name)| (&*tool.name, name))
            .collect(),
        _ => HashMap::new(),
    }
}

impl Snapshot {
    /// The tool that a model means by a name: the exposed one, or the one that a form gave it.
    pub fn shown_as(&self, name: &str) -> Option<&RegisteredTool> {
        let renamed = || {
            let mut all = of_all(self).filter(|(_, given)| **given == *name);
            all.next().map(|(tool, _)| tool)
        };
        // Each name that is given begins so.
        self.get(name)
            .or_else(|| name.starts_with('_').then(renamed).flatten())
    }
}

/// The tools whose exposed names Gemini refuses, in order, with the names that it gets.
fn of_all(snapshot: &Snapshot) -> impl Iterator<Item = (&RegisteredTool, Arc<str>)> {
    let fits = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let odd = snapshot
        .tools()
        .iter()
        .filter(move |tool| !fits(&tool.name));
    let mut taken: Vec<Arc<str>> = Vec::new();
    odd.map(move |tool| {
        let is_taken =
            |name: &str| snapshot.get(name).is_some() || taken.iter().any(|known| **known == *name);
        let name: Arc<str> = free(&tool.name, is_taken).into();
        taken.push(Arc::clone(&name));
        (tool, name)
    })
}

/// `_` and the name, cut, with a number where that is taken. Ends, since the names that are taken are
/// of a bounded number.
fn free(exposed: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut count = 1_u32;
    loop {
        let end = match count {
            1 => String::new(),
            count => format!("_{count}"),
        };
        let room = LENGTH.saturating_sub(1 + end.len());
        let middle: String = exposed.chars().take(room).collect();
        let name = format!("_{middle}{end}");
        if !is_taken(&name) {
            return name;
        }
        count = count.saturating_add(1);
    }
}
