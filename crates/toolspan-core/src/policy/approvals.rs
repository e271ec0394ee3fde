//! Who approved what in this session, and how is a call brought through the policy?

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use tokio::runtime::Handle;

use super::approver::{Answer, Approver, Question};
use super::decision::{Decision, Refused, Verdict, denied, unapproved};
use super::facts::Facts;
use super::policy::Policy;
use crate::guard::sanitise;

/// Most approvals that are remembered; the oldest is forgotten, and asked for anew.
const REMEMBERED: usize = 1_024;

/// Rows in which questions about the same tool stand.
const ROWS: usize = 16;

/// Characters of a person's reason that an error keeps.
const REASON: usize = 500;

/// The approvals of one session. Shared by all its calls; takes at most 1,024.
///
/// Calls of one tool at level 2 stand in a row, so that a person who answers "for this session" is
/// asked once, however many calls came at once.
#[derive(Default)]
pub struct Approvals {
    /// Oldest first. Never held over an `.await`.
    remembered: Mutex<VecDeque<Approval>>,
    rows: [tokio::sync::Mutex<()>; ROWS],
}

/// An approval that holds until the session ends, the tool changes, or it is taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// The tool's exposed name.
    pub tool: String,
    /// The toolbox's key.
    pub toolbox: String,
    /// The definition that was approved.
    pub definition_hash: String,
}

impl Approvals {
    /// No approval yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is approved now, oldest first.
    pub fn list(&self) -> Vec<Approval> {
        self.lock().iter().cloned().collect()
    }

    /// Takes back what was approved for a tool by its exposed name. Calls under way go on.
    pub fn revoke(&self, tool: &str) {
        self.lock().retain(|approval| approval.tool != tool);
    }

    /// Takes all approvals back.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn holds(&self, question: &Question) -> bool {
        let same = |approval: &Approval| approval.definition_hash == question.definition_hash;
        question.may_remember() && self.lock().iter().any(same)
    }

    fn remember(&self, question: &Question) {
        let mut remembered = self.lock();
        if remembered.len() >= REMEMBERED {
            remembered.pop_front();
        }
        remembered.push_back(Approval {
            tool: question.tool.clone(),
            toolbox: question.toolbox.clone(),
            definition_hash: question.definition_hash.clone(),
        });
    }

    /// The row of a definition: two digits of its hash say which.
    fn row(&self, question: &Question) -> Option<&tokio::sync::Mutex<()>> {
        let digits = question.definition_hash.get(..2)?;
        let row = usize::from_str_radix(digits, 16).ok()? % ROWS;
        self.rows.get(row)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Approval>> {
        // No code that can panic runs while it is held.
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.lock().iter()).finish()
    }
}

impl Policy {
    /// Decides a call and asks where it must: the decision of a call that runs, or why it does not.
    ///
    /// Each call is decided for itself, however many a model asked for at once. What runs must be
    /// the [`crate::ValidCall`] of these facts. The wait is bounded by the policy's own limit
    /// within a tokio runtime, and by the caller's deadline in any case.
    ///
    /// # Errors
    ///
    /// `policy_denied` for level 4, `deny` and a person's no; `approval_required` when nobody is
    /// there to ask or gives an answer in time. Nothing was sent.
    pub async fn admit(
        &self,
        facts: &Facts<'_>,
        approver: Option<&dyn Approver>,
        approvals: &Approvals,
    ) -> Result<Decision, Refused> {
        let decided = (facts, self.decide(facts));
        self.settle(decided, approver, approvals).await
    }

    /// The rest of [`Policy::admit`], for a call that was decided. Who does both by himself spares the
    /// calls that simply run this future, which is large.
    ///
    /// # Errors
    ///
    /// As [`Policy::admit`].
    pub async fn settle(
        &self,
        (facts, mut decision): (&Facts<'_>, Decision),
        approver: Option<&dyn Approver>,
        approvals: &Approvals,
    ) -> Result<Decision, Refused> {
        let asked = match decision.verdict {
            Verdict::Run => Ok(None),
            Verdict::Refuse => Err(
                denied(format!("the call is not allowed: {}", decision.rule))
                    .with_hint("no approval changes this; it takes another rule in the policy"),
            ),
            Verdict::Ask => {
                let question = Question::new(facts, &decision);
                self.asked(&question, approver, approvals).await.map(Some)
            }
        };
        match asked {
            Ok(approved_by) => {
                if let Some(who) = approved_by {
                    decision.approved_by = Some(who.into());
                }
                Ok(decision)
            }
            Err(error) => Err(Refused {
                error: error.in_toolbox(facts.toolbox).in_tool(facts.tool),
                decision: Box::new(decision),
            }),
        }
    }

    /// Who approved the call: `session` or `once`.
    async fn asked(
        &self,
        question: &Question,
        approver: Option<&dyn Approver>,
        approvals: &Approvals,
    ) -> crate::Result<&'static str> {
        if approvals.holds(question) {
            return Ok("session");
        }
        let Some(approver) = approver else {
            return Err(unapproved(format!("the call needs an approval: {}", question.rule))
                .with_hint("nobody is there to ask; give the host an approver, or allow the tool in policy.allow"));
        };
        let answer = async {
            let row = approvals.row(question).filter(|_| question.may_remember());
            let _turn = match row {
                Some(row) => Some(row.lock().await),
                None => None,
            };
            if approvals.holds(question) {
                return Ok("session");
            }
            let answer = AssertUnwindSafe(async { approver.approve(question).await });
            let answer = answer.catch_unwind().await;
            answered(answer.ok(), question, approvals)
        };
        if Handle::try_current().is_err() {
            return answer.await;
        }
        let waited = tokio::time::timeout(self.approval_wait, answer).await;
        waited.unwrap_or_else(|_| {
            let seconds = self.approval_wait.as_secs_f64();
            Err(unapproved(format!(
                "nobody approved the call within {seconds} s"
            )))
        })
    }
}

/// What an answer means; none is a panic.
fn answered(
    answer: Option<Answer>,
    question: &Question,
    approvals: &Approvals,
) -> crate::Result<&'static str> {
    match answer {
        Some(Answer::Once) => Ok("once"),
        Some(Answer::Session) if question.may_remember() => {
            approvals.remember(question);
            Ok("session")
        }
        Some(Answer::Session) => Ok("once"),
        Some(Answer::Refuse(reason)) => {
            let reason = sanitise::one_line(&reason, REASON);
            let colon = if reason.is_empty() { "" } else { ": " };
            Err(denied(format!("the user refused the call{colon}{reason}"))
                .with_hint("do not try it again unless the user asks for it"))
        }
        None => Err(unapproved("the approver failed before it answered")
            .with_hint("this is a fault in the approver's code")),
    }
}
