//! The evidence of a record, found by variant, and how pieces of several variants are laid side by side. It draws no
//! conclusion; [`super::causes`] does.

use crate::evidence::{Evidence, EvidenceLine, Traced};
use crate::facts::FileFacts;
use bakeoff_model::record::{Record, TWIN, VariantLine};

/// The evidence of a record, found by variant.
pub(super) struct Pieces<'a> {
    /// The baseline first; without the twin.
    pub(super) variants: Vec<&'a VariantLine>,
    lines: &'a [EvidenceLine],
}

impl<'a> Pieces<'a> {
    pub(super) fn of(record: &'a Record, lines: &'a [EvidenceLine]) -> Self {
        let variants = record.study.variants.iter().filter(|variant| variant.name != TWIN).collect();
        Self { variants, lines }
    }

    pub(super) fn of_variant(&self, name: &str) -> impl Iterator<Item = &'a Evidence> + use<'a, '_> {
        let name = name.to_owned();
        self.lines.iter().filter(move |line| line.variant == name).map(|line| &line.evidence)
    }

    /// The files of a variant. Variants of one build have the same files, so that it is enough to have read them once.
    pub(super) fn facts(&self, variant: &VariantLine) -> Option<&'a [FileFacts]> {
        let own = |name: &str| {
            self.of_variant(name).find_map(|evidence| match evidence {
                Evidence::Facts(files) => Some(files.as_slice()),
                _ => None,
            })
        };
        let shares = |other: &&&VariantLine| variant.build.is_some() && other.build == variant.build;
        own(&variant.name).or_else(|| self.variants.iter().filter(shares).find_map(|other| own(&other.name)))
    }

    /// What a diagnostic trial of a variant showed. One that failed stopped short, and shows nothing that could be
    /// compared with another.
    pub(super) fn trace(&self, variant: &str, workload: &str) -> Option<&'a Traced> {
        self.of_variant(variant).find_map(|evidence| match evidence {
            Evidence::Traced(traced) if traced.workload == workload && traced.failure.is_none() => Some(&**traced),
            _ => None,
        })
    }
}

/// What files are matched by in different variants: the name, if no variant has two files of that name, and else the
/// path. Folders may have a version or a platform in them, such as `lib/5.36.0/x86_64-linux`, which variants change.
pub(super) fn keys<'p>(paths: &[Vec<&'p str>]) -> Vec<Vec<&'p str>> {
    let name = |path: &'p str| path.rsplit('/').next().unwrap_or(path);
    let key = |path: &&'p str| {
        let is_ambiguous = paths.iter().any(|own| own.iter().filter(|other| name(other) == name(path)).count() > 1);
        if is_ambiguous { *path } else { name(path) }
    };
    paths.iter().map(|own| own.iter().map(key).collect()).collect()
}
