//! Which rules hold where several configs have a policy?
//!
//! The stricter of each: a config that comes later can forbid and ask more, and never less.

use std::time::Duration;

use toolspan_core::ToolAnnotations;
use toolspan_core::policy::{Confirm, Glob, Mode};

use super::policy::PolicyConfig;

impl PolicyConfig {
    /// The rules of this policy and of one of a config that comes after it: the stricter of each. What
    /// either denies is denied, what either asks about is asked, and what runs unasked is what both
    /// allow, as far as can be told from the patterns. The earlier one's hints win over the later one's.
    #[must_use]
    pub fn and_then(self, later: Self) -> Self {
        // Where one of the two asks nothing, the other one's exceptions are all there are.
        let (earlier_asks, later_asks) = (asks(&self), asks(&later));
        let both = |earlier: Vec<Glob>, later: Vec<Glob>| match (earlier_asks, later_asks) {
            (true, true) => common(&earlier, &later),
            (true, false) => earlier,
            (false, _) => later,
        };
        Self {
            confirm: stricter(self.confirm, later.confirm),
            mode: match strictness(self.mode) > strictness(later.mode) {
                true => self.mode,
                false => later.mode,
            },
            allow: both(self.allow, later.allow),
            deny: joined(self.deny, later.deny),
            commands: both(self.commands, later.commands),
            annotations: hints(self.annotations, later.annotations, earlier_asks),
            approval_wait: shorter(self.approval_wait, later.approval_wait),
        }
    }
}

/// Whether a policy asks anybody, so that what it excepts is all that it lets run unasked.
fn asks(policy: &PolicyConfig) -> bool {
    policy.confirm != Confirm::Never
}

/// What asks about all that either asks about.
fn stricter(one: Confirm, other: Confirm) -> Confirm {
    let risks = |confirm| match confirm {
        Confirm::Risky {
            threshold,
            confirm_unknown,
        } => Some((threshold, confirm_unknown)),
        Confirm::Never | Confirm::Always => None,
    };
    match (one, other) {
        (Confirm::Always, _) | (_, Confirm::Always) => Confirm::Always,
        _ => match (risks(one), risks(other)) {
            (Some((one, by_one)), Some((other, by_other))) => Confirm::Risky {
                threshold: one.min(other),
                confirm_unknown: by_one || by_other,
            },
            (None, None) => Confirm::Never,
            (None, Some(_)) => other,
            (Some(_), None) => one,
        },
    }
}

const fn strictness(mode: Mode) -> u8 {
    match mode {
        Mode::Trusted => 0,
        Mode::Strict => 2,
        _ => 1,
    }
}

/// All patterns, each once.
fn joined(mut earlier: Vec<Glob>, later: Vec<Glob>) -> Vec<Glob> {
    for glob in later {
        if !earlier.contains(&glob) {
            earlier.push(glob);
        }
    }
    earlier
}

/// The patterns of either list that the other one covers as far as can be told from the patterns: it
/// has the same one, or `*`, or one that means a name which is written out.
fn common(one: &[Glob], other: &[Glob]) -> Vec<Glob> {
    let covered = |glob: &Glob, by: &[Glob]| {
        let is_plain = !glob.as_str().contains(['*', '?']);
        by.iter().any(|wider| {
            wider == glob || wider.as_str() == "*" || is_plain && wider.matches(glob.as_str())
        })
    };
    let of_one = one.iter().filter(|glob| covered(glob, other));
    let of_other = other.iter().filter(|glob| covered(glob, one));
    joined(of_one.cloned().collect(), of_other.cloned().collect())
}

/// The hints of both. The last one that means a tool counts, so that the earlier config's come last;
/// where that one asks, the later one's can only make tools worse.
fn hints(
    earlier: Vec<(Glob, ToolAnnotations)>,
    mut later: Vec<(Glob, ToolAnnotations)>,
    earlier_asks: bool,
) -> Vec<(Glob, ToolAnnotations)> {
    if earlier_asks {
        let only = |hint: &mut Option<bool>, bad: bool| *hint = hint.filter(|it| *it == bad);
        for (_, annotations) in &mut later {
            only(&mut annotations.read_only_hint, false);
            only(&mut annotations.destructive_hint, true);
            only(&mut annotations.idempotent_hint, false);
            only(&mut annotations.open_world_hint, true);
        }
    }
    later.extend(earlier);
    later
}

fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{Environment, Resolved};
    use super::*;

    fn policy(written: Value) -> PolicyConfig {
        let config = json!({"policy": written});
        let read = Resolved::from_value(&config, &Environment::capture()).unwrap();
        read.policy.unwrap()
    }

    /// What comes of two, as `config show` has it.
    fn both(earlier: &Value, later: &Value) -> Value {
        let both = policy(earlier.clone()).and_then(policy(later.clone()));
        both.to_json()
    }

    #[test]
    fn what_either_denies_is_denied_each_pattern_once() {
        let all = both(&json!({"deny": ["a", "b"]}), &json!({"deny": ["b", "c"]}));
        assert_eq!(all["deny"], json!(["a", "b", "c"]));
        let kept = both(&json!({"deny": ["a"]}), &json!({"confirm": "always"}));
        assert_eq!(
            (&kept["deny"], &kept["confirm"]),
            (&json!(["a"]), &json!("always"))
        );
    }

    #[test]
    fn the_stricter_word_holds_whichever_comes_last() {
        let words = [
            json!({}),
            json!({"confirm": "risky", "confirm_unknown": false}),
            json!({"confirm": "risky"}),
            json!({"confirm": "risky", "threshold": "low"}),
            json!({"confirm": "always"}),
        ];
        for (at, mild) in words.iter().enumerate() {
            for strict in &words[at..] {
                let expected = policy(strict.clone()).confirm;
                for (one, other) in [(mild, strict), (strict, mild)] {
                    let both = policy(one.clone()).and_then(policy(other.clone()));
                    assert_eq!(both.confirm, expected, "{one} and {other}");
                }
            }
        }
        for (one, other) in [("strict", "trusted"), ("trusted", "strict")] {
            let mode = both(&json!({"mode": one}), &json!({"mode": other}));
            assert_eq!(mode["mode"], "strict");
        }
        let wait = both(&json!({"approval_wait": 5}), &json!({"approval_wait": 9}));
        assert_eq!(wait["approval_wait"], 5.0);
    }

    #[test]
    fn a_later_config_allows_nothing_that_an_earlier_one_asks_about() {
        let asking =
            |allow: Value| json!({"confirm": "risky", "allow": allow.clone(), "commands": allow});
        for (earlier, later, expected) in [
            (json!([]), json!(["*"]), json!([])),
            (json!(["fs.*"]), json!(["*"]), json!(["fs.*"])),
            (
                json!(["fs.*"]),
                json!(["fs.read", "net.get"]),
                json!(["fs.read"]),
            ),
            (json!(["fs.r*"]), json!(["fs.*"]), json!([])),
            (json!(["a", "b"]), json!(["b"]), json!(["b"])),
        ] {
            let both = both(&asking(earlier.clone()), &asking(later.clone()));
            assert_eq!(both["allow"], expected, "{earlier} and {later}");
            assert_eq!(both["commands"], expected, "{earlier} and {later}");
        }
        let open = both(&json!({"deny": ["x"]}), &asking(json!(["a"])));
        assert_eq!(open["allow"], json!(["a"]), "the earlier one asks nothing");
        let kept = both(&asking(json!(["a"])), &json!({"allow": ["b"]}));
        assert_eq!(kept["allow"], json!(["a"]), "the later one asks nothing");
    }

    #[test]
    fn hints_of_a_later_config_make_a_tool_only_worse_and_the_earlier_ones_count_last() {
        let earlier = json!({"confirm": "risky", "annotations": {"a": {"destructiveHint": true}}});
        let later = json!({"annotations": {
            "a": {"destructiveHint": false},
            "b": {"readOnlyHint": true, "openWorldHint": true},
        }});
        let hints = both(&earlier, &later)["annotations"].clone();
        let last = policy(earlier).and_then(policy(later)).annotations;
        assert_eq!(last.last().unwrap().0.as_str(), "a");
        assert_eq!(last.last().unwrap().1.destructive_hint, Some(true));
        assert_eq!(hints["b"], json!({"openWorldHint": true}));
        let free = both(
            &json!({"deny": ["x"]}),
            &json!({"annotations": {"b": {"readOnlyHint": true}}}),
        );
        assert_eq!(free["annotations"]["b"], json!({"readOnlyHint": true}));
    }
}
