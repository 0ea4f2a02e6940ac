//! Builds that are meant to fail: whether one did, and as the study says, or for another reason, or not at all. It reads
//! the log; what follows from it is for others to say.

use crate::shell::NOTE;
use bakeoff_model::plan::Variant;
use bakeoff_model::record::{BuildLine, BuildOutcome, Foreseen};
use std::fs;

/// A line of a log is not kept at more than this, in characters.
const LINE_CHARS: usize = 400;

/// What the study says of a build's failing, and the line of its log that shows it.
pub(crate) fn of(line: &BuildLine, variants: &[Variant]) -> Option<Foreseen> {
    let mut own = variants.iter().filter(|variant| line.variants.contains(&variant.name));
    let texts = &own.find(|variant| !variant.fails.is_empty())?.fails;
    let found = texts.iter().find_map(|text| Some((text, told(&line.outcome, text)?)));
    let (text, line) = found.map_or_else(|| (texts.join("` or `"), None), |(text, line)| (text.clone(), Some(line)));
    Some(Foreseen { text, line })
}

/// The first line of a failed build's log that has the text, or else its reason in one line if that has it.
fn told(outcome: &BuildOutcome, text: &str) -> Option<String> {
    let BuildOutcome::Failed { why, log, .. } = outcome else { return None };
    let content = log.as_ref().and_then(|log| fs::read(log).ok()).unwrap_or_default();
    let content = String::from_utf8_lossy(&content);
    // What the script was told stands in the log too, before anything was executed.
    let lines = content.lines().filter(|line| !line.starts_with(NOTE)).chain([why.as_str()]);
    let line = lines.into_iter().find(|line| line.contains(text))?;
    Some(line.trim().chars().take(LINE_CHARS).collect())
}
