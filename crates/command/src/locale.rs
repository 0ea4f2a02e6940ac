//! The locale of trials: the user's, in a study as in a comparison, unless the study or an option says another. Programs read
//! and sort text by it, some of them many times slower by one than by another.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Whether a variable is one of those that say the locale.
pub fn is_of_locale(name: &str) -> bool {
    name == "LANG" || name.starts_with("LC_")
}

/// The variables of the user's locale, as of [`of`].
pub fn of_user() -> BTreeMap<String, String> {
    of(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))))
}

/// Those of some variables that say the locale. One that overrides the others is there alone; if none is set, it is `C`.
pub fn of(variables: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> =
        variables.filter(|(name, value)| is_of_locale(name) && !value.is_empty()).collect();
    if let Some(whole) = all.remove("LC_ALL").or_else(|| all.is_empty().then(|| "C".to_owned())) {
        all = BTreeMap::from([("LC_ALL".to_owned(), whole)]);
    }
    all
}

/// What the key of a study is called that stands for the locale.
pub const KEY: &str = "the locale of the trials (LC_ALL, or LANG and its like)";

/// The variables as one would set them, or nothing for the locale C.
pub fn shown(variables: &BTreeMap<String, String>) -> Option<String> {
    let is_c = variables.values().all(|value| ["C", "POSIX"].contains(&value.as_str()));
    let words: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!is_c).then(|| words.join(" "))
}

/// The locales among these variables that this machine lacks: programs use C in their place, most of them silently.
pub fn lacking<'a>(variables: impl Iterator<Item = (&'a String, &'a String)>) -> BTreeSet<String> {
    let wanted: BTreeSet<&String> = variables.filter(|(name, _)| is_of_locale(name)).map(|(_, value)| value).collect();
    let is_usual = |name: &&&String| ["", "C", "POSIX"].contains(&name.as_str()) || name.starts_with('/');
    let wanted: Vec<&String> = wanted.into_iter().filter(|name| !is_usual(&name)).collect();
    if wanted.is_empty() {
        return BTreeSet::new();
    }
    let Some(listed) = Command::new("locale").arg("-a").output().ok().filter(|output| output.status.success()) else {
        return BTreeSet::new();
    };
    // It lists en_US.UTF-8 as en_US.utf8.
    let plain = |name: &str| name.to_lowercase().replace('-', "");
    let there: BTreeSet<String> = String::from_utf8_lossy(&listed.stdout).lines().map(plain).collect();
    wanted.into_iter().filter(|name| !there.contains(&plain(name))).cloned().collect()
}
