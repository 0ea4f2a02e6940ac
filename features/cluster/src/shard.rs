//! `bakeoff shard`: runs one shard of a run on this machine, or its builds. A scheduler or ssh starts it.
//! It may be killed or run twice: each attempt has a folder, and runs only blocks that no other attempt has run.

use crate::blocks;
use crate::order::Order;
use crate::run_folder::{
    AttemptFolder, BUILD_LOG, BUILD_STATUS, BUILDS, JOURNAL, LOG, RunFolder, SHARD, STUDY, Status, last_line,
    unwritten, write,
};
use bakeoff_command::locale::is_of_locale;
use bakeoff_command::shard::Shard;
use bakeoff_command::{Code, CommandError};
use bakeoff_host::interrupt;
use bakeoff_host::place::host_name;
use bakeoff_model::plain::clean;
use bakeoff_model::record::AwayKey;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often the command looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(50);
/// How often it looks whether another attempt has ended the shard: over a network, maybe.
const LOOK_ELSEWHERE: Duration = Duration::from_secs(5);

/// Run one shard of a run that `bakeoff run --on` began
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run's folder
    run: PathBuf,
    /// Number of the shard
    #[arg(required_unless_present = "build")]
    shard: Option<u32>,
    /// Build all variants instead
    #[arg(long, conflicts_with = "shard")]
    build: bool,
    /// What to call this machine, if not by its own name
    #[arg(long)]
    node: Option<String>,
}

pub(crate) fn execute(args: &Args) -> Result<Code, CommandError> {
    interrupt::install()?;
    let dir = std::path::absolute(&args.run).map_err(CommandError::usage)?;
    let run = RunFolder::at(&dir);
    let order = run.order()?;
    // The scheduler's name of this machine, if it has one.
    let given = || std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty());
    let node = args.node.clone().or_else(given).unwrap_or_else(host_name);
    match args.shard {
        None => build(&run, &order, &node),
        Some(shard) => trials(&run, &order, shard, &node),
    }
}

/// Builds what the variants need, and says so once all of it is there.
fn build(run: &RunFolder, order: &Order, node: &str) -> Result<Code, CommandError> {
    if run.builds()?.is_some() {
        return Ok(Code::Done);
    }
    let log = run.dir.join(BUILD_LOG);
    let file = run.dir.join(BUILDS);
    let jobs = order.jobs.map(|jobs| format!("--jobs={jobs}"));
    let words: Vec<String> = jobs.into_iter().chain([format!("--build-for={}", file.display())]).collect();
    let status = execute_run(run, order, &words, &log, &|| false)?;
    if !status.success() {
        write(&run.dir.join(BUILD_STATUS), &ended(status, &log, node))?;
    }
    Ok(Code::of(status))
}

fn trials(run: &RunFolder, order: &Order, shard: u32, node: &str) -> Result<Code, CommandError> {
    if run.done(shard)?.is_some() {
        return Ok(Code::Done);
    }
    let Some(passes) = order.shards.get(shard as usize) else {
        return Err(CommandError::usage(format!("the run in {} has no shard {shard}", run.shown())));
    };
    let digests = match order.builds {
        true => run.builds()?.map(|built| built.digests).ok_or_else(|| {
            let error = format!("the builds of the run in {} are not there yet", run.shown());
            CommandError::usage(error).hint("the job that builds comes first; `bakeoff run --on` submits it")
        })?,
        false => Default::default(),
    };
    let done = blocks::of_attempts(run, shard, None).into_keys().collect();
    let attempt = run.begin(shard)?;
    let journal = attempt.dir.join(JOURNAL);
    let ordered = Shard { node: node.to_owned(), journal, passes: passes.clone(), done, digests, ..Shard::default() };
    let tried = run_attempt(run, order, shard, &attempt, ordered);
    if let Err(error) = &tried {
        // People who wait for the shard see this, and not the scheduler's log.
        let last = clean(error.render().lines().next().unwrap_or_default());
        let _ = attempt.write_status(&Status::now(error.code as i32, node, last));
    }
    tried
}

