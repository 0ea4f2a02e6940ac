//! The confirmation: an ordinary run of the study with the baseline and the winner only, on blocks that the race did not use. So
//! its report, page and exports are those of any study, and its gain is free of the luck that chooses a winner.

use crate::blocks::execute;
use crate::budget::CONFIRMING_BLOCKS;
use bakeoff_command::state::{StateFolder, journals_of};
use bakeoff_command::target::replace;
use bakeoff_command::{Code, CommandError, Registry, state::State};
use bakeoff_host::interrupt;
use bakeoff_judge::findings::{Comparison, EffectKind, Effects, Findings, Subject, Table, Verdict};
use bakeoff_model::metric::{Direction, Unit};
use bakeoff_model::plan::BASELINE;
use bakeoff_report::words::{Change, Wording};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Where a rule decides on the number of blocks: the most of them. It is looked at first after 12.
pub(crate) const MOST_BLOCKS: u32 = 60;
/// How long it waits for what a killed command began.
const PATIENCE: Duration = Duration::from_secs(3600);
/// Which confirmations have begun, and with how many blocks at most.
const BEGUN: &str = "confirmations.json";

/// What is confirmed, and how.
pub(crate) struct Order<'a> {
    /// The folder of the search, the study's, and the study as it was named.
    pub(crate) folder: &'a Path,
    pub(crate) dir: &'a Path,
    pub(crate) study: &'a Path,
    /// The options of `run`.
    pub(crate) words: Vec<String>,
    /// The winner, and what it was reduced to.
    pub(crate) variants: Vec<String>,
    /// Whether the budget has room for a rule.
    pub(crate) has_room: bool,
    /// Whether the report of the run is shown.
    pub(crate) is_shown: bool,
    pub(crate) quiet: bool,
}

/// What the confirmation has shown.
pub(crate) struct Confirmed {
    pub(crate) journal: PathBuf,
    pub(crate) blocks: u32,
    pub(crate) gains: BTreeMap<String, Gain>,
}

/// How a variant differs from the baseline.
pub(crate) struct Gain {
    pub(crate) comparison: Comparison,
    unit: Unit,
    better: Direction,
    /// The condition, if there are several.
    under: Option<String>,
}

impl Gain {
    /// `6.2 % faster than the baseline (5.1 … 7.3 %)`.
    pub(crate) fn shown(&self) -> String {
        let change = Change::of(&self.comparison, self.unit);
        let bracketed = |range: Option<String>| range.map(|range| format!(" ({range})")).unwrap_or_default();
        let shown = match self.comparison.verdict {
            Verdict::Faster | Verdict::Slower | Verdict::Negligible => {
                let direction = Wording::of(self.unit, self.better).direction(&change);
                format!("{} {direction} than the baseline{}", change.amount(), bracketed(change.range()))
            }
            Verdict::Equivalent => format!("equivalent to the baseline{}", bracketed(change.signed_range())),
            Verdict::Undecided { .. } => {
                format!("not shown to differ from the baseline{}", bracketed(change.signed_range()))
            }
            Verdict::Withheld => "without a verdict, as it prints something other than the baseline".to_owned(),
        };
        shown + &self.under.iter().map(|condition| format!(" under {condition}")).collect::<String>()
    }
}

/// Runs it; none if it was interrupted.
pub(crate) fn confirm(order: &Order<'_>, features: &Registry) -> Result<Option<Confirmed>, CommandError> {
    // What a killed search began may still be at work on its journal.
    let mut begun = begun(order);
    let key = order.variants.join("\n");
    if begun.contains_key(&key) {
        for journal in journals_of(order.dir) {
            drop(State::at(&journal).lock_within(PATIENCE)?);
        }
    }
    let most = *begun.entry(key).or_insert(if order.has_room { MOST_BLOCKS } else { CONFIRMING_BLOCKS });
    let path = order.folder.join(BEGUN);
    replace(&path, &serde_json::to_vec(&begun)?)
        .map_err(|error| CommandError::unwritten(&format!("cannot write {}", path.display()), &error))?;
    let rule = if most == MOST_BLOCKS { "decided" } else { "blocks" };
    let code = run(order, &["--until", rule, "--blocks", &most.to_string()])?;
    if interrupt::count() > 0 || code == Code::Interrupted {
        return Ok(None);
    }
    if matches!(code, Code::Usage | Code::Internal) {
        return Err(CommandError::text(code, "error: the confirmation could not be run\n".to_owned())
            .hint("run the same command again"));
    }
    let Some(journal) = StateFolder::of(order.dir)?.latest() else {
        return Err(CommandError::new(Code::Internal, "the confirmation has no journal"));
    };
    let mut record = bakeoff_journal::read(&journal)?.record;
    // If all of them are one program, nothing was run, and the latest journal is another one.
    let is_own = |name: &String| name == BASELINE || order.variants.contains(name);
    if !record.study.variants.iter().all(|variant| is_own(&variant.name)) {
        record.trials.clear();
    }
    let findings = features.judge(&record);
    let gain = |name: &String| Some((name.clone(), gain(&findings, name)?));
    let gains: BTreeMap<String, Gain> = order.variants.iter().filter_map(gain).collect();
    let blocks = gains.values().map(|gain| gain.comparison.blocks).max().unwrap_or(0);
    Ok(Some(Confirmed { journal, blocks, gains }))
}

fn begun(order: &Order<'_>) -> BTreeMap<String, u32> {
    let text = fs::read(order.folder.join(BEGUN)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Runs `bakeoff run`.
fn run(order: &Order<'_>, rule: &[&str]) -> Result<Code, CommandError> {
    let own = std::env::current_exe().map_err(|error| CommandError::new(Code::Internal, error))?;
    let mut command = Command::new(own);
    let only = order.variants.iter().flat_map(|name| ["--only", name]);
    command.arg("run").arg(order.study).args(&order.words).args(only).args(rule);
    command.args(order.quiet.then_some("--quiet"));
    if !order.is_shown {
        command.stdout(Stdio::null());
    }
    Ok(Code::of(execute(&mut command)?))
}

/// The gain of a variant over all workloads, under the first condition.
fn gain(findings: &Findings, variant: &str) -> Option<Gain> {
    let deciding = &findings.method.deciding_metric;
    let tables: Vec<&Table> = findings.tables.iter().filter(|table| table.metric == *deciding).collect();
    let condition = &tables.first()?.condition;
    let under = tables.iter().any(|table| table.condition != *condition).then(|| condition.clone());
    let is_own = |subject: &Subject| matches!(subject, Subject::Variant { variant: own, .. } if own == variant);
    let is_here = |of: &&Effects| of.condition.as_ref().is_none_or(|of| of == condition);
    let mut suites = findings.effects.iter().filter(|all| all.kind == EffectKind::Suite && all.metric == *deciding);
    if let Some(suite) = suites.find(is_here) {
        let comparison = suite.effects.iter().find(|effect| is_own(&effect.subject))?.comparison.clone()?;
        return Some(Gain { comparison, unit: suite.unit, better: suite.better, under });
    }
    let table = tables.first()?;
    let comparison = table.rows.iter().find(|row| row.variant == variant)?.comparison.clone()?;
    Some(Gain { comparison, unit: table.unit, better: table.better, under })
}
