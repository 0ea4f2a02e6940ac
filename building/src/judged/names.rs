//! Which settings a factor names: those that the variables of its levels speak of, by name or by value, and those that
//! the study says the factor changes. It compares words and knows nothing of any program's settings.

use bakeoff_model::pattern::fits;
use bakeoff_model::record::FactorLine;
use std::collections::BTreeSet;

/// Words that say no more than yes or no: settings are full of them, so that none of them names a setting.
const PLAIN: [&str; 14] = [
    "yes", "no", "on", "off", "true", "false", "define", "undef", "none", "auto", "enable", "disable", "enabled",
    "disabled",
];

/// Letters that begin a flag which goes on with a name: `-Dusethreads`, `-lpthread`.
const BEFORE_NAMES: &str = "DUAILlWfm";

/// What the levels of a factor speak of.
pub(super) struct Names<'a> {
    factor: &'a FactorLine,
    /// The words of each text in which its levels differ, in small letters.
    texts: Vec<Vec<String>>,
    /// All words of these texts.
    words: BTreeSet<String>,
}

impl<'a> Names<'a> {
    /// Reads the levels. What stands in every level is not what they are about.
    pub(super) fn of(factor: &'a FactorLine) -> Self {
        let mut texts = vec![pieces(&factor.name)];
        let mut words = BTreeSet::new();
        let variables: BTreeSet<&String> = factor.levels.values().flat_map(|level| level.keys()).collect();
        for variable in variables {
            let tokens = |level: &'a std::collections::BTreeMap<String, String>| -> BTreeSet<&'a str> {
                level.get(variable).map(|value| value.split_whitespace().collect()).unwrap_or_default()
            };
            let levels: Vec<BTreeSet<&str>> = factor.levels.values().map(tokens).collect();
            let telling: BTreeSet<&str> = levels
                .iter()
                .flatten()
                .filter(|token| levels.iter().any(|level| !level.contains(*token)))
                .copied()
                .collect();
            if !telling.is_empty() {
                texts.push(pieces(variable));
            }
            for token in telling {
                texts.extend(readings(token).map(pieces));
                words.extend(words_of(token));
            }
        }
        Self { factor, texts, words }
    }

    /// Whether it names a setting that has these values in the builds, in any order; a value of none is one of a build
    /// that has no such setting.
    pub(super) fn name(&self, setting: &str, values: &[Option<&str>]) -> bool {
        let takes_all = self.factor.takes_sources;
        takes_all
            || self.factor.implied.iter().any(|pattern| fits(pattern, setting))
            || self.speak_of(setting)
            || self.have_word_of(setting, values)
    }

    fn speak_of(&self, setting: &str) -> bool {
        let name = pieces(setting);
        let length: usize = name.iter().map(String::len).sum();
        length >= 2 && self.texts.iter().any(|text| text.windows(name.len()).any(|words| *words == *name))
    }

    fn have_word_of(&self, setting: &str, values: &[Option<&str>]) -> bool {
        // A line without a value is itself what is there or not.
        let is_bare = values.iter().flatten().all(|value| value.is_empty());
        let words = |value: &Option<&str>| match value {
            Some(_) if is_bare => words_of(setting),
            Some(value) => words_of(value),
            None => BTreeSet::new(),
        };
        let values: Vec<BTreeSet<String>> = values.iter().map(words).collect();
        let mut all = values.iter().flatten();
        all.any(|word| self.words.contains(word) && values.iter().any(|value| !value.contains(word)))
    }
}

/// A word as it stands and, if it is a flag that goes on with a name, that name.
fn readings(token: &str) -> impl Iterator<Item = &str> {
    let name =
        token.strip_prefix('-').filter(|rest| rest.starts_with(|c| BEFORE_NAMES.contains(c))).map(|rest| &rest[1..]);
    std::iter::once(token).chain(name)
}

/// The runs of letters and digits, in small letters.
fn pieces(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// The words of a value that can tell a setting: of two characters or more, and not plain ones.
fn words_of(value: &str) -> BTreeSet<String> {
    let readings = value.split_whitespace().map(|token| token.trim_matches(['\'', '"'])).flat_map(readings);
    let words = readings.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')));
    words.filter(|word| word.chars().nth(1).is_some() && !PLAIN.contains(word)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(levels: &[(&str, &[(&str, &str)])]) -> FactorLine {
        let variables = |list: &[(&str, &str)]| list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        FactorLine {
            name: "allocator".to_owned(),
            levels: levels.iter().map(|(name, list)| ((*name).to_owned(), variables(list))).collect(),
            ..FactorLine::default()
        }
    }

    #[track_caller]
    fn check(factor: &FactorLine, setting: &str, values: &[Option<&str>], expect: bool) {
        assert_eq!(Names::of(factor).name(setting, values), expect, "{setting} {values:?}");
    }

    const TWO: [Option<&str>; 2] = [Some("undef"), Some("define")];

    #[test]
    fn a_level_names_what_its_variables_speak_of() {
        let malloc =
            factor(&[("system", &[("MALLOC", "-Uusemymalloc")]), ("perl", &[("MALLOC", "-Dusemymalloc -Dcc=gcc")])]);
        check(&malloc, "usemymalloc", &TWO, true);
        check(&malloc, "MALLOC", &TWO, true);
        check(&malloc, "allocator", &TWO, true);
        check(&malloc, "malloc_ctype", &TWO, false);
        check(&malloc, "d_fork", &TWO, false);
        check(&malloc, "mymalloc", &TWO, false);
        check(&malloc, "u", &TWO, false);
        check(&malloc, "config_args", &[Some("-Uusemymalloc"), Some("-Dusemymalloc")], true);
        check(&malloc, "MYMALLOC", &[Some(""), None], false);
        check(&malloc, "compiled with gcc", &[Some(""), None], true);

        let configure = factor(&[("off", &[]), ("on", &[("SSL", "--enable-foo-bar --with-ssl=yes")])]);
        check(&configure, "foo_bar", &TWO, true);
        check(&configure, "SSL", &TWO, true);
        check(&configure, "bar_foo", &TWO, false);
        check(&configure, "other", &[Some("no"), Some("yes")], false);
    }

    #[test]
    fn what_every_level_has_names_nothing() {
        let optimize = factor(&[("O2", &[("CFLAGS", "-g -pipe -O2")]), ("O3", &[("CFLAGS", "-g -pipe -O3")])]);
        check(&optimize, "pipe", &TWO, false);
        check(&optimize, "optimize", &[Some("-O2"), Some("-O3")], true);
        check(&optimize, "optimize", &[Some("-O2 -pipe"), Some("-O2")], false);
        check(&optimize, "ccflags", &[Some("-pipe"), Some("-Wall")], false);
    }

    #[test]
    fn a_study_may_say_what_a_factor_changes() {
        let mut threads = factor(&[("off", &[]), ("on", &[("THREADS", "-Dusethreads")])]);
        check(&threads, "d_ctime_r", &TWO, false);
        threads.implied = vec!["d_*_r".to_owned()];
        check(&threads, "d_ctime_r", &TWO, true);
        check(&threads, "d_fork", &TWO, false);
        threads.takes_sources = true;
        check(&threads, "d_fork", &TWO, true);
    }
}
