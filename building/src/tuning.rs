//! What a level changes in every call of a compiler, whatever build system makes that call: words behind the project's
//! own, another compiler, or a profile to optimise by. It is data; the compiler wrapper of the crate `host` does it, and
//! the study's scripts see nothing of it.

use crate::bolt::{self, Bolt};
use bakeoff_model::study::mentions;
use std::collections::{BTreeMap, BTreeSet};

/// The tuning of a level, or that of a variant: what its levels say, joined in the order of the factors. It concerns
/// all layers of a build, but for the profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tuning {
    /// Words for every compilation and every link: the instruction `append`.
    pub all: Vec<String>,
    /// Words for what compiles C: `append_c`.
    pub c: Vec<String>,
    /// Words for what compiles C++: `append_cxx`.
    pub cxx: Vec<String>,
    /// Words for links alone: `append_link`.
    pub link: Vec<String>,
    /// Words for what rustc compiles: `rustflags`.
    pub rust: Vec<String>,
    /// The C compiler in place of any other: `compiler`. Its C++ compiler is [`cxx_of`] it.
    pub compiler: Option<String>,
    /// The commands that run what was built so that it can be built again by their profile, by the layer that is
    /// built twice: `profile`.
    pub training: BTreeMap<String, String>,
    /// What BOLT rewrites, and the training for it: `bolt`. It is a layer of its own, above all others.
    pub(crate) bolt: Option<Bolt>,
    /// The workloads that `profile` or `bolt` runs as its training.
    pub(crate) trained_on: BTreeSet<String>,
}

impl Tuning {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the tuning of another factor's level behind this one.
    pub(crate) fn join(&mut self, other: Self) {
        self.all.extend(other.all);
        self.c.extend(other.c);
        self.cxx.extend(other.cxx);
        self.link.extend(other.link);
        self.rust.extend(other.rust);
        self.compiler = other.compiler.or(self.compiler.take());
        self.training.extend(other.training);
        self.bolt = other.bolt.or(self.bolt.take());
        self.trained_on.extend(other.trained_on);
        // A `-s` of another factor must not come last.
        if let Some(at) = self.link.iter().position(|word| *word == bolt::LINKED_WITH[0]) {
            self.link[at..].rotate_left(bolt::LINKED_WITH.len());
        }
    }

    /// Whether it changes anything of that layer.
    pub fn concerns(&self, layer: &str) -> bool {
        self.compiler.is_some()
            || self.words().iter().any(|(_, words)| !words.is_empty())
            || self.training.contains_key(layer)
    }

    /// Whether a layer's training mentions the variable, as [`crate::nouns::Layer::mentions`] has it for the layer's script.
    pub fn mentions(&self, layer: &str, variable: &str) -> bool {
        let bolt = self.bolt.as_ref().filter(|_| layer == bolt::LAYER).map(|bolt| &bolt.training);
        self.training.get(layer).or(bolt).is_some_and(|command| mentions(command, variable))
    }

    /// The words, by the key of the study file that they stand for.
    pub fn words(&self) -> [(&'static str, &[String]); 5] {
        [
            ("append", &self.all),
            ("append_c", &self.c),
            ("append_cxx", &self.cxx),
            ("append_link", &self.link),
            ("rustflags", &self.rust),
        ]
    }

    /// What the level says, by key: as its variables are written down in a journal.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let words = self.words().into_iter().filter(|(_, words)| !words.is_empty());
        let texts = words.map(|(key, words)| (key.to_owned(), words.join(" ")));
        let compiler = self.compiler.iter().map(|compiler| ("compiler".to_owned(), compiler.clone()));
        let training = match &self.training.iter().collect::<Vec<_>>()[..] {
            [] => None,
            [(_, only)] => Some((*only).clone()),
            several => {
                let each = several.iter().map(|(layer, command)| format!("{layer}: {command}"));
                Some(each.collect::<Vec<_>>().join("; "))
            }
        };
        let bolt = self.bolt.iter().map(|bolt| (bolt::KEY.to_owned(), bolt.training.clone()));
        texts.chain(compiler).chain(training.map(|text| ("profile".to_owned(), text))).chain(bolt).collect()
    }
}

/// The C++ compiler that belongs to a C compiler, by its name or path: `g++-12` to `gcc-12`. None if that is none of the
/// families that we know.
pub(crate) fn cxx_of(compiler: &str) -> Option<String> {
    const FAMILIES: [(&str, &str); 4] = [("gcc", "g++"), ("clang", "clang++"), ("icx", "icpx"), ("cc", "c++")];
    let start = compiler.rfind('/').map_or(0, |slash| slash + 1);
    let (folder, name) = compiler.split_at(start);
    let is_version = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let (name, version) = match name.rsplit_once('-') {
        Some((name, version)) if is_version(version) => (name, format!("-{version}")),
        _ => (name, String::new()),
    };
    let (machine, base) = name.rfind('-').map_or(("", name), |dash| name.split_at(dash + 1));
    let (_, cxx) = FAMILIES.iter().find(|(c, _)| *c == base)?;
    Some(format!("{folder}{machine}{cxx}{version}"))
}

/// Cuts a text into words as a shell does: at white space, with quotes and backslashes.
pub(crate) fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let (mut words, mut word, mut quote) = (vec![], None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', None | Some('"')) => {
                let next = letters.next().ok_or("it ends with a backslash")?;
                word.get_or_insert_default().push(next);
            }
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    if quote.is_some() { Err("a quote is not closed") } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_plus_plus_compiler_of_a_c_compiler() {
        let check = |c: &str, cxx: Option<&str>| assert_eq!(cxx_of(c).as_deref(), cxx, "{c}");
        check("gcc", Some("g++"));
        check("gcc-12", Some("g++-12"));
        check("x86_64-linux-gnu-gcc-12.2", Some("x86_64-linux-gnu-g++-12.2"));
        check("/opt/llvm-17/bin/clang", Some("/opt/llvm-17/bin/clang++"));
        check("cc", Some("c++"));
        check("tcc", None);
        check("g++", None);
    }

    #[test]
    fn words_are_cut_as_a_shell_does() {
        let check = |text: &str, expect: &[&str]| assert_eq!(split(text).unwrap(), expect, "{text}");
        check(" -O3\t-flto=auto ", &["-O3", "-flto=auto"]);
        check("-DX='a b' -DY=\"c \\\" d\" -D\\ Z ''", &["-DX=a b", "-DY=c \" d", "-D Z", ""]);
        check("", &[]);
        assert_eq!(split("-DX='a").unwrap_err(), "a quote is not closed");
        assert_eq!(split("-DX\\").unwrap_err(), "it ends with a backslash");
    }
}
