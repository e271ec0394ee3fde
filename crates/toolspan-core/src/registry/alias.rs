//! Under which other names is a tool of the field known?

use crate::name;

/// Names that mean one tool, whichever of them it is registered under.
const KNOWN: &[&[&str]] = &[
    &["terminal", "execute_bash"],
    &["file_editor", "str_replace_editor"],
];

/// Classes whose tools have another name than the class says.
const CLASSES: &[(&str, &str)] = &[("BashTool", "terminal")];

/// The other names of the tool of this name.
pub(crate) fn of_name(name: &str) -> impl Iterator<Item = &'static str> {
    let group = KNOWN.iter().find(|group| group.contains(&name));
    let names = group.map_or(&[][..], |group| *group);
    names.iter().copied().filter(move |other| *other != name)
}

/// The name of the tool that a class makes, where the text may be the name of a class: it begins
/// with a capital letter.
pub(super) fn of_class(class: &str) -> Option<String> {
    if !class.starts_with(char::is_uppercase) {
        return None;
    }
    let known = CLASSES.iter().find(|(known, _)| *known == class);
    Some(known.map_or_else(|| name::from_type(class), |(_, name)| (*name).to_owned()))
}
