//! Findings about builds: what of them is not as the study says. Plain serialisable values, like the rest; a report
//! puts them into words.

#![allow(missing_docs, reason = "the names of fields say what they are; where not, a comment does")]

use bakeoff_model::record::VariantLine;
use serde::{Deserialize, Serialize};

/// All doubts about the builds of a study.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct BuildDoubts {
    /// Flags that levels declare and that did not come through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<FlagDoubt>,
    /// Words that levels took away from source files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
    /// Variants that are the same thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical: Vec<Identical>,
    /// Settings in which builds differ and that no factor names. Those that follow one factor alone are what comes with
    /// it, and confound nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confounded: Vec<Confounded>,
    /// Layers whose cost cannot be compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostDoubt>,
}

impl BuildDoubts {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A flag that levels declare and that did not come through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlagDoubt {
    /// The variants, as planned.
    pub variants: Vec<String>,
    /// The factor whose levels have the variable; none if the record does not tell.
    pub factor: Option<String>,
    /// The layer.
    pub layer: String,
    /// The level variable.
    pub variable: String,
    /// The flag.
    pub flag: String,
    /// What became of it.
    pub fate: FlagFate,
    /// Compilations and links that had it, in the build of the first of the variants; if it came through in part, those
    /// of them where nothing overrides it.
    pub reached: u64,
    /// Compilations and links that were seen there, or of which only the object was; more than 0.
    pub of: u64,
    /// Of these, those of which only the object was seen: its compiler was not called through the wrapper.
    #[serde(default, skip_serializing_if = "is_none_at_all")]
    pub unseen: u64,
}

impl FlagDoubt {
    /// Whether it is about one of two variants, and about a factor in which they differ.
    pub(crate) fn concerns(&self, pair: [&VariantLine; 2]) -> bool {
        let levels = |factor: &String| pair.map(|one| one.levels.get(factor));
        let is_other = self.factor.as_ref().map(levels).is_none_or(|[one, other]| one != other);
        is_other && pair.iter().any(|one| self.variants.contains(&one.name))
    }
}

fn is_none_at_all(number: &u64) -> bool {
    *number == 0
}

/// Words that a level took away from source files, so that its program may be another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lost {
    /// The variants that lack them.
    pub variants: Vec<String>,
    /// The variant that has them.
    pub against: String,
    /// The words, those of most files first.
    pub words: Vec<LostWord>,
}

/// A word that source files lack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LostWord {
    /// The word, or a line of `config.h`.
    pub word: String,
    /// How many files lack it.
    pub files: u64,
}

/// What became of a flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FlagFate {
    /// No compilation or link had it.
    NeverArrived,
    /// Some had it, but wherever it stood another flag came later that overrides it.
    Overridden {
        /// The other flag.
        by: Option<String>,
    },
    /// It had its effect in fewer than half of them.
    Partly,
    /// Parts of the build were there before its scripts began, compiled with other words: so it proves nothing of them.
    LeftBefore {
        /// Their paths, relative to the script's folder.
        files: Vec<String>,
    },
}

/// Variants that are the same thing. They agree in all levels that do not concern building.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identical {
    /// The variants, as planned; at least two.
    pub variants: Vec<String>,
    /// How far they are the same.
    pub same: Same,
    /// Appended words that did not win in all of their compilations: so these do not show that the words change nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<String>,
}

/// How far variants are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Same {
    /// They share one build: no layer uses what they differ in.
    Build,
    /// They were built apart, and all files are the same.
    Files,
    /// All that is loaded of their programs and libraries is the same; other files differ.
    Binaries,
}

/// A setting in which builds differ and that no factor names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confounded {
    /// The setting's name, as the study's command describes it.
    pub setting: String,
    /// The factors that it follows and that do not name it. Several, if these builds do not tell them apart, or if it
    /// follows them `together`; none, if it follows no few of them.
    pub follows: Vec<String>,
    /// Whether none of the factors explains it alone, and all that it follows do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
    /// The factors that name it, but do not explain all of it.
    pub named_by: Vec<String>,
    /// Its values, that of the first variant first.
    pub values: Vec<SettingValue>,
}