fn run_attempt(
    run: &RunFolder,
    order: &Order,
    shard: u32,
    attempt: &AttemptFolder,
    mut ordered: Shard,
) -> Result<Code, CommandError> {
    ordered.scratch = order.scratch.as_deref().map(|folder| scratch(folder, run, shard, attempt)).transpose()?;
    let file = attempt.dir.join(SHARD);
    write(&file, &ordered)?;
    let words = ["--shard".to_owned(), file.display().to_string()];
    // A job whose node was lost may live on, and end its shard.
    let is_done = || matches!(run.done(shard), Ok(Some(_)));
    let status = execute_run(run, order, &words, &attempt.dir.join(LOG), &is_done)?;
    if let Some(scratch) = &ordered.scratch {
        // What is left there is nobody's; the node is given back.
        let _ = fs::remove_dir_all(scratch);
    }
    if is_done() {
        return Ok(Code::Done);
    }
    let mut ended = ended(status, &attempt.dir.join(LOG), &ordered.node);
    let over = ended.is_by_itself().then_some(attempt.number);
    ended.complete = is_complete(run, shard, &ordered.passes, over);
    attempt.write_status(&ended)?;
    if ended.complete {
        run.finish(shard, attempt)?;
        return Ok(Code::Done);
    }
    Ok(Code::of(status))
}

/// A folder on the node's own disk, for what trials leave.
fn scratch(folder: &str, run: &RunFolder, shard: u32, attempt: &AttemptFolder) -> Result<PathBuf, CommandError> {
    let name = run.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = crate::folders::expanded(folder)?;
    let path = Path::new(&folder).join(format!("bakeoff-{name}-{shard}.{}", attempt.number));
    fs::create_dir_all(&path).map_err(|error| {
        unwritten(&path, &error)
            .hint("`scratch` in machines.toml is a folder of the node's own disk, such as \"$TMPDIR\"")
    })?;
    Ok(path)
}

/// Whether every block of the shard is there, whichever attempt ran it.
fn is_complete(run: &RunFolder, shard: u32, passes: &BTreeSet<u32>, over: Option<u32>) -> bool {
    let records: Vec<_> = run.attempts(shard).iter().filter_map(AttemptFolder::journal).collect();
    let Some(study) = records.first().map(|record| &record.study) else { return false };
    let there: BTreeSet<AwayKey> = blocks::of_attempts(run, shard, over).into_keys().collect();
    let is_there = |pass: u32, cell: (&str, &str)| {
        there.contains(&(pass, cell.0.to_owned(), cell.1.to_owned()))
            || records.iter().any(|record| record.is_left_out(cell, pass))
    };
    let cells =
        || study.workloads.iter().flat_map(|workload| study.conditions.iter().map(move |c| (&**workload, &**c)));
    passes.iter().all(|pass| cells().all(|cell| is_there(*pass, cell)))
}

/// Runs `bakeoff run` on the run's study, hands interrupts on, and interrupts it once it is in vain.
fn execute_run(
    run: &RunFolder,
    order: &Order,
    words: &[String],
    log: &Path,
    is_in_vain: &dyn Fn() -> bool,
) -> Result<ExitStatus, CommandError> {
    let own = std::env::current_exe().map_err(CommandError::usage)?;
    let failed = |error| unwritten(log, &error);
    let out = File::create(log).map_err(failed)?;
    let study = run.dir.join(STUDY).join(&order.study);
    let mut command = Command::new(own);
    command.arg("run").arg(&study).args(&order.words).arg("--blocks").arg(order.blocks.to_string());
    command.args(words).arg("--quiet");
    command.env("BAKEOFF_CACHE", crate::folders::expanded(&order.cache)?);
    let of_locale = std::env::vars_os().map(|(name, _)| name).filter(|name| is_of_locale(&name.to_string_lossy()));
    of_locale.for_each(|name| _ = command.env_remove(name));
    command.envs(&order.locale);
    command.stdin(Stdio::null()).stderr(out.try_clone().map_err(failed)?).stdout(out);
    let mut child = command.spawn().map_err(|error| CommandError::usage(format!("cannot start bakeoff: {error}")))?;
    let (mut told, mut looked) = (0, Instant::now());
    loop {
        if let Some(status) = child.try_wait().map_err(CommandError::usage)? {
            return Ok(status);
        }
        // A scheduler may signal all processes or only the first. A second interrupt ends the running trial.
        if interrupt::count() > told {
            told = interrupt::count();
            interrupt::send(&child);
        }
        if looked.elapsed() >= LOOK_ELSEWHERE {
            looked = Instant::now();
            if is_in_vain() {
                interrupt::send(&child);
            }
        }
        std::thread::sleep(LOOK);
    }
}

fn ended(status: ExitStatus, log: &Path, node: &str) -> Status {
    // A trial that was ended with its job may have been the last one, so that nothing was left to be interrupted.
    let code = match interrupt::count() {
        0 => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        _ => Code::Interrupted as i32,
    };
    Status::now(code, node, last_line(log))
}
