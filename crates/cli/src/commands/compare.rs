//! `bakeoff compare`: commands as variants, without a study file. The plan is made of the command line; everything
//! after that is what `bakeoff run` does.

mod another_day;
mod conditions;
mod parameters;
mod variants;

use super::options::{Compared, Extent, Kept, Showing};
#[cfg(feature = "building")]
use super::two_commits;
use crate::here;
use crate::programs;
use crate::race::{Keep, Race};
use another_day::{AnotherDay, Earlier};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::scratch::Scratch;
use bakeoff_command::state::State;
use bakeoff_command::{Registry, locale, saved};
use bakeoff_lab::local::{Setup, Watch};
use bakeoff_lab::watched::Watched;
use bakeoff_model::metric::{CPU, MAXRSS, METRICS, SYS, USER, WALL};
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::StudyLine;
use bakeoff_model::study::{Decide, Workload};
use bakeoff_model::until::Until;
use bakeoff_stats::blocks::least;
use clap::builder::PossibleValuesParser;
use conditions::{Execution, InCondition};
use parameters::Parameters;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use variants::{AroundTrials, Named, Variants};

/// Which of these commands is faster? The first one is the baseline
///
/// Each block executes every command once, in a random order, and the first one twice: this hidden twin shows how large
/// a difference the machine finds between a command and itself. A command that consists of plain words is executed
/// directly, any other by `sh -c`; all of them get your environment and the current folder. Their standard output goes
/// to memory; if a command prints something other than the first one does, the report says so first. `bakeoff 'A' 'B'`
/// is `bakeoff compare 'A' 'B'`. A single command is measured, and compared with nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The commands; the first one is the baseline
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,
    #[command(flatten)]
    named: Named,
    #[cfg(feature = "building")]
    #[command(flatten)]
    git: two_commits::Asked,
    #[command(flatten)]
    extent: Extent,
    /// At least this many blocks
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "blocks")]
    min_runs: Option<u32>,
    /// At most this many blocks
    #[arg(long, short = 'M', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "blocks")]
    max_runs: Option<u32>,
    /// The metric to decide on; repeat the option to show other metrics too
    #[arg(long = "metric", value_name = "METRIC", default_values_t = [WALL, CPU, MAXRSS].map(String::from),
          value_parser = PossibleValuesParser::new(METRICS.iter().map(|metric| &*metric.name)))]
    metrics: Vec<String>,
    /// The same in the words of hyperfine 2.0, such as `time` or time_cpu,instructions
    #[arg(
        long = "metrics",
        id = "hyperfine_metrics",
        value_name = "METRICS",
        value_delimiter = ',',
        conflicts_with = "metrics"
    )]
    hyperfine_metrics: Vec<String>,
    /// The largest difference that does not matter to you: two commands within it, either way, are equivalent
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = bakeoff_command::arguments::margin)]
    margin: f64,
    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "C", default_value = "0.95", value_parser = bakeoff_command::arguments::confidence)]
    confidence: f64,
    /// Seed of every order; without it a new one is drawn and printed
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Keep the trials in this file, for `bakeoff report FILE`; if it exists, go on where it stopped. Without it they are kept
    /// until the next comparison, for `bakeoff report --last`, and the same command measures again
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    around: AroundTrials,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    execution: Execution,
    #[command(flatten)]
    condition: InCondition,
    #[command(flatten)]
    another_day: AnotherDay,
    #[command(flatten)]
    showing: Showing,
    #[command(flatten)]
    kept: Kept,
}

impl Args {
    /// Whether no progress is to be drawn.
    fn is_quiet(&self) -> bool {
        self.quiet || self.showing.is_quiet() || self.execution.is_shown()
    }
}

pub(crate) fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    args.kept.apply()?;
    args.showing.check(features)?;
    let mut plan = plan(args)?;
    args.showing.plan(&mut plan, features)?;
    args.extent.apply_at_most(&mut plan, args.max_runs)?;
    #[cfg(feature = "building")]
    if args.git.is_asked() {
        return two_commits::execute(&args.git, given(args, plan)?, features);
    }
    let mut earlier = args.another_day.open(features)?;
    bakeoff_host::interrupt::install()?;
    // For the output of trials, and for the journal that nobody keeps; gone at the end.
    let folder = Scratch::new("bakeoff-compare-", &std::env::temp_dir()).map_err(|error| {
        CommandError::new(Code::Internal, error).hint("TMPDIR names the folder for temporary files")
    })?;
    let state = State::at(&args.journal.clone().unwrap_or_else(|| folder.path().join("journal.jsonl")));
    // A relative command means another program in another folder.
    let dir = args.execution.folder()?;
    let setup = Setup {
        dir,
        scratch: folder.path().to_owned(),
        harnesses: features.harnesses.first().copied(),
        environment: args.execution.environment(),
        ..Setup::default()
    };
    if let Some(earlier) = &mut earlier {
        let basis = head(&plan, &setup).0.basis.unwrap_or_default();
        earlier.join(&mut plan, &setup, &basis, !args.named.has_baseline());
    }
    let (study, watched) = head(&plan, &setup);
    let quiet = args.is_quiet();
    programs::pointers(watched.iter().filter(|file| file.is_lfs_pointer()).map(|file| file.name.clone()))?;
    args.execution.note_unread_input();
    earlier.iter().filter(|_| !quiet).for_each(Earlier::tell);
    let race = Race {
        watched,
        keep: if args.journal.is_some() { Keep::Named } else { Keep::Scratch },
        quiet,
        trace: args.extent.trace(&[folder.path()]),
        ..Race::of(&plan, study, &state, (features, args.showing.asked()))
    };
    let check = || {
        programs::processors(&plan)?;
        programs::locales(&plan, &setup);
        programs::of_commands(&bakeoff_lab::local::absent(&plan, &setup))
    };
    let is_shown = args.execution.is_shown();
    let executor = |files, keep: BorrowedFd<'_>| {
        here::executor(&plan, &setup, Watch { files, ..Watch::default() }, keep, is_shown)
    };
    let raced = race.run(check, executor)?.release(|| {});
    args.another_day.save(&state.journal, raced.ending, quiet)?;
    let is_last = args.journal.is_none() && saved::keep_last(&state.journal);
    let mut findings = features.judge(&raced.record);
    let has_unpaired = match &earlier {
        Some(earlier) => earlier.add_to(&mut findings, features)?,
        None => false,
    };
    let journal = args.journal.as_deref();
    let compared = Compared { journal, is_last, record: &raced.record, findings, ending: raced.ending, has_unpaired };
    args.showing.show_compared(&compared, features)
}