impl Confounded {
    /// Whether it is only what comes with one factor: nothing else changes it, so that a difference between the levels
    /// is a difference of the factor all the same.
    pub(crate) fn comes_with(&self) -> Option<&str> {
        match self.follows.as_slice() {
            [one] if self.named_by.is_empty() => Some(one),
            _ => None,
        }
    }

    /// What tells the values apart, in their order; none where the setting is absent. Words that all have are left out,
    /// and so is what long values begin with alike, up to a few characters; `…` stands in their place.
    pub(crate) fn telling(&self) -> Vec<Option<String>> {
        let words: Vec<Vec<&str>> =
            self.values.iter().map(|one| one.value.as_deref().unwrap_or("").split_whitespace().collect()).collect();
        let is_common = |word: &str| words.iter().all(|all| all.contains(&word));
        let own: Vec<Vec<&str>> =
            words.iter().map(|all| all.iter().copied().filter(|word| !is_common(word)).collect()).collect();
        let differ = own.iter().any(|one| *one != own[0]);
        let texts = |(one, (own, all)): (&SettingValue, (&Vec<&str>, &Vec<&str>))| {
            let value = one.value.as_ref()?;
            Some(match own.as_slice() {
                _ if !differ || own.len() == all.len() => value.clone(),
                [] => "…".to_owned(),
                own => format!("… {}", own.join(" ")),
            })
        };
        without_beginning(self.values.iter().zip(own.iter().zip(&words)).map(texts).collect())
    }

    /// Whether two variants have other values of it.
    pub(crate) fn parts(&self, pair: [&VariantLine; 2]) -> bool {
        let [one, other] = pair.map(|one| self.values.iter().position(|value| value.variants.contains(&one.name)));
        one != other
    }
}

/// Long texts without what they begin with alike, up to a few characters.
fn without_beginning(texts: Vec<Option<String>>) -> Vec<Option<String>> {
    /// Of shorter values nothing is left out at the beginning.
    const LONG: usize = 24;
    /// Number of characters that remain before the first that differs.
    const BEFORE: usize = 6;
    let chars: Vec<Vec<char>> = texts.iter().map(|text| text.as_deref().unwrap_or("").chars().collect()).collect();
    let Some((first, others)) = chars.split_first() else { return texts };
    let alike = |other: &Vec<char>| first.iter().zip(other).take_while(|(a, b)| a == b).count();
    let begin = others.iter().map(alike).min().unwrap_or(0);
    if begin <= BEFORE + 1 || chars.iter().all(|text| text.len() <= LONG) {
        return texts;
    }
    let rest = |text: &Vec<char>| format!("…{}", text[begin - BEFORE..].iter().collect::<String>());
    texts.iter().zip(&chars).map(|(one, text)| one.as_ref().map(|_| rest(text))).collect()
}

impl Lost {
    /// Whether one of two variants lacks what the other one has.
    pub(crate) fn parts(&self, [one, other]: [&VariantLine; 2]) -> bool {
        let lacks =
            |one: &VariantLine, other: &VariantLine| self.variants.contains(&one.name) && self.against == other.name;
        lacks(one, other) || lacks(other, one)
    }
}

impl Identical {
    /// Whether both variants are of the group.
    pub(crate) fn has(&self, pair: [&VariantLine; 2]) -> bool {
        pair.iter().all(|one| self.variants.contains(&one.name))
    }
}

/// One value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SettingValue {
    /// The value; none if the setting is not there.
    pub value: Option<String>,
    /// The levels of the first factor that it follows which go with it; empty if it follows none, or several together.
    pub levels: Vec<String>,
    /// The variants that have it, as planned.
    pub variants: Vec<String>,
}

/// A layer whose cost cannot be compared, because output of compilers was kept from one time to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CostDoubt {
    /// The layer.
    pub layer: String,
    /// What kept it.
    pub compiler_cache: String,
    /// The variants, as planned.
    pub variants: Vec<String>,
}
