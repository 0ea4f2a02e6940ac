//! The commands, one file each: which there are, and which one is meant. None of them is executed here.

mod compare;
mod options;
mod plan;
mod report;
mod run;
mod saved;
mod trace_trial;

use bakeoff_command::exits::Exit;
use bakeoff_command::{Code, Registry, Subcommand};
use clap::Parser;

/// What to begin with: below the short help alone, below the long one with the rest.
macro_rules! begin {
    () => {
        "\
Begin with:
  bakeoff compare 'COMMAND A' 'COMMAND B'    which of two commands is faster?
  bakeoff doctor                             what can this machine measure?
  bakeoff plan studies/perl-options          what would a study do?
  bakeoff run studies/perl-options           do it"
    };
}

/// Which way of building and running this program is faster, by how much, how sure are we, and why?
///
/// Bakeoff builds one program in every variant that a study names, executes a real workload on all of them in
/// randomised blocks, measures each trial as a whole, and decides with error rates that are known.
#[derive(Debug, Parser)]
#[command(name = "bakeoff", version, propagate_version = true, after_help = begin!(), after_long_help = AFTER_HELP)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {}

const AFTER_HELP: &str = concat!(
    begin!(),
    "

Exit codes (the help of each command has its own):
  0    done
  1    a check failed: gate, calibrate, check-summary --require, lock --check
  2    the command line or the study has a problem, or a file that trials
       execute was changed
  3    undecided, where a decision was demanded
  4    a variant could not be built, or a trial failed
  5    internal error, or a full disk
  130  interrupted; the same command resumes

Files:
  STUDY/.bakeoff       the study's journals; remove it to start over
  ~/.cache/bakeoff     sources and builds; see `bakeoff cache` and `bakeoff gc`
  ~/.local/state/bakeoff/twins.jsonl
                       a line for each finished study, which `doctor` sums up
  ~/.local/state/bakeoff/saved
                       what `compare --save` has saved; see `bakeoff saved`

Environment:
  BAKEOFF_CACHE        another folder for sources and builds; without it,
                       $XDG_CACHE_HOME/bakeoff
  BAKEOFF_STATE        another folder for twins.jsonl and saved; without it,
                       $XDG_STATE_HOME/bakeoff
  BAKEOFF_LOCKS        another folder for the lock by which commands that need
                       the machine for themselves wait for each other
  BAKEOFF_CGROUPS      `off`: use no control groups
  BAKEOFF_NAMESPACES   `off`: use no namespaces
  TMPDIR               where compare keeps the output of trials
  COLUMNS, NO_COLOR    width and colour of what is printed"
);

/// Of commands that execute trials.
const CHANGED: Exit = (Code::Usage, "a program under test changed during the run");
const NO_VERDICT: Exit = (Code::Undecided, "--require-verdict: a variant has no verdict");
const FAILED: Exit = (Code::VariantFailed, "a variant could not be built, or a trial of it failed");
const STOPPED: Exit = (Code::Interrupted, "interrupted; the same command resumes");

/// The commands of the core, in the order of the help.
pub(crate) fn of_core(features: &Registry) -> Vec<Subcommand> {
    vec![
        Subcommand::with_features("run", run::execute).concludes().exits(&[CHANGED, NO_VERDICT, FAILED, STOPPED]),
        compare::command(features).concludes().exits(&[
            CHANGED,
            NO_VERDICT,
            (Code::VariantFailed, "a command failed; with --git, a commit could not be built"),
            (Code::Interrupted, "interrupted; with --journal or --git, the same command resumes"),
        ]),
        Subcommand::with_features("plan", plan::execute),
        Subcommand::with_features("report", report::execute).concludes().exits(&[NO_VERDICT, FAILED]),
        Subcommand::new("saved", saved::execute),
        Subcommand::new(bakeoff_command::TRACE_TRIAL, trace_trial::execute).hidden(),
    ]
}
