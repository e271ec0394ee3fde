//! What do the tests give a client in place of the system's resolver?

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use toolspan_io::http::{Resolve, Resolving};

/// A resolver that answers from a list and remembers what it was asked.
#[derive(Default)]
pub(crate) struct Names {
    /// The answers of each name, one after the other; the last one stays.
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    /// A resolver that knows no name yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds one answer for a name.
    pub(crate) fn with(self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses
            .iter()
            .map(|address| address.parse().expect("an address"))
            .collect();
        let mut answers = self.answers.lock().expect("no panic");
        answers.entry(name.to_owned()).or_default().push(addresses);
        drop(answers);
        self
    }

    /// For the settings of a client.
    pub(crate) fn shared(self) -> Arc<Self> {
        Arc::new(self)
    }

    /// The names that were asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

impl Resolve for Names {
    fn resolve(&self, host: &str) -> Resolving {
        self.asked.lock().expect("no panic").push(host.to_owned());
        let mut answers = self.answers.lock().expect("no panic");
        let answer = answers.get_mut(host).map(|answers| {
            if answers.len() > 1 {
                answers.remove(0)
            } else {
                answers.first().cloned().unwrap_or_default()
            }
        });
        let found = answer.ok_or_else(|| io::Error::other("no such name"));
        Box::pin(async { found })
    }
}

/// A resolver that never answers.
pub(crate) struct Silent;

impl Resolve for Silent {
    fn resolve(&self, _host: &str) -> Resolving {
        Box::pin(std::future::pending())
    }
}
