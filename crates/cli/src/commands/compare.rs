//! `bakeoff compare`: commands as variants, without a study file. The plan is made of the command line; everything
//! after that is what `bakeoff run` does.

use super::options::{Extent, Kept, Showing};
use crate::executed;
use crate::programs;
use crate::session::{OpenStudy, Setting};
use bakeoff_command::Features;
use bakeoff_command::alone::alone;
use bakeoff_command::error::{Code, CommandError};
use bakeoff_command::scratch::Scratch;
use bakeoff_command::screen;
use bakeoff_command::state::State;
use bakeoff_lab::Ending;
use bakeoff_lab::local::{Local, Setup, Watch};
use bakeoff_lab::watched::Watched;
use bakeoff_model::digest::Digest;
use bakeoff_model::metric::METRICS;
use bakeoff_model::plain::clean;
use bakeoff_model::plan::{BASELINE, Plan, Variant};
use bakeoff_model::record::TWIN;
use bakeoff_model::study::{Condition, Decide, Levels, LoadOf, LoadSpec, OutputUse, Workload};
use bakeoff_model::until::Until;
use bakeoff_stats::blocks::least;
use clap::builder::PossibleValuesParser;
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::path::PathBuf;

/// Which of these commands is faster? The first one is the baseline
///
/// Each block executes every command once, in a random order, and the first one twice: this hidden twin shows how large
/// a difference the machine finds between a command and itself. A command that consists of plain words is executed
/// directly, any other by `sh -c`; all of them get your environment and the current folder. Their standard output goes
/// to memory; if a command prints something other than the first one does, the report says so first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The commands; the first one is the baseline
    #[arg(required = true, num_args = 2.., value_name = "COMMAND")]
    commands: Vec<String>,
    /// A name for a command; repeat the option for each command, in order
    #[arg(long = "name", short = 'n', value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    extent: Extent,
    /// The metric to decide on; repeat the option to show other metrics too
    #[arg(long = "metric", short, value_name = "METRIC", default_values_t = ["wall", "cpu", "maxrss"].map(String::from),
          value_parser = PossibleValuesParser::new(METRICS.iter().map(|metric| &*metric.name)))]
    metrics: Vec<String>,
    /// Half-width of the zone of equivalence, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = bakeoff_command::arguments::margin)]
    margin: f64,
    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "C", default_value = "0.95", value_parser = bakeoff_command::arguments::confidence)]
    confidence: f64,
    /// Seed of every order; without it a new one is drawn and printed
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Keep the journal in this file; go on where it stopped if the file exists
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// What to do with standard output: compare it with the first command's, record it although it varies, or discard it
    #[arg(long, value_name = "WHAT", default_value = "compared")]
    output: Printed,
    /// Show no progress on standard error
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    condition: InCondition,
    #[command(flatten)]
    showing: Showing,
    #[command(flatten)]
    kept: Kept,
}

/// What becomes of what the commands print.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Printed {
    Compared,
    Varies,
    Null,
}

impl Printed {
    fn output(self) -> OutputUse {
        match self {
            Self::Compared => OutputUse::Noted,
            Self::Varies => OutputUse::Varies,
            Self::Null => OutputUse::Null,
        }
    }
}

/// The condition under which the commands are compared; without any of these, the machine as it is.
#[derive(Debug, clap::Args)]
struct InCondition {
    /// Run N processes of a command at once; a trial lasts until the last one ends
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    processes: u32,
    /// Keep N copies of the first command running during every trial
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=256))]
    copies: u32,
    /// Processors that trials may use, such as 0,2-3
    #[arg(long, value_name = "LIST", value_parser = processors)]
    cpus: Option<Processors>,
    /// Do not randomise addresses
    #[arg(long)]
    no_aslr: bool,
    /// Kill a trial after this many seconds, and count it as failed
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<f64>,
}

/// A list of processors, as one argument.
#[derive(Debug, Clone)]
struct Processors(Vec<u32>);

impl InCondition {
    fn condition(&self) -> Condition {
        let spec = LoadSpec { copies: self.copies, of: LoadOf::Baseline, pace_s: None, cpus: None };
        let condition = Condition {
            load: (self.copies > 0).then_some(spec),
            processes: self.processes,
            cpus: self.cpus.clone().map(|cpus| cpus.0),
            aslr: self.no_aslr.then_some(false),
            ..Condition::default()
        };
        let plain = Condition { processes: 1, ..Condition::default() };
        let name = if condition == plain { "idle" } else { "as asked" };
        Condition { name: name.to_owned(), ..condition }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|s| *s > 0.0 && *s <= 1e6);
    number.ok_or_else(|| "a number of seconds above 0, such as 10".to_owned())
}

fn processors(text: &str) -> Result<Processors, String> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&cpu| cpu < 4096);
    let mut list = vec![];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => list.extend(first..=last),
            _ => return Err("numbers of processors with commas or a dash between, such as 0,2-3".to_owned()),
        }
    }
    list.sort_unstable();
    list.dedup();
    Ok(Processors(list))
}

