//! The commands, one file each: which there are, and which one is meant. None of them is executed here.

mod build;
mod cache;
mod calibrate;
mod check_summary;
mod compare;
mod doctor;
mod estimates;
mod export;
mod facts;
mod gc;
mod import;
mod lock;
mod options;
mod plan;
mod power;
mod report;
mod run;
mod stat;
mod trace_trial;

use crate::error::{Code, CommandError};
use clap::{Parser, Subcommand};

/// Which way of building and running this program is faster, by how much, how sure are we, and why?
///
/// Bakeoff builds one program in every variant that a study names, executes a real workload on all of them in
/// randomised blocks, measures each trial whole, and decides with error rates that are known.
#[derive(Debug, Parser)]
#[command(name = "bakeoff", version, propagate_version = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Begin with:
  bakeoff compare 'COMMAND A' 'COMMAND B'    which of two commands is faster?
  bakeoff doctor                             what can this machine measure?
  bakeoff plan studies/perl-options          what would a study do?
  bakeoff run studies/perl-options           do it

Exit codes: 0 done, 1 a gate did not hold, 2 usage or study problem, 3 undecided where a decision
was demanded, 4 a variant failed, 5 internal, 130 interrupted (execute the command again to go on).";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Compare(compare::Args),
    Plan(plan::Args),
    Power(power::Args),
    Build(build::Args),
    Facts(facts::Args),
    Lock(lock::Args),
    Report(report::Args),
    Export(export::Args),
    Import(import::Args),
    Cache(cache::Args),
    Gc(gc::Args),
    CheckSummary(check_summary::Args),
    Doctor(doctor::Args),
    Calibrate(calibrate::Args),
    Stat(Box<stat::Args>),
    #[command(hide = true)]
    TraceTrial(trace_trial::Args),
}

pub(crate) fn execute(cli: Cli) -> Result<Code, CommandError> {
    match cli.command {
        Command::Run(args) => run::execute(&args),
        Command::Compare(args) => compare::execute(&args),
        Command::Plan(args) => plan::execute(&args),
        Command::Power(args) => power::execute(&args),
        Command::Build(args) => build::execute(&args),
        Command::Facts(args) => facts::execute(&args),
        Command::Lock(args) => lock::execute(&args),
        Command::Report(args) => report::execute(&args),
        Command::Export(args) => export::execute(&args),
        Command::Import(args) => import::execute(&args),
        Command::Cache(args) => cache::execute(&args),
        Command::Gc(args) => gc::execute(&args),
        Command::CheckSummary(args) => check_summary::execute(&args),
        Command::Doctor(args) => doctor::execute(&args),
        Command::Calibrate(args) => calibrate::execute(&args),
        Command::Stat(args) => stat::execute(&args),
        Command::TraceTrial(args) => trace_trial::execute(&args),
    }
}
