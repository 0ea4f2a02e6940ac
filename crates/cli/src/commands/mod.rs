//! The commands, one file each: which there are, and which one is meant. None of them is executed here.

mod compare;
mod explain;
mod options;
mod plan;
mod report;
mod run;
mod saved;
mod trace_trial;

use bakeoff_command::exits::Exit;
use bakeoff_command::{Code, EXPLAIN, Group, Registry, Subcommand};
use bakeoff_report::draw::text::{glue, wrap};

const ABOUT: &str = "Which way of building and running this program is faster, by how much, why, and how sure are we?";

const LONG_ABOUT: &str = "\
Which way of building and running this program is faster, by how much, why, and how sure are we?

Bakeoff builds a program in every way that you list and runs your workload on every build, in random order. It \
measures each run as a whole and judges the differences with known error rates. It also compares existing commands.";

const BEGIN: &str = "\
Begin with:
  bakeoff compare 'COMMAND A' 'COMMAND B'    which of two commands is faster?
  bakeoff doctor                             what can this machine measure?
  bakeoff init FOLDER                        write a study for your own program
  bakeoff studies copy sqlite-journal        copy one of the included studies
  bakeoff run sqlite-journal                 run it";

const REST: &str = "\
Exit codes (each command's help lists those it uses):
  0    done
  1    a check failed: gate, --gate, calibrate, check-summary --require,
       lock --check; or `stat --ministat` could not open a file
  2    the command line or the study has a problem, or a program under test
       changed during the run
  3    undecided, but a verdict was required
  4    a source could not be fetched, a variant could not be built, or a trial
       failed
  5    internal error, full disk, or unwritable standard output
  130  interrupted; run the same command again to resume (`compare`: only with
       --journal)

Files:
  STUDY/study.toml     the study; STUDY/study.lock has the hashes of its sources
  STUDY/.bakeoff       the study's journals; remove this folder to start over
  ~/.cache/bakeoff     sources, builds and their logs; see `bakeoff cache` and
                       `bakeoff gc`
  ~/.local/state/bakeoff
                       twins.jsonl: the twins of finished studies, for
                       `doctor`; saved: comparisons of `compare --save`;
                       last.jsonl: the last comparison, for `report --last`
  $TMPDIR/bakeoff-*    the journal of a comparison, and the output of trials if
                       it does not fit in memory; removed at the end
  /run/lock, /dev/shm, /tmp
                       bakeoff-*.lock in each: an empty file that commands
                       lock to take turns on the machine

Environment:
  BAKEOFF_CACHE        another folder for the cache; the default is
                       $XDG_CACHE_HOME/bakeoff
  BAKEOFF_STATE        another folder for twins.jsonl and the comparisons; the
                       default is $XDG_STATE_HOME/bakeoff
  BAKEOFF_LOCKS        another folder for the lock
  BAKEOFF_CGROUPS      `off`: use no control groups
  BAKEOFF_NAMESPACES   `off`: use no namespaces
  TMPDIR               folder for temporary files; the default is /tmp
  COLUMNS, NO_COLOR    width and colour of the output";

/// Width of the list of commands.
const WIDTH: usize = 80;

/// `bakeoff` without its commands; its help lists them by group.
pub(crate) fn program(commands: &[Subcommand]) -> clap::Command {
    let groups = groups(commands);
    clap::Command::new("bakeoff")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .help_template("{about-with-newline}\n{usage-heading} {usage}{after-help}")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_help(format!("{groups}\n{BEGIN}"))
        .after_long_help(format!("{groups}\n{BEGIN}\n\n{REST}"))
}

fn groups(commands: &[Subcommand]) -> String {
    let shown = || commands.iter().filter(|command| !command.clap.is_hide_set());
    let longest = shown().map(|command| command.clap.get_name().len()).max().unwrap_or(0);
    let (mut text, mut last) = (String::new(), None);
    for command in shown() {
        if last != Some(command.group) {
            text += &format!("{}{:?}:\n", if last.is_none() { "" } else { "\n" }, command.group);
            last = Some(command.group);
        }
        let about = command.clap.get_about().map(ToString::to_string).unwrap_or_default();
        // Between words there is one space; these keep the descriptions below each other.
        let line = format!("  {}{about}", glue(&format!("{:longest$}  ", command.clap.get_name())));
        wrap(&line, WIDTH, longest + 4).iter().for_each(|line| text += &format!("{line}\n"));
    }
    text
}

/// Of commands that run trials.
const CHANGED: Exit = (Code::Usage, "a program under test changed during the run");
const NO_VERDICT: Exit = (Code::Undecided, "--require-verdict: a variant has no verdict");
const FAILED: Exit = (Code::VariantFailed, "a variant could not be built, or a trial failed");
const STOPPED: Exit = (Code::Interrupted, "interrupted; run the same command again to resume");

/// The commands of the core, in the order of the help.
pub(crate) fn of_core(features: &Registry) -> Vec<Subcommand> {
    let explain =
        || Subcommand::with_features(EXPLAIN, explain::execute).group(Group::Report).exits(&[CHANGED, FAILED, STOPPED]);
    let mut commands = vec![
        Subcommand::with_features("run", run::execute).concludes().exits(&[CHANGED, NO_VERDICT, FAILED, STOPPED]),
        compare::command(features).concludes().exits(&[
            CHANGED,
            NO_VERDICT,
            (Code::VariantFailed, "a command failed or, with --git, a commit could not be built"),
            (
                Code::Interrupted,
                "interrupted; with --journal, run the same command again to resume; finished builds are kept",
            ),
        ]),
        Subcommand::with_features("plan", plan::execute),
        Subcommand::with_features("report", report::execute)
            .group(Group::Report)
            .concludes()
            .exits(&[NO_VERDICT, FAILED]),
        Subcommand::new("saved", saved::execute).group(Group::Report),
        Subcommand::new(bakeoff_command::TRACE_TRIAL, trace_trial::execute).hidden(),
    ];
    commands.extend((!features.explainers.is_empty()).then(explain));
    commands
}
