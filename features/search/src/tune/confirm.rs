//! The confirmation: an ordinary run of the study with the baseline and the winner only, on blocks that the race did not use. So
//! its report, page and exports are those of any study, and its gain is free of the luck that chooses a winner.

use crate::blocks::{PATIENCE, Stop, execute};
use crate::budget::CONFIRMING_BLOCKS;
use bakeoff_command::state::{State, StateFolder, journals_of};
use bakeoff_command::study_folder::StudyFolder;
use bakeoff_command::{Code, CommandError, Registry};
use bakeoff_host::interrupt;
use bakeoff_judge::findings::{Comparison, EffectKind, Effects, Findings, Table, Verdict};
use bakeoff_model::plan::BASELINE;
use bakeoff_model::study::STATE_FOLDER;
use bakeoff_report::words::{Change, Wording};
use bakeoff_report::{Amount, letters};
use std::collections::BTreeMap;
use std::process::{Command, ExitStatus, Stdio};

/// Where a rule decides on the number of blocks: the most of them. It is looked at first after 12.
pub(crate) const MOST_BLOCKS: u32 = 60;

/// What is confirmed, and how.
pub(crate) struct Order<'a> {
    pub(crate) study: &'a StudyFolder,
    /// The options of `run`.
    pub(crate) words: Vec<String>,
    /// The winner, and what it was reduced to.
    pub(crate) variants: Vec<String>,
    /// Whether the budget has room for a rule.
    pub(crate) has_room: bool,
    /// Whether the report of the run is shown.
    pub(crate) is_shown: bool,
}

/// What the confirmation has shown; nothing if all variants are one program.
#[derive(Default)]
pub(crate) struct Confirmed {
    /// Relative to the study.
    pub(crate) journal: Option<String>,
    pub(crate) gains: BTreeMap<String, Gain>,
}

/// How a variant differs from the baseline.
pub(crate) struct Gain {
    pub(crate) comparison: Comparison,
    /// `6.2 % faster than the baseline (5.1 … 7.3 %)`.
    pub(crate) shown: String,
}

/// Runs it. With the same budget, a command that resumes runs it by the same rule.
pub(crate) fn confirm(order: &Order<'_>, features: &Registry) -> Result<Confirmed, Stop> {
    // What a killed search began may still be at work on its journal.
    for journal in journals_of(&order.study.dir) {
        drop(State::at(&journal).lock_within(PATIENCE)?);
    }
    let status = run(order)?;
    if status.code() == Some(Code::Interrupted as i32) {
        // `bakeoff run` has printed how to resume; `tune` resumes the same way.
        return Err(CommandError::text(Code::Interrupted, String::new()).into());
    }
    let code = Code::of(status);
    if interrupt::count() > 0 || code == Code::Interrupted {
        return Err(Stop::Interrupted);
    }
    if matches!(code, Code::Usage | Code::Internal) {
        let error = CommandError::text(code, "error: the confirmation could not be run\n".to_owned());
        return Err(Stop::Failed(error.hint("run the same command again")));
    }
    let Some(path) = StateFolder::of(&order.study.dir)?.latest() else { return Ok(Confirmed::default()) };
    let record = bakeoff_journal::read(&path).map_err(CommandError::from)?.record;
    // If all of them are one program, nothing was run, and the latest journal is another one.
    let is_own = |name: &String| name == BASELINE || order.variants.contains(name);
    if !record.study.variants.iter().all(|variant| is_own(&variant.name)) {
        return Ok(Confirmed::default());
    }
    let findings = features.judge(&record);
    let gains = order.variants.iter().filter_map(|name| Some((name.clone(), gain(&findings, name)?))).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(Confirmed { journal: Some(format!("{STATE_FOLDER}/{name}")), gains })
}

/// Runs `bakeoff run`.
fn run(order: &Order<'_>) -> Result<ExitStatus, CommandError> {
    let own = std::env::current_exe().map_err(|error| CommandError::new(Code::Internal, error))?;
    let mut command = Command::new(own);
    let only = order.variants.iter().flat_map(|name| ["--only", name]);
    let (rule, blocks) = if order.has_room { ("decided", MOST_BLOCKS) } else { ("blocks", CONFIRMING_BLOCKS) };
    command.arg("run").arg(&order.study.file).args(&order.words).args(only);
    command.args(["--until", rule, "--blocks", &blocks.to_string()]);
    if !order.is_shown {
        command.stdout(Stdio::null());
    }
    execute(&mut command, &mut || {})
}

/// The gain of a variant over all workloads, under the first condition, which is named if there are several.
fn gain(findings: &Findings, variant: &str) -> Option<Gain> {
    let deciding = &findings.method.deciding_metric;
    let tables: Vec<&Table> = findings.tables.iter().filter(|table| table.metric == *deciding).collect();
    let table = tables.first()?;
    let is_suite = |of: &&Effects| {
        let is_here = of.condition.as_ref().is_none_or(|condition| *condition == table.condition);
        of.kind == EffectKind::Suite && of.metric == *deciding && is_here
    };
    let comparison = match findings.effects.iter().find(is_suite) {
        Some(suite) => &suite.effects.iter().find(|effect| effect.variant() == Some(variant))?.comparison,
        None => &table.rows.iter().find(|row| row.variant == variant)?.comparison,
    };
    let comparison = comparison.clone()?;
    let change = Change::of(&comparison, table.unit);
    let (what, range) = match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            let amount = Amount::of(&comparison, table.unit, table.better);
            let [_, than] = amount.joints(Wording::of(table.unit, table.better));
            (format!("{} {than} the baseline", letters(&amount.claim)), Some(letters(&amount.interval)))
        }
        Verdict::Negligible => {
            let direction = Wording::of(table.unit, table.better).direction(&change);
            (format!("{} {direction} than the baseline", change.amount()), change.range())
        }
        Verdict::Equivalent => ("equivalent to the baseline".to_owned(), change.signed_range()),
        Verdict::Undecided { .. } => ("not shown to differ from the baseline".to_owned(), change.signed_range()),
        Verdict::Withheld => ("without a verdict, as it prints something other than the baseline".to_owned(), None),
    };
    let range = range.filter(|range| !range.is_empty()).map(|range| format!(" ({range})")).unwrap_or_default();
    let is_one = tables.iter().all(|other| other.condition == table.condition);
    let under = if is_one { String::new() } else { format!(" under {}", table.condition) };
    Some(Gain { comparison, shown: what + &range + &under })
}
