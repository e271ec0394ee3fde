//! Whether a call may run: how risky it is, whose word counts, who is asked, and what was decided.
//!
//! [`Facts`] are what is known of one call; [`Policy::decide`] makes a [`Decision`] of them, and
//! [`Policy::admit`] asks an [`Approver`] where it must. Decisions are made per call, never per
//! batch. What is decided and shown is the text of the [`crate::ValidCall`], and that is what is
//! sent: decide after everything that may change a call, and run the call that was decided.
//!
//! The level of a call ([`Level`], 0 to 4) comes from these, in this order:
//!
//! 1. `deny` and the rule of level 4 refuse: writing to shell start files, `.ssh`, `.git/hooks` and
//!    our own configuration ([`patterns`]), and editing outside the workspace.
//! 2. A table over the tool's effective hints ([`effective`]) and its source's [`Trust`]; tools that
//!    the program brings itself ([`BuiltIn`]) have rows of their own.
//! 3. Untrusted text in the model's context and a risk at or above the threshold, or unknown, add a
//!    level each, up to level 3. The risk comes from [`Analyzer`]s, the model's own word
//!    ([`ModelWord`]) among them; it only raises. Of a tool that only reads nobody is asked for a
//!    risk, so that silence means low there.
//!
//! [`Confirm`] then says from which level somebody is asked. Level 2 is asked once per session and
//! definition of the tool ([`Approvals`]), level 3 each time.
//!
//! `Trust::Annotations` believes a source's hints and uses the table's column for sources that are
//! not trusted; `Trust::Untrusted` takes every hint at the specification's pessimistic default,
//! which is the worst that a hint can say, so that an untrusted source can only raise.
//!
//! A default policy costs a call one look at the names of its arguments: no analyzer runs, and only
//! a call with an argument named like a command or a path is read further for the rule of level 4.

mod analyzer;
mod approvals;
mod approver;
mod confirm;
mod decision;
mod facts;
mod fingerprint;
mod glob;
mod level;
pub mod patterns;
#[expect(
    clippy::module_inception,
    reason = "the policy itself is one part of what decides"
)]
mod policy;
mod risk;
mod trust;

pub use analyzer::{Analyzer, Assessment, Ensemble, ModelWord};
pub use approvals::{Approval, Approvals};
pub use approver::{Answer, Approver, Question};
pub use confirm::{Confirm, InvalidConfirm};
pub use decision::{Decision, Refused, Verdict};
pub use facts::{BuiltIn, Facts};
pub use fingerprint::definition_hash;
pub use glob::{Glob, InvalidGlob};
pub use level::{Level, Mode};
pub use patterns::Patterns;
pub use policy::Policy;
pub use risk::{InvalidRisk, InvalidThreshold, KnownRisk, SecurityRisk};
pub use trust::{Hints, Trust, effective};