/// The head of the journal, and the files that are looked at between blocks.
fn head(plan: &Plan, setup: &Setup) -> (StudyLine, Vec<Watched>) {
    let locale = locale::shown(&locale::of(setup.environment.clone().into_iter()));
    here::head(plan, setup, &BTreeMap::new(), setup.dir.as_os_str().as_encoded_bytes(), locale)
}

/// What revisions are compared by.
#[cfg(feature = "building")]
fn given(args: &Args, plan: Plan) -> Result<two_commits::Given<'_>, CommandError> {
    let [command] = &args.commands[..] else {
        let error = format!("{} commands for revisions that --git names", args.commands.len());
        return Err(CommandError::usage(error).hint("give one command: each revision executes it"));
    };
    if plan.variants.len() > 1 {
        let error = "revisions and values of parameters cannot be varied at once";
        return Err(CommandError::usage(error).hint("leave out --git, or write the values into the command"));
    }
    Ok(two_commits::Given {
        plan,
        command,
        journal: args.journal.as_deref(),
        quiet: args.is_quiet(),
        is_shown: args.execution.is_shown(),
        showing: &args.showing,
        extent: &args.extent,
        environment: args.execution.environment(),
    })
}

fn plan(args: &Args) -> Result<Plan, CommandError> {
    args.execution.check_alike(args.commands.len(), &args.parameters.names())?;
    let mut metrics: Vec<String> = vec![];
    let asked = if args.hyperfine_metrics.is_empty() { &args.metrics } else { &of_hyperfine(&args.hyperfine_metrics)? };
    for metric in asked {
        if !metrics.contains(metric) {
            metrics.push(metric.clone());
        }
    }
    let variants = Variants::of(&args.commands, &args.named, &args.around, &args.parameters)?;
    let commands: Vec<&str> = variants.all.iter().filter_map(|variant| variant.run.as_deref()).collect();
    args.execution.check(&commands)?;
    let workload = Workload {
        name: "command".to_owned(),
        timeout_s: args.execution.timeout,
        output: args.execution.output(),
        input: args.execution.input()?,
        exit_codes: args.execution.exit_codes(),
        warmup: args.around.warmup,
        around: variants.around,
        ..Workload::default()
    };
    // At a very high confidence the usual number could not decide anything.
    let usual = Until::Blocks.default_blocks().max(least(1.0 - args.confidence));
    let blocks = usual.max(args.min_runs.unwrap_or(0)).min(args.max_runs.unwrap_or(u32::MAX));
    Ok(Plan {
        study: "compare".to_owned(),
        name: "default".to_owned(),
        seed: seed(args),
        blocks,
        decide: Decide {
            baseline: variants.all[0].levels.clone(),
            metrics,
            margin: args.margin,
            confidence: args.confidence,
            trends: variants.trends,
            ..Decide::default()
        },
        variants: variants.all,
        workloads: vec![workload],
        conditions: vec![args.condition.condition()],
        shell: args.execution.shell()?,
        ..Plan::default()
    })
}

/// Metrics in the words of hyperfine 2.0. It gives a unit with each; here `--time-unit` does.
fn of_hyperfine(words: &[String]) -> Result<Vec<String>, CommandError> {
    const KNOWN: [(&str, &[&str]); 12] = [
        ("default", &[WALL, MAXRSS]),
        ("time", &[WALL, CPU, USER, SYS]),
        ("all", &[WALL, CPU, USER, SYS, MAXRSS, "cycles", "instructions", "branches"]),
        ("time_wall_clock", &[WALL]),
        ("time_cpu", &[CPU]),
        ("time_user", &[USER]),
        ("time_system", &[SYS]),
        ("memory_peak_resident", &[MAXRSS]),
        ("cpu_cycles", &["cycles"]),
        ("instructions", &["instructions"]),
        ("branch_misses", &["branch_misses"]),
        ("cache_misses", &["cache_misses"]),
    ];
    let mut metrics = vec![];
    for word in words {
        let (_, ours) = KNOWN.iter().find(|(name, _)| name == word).ok_or_else(|| {
            let hint = if word.contains(':') {
                "leave out the unit; --time-unit sets that of times"
            } else {
                "--metric lists all that there are"
            };
            CommandError::usage(format!("`{}` is not a metric of hyperfine's that is measured here", clean(word)))
                .hint(hint)
        })?;
        metrics.extend(ours.iter().map(|name| (*name).to_owned()));
    }
    Ok(metrics)
}

/// The seed asked for, or that of the journal that goes on; otherwise one of the present moment's, so that an order that
/// happens to favour one command does so once and not every time.
fn seed(args: &Args) -> u64 {
    let known = || bakeoff_journal::read(args.journal.as_deref()?).ok().map(|contents| contents.record.study.seed);
    let drawn = || bakeoff_host::now_unix_s().to_bits() % 1_000_000;
    args.seed.or_else(known).unwrap_or_else(drawn)
}
