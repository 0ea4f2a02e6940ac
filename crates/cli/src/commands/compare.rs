//! `bakeoff compare`: commands as variants, without a study file. The plan is made of the command line; everything
//! after that is what `bakeoff run` does.

mod another_day;
mod conditions;
mod parameters;
mod variants;

use super::options::{Compared as Done, Extent, Kept, Showing};
use crate::race::{Keep, Race, Wanted};
use crate::{executed, instrument, programs};
use another_day::{AnotherDay, Earlier};
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::scratch::Scratch;
use bakeoff_command::state::State;
use bakeoff_command::{
    Explain, Maker, Order, Prepared, Registry, SourceRequest, StudySections, Subcommand, locale, saved, screen,
};
use bakeoff_judge::INFER_MIN;
use bakeoff_lab::Counter;
use bakeoff_lab::local::{Local, Setup, absent};
use bakeoff_lab::watched::Watched;
use bakeoff_model::digest::Digest;
use bakeoff_model::grouped::unique;
use bakeoff_model::metric::{CPU, MAXRSS, METRICS, SYS, USER, WALL};
use bakeoff_model::plain::clean;
use bakeoff_model::plan::Plan;
use bakeoff_model::record::{Record, StudyLine};
use bakeoff_model::study::{Decide, Workload};
use bakeoff_model::until::Until;
use bakeoff_stats::blocks::least;
use clap::Args as _;
use clap::builder::PossibleValuesParser;
use conditions::{Execution, InCondition};
use parameters::Parameters;
use std::path::{Path, PathBuf};
use variants::{AroundTrials, Named, Variants};

/// Compare commands: which is faster? The first command is the baseline
///
/// Bakeoff runs the commands in blocks. A block runs each command once, in random order, and the baseline a second
/// time. This second run, the twin, reveals how large a difference this machine shows between a command and itself.
/// Bakeoff runs commands of plain words directly and all others with `sh -c`, in your environment and the current
/// folder. It keeps the commands' standard output in memory. If a command's output differs from the baseline's, the
/// report states this first.
/// `bakeoff 'A' 'B'` is short for `bakeoff compare 'A' 'B'`. If you give only one command, Bakeoff only measures it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    compared: Compared,
    #[command(flatten)]
    how: CompareSettings,
    #[command(flatten)]
    hyperfine: Hyperfine,
}

/// What is compared; sources of variants add their options after these.
#[derive(Debug, clap::Args)]
struct Compared {
    /// The commands; the first one is the baseline
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,
    #[command(flatten)]
    named: Named,
}

/// How it is compared.
#[derive(Debug, clap::Args)]
struct CompareSettings {
    #[command(flatten)]
    extent: Extent,
    /// The deciding metric; repeat the option to show other metrics too
    #[arg(long = "metric", value_name = "METRIC", default_values_t = [WALL, CPU, MAXRSS].map(String::from),
          value_parser = PossibleValuesParser::new(METRICS.iter().map(|metric| &*metric.name)))]
    metrics: Vec<String>,
    /// The largest difference that does not matter to you: commands that differ by less are equivalent
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = bakeoff_command::arguments::margin)]
    margin: f64,
    /// Confidence level of intervals and verdicts
    #[arg(long, value_name = "C", default_value = "0.95", value_parser = bakeoff_command::arguments::confidence)]
    confidence: f64,
    /// Seed for the random order; by default, Bakeoff draws one and prints it
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Keep the trials in this file, for `bakeoff report FILE`; if the file exists, resume from it
    ///
    /// Without this option, Bakeoff keeps the trials for `bakeoff report --last` until the next comparison, and
    /// repeating the command starts over.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// After the trials, count the instructions of commands that differ, and print which functions need more or fewer
    ///
    /// Bakeoff runs each such command twice more, under valgrind. `bakeoff help why` describes the tables.
    #[arg(long)]
    explain: bool,
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

// Options by the names that hyperfine has for them. A comment of documentation would become that of `compare`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of hyperfine")]
struct Hyperfine {
    /// Run at least N blocks
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with_all = ["blocks", "until"])]
    min_runs: Option<u32>,
    /// Run at most N blocks
    #[arg(long, short = 'M', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with_all = ["blocks", "until"])]
    max_runs: Option<u32>,
    /// Metrics to measure, by hyperfine's names, such as `time` or `time_cpu,instructions`; for Bakeoff's names, use
    /// --metric
    #[arg(
        long = "metrics",
        id = "hyperfine_metrics",
        value_name = "METRICS",
        value_delimiter = ',',
        conflicts_with = "metrics"
    )]
    metrics: Vec<String>,
}

