//! From evidence to diagnoses: what was gathered of the variants is laid side by side, and held against the differences
//! that were decided without it. Evidence never changes a verdict. A cause is called consistent with a difference, and
//! no more, unless the study has a pair of variants that isolates it; what nothing explains is said to be unexplained.
//! Nothing here measures, and nothing is put into words.

mod causes;
mod files;
mod rules;
mod traces;

use crate::findings::{Findings, Gathered, NotGathered};
use bakeoff_model::facts::FileFacts;
use bakeoff_model::record::{Evidence, EvidenceLine, Record, TWIN, Traced, VariantLine};

/// All that a record says of evidence; none if nothing was to be gathered.
pub(crate) fn gathered(record: &Record, findings: &Findings) -> Option<Gathered> {
    if record.evidence.is_empty() {
        return None;
    }
    let pieces = Pieces::of(record);
    let (files, traces) = (files::tables(&pieces), traces::tables(&pieces, &record.study.workloads));
    let diagnoses = causes::diagnoses(&pieces, findings, &files, &traces);
    Some(Gathered { files, traces, missing: missing(&pieces), diagnoses })
}

/// The evidence of a record, found by variant.
struct Pieces<'a> {
    /// The baseline first; without the twin.
    variants: Vec<&'a VariantLine>,
    lines: &'a [EvidenceLine],
}

impl<'a> Pieces<'a> {
    fn of(record: &'a Record) -> Self {
        let variants = record.study.variants.iter().filter(|variant| variant.name != TWIN).collect();
        Self { variants, lines: &record.evidence }
    }

    fn of_variant(&self, name: &str) -> impl Iterator<Item = &'a Evidence> + use<'a, '_> {
        let name = name.to_owned();
        self.lines.iter().filter(move |line| line.variant == name).map(|line| &line.evidence)
    }

    /// The files of a variant. Variants of one build have the same files, so that it is enough to have read them once.
    fn facts(&self, variant: &VariantLine) -> Option<&'a [FileFacts]> {
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
    /// held against another.
    fn trace(&self, variant: &str, workload: &str) -> Option<&'a Traced> {
        self.of_variant(variant).find_map(|evidence| match evidence {
            Evidence::Traced(traced) if traced.workload == workload && traced.failure.is_none() => Some(&**traced),
            _ => None,
        })
    }

    /// Whether the study asks for files, or for traces of a workload.
    fn asks_for(&self, workload: Option<&str>) -> bool {
        self.lines.iter().any(|line| line.subject().1 == workload)
    }
}

/// What could not be had, each reason once, with the variants as planned.
fn missing(pieces: &Pieces<'_>) -> Vec<NotGathered> {
    let mut all: Vec<NotGathered> = vec![];
    for variant in &pieces.variants {
        for (workload, service, why) in pieces.of_variant(&variant.name).flat_map(not_gathered) {
            let is_same =
                |known: &&mut NotGathered| (&known.workload, &known.service, &known.why) == (&workload, &service, &why);
            match all.iter_mut().find(is_same) {
                Some(known) => known.variants.push(variant.name.clone()),
                None => all.push(NotGathered { workload, service, variants: vec![variant.name.clone()], why }),
            }
        }
    }
    all
}

/// What of a piece is missing: workload, service, and why.
fn not_gathered(evidence: &Evidence) -> Vec<(Option<String>, Option<String>, String)> {
    match evidence {
        Evidence::Missing { workload, why } => vec![(workload.clone(), None, why.clone())],
        Evidence::Traced(traced) if traced.failure.is_some() => {
            vec![(Some(traced.workload.clone()), None, "it failed under observation".to_owned())]
        }
        Evidence::Traced(traced) => {
            let unseen = traced.services_unseen.iter();
            unseen.map(|(name, why)| (Some(traced.workload.clone()), Some(name.clone()), why.clone())).collect()
        }
        Evidence::Facts(_) => vec![],
    }
}

/// What files are matched by in different variants: the name, if no variant has two files of that name, and else the
/// path. Folders may have a version or a platform in them, such as `lib/5.36.0/x86_64-linux`, which variants change.
fn keys<'p>(paths: &[Vec<&'p str>]) -> Vec<Vec<&'p str>> {
    let name = |path: &'p str| path.rsplit('/').next().unwrap_or(path);
    let is_ambiguous =
        |wanted: &str| paths.iter().any(|own| own.iter().filter(|path| name(path) == wanted).count() > 1);
    let key = |path: &&'p str| if is_ambiguous(name(path)) { *path } else { name(path) };
    paths.iter().map(|own| own.iter().map(key).collect()).collect()
}

/// Adds a variant to the group with the same value, or makes it a group of its own.
fn group<T: PartialEq>(groups: &mut Vec<(T, Vec<String>)>, value: T, variant: &str) {
    match groups.iter_mut().find(|(known, _)| *known == value) {
        Some((_, variants)) => variants.push(variant.to_owned()),
        None => groups.push((value, vec![variant.to_owned()])),
    }
}
