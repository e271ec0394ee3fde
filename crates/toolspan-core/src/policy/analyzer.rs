//! Who judges the risk of a call, and what do several of them say together?

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::facts::Facts;
use super::risk::SecurityRisk;

/// A risk, and why where the analyzer can say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assessment {
    /// The risk.
    pub risk: SecurityRisk,
    /// Why, in a few words without values of the arguments.
    pub reason: Option<Cow<'static, str>>,
}

impl Assessment {
    /// A risk and why.
    pub fn new(risk: SecurityRisk, reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            risk,
            reason: Some(reason.into()),
        }
    }
}

impl From<SecurityRisk> for Assessment {
    fn from(risk: SecurityRisk) -> Self {
        Self { risk, reason: None }
    }
}

/// Judges the risk of one call. Runs on the caller's thread before the call; must not block.
///
/// A panic counts as high risk and hurts nobody else. A closure
/// `Fn(&Facts<'_>) -> SecurityRisk` is an analyzer.
pub trait Analyzer: Send + Sync {
    /// The risk of this call; unknown when the analyzer cannot tell.
    fn analyze(&self, action: &Facts<'_>) -> SecurityRisk;

    /// The risk with a reason, for analyzers that have one.
    fn assess(&self, action: &Facts<'_>) -> Assessment {
        self.analyze(action).into()
    }
}

impl<F: Fn(&Facts<'_>) -> SecurityRisk + Send + Sync> Analyzer for F {
    fn analyze(&self, action: &Facts<'_>) -> SecurityRisk {
        self(action)
    }
}

/// The model's own word. Absent is unknown. A word that is no risk is unknown too, with a note: a
/// model that cannot spell is not a reason to lose its call, and unknown is never less than it said.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "has nothing to set")]
pub struct ModelWord;

impl Analyzer for ModelWord {
    fn analyze(&self, action: &Facts<'_>) -> SecurityRisk {
        self.assess(action).risk
    }

    fn assess(&self, action: &Facts<'_>) -> Assessment {
        let Some(word) = action.model_risk else {
            return SecurityRisk::Unknown.into();
        };
        match word.parse::<SecurityRisk>() {
            Ok(SecurityRisk::Unknown) => SecurityRisk::Unknown.into(),
            Ok(risk) => Assessment::new(risk, "the model says so"),
            Err(invalid) => Assessment::new(
                SecurityRisk::Unknown,
                format!("the model's word counts as unknown: {invalid}"),
            ),
        }
    }
}

/// Several analyzers: the highest of what they know. Unknown when nobody knows.
#[derive(Clone, Default)]
pub struct Ensemble {
    analyzers: Vec<Arc<dyn Analyzer>>,
    propagate_unknown: bool,
}

impl Ensemble {
    /// Nobody yet: unknown.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an analyzer.
    #[must_use]
    pub fn with(mut self, analyzer: impl Analyzer + 'static) -> Self {
        self.analyzers.push(Arc::new(analyzer));
        self
    }

    /// Adds an analyzer that others hold too.
    #[must_use]
    pub fn with_shared(mut self, analyzer: Arc<dyn Analyzer>) -> Self {
        self.analyzers.push(analyzer);
        self
    }

    /// Unknown as soon as one does not know, unless another says high: nothing is above that.
    #[must_use]
    pub fn propagating_unknown(mut self) -> Self {
        self.propagate_unknown = true;
        self
    }
}

impl Analyzer for Ensemble {
    fn analyze(&self, action: &Facts<'_>) -> SecurityRisk {
        self.assess(action).risk
    }

    fn assess(&self, action: &Facts<'_>) -> Assessment {
        let mut highest = Assessment::default();
        let mut unknown = None;
        for analyzer in &self.analyzers {
            let assessment = guarded(&**analyzer, action);
            if assessment.risk.known() > highest.risk.known() {
                highest = assessment;
            } else if assessment.risk == SecurityRisk::Unknown {
                let named = unknown.get_or_insert_with(|| assessment.clone());
                if named.reason.is_none() {
                    named.reason = assessment.reason;
                }
            }
        }
        match unknown {
            Some(unknown) if highest.risk == SecurityRisk::Unknown => unknown,
            Some(unknown) if self.propagate_unknown && highest.risk != SecurityRisk::High => {
                unknown
            }
            _ => highest,
        }
    }
}

impl std::fmt::Debug for Ensemble {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Ensemble")
            .field("analyzers", &self.analyzers.len())
            .field("propagate_unknown", &self.propagate_unknown)
            .finish()
    }
}

/// What an analyzer says; high when it panics.
pub(super) fn guarded(analyzer: &dyn Analyzer, action: &Facts<'_>) -> Assessment {
    catch_unwind(AssertUnwindSafe(|| analyzer.assess(action))).unwrap_or_else(|_| {
        Assessment::new(
            SecurityRisk::High,
            "an analyzer failed, which counts as high",
        )
    })
}