impl Args {
    /// What counts the deciding metric in the place of the machine. Counts repeat, so a few blocks are enough.
    fn counter(&self, plan: &mut Plan, features: &Registry) -> Result<Option<Box<dyn Counter>>, CommandError> {
        let counter = instrument::choose(plan, features, self.how.is_quiet())?;
        let Hyperfine { min_runs, max_runs, .. } = self.hyperfine;
        if counter.is_some() && !self.how.extent.has_length() && min_runs.or(max_runs).is_none() {
            plan.blocks = INFER_MIN as u32;
        }
        Ok(counter)
    }
}

impl CompareSettings {
    fn is_quiet(&self) -> bool {
        self.quiet || self.showing.is_quiet() || self.execution.is_shown()
    }
}

/// The command with its options: those of sources of variants are among them.
pub(crate) fn command(features: &Registry) -> Subcommand {
    let mut command = Subcommand::with_features("compare", execute);
    let about = command.clap.get_about().cloned().unwrap_or_default();
    let long_about = command.clap.get_long_about().cloned().unwrap_or_default();
    let options = Compared::augment_args(clap::Command::new("compare"));
    let options = features.sources.iter().fold(options, |options, source| (source.options)(options));
    command.clap = CompareSettings::augment_args(options).about(about).long_about(long_about);
    command.last(Hyperfine::augment_args)
}

fn execute(args: &Args, features: &Registry) -> Result<Code, CommandError> {
    let Args { compared, how, hyperfine } = args;
    how.kept.apply()?;
    how.showing.check(features)?;
    let mut plan = plan(args)?;
    features.plan("compare", &how.showing.asked, &mut plan)?;
    how.extent.apply(&mut plan, hyperfine.max_runs)?;
    let counter = args.counter(&mut plan, features)?;
    let mut earlier = how.another_day.open(features)?;
    bakeoff_host::interrupt::install()?;
    let scratch = scratch_folder()?;
    let (scratch, quiet) = (scratch.path(), how.is_quiet());
    let in_one_layout = how.extent.asks_for_one_layout();
    let (commands, folder) = (&compared.commands[..], how.folder_if_optional()?);
    let request = SourceRequest { commands, plan: &plan, scratch, quiet, in_one_layout, folder: folder.as_deref() };
    let prepared = features.prepare(&how.showing.asked, &request)?;
    let mut prepared = prepared.unwrap_or_else(|| Prepared { plan, ..Prepared::default() });
    if let Some(otherwise) = prepared.merged.nothing_left.take() {
        return how.showing.without_trials(&record_of(prepared), otherwise, features);
    }
    screen::err(&prepared.merged.notes);
    how.extent.apply_layouts(&mut prepared.plan)?;
    how.extent.keep_layouts_without(prepared.made.has_layouts, &mut prepared.plan)?;
    let setup = how.setup(&prepared, scratch, features)?;
    if let Some(earlier) = &mut earlier {
        let basis = head(&prepared, &setup).0.basis.unwrap_or_default();
        earlier.join(&mut prepared.plan, &setup, &basis, !compared.named.has_baseline());
    }
    let (study, watched) = head(&prepared, &setup);
    if prepared.folder.is_none() {
        programs::pointers(watched.iter().filter(|file| file.is_lfs_pointer()).map(|file| file.name.clone()))?;
        how.execution.note_unread_input();
    }
    earlier.iter().filter(|_| !quiet).for_each(Earlier::tell);
    let state = State::at(&how.journal.clone().unwrap_or_else(|| scratch.join("journal.jsonl")));
    let Prepared { plan, made, maker, explain, study: built, .. } = &prepared;
    let maker = maker.as_deref();
    let order =
        built.as_ref().map(|study| Order { study, dir: scratch, own: &[], plan, jobs: 1, partly: false, quiet });
    let sections = how.to_gather(plan, features)?;
    let apart: Vec<&Path> = std::iter::once(scratch).chain(maker.map(Maker::root)).collect();
    let race = Race {
        made: &made.lines,
        watched,
        keep: if how.journal.is_some() { Keep::Named } else { Keep::Scratch },
        maker,
        quiet,
        trace: how.extent.trace(&apart),
        evidence: sections.as_ref().map(|sections| Wanted { sections, digests: &made.digests }),
        counter,
        ..Race::of(plan, study, &state, (features, Some(&how.showing.asked)))
    };
    let check = || can_start(plan, &setup, *explain);
    let raced = race.run(check, |watched, keep| {
        let watch = executed::watch(watched, &setup, maker, &made.lines);
        let on_demand = maker.zip(order.as_ref()).map(|(maker, order)| maker.on_demand(order)).transpose()?.flatten();
        let local = Local::new(plan, setup.clone(), Some(keep))?.watching(watch).with(on_demand);
        let show = |printed: &[u8]| screen::err(&String::from_utf8_lossy(printed));
        Ok(Box::new(if how.execution.is_shown() { local.showing(Box::new(show)) } else { local }))
    })?;
    let raced = raced.release(|| {});
    how.another_day.save(&state.journal, raced.ending, quiet)?;
    let is_last = how.journal.is_none() && saved::keep_last(&state.journal);
    let mut findings = features.judge(&raced.record);
    let has_unpaired = match &earlier {
        Some(earlier) => earlier.add_to(&mut findings, features)?,
        None => false,
    };
    let journal = how.journal.as_deref();
    let done = Done { journal, is_last, record: &raced.record, findings, ending: raced.ending, has_unpaired };
    how.show(&done, features)
}

