//! Builds that are meant to fail: whether one did, and as the study says, or for another reason, or not at all. It reads
//! the log; what follows from it is for others to say.
//!
//! Of all failures, only such a one is remembered, beside its log: what a linker refuses it will refuse again, while a
//! full disk may be empty the next time. Without the log, or where the study foresees something else by now, it is
//! tried again.

use crate::cache::Cache;
use crate::error::Error;
use crate::files::{read_json, write_json};
use crate::inputs::Node;
use crate::journal::{BuildLine, BuildOutcome, Foreseen};
use crate::shell::NOTE;
use crate::spec::Spec;
use bakeoff_model::plan::Variant;
use std::fs;

/// A line of a log is not kept at more than this, in characters.
const LINE_CHARS: usize = 400;

/// What the study says of a build's failing, and the line of its log that shows it.
pub(crate) fn of(line: &BuildLine, variants: &[Variant]) -> Option<Foreseen> {
    let own = variants.iter().filter(|variant| line.variants.contains(&variant.name));
    let texts = own.map(|variant| &Spec::of(variant).fails).find(|fails| !fails.is_empty())?;
    let found = texts.iter().find_map(|text| Some((text, line_with(&line.outcome, text)?)));
    let (text, line) = found.map_or_else(|| (texts.join("` or `"), None), |(text, line)| (text.clone(), Some(line)));
    Some(Foreseen { text, line })
}

/// Remembers the failure of a layer if it is the one that is foreseen for every variant that needs it.
pub(crate) fn remember(
    cache: &Cache,
    node: &Node<'_>,
    outcome: &BuildOutcome,
    variants: &[Variant],
) -> Result<(), Error> {
    if !is_foreseen(node, outcome, variants) {
        return Ok(());
    }
    write_json(&cache.paths.failed_of(&node.digest), outcome)
}

/// The failure that is remembered of a layer, if it still is what is foreseen.
pub(crate) fn remembered(cache: &Cache, node: &Node<'_>, variants: &[Variant]) -> Option<BuildOutcome> {
    let mut outcome = read_json(&cache.paths.failed_of(&node.digest))?;
    if let BuildOutcome::Failed { log, .. } = &mut outcome {
        // The cache may have been moved since.
        *log = Some(cache.paths.log_of(&node.digest).display().to_string());
    }
    is_foreseen(node, &outcome, variants).then_some(outcome)
}

fn is_foreseen(node: &Node<'_>, outcome: &BuildOutcome, variants: &[Variant]) -> bool {
    let mut own = variants.iter().filter(|variant| node.variants.contains(&variant.name));
    own.all(|variant| Spec::of(variant).fails.iter().any(|text| line_with(outcome, text).is_some()))
}

/// The first line of a failed build's log that has the text, or else its reason in one line if that has it.
fn line_with(outcome: &BuildOutcome, text: &str) -> Option<String> {
    let BuildOutcome::Failed { why, log, .. } = outcome else { return None };
    let content = log.as_ref().and_then(|log| fs::read(log).ok()).unwrap_or_default();
    let content = String::from_utf8_lossy(&content);
    // The script's arguments stand in the log too, before anything ran.
    let lines = content.lines().filter(|line| !line.starts_with(NOTE)).chain([why.as_str()]);
    let line = lines.into_iter().find(|line| line.contains(text))?;
    Some(line.trim().chars().take(LINE_CHARS).collect())
}
