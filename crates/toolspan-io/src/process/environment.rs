//! Which environment does a child get?

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::error::SpawnError;
use super::launch::{COOKIE_VARIABLE, InheritEnv, Launch, SAFE_VARIABLES};

/// The child's variables, complete but for the cookie: what is inherited, then its own.
pub(super) fn child_environment(
    launch: &Launch,
) -> Result<BTreeMap<OsString, OsString>, SpawnError> {
    let mut environment: BTreeMap<OsString, OsString> = launch
        .parent_env
        .iter()
        .filter(|(name, value)| is_inherited(&launch.inherit, name, value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    environment.remove(OsStr::new(COOKIE_VARIABLE));
    for (name, value) in &launch.env {
        check(name, value)?;
        environment.insert(name.into(), value.into());
    }
    Ok(environment)
}

fn is_inherited(inherit: &InheritEnv, name: &OsStr, value: &OsStr) -> bool {
    let encoded = name.as_encoded_bytes();
    if encoded.is_empty() || encoded.contains(&b'=') || encoded.contains(&0) {
        return false;
    }
    match inherit {
        InheritEnv::None => false,
        InheritEnv::All => true,
        InheritEnv::Names(names) => names.iter().any(|wanted| OsStr::new(wanted) == name),
        // A value that starts so is a function to some shells, that is: code.
        InheritEnv::Safe => {
            SAFE_VARIABLES.iter().any(|safe| OsStr::new(safe) == name)
                && !value.as_encoded_bytes().starts_with(b"()")
        }
    }
}

fn check(name: &str, value: &str) -> Result<(), SpawnError> {
    let problem = if name.is_empty() {
        "has no name"
    } else if name.contains('=') {
        "has `=` in its name"
    } else if name.contains('\0') {
        "has a NUL byte in its name"
    } else if value.contains('\0') {
        "has a NUL byte in its value"
    } else if name == COOKIE_VARIABLE {
        "is set for each server and cannot be given"
    } else {
        return Ok(());
    };
    Err(SpawnError::BadVariable {
        name: name.to_owned(),
        problem,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn parent() -> Arc<BTreeMap<OsString, OsString>> {
        let pairs = [
            ("PATH", "/bin"),
            ("HOME", "/home/someone"),
            ("TERM", "() { :; }; echo"),
            ("API_TOKEN", "secret"),
            ("LD_PRELOAD", "/tmp/evil.so"),
            (COOKIE_VARIABLE, "of our parent"),
        ];
        Arc::new(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }

    fn names(inherit: InheritEnv, env: &[(&str, &str)]) -> Vec<String> {
        let launch = Launch::new("x")
            .with_parent_env(parent())
            .with_inherit(inherit)
            .with_env(env.iter().copied());
        let environment = child_environment(&launch).expect("the variables are well formed");
        environment
            .keys()
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn safe_passes_the_short_list_without_shell_functions() {
        assert_eq!(names(InheritEnv::Safe, &[]), ["HOME", "PATH"]);
    }

    #[test]
    fn none_all_and_names_do_what_they_say() {
        assert!(names(InheritEnv::None, &[]).is_empty());
        assert_eq!(names(InheritEnv::None, &[("A", "1")]), ["A"]);
        let all = names(InheritEnv::All, &[]);
        assert_eq!(all, ["API_TOKEN", "HOME", "LD_PRELOAD", "PATH", "TERM"]);
        assert_eq!(
            names(InheritEnv::Names(vec!["API_TOKEN".into()]), &[]),
            ["API_TOKEN"]
        );
    }

    #[test]
    fn a_variable_of_its_own_wins() {
        let launch = Launch::new("x")
            .with_parent_env(parent())
            .with_env([("HOME", "/srv"), ("LD_X", "y")]);
        let environment = child_environment(&launch).expect("the variables are well formed");
        assert_eq!(
            environment.get(OsStr::new("HOME")),
            Some(&OsString::from("/srv"))
        );
        assert_eq!(
            environment.get(OsStr::new("LD_X")),
            Some(&OsString::from("y"))
        );
    }

    #[test]
    fn ill_formed_variables_are_refused_without_showing_the_value() {
        for (name, value) in [
            ("", "x"),
            ("A=B", "x"),
            ("A\0", "x"),
            ("A", "hush\0"),
            (COOKIE_VARIABLE, "hush"),
        ] {
            let error = child_environment(&Launch::new("x").with_env([(name, value)]))
                .expect_err("the variable is ill formed");
            assert!(matches!(error, SpawnError::BadVariable { .. }));
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }
}