/// For the output of trials, and for the journal that nobody keeps; gone at the end.
fn scratch_folder() -> Result<Scratch, CommandError> {
    Scratch::new("bakeoff-compare-", &std::env::temp_dir()).map_err(|error| {
        CommandError::new(Code::Internal, error).hint("set TMPDIR to another folder for temporary files")
    })
}

impl CompareSettings {
    /// Where commands run, if nothing asks for trials in any case.
    fn folder_if_optional(&self) -> Result<Option<PathBuf>, CommandError> {
        let must_run = self.explain || self.another_day.is_asked();
        (!must_run).then(|| self.execution.folder()).transpose()
    }

    /// What is gathered after the trials, if anything is.
    fn to_gather(&self, plan: &Plan, features: &Registry) -> Result<Option<StudySections>, CommandError> {
        let mut sections = StudySections::new();
        if self.explain {
            features.gather_to_explain(&self.showing.asked, plan, &mut sections)?;
        }
        Ok(self.explain.then_some(sections))
    }

    fn show(&self, done: &Done<'_>, features: &Registry) -> Result<Code, CommandError> {
        let code = self.showing.show_compared(done, features)?;
        if self.explain && !self.showing.json {
            features.explain(&self.showing.asked, done.record, &done.findings)?;
        }
        Ok(code)
    }

    fn setup(&self, prepared: &Prepared, scratch: &Path, features: &Registry) -> Result<Setup, CommandError> {
        let prefix = |digest: &String| prepared.maker.as_ref().map(|maker| maker.prefix_of(digest));
        let digests = prepared.made.digests.iter();
        Ok(Setup {
            dir: match prepared.folder {
                // A relative command means another program in another folder.
                None => self.execution.folder()?,
                // Each variant runs in its own folder, so the current one has no part in it.
                Some(_) => scratch.join("nothing"),
            },
            below_prefix: prepared.folder.clone(),
            scratch: scratch.to_owned(),
            harnesses: features.harnesses.first().copied(),
            environment: self.execution.environment(),
            prefixes: digests.filter_map(|(name, digest)| Some((name.clone(), prefix(digest)?))).collect(),
            ..Setup::default()
        })
    }
}

/// The record of a comparison of which nothing is left to race.
fn record_of(prepared: Prepared) -> Record {
    let Prepared { plan, made, merged, .. } = prepared;
    let study = plan.study_line(&made.digests, "", None);
    let mut record = Record::new(StudyLine { shared: merged.shared, ..study });
    record.made = made.lines;
    record
}

