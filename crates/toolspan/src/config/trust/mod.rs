//! Trust: a config that lies in a project starts nothing before a person has approved it.
//!
//! A config that was looked for and found in the current directory may come from a stranger's
//! repository. [`ConfigFile`] reads such a file once; [`View`] shows all of it; the approval, bound
//! to what it says, is kept in the user's state folder ([`TrustStore`]). What is approved, what is
//! looked at and what is started come from the same bytes, read once.
//!
//! `meaning` is what an approval is bound to; `view`, `hidden`, `visible` and `warning` make what a
//! person sees; `store` and `state_file` keep it; `program` remembers the files that are run.

mod approval;
mod config_file;
mod difference;
mod hidden;
mod meaning;
mod permission;
mod program;
mod state_file;
mod store;
mod view;
mod visible;
mod warning;

pub use config_file::{ConfigFile, Standing};
pub use difference::Change;
pub(super) use meaning::hash;
pub use store::TrustStore;
pub use view::{Line, View};