pub(crate) fn execute(args: &Args, features: Features) -> Result<Code, CommandError> {
    args.kept.apply()?;
    args.showing.check(features)?;
    let mut plan = plan(args)?;
    args.showing.plan(&mut plan, features)?;
    args.extent.apply(&mut plan)?;
    bakeoff_host::interrupt::install()?;
    // For the output of trials, and for the journal that nobody keeps; gone at the end.
    let folder = Scratch::new("bakeoff-compare-", &std::env::temp_dir()).map_err(|error| {
        CommandError::new(Code::Internal, error).hint("TMPDIR names the folder for temporary files")
    })?;
    let state = State::at(&args.journal.clone().unwrap_or_else(|| folder.path().join("journal.jsonl")));
    let lock = state.lock()?;
    let dir = std::env::current_dir().map_err(|e| CommandError::new(Code::Internal, e))?;
    // A relative command means another program in another folder.
    let setup = Setup {
        dir: dir.clone(),
        scratch: folder.path().to_owned(),
        harnesses: features.harnesses(),
        // A variable that is not text cannot be handed on; no program of ours could name it.
        environment: std::env::vars_os()
            .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)))
            .collect(),
        ..Setup::default()
    };
    let mut inputs = Digest::of("inputs");
    inputs.field("folder", dir.as_os_str().as_encoded_bytes());
    let mut watched = executed::programs(&plan, &setup, []).system;
    for program in &watched {
        inputs.field(&program.name, program.content().unwrap_or_default().as_bytes());
    }
    let mut study = plan.study_line(&BTreeMap::new(), &inputs.hex(), None);
    if let Some(basis) = &mut study.basis {
        let folder = Digest::of("folder").field("path", dir.as_os_str().as_encoded_bytes()).hex();
        basis.keys.insert("the folder in which it is executed".to_owned(), folder);
        let content = |file: &Watched| (file.name.clone(), file.content().unwrap_or_default().to_owned());
        watched.extend(executed::data(&plan, &setup));
        basis.files = watched.iter().map(content).collect();
    }
    let (journal, quiet) = (&*state.journal, args.quiet);
    let durable = args.journal.is_some();
    let setting = Setting { plan: &plan, study, builds: &[], journal, durable, quiet, guess_s: None };
    // A journal is not begun for what cannot be executed; one that is complete is shown all the same.
    let check = || programs::of_commands(&bakeoff_lab::local::absent(&plan, &setup));
    let is_new = !state.journal.exists();
    if is_new {
        check()?;
    }
    // Held from before the first trial until after the last one.
    let mut held = None;
    let (record, ending) = OpenStudy::open(setting)?.watching(watched).execute(|watched| {
        held = Some(alone(args.quiet)?);
        if !is_new {
            check()?;
        }
        let local = Local::new(&plan, setup.clone(), Some(lock.as_fd()))?;
        Ok(Box::new(local.watching(Watch { files: watched, ..Watch::default() })))
    })?;
    drop(held);
    let code = {
        let more = match &args.journal {
            Some(journal) => format!("bakeoff report {}", clean(&journal.display().to_string())),
            None => "bakeoff compare …".to_owned(),
        };
        args.showing.show_new(&record, &more, features)?
    };
    match ending {
        Ending::Complete => Ok(code),
        Ending::Changed => Ok(Code::Usage),
        Ending::Stopped => {
            screen::err("stopped before all blocks were executed\n");
            Ok(Code::Interrupted)
        }
    }
}

fn plan(args: &Args) -> Result<Plan, CommandError> {
    let mut metrics: Vec<String> = vec![];
    for metric in &args.metrics {
        if !metrics.contains(metric) {
            metrics.push(metric.clone());
        }
    }
    let names = names(args)?;
    let variants: Vec<Variant> = names
        .iter()
        .zip(&args.commands)
        .map(|(name, command)| Variant {
            name: name.clone(),
            levels: Levels::from([("command".to_owned(), name.clone())]),
            run: Some(command.clone()),
            ..Variant::default()
        })
        .collect();
    let workload = Workload {
        name: "command".to_owned(),
        timeout_s: args.condition.timeout,
        output: args.output.output(),
        ..Workload::default()
    };
    Ok(Plan {
        study: "compare".to_owned(),
        question: None,
        name: "default".to_owned(),
        seed: seed(args),
        // At a very high confidence the usual number could not decide anything.
        blocks: Until::Blocks.default_blocks().max(least(1.0 - args.confidence)),
        until: Until::Blocks,
        decide: Decide {
            baseline: variants[0].levels.clone(),
            metrics,
            margin: args.margin,
            confidence: args.confidence,
            ..Decide::default()
        },
        variants,
        excluded: vec![],
        build_factors: vec![],
        workloads: vec![workload],
        services: vec![],
        vary: vec![],
        building: None,
        void_if: vec![],
        conditions: vec![args.condition.condition()],
        ..Plan::default()
    })
}

/// The seed asked for, or that of the journal that goes on; otherwise one of the present moment's, so that an order that
/// happens to favour one command does so once and not every time.
fn seed(args: &Args) -> u64 {
    let known = || bakeoff_journal::read(args.journal.as_deref()?).ok().map(|contents| contents.record.study.seed);
    let drawn = || bakeoff_host::now_unix_s().to_bits() % 1_000_000;
    args.seed.or_else(known).unwrap_or_else(drawn)
}

/// A different name for each command: as given, or the command itself.
fn names(args: &Args) -> Result<Vec<String>, CommandError> {
    if !args.names.is_empty() && args.names.len() != args.commands.len() {
        let (names, commands) = (args.names.len(), args.commands.len());
        let error = format!("{names} names for {commands} commands");
        return Err(CommandError::usage(error).hint("give one --name for each command, or none"));
    }
    if let Some(taken) = args.names.iter().find(|name| [BASELINE, TWIN].contains(&name.as_str())) {
        return Err(CommandError::usage(format!("the name `{taken}` is taken")).hint("choose another name"));
    }
    if args.commands.iter().any(|command| command.trim().is_empty()) {
        return Err(CommandError::usage("a command is empty").hint("`true` is the command that does nothing"));
    }
    let given = if args.names.is_empty() { &args.commands } else { &args.names };
    let mut names: Vec<String> = vec![];
    for name in given {
        let numbered = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name} ({n})") });
        names.extend(numbered.into_iter().find(|n| !names.contains(n) && n != TWIN));
    }
    Ok(names)
}