/// The head of the journal, and the files that are looked at between blocks.
fn head(prepared: &Prepared, setup: &Setup) -> (StudyLine, Vec<Watched>) {
    let (folder, locale) = match &prepared.folder {
        Some(folder) => (folder.as_os_str(), None),
        None => (setup.dir.as_os_str(), locale::shown(&locale::of(setup.environment.clone().into_iter()))),
    };
    let (plan, folder) = (&prepared.plan, folder.as_encoded_bytes());
    let programs = executed::programs(plan, setup, []);
    let mut watched = programs.system;
    let mut inputs = Digest::of("inputs");
    inputs.field("folder", folder);
    for program in &watched {
        inputs.field(&program.name, program.content().unwrap_or_default().as_bytes());
    }
    if let Some(locale) = &locale {
        inputs.field("the locale", locale.as_bytes());
    }
    let mut study = plan.study_line(&prepared.made.digests, &inputs.hex(), None);
    study.shared.clone_from(&prepared.merged.shared);
    if let Some(basis) = &mut study.basis {
        basis.keys.insert(executed::FOLDER.to_owned(), Digest::of("folder").field("path", folder).hex());
        basis.keys.extend(locale.map(|locale| (locale::KEY.to_owned(), locale)));
        watched.extend(executed::data(plan, setup));
        let content = |file: &Watched| (file.name.clone(), file.content().unwrap_or_default().to_owned());
        basis.files = watched.iter().map(content).collect();
    }
    watched.extend(programs.built);
    (study, watched)
}

fn can_start(plan: &Plan, setup: &Setup, explain: Option<Explain>) -> Result<(), CommandError> {
    programs::processors(plan)?;
    programs::locales(plan, setup);
    programs::pointers_in_builds(plan, setup)?;
    let absent = absent(plan, setup);
    match absent.first().zip(explain).and_then(|(first, explain)| explain(first)) {
        Some(error) => Err(error),
        None => programs::of_commands(&absent),
    }
}

fn plan(Args { compared, how, hyperfine }: &Args) -> Result<Plan, CommandError> {
    how.execution.check_alike(compared.commands.len(), &how.parameters.names())?;
    let ours = if hyperfine.metrics.is_empty() { how.metrics.clone() } else { of_hyperfine(&hyperfine.metrics)? };
    let metrics = unique(ours);
    let variants = Variants::of(&compared.commands, &compared.named, &how.around, &how.parameters)?;
    let commands: Vec<&str> = variants.all.iter().filter_map(|variant| variant.run.as_deref()).collect();
    how.execution.check(&commands)?;
    let workload = Workload {
        name: "command".to_owned(),
        timeout_s: how.execution.timeout,
        output: how.execution.output(),
        input: how.execution.input()?,
        exit_codes: how.execution.exit_codes(),
        warmup: how.around.warmup,
        around: variants.around,
        ..Workload::default()
    };
    // At a very high confidence the usual number could not decide anything.
    let usual = Until::Blocks.default_blocks().max(least(1.0 - how.confidence));
    let blocks = usual.max(hyperfine.min_runs.unwrap_or(0)).min(hyperfine.max_runs.unwrap_or(u32::MAX));
    Ok(Plan {
        study: "compare".to_owned(),
        name: "default".to_owned(),
        seed: seed(how),
        blocks,
        decide: Decide {
            baseline: variants.all[0].levels.clone(),
            metrics,
            margin: how.margin,
            confidence: how.confidence,
            trends: variants.trends,
            ..Decide::default()
        },
        variants: variants.all,
        workloads: vec![workload],
        conditions: vec![how.condition.condition()],
        shell: how.execution.shell()?,
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
                "omit the unit; use --time-unit to set the time unit"
            } else {
                "`bakeoff compare --help` lists all metrics under --metric"
            };
            CommandError::usage(format!("`{}` is not a hyperfine metric that Bakeoff measures", clean(word))).hint(hint)
        })?;
        metrics.extend(ours.iter().map(|name| (*name).to_owned()));
    }
    Ok(metrics)
}

/// The seed asked for, or that of the journal that goes on; otherwise one of the present moment's, so that an order
/// that happens to favour one command does so once and not every time.
fn seed(how: &CompareSettings) -> u64 {
    let known = || bakeoff_journal::read(how.journal.as_deref()?).ok().map(|contents| contents.record.study.seed);
    let drawn = || bakeoff_host::now_unix_s().to_bits() % 1_000_000;
    how.seed.or_else(known).unwrap_or_else(drawn)
}
