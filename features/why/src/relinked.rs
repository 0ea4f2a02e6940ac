//! A hint where two commands start two files that may be two links of one program: their difference may be layout, and
//! Bakeoff can link neither again. It reads names of functions, no code, and changes no verdict.

use bakeoff_command::screen;
use bakeoff_command::{Code, CommandError, Concluded};
use bakeoff_judge::findings::{Findings, Scale, Verdict};
use bakeoff_model::plain::clean;
use bakeoff_model::record::VariantLine;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;

/// Layouts have moved programs by up to 9 %, and rarely by more than this.
const MOST: f64 = 0.05;
/// Two files with fewer functions in common are two programs.
const SHARED: f64 = 0.8;

/// Says so of the first variant that is concerned, where commands raced that Bakeoff did not build.
pub(crate) fn conclude(concluded: &Concluded<'_>) -> Result<Code, CommandError> {
    let variants = &concluded.findings.variants;
    let is_built = variants.iter().any(|variant| variant.build.is_some());
    let Some(baseline) = variants.first().filter(|_| concluded.is_raced && !is_built) else { return Ok(Code::Done) };
    for variant in variants.iter().skip(1).filter(|variant| differs_little(concluded.findings, &variant.name)) {
        let share = share(baseline, variant).unwrap_or(0.0);
        if share >= SHARED {
            screen::err(&format!(
                "note: {} and {} have {:.0} % of their functions in common: another link of the same objects may \
                 differ by as much. `bakeoff help layouts` explains how to compare programs\n",
                clean(&baseline.name),
                clean(&variant.name),
                100.0 * share
            ));
            break;
        }
    }
    Ok(Code::Done)
}

/// Whether a variant is shown to differ somewhere, by no more than a layout may do.
fn differs_little(findings: &Findings, variant: &str) -> bool {
    let rows = findings.tables.iter().flat_map(|table| &table.rows).filter(|row| row.variant == variant);
    rows.filter_map(|row| row.comparison.as_ref()).any(|comparison| {
        matches!(comparison.verdict, Verdict::Faster | Verdict::Slower)
            && comparison.scale == Scale::Ratio
            && comparison.estimate.ln().abs() < MOST.ln_1p()
    })
}

/// The file that a command starts.
fn program(command: &str) -> Option<PathBuf> {
    let name = command.split_whitespace().next()?;
    if name.contains('/') {
        return Some(name.into());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// How many of all functions two commands' files have in common, by their names; none of one file, or without names.
fn share(baseline: &VariantLine, variant: &VariantLine) -> Option<f64> {
    let content = |variant: &VariantLine| fs::read(program(variant.run.as_deref()?)?).ok();
    let (one, other) = (content(baseline)?, content(variant)?);
    if one == other {
        return None;
    }
    let (one, other) = (functions(&one)?, functions(&other)?);
    let common = one.intersection(&other).count();
    (common > 0).then(|| common as f64 / one.union(&other).count() as f64)
}

fn functions(content: &[u8]) -> Option<BTreeSet<&[u8]>> {
    let file = object::File::parse(content).ok()?;
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    Some(functions.filter_map(|symbol| symbol.name_bytes().ok()).collect())
}
