//! Who else may read or write a config, and does that matter?

use std::fs::Metadata;
use std::path::Path;

use toolspan_core::guard::sanitise::one_line;
use toolspan_core::{Error, ErrorKind, Phase};

use super::super::problem::Problem;

/// Longest path in a message, in characters.
const LONGEST_PATH: usize = 400;

/// What the system says of a file that was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Access {
    /// It belongs to somebody who is neither this user nor the administrator.
    of_another: bool,
    others_write: bool,
    others_read: bool,
}

impl Access {
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let owner = metadata.uid();
        Self {
            of_another: owner != 0 && owner != rustix::process::geteuid().as_raw(),
            others_write: metadata.mode() & 0o022 != 0,
            others_read: metadata.mode() & 0o044 != 0,
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &Metadata) -> Self {
        Self::default()
    }

    /// What is said about it.
    pub(super) fn warnings(self, path: &Path, has_secrets: bool) -> Vec<Problem> {
        let shown = one_line(&path.to_string_lossy(), LONGEST_PATH);
        let mut warnings = Vec::new();
        let mut add = |message: &str, hint: String| {
            let warning = Problem::new(message).in_file(Some(path.to_owned()));
            warnings.push(warning.with_hint(hint));
        };
        if self.of_another {
            add(
                "this file belongs to another user, who decides what is started",
                "use a copy of your own".to_owned(),
            );
        }
        if self.others_write {
            add(
                "other users may write this file, and so decide what is started",
                format!("`chmod go-w {shown}` ends that"),
            );
        }
        if self.others_read && has_secrets {
            add(
                "other users may read the secrets in this file",
                format!("`chmod 600 {shown}` ends that; or write ${{NAME}} and set a variable"),
            );
        }
        warnings
    }

    /// Why it must not be used: there are secrets in a file that somebody else writes.
    pub(super) fn refusal(self, path: &Path, has_secrets: bool) -> Option<Error> {
        let reason = match (self.of_another, self.others_write) {
            _ if !has_secrets => return None,
            (true, _) => "it belongs to another user",
            (false, true) => "other users may write it",
            (false, false) => return None,
        };
        let shown = one_line(&path.to_string_lossy(), LONGEST_PATH);
        let message = format!("{shown} has secrets in it, and {reason}, so it is not used");
        let fix = if self.of_another {
            "use a copy of your own".to_owned()
        } else {
            format!("`chmod 600 {shown}`")
        };
        let hint = format!("{fix}, or give --allow-insecure-config to use it all the same");
        Some(Error::new(ErrorKind::Config, Phase::Config, message).with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C14
    #[test]
    fn secrets_are_refused_in_a_file_that_somebody_else_may_change() {
        let file = Path::new("toolspan.json");
        let all = [false, true].map(|of_another| {
            [false, true].map(|others_write| Access {
                of_another,
                others_write,
                others_read: true,
            })
        });
        for access in all.as_flattened() {
            let refusal = access.refusal(file, true);
            assert_eq!(refusal.is_some(), access.of_another || access.others_write);
            assert!(access.refusal(file, false).is_none());
            let expected = usize::from(access.of_another) + usize::from(access.others_write);
            assert_eq!(access.warnings(file, false).len(), expected);
            assert_eq!(access.warnings(file, true).len(), expected + 1);
        }
        let own = Access::default();
        assert!(own.refusal(file, true).is_none() && own.warnings(file, true).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn what_the_system_says_is_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "").expect("a file");
        for (mode, others_read, others_write) in [
            (0o600, false, false),
            (0o640, true, false),
            (0o602, false, true),
            (0o660, true, true),
        ] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, permissions).expect("it is ours");
            let access = Access {
                of_another: false,
                others_write,
                others_read,
            };
            assert_eq!(Access::of(&path.metadata().expect("a file")), access);
        }
    }
}
