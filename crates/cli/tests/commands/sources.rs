//! Every option of `compare`, for each source of variants: it is honoured, which a run shows, or refused with a reason.
//! What an option does in detail is tested elsewhere; here none may be accepted and ignored.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test ends where something is not as it should be")]

use crate::common::{Sandbox, Shown};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// A command that ran, and the default of its source.
struct Ran {
    shown: Shown,
    journal: String,
    sandbox: Sandbox,
}

/// Whether an option of a run is honoured, compared with a run without it.
type Honoured = fn(&Ran, &Ran) -> bool;

enum Expect {
    Seen(Honoured),
    /// With exit code 2, and these words.
    Refused(&'static str),
    /// It belongs to the other source, and tests of that one have it.
    Other,
}
use Expect::{Other, Refused, Seen};

/// An option, its words, and what becomes of it where commands are compared and where revisions are.
type Row = (&'static str, &'static [&'static str], Expect, Expect);

fn plan(ran: &Ran, without: &Ran) -> bool {
    let head = |ran: &Ran| ran.journal.lines().next().unwrap_or_default().to_owned();
    ran.shown.code == 0 && !head(ran).is_empty() && head(ran) != head(without)
}

fn blocks(ran: &Ran, number: u32) -> bool {
    ran.journal.contains(&format!(r#""blocks":{number},"#))
}

/// One block shows nothing, and `explain` says that this needs no cause.
fn is_explained(ran: &Ran, _: &Ran) -> bool {
    let words: Vec<&str> = ran.shown.out.split_whitespace().collect();
    words.join(" ").contains("there is nothing to explain")
}

fn trials(ran: &Ran) -> usize {
    ran.journal.matches(r#"{"line":"trial""#).count()
}

fn wrote(ran: &Ran, start: &str) -> bool {
    fs::read_to_string(ran.sandbox.path().join("file")).is_ok_and(|text| text.starts_with(start))
}

fn is_before(ran: &Ran, one: &str, other: &str) -> bool {
    let row = |name: &str| ran.shown.out.lines().position(|line| line.starts_with(name)).unwrap();
    row(one) < row(other)
}

const NOT_WITH_GIT: Expect = Refused("'--git <REVISION>' cannot be used with");
const ONLY_WITH_GIT: Expect = Refused("--git <REVISION>");

/// Rows whose options change what is planned, whatever the source.
const PLANNED: &[(&str, &[&str])] = &[
    ("--metric", &["--metric", "user"]),
    ("--metrics", &["--metrics", "time"]),
    ("--margin", &["--margin", "5%"]),
    ("--confidence", &["--confidence", "0.9"]),
    ("--seed", &["--seed", "2"]),
    ("--until", &["--until", "±90%"]),
    ("--warmup", &["--warmup", "1"]),
    ("--setup", &["--setup", "true"]),
    ("--prepare", &["--prepare", "true"]),
    ("--conclude", &["--conclude", "true"]),
    ("--cleanup", &["--cleanup", "true"]),
    ("--shell", &["--shell", "bash"]),
    ("-N", &["-N"]),
    ("--ignore-failure", &["--ignore-failure"]),
    ("--input", &["--input", "sub/p.sh"]),
    ("--timeout", &["--timeout", "50"]),
    ("--processes", &["--processes", "2"]),
    ("--copies", &["--copies", "1"]),
    ("--cpus", &["--cpus", "0"]),
    ("--no-aslr", &["--no-aslr"]),
];

fn rows() -> Vec<Row> {
    let planned = PLANNED.iter().map(|(name, words)| (*name, *words, Seen(plan), Seen(plan)));
    planned.chain(VARIANTS).chain(SHOWN).collect()
}

/// What varies, and how it runs.
const VARIANTS: [Row; 23] = [
    ("--name", &["-n", "a", "-n", "b"], Seen(plan), NOT_WITH_GIT),
    ("--baseline", &["--baseline", "sh ./p.sh {n}"], Seen(plan), NOT_WITH_GIT),
    ("--reference", &["--reference", "true"], Seen(plan), NOT_WITH_GIT),
    ("--reference-name", &["--reference", "true", "--reference-name", "r"], Seen(plan), NOT_WITH_GIT),
    ("--git", &[], Other, Seen(|ran, _| ran.journal.contains(r#"{"name":"v1"#))),
    ("--build", &["--build", "true"], ONLY_WITH_GIT, Seen(plan)),
    ("--repository", &["--repository", "sub"], ONLY_WITH_GIT, Seen(plan)),
    ("--anyway", &["--git", "same", "--anyway"], Other, Seen(|ran, _| trials(ran) == 4)),
    ("--blocks", &["--blocks", "2"], Seen(|ran, _| blocks(ran, 2)), Seen(|ran, _| blocks(ran, 2))),
    ("--min-runs", &["--min-runs", "31"], Seen(|ran, _| blocks(ran, 31)), Seen(|ran, _| blocks(ran, 31))),
    ("--max-runs", &["--max-runs", "2"], Seen(|ran, _| blocks(ran, 2)), Seen(|ran, _| blocks(ran, 2))),
    (
        "--layouts",
        &["--layouts", "fresh"],
        Refused("but no variant of this plan has any"),
        Refused("not every build has a program whose link can be repeated"),
    ),
    ("--keep-going", &["--keep-going", "--blocks", "8"], Seen(is_kept_going), Seen(is_kept_going)),
    ("--no-trace", &["--no-trace"], Seen(is_untraced), Seen(is_untraced)),
    ("--parameter-scan", &["-P", "n", "1", "2"], Seen(plan), Refused("cannot combine --git with parameters")),
    (
        "--parameter-step-size",
        &["-P", "n", "1", "2", "-D", "0.5"],
        Seen(plan),
        Refused("cannot combine --git with parameters"),
    ),
    ("--parameter-list", &["-L", "n", "1,2"], Seen(plan), Refused("cannot combine --git with parameters")),
    ("--output", &["--output", "null"], Seen(plan), Seen(plan)),
    ("--show-output", &["--show-output"], Seen(is_output_shown), Seen(is_output_shown)),
    ("--env", &["--env", "A=an A", "--show-output"], Seen(has_variable), Seen(has_variable)),
    ("--cwd", &["--cwd", "sub"], Seen(plan), NOT_WITH_GIT),
    ("--harness", &["--harness", "go"], Seen(has_no_benchmark), Seen(has_no_benchmark)),
    ("--journal", &[], Seen(|ran, _| trials(ran) == 3), Seen(|ran, _| trials(ran) == 3)),
];

/// What is kept and shown.
const SHOWN: [Row; 25] = [
    ("--quiet", &["--quiet"], Seen(is_quiet), Seen(is_quiet)),
    ("--style", &["--style", "none"], Seen(is_quiet), Seen(is_quiet)),
    ("--save", &["--save", "day"], Seen(|ran, _| ran.shown.err.contains("--against day")), NOT_WITH_GIT),
    ("--replace", &["--save", "day", "--replace"], Seen(is_replaced), NOT_WITH_GIT),
    ("--against", &["--against", "day"], Refused("there is no saved comparison `day`"), NOT_WITH_GIT),
    ("--explain", &["--explain"], Seen(is_explained), Seen(is_explained)),
    ("--json", &["--json"], Seen(is_json), Seen(is_json)),
    ("--all", &["--all"], Seen(is_longer), Seen(is_longer)),
    ("--section", &["--section", "outputs"], Seen(is_other), Seen(is_other)),
    (
        "--require-verdict",
        &["--require-verdict"],
        Seen(|ran, _| ran.shown.code == 3),
        Seen(|ran, _| ran.shown.code == 3),
    ),
    (
        "--sort",
        &["--sort", "command"],
        Seen(|ran, _| is_before(ran, "sh ./slow.sh", "sh ./p.sh")),
        Seen(|ran, _| is_before(ran, "v1", "v2")),
    ),
    ("--time-unit", &["--time-unit", "second"], Seen(has_seconds), Seen(has_seconds)),
    (
        "--color",
        &["--color", "always"],
        Seen(|ran, _| ran.shown.out.contains('\x1b')),
        Seen(|ran, _| ran.shown.out.contains('\x1b')),
    ),
    (
        "--user-namespace",
        &["--user-namespace", "--show-output", "--env", "NS=1"],
        Seen(is_in_another_namespace),
        Seen(is_in_another_namespace),
    ),
    ("--gate", &["--gate", "1%"], Seen(|ran, _| ran.shown.code == 3), Seen(|ran, _| ran.shown.code == 3)),
    (
        "--junit",
        &["--gate", "1%", "--junit", "FILE"],
        Seen(|ran, _| wrote(ran, "<?xml")),
        Seen(|ran, _| wrote(ran, "<?xml")),
    ),
    (
        "--export-markdown",
        &["--export-markdown", "FILE"],
        Seen(|ran, _| wrote(ran, "###")),
        Seen(|ran, _| wrote(ran, "###")),
    ),
    (
        "--export-csv",
        &["--export-csv", "FILE"],
        Seen(|ran, _| wrote(ran, "study,plan,")),
        Seen(|ran, _| wrote(ran, "study,plan,")),
    ),
    (
        "--export-trials",
        &["--export-trials", "FILE"],
        Seen(|ran, _| wrote(ran, "study,plan,")),
        Seen(|ran, _| wrote(ran, "study,plan,")),
    ),
    ("--export-json", &["--export-json", "FILE"], Seen(|ran, _| wrote(ran, "{")), Seen(|ran, _| wrote(ran, "{"))),
    (
        "--export-findings",
        &["--export-findings", "FILE"],
        Seen(|ran, _| wrote(ran, "{")),
        Seen(|ran, _| wrote(ran, "{")),
    ),
    (
        "--export-go",
        &["--export-go", "FILE"],
        Seen(|ran, _| wrote(ran, "study: ")),
        Seen(|ran, _| wrote(ran, "study: ")),
    ),
    ("--html", &["--html", "FILE"], Seen(|ran, _| wrote(ran, "<!DOCTYPE")), Seen(|ran, _| wrote(ran, "<!DOCTYPE"))),
    (
        "--svg",
        &["--blocks", "6", "--svg", "FILE"],
        Seen(|ran, _| wrote(ran, "<svg")),
        Seen(|ran, _| wrote(ran, "<svg")),
    ),
    (
        "--chart",
        &["--blocks", "6", "--svg", "FILE", "--chart", "trials"],
        Seen(is_chart_of_trials),
        Seen(is_chart_of_trials),
    ),
];

fn is_kept_going(ran: &Ran, _: &Ran) -> bool {
    !ran.journal.contains(r#"{"line":"stopped""#) && trials(ran) == 24
}

fn is_untraced(ran: &Ran, without: &Ran) -> bool {
    let heads = |ran: &Ran| ran.journal.matches(r#"{"line":"study""#).count();
    heads(ran) < heads(without)
}

fn is_output_shown(ran: &Ran, without: &Ran) -> bool {
    ran.shown.err.contains("done") && !without.shown.err.contains("done")
}

fn is_in_another_namespace(ran: &Ran, _: &Ran) -> bool {
    let ours = fs::read_link("/proc/self/ns/user").unwrap();
    ran.shown.err.contains("user:[") && !ran.shown.err.contains(&*ours.to_string_lossy())
}

fn is_chart_of_trials(ran: &Ran, _: &Ran) -> bool {
    wrote(ran, "<svg")
        && fs::read_to_string(ran.sandbox.path().join("file")).unwrap().contains("trials in chronological order")
}

/// Without the option, what is saved stays.
fn is_replaced(ran: &Ran, _: &Ran) -> bool {
    let again = |words: &[&str]| {
        let all = [&["compare"], COMMANDS, &["--blocks", "1", "--save", "day"], words].concat();
        let output = ran.sandbox.command_as_typed(&all).current_dir(ran.sandbox.path().join("repo")).output();
        Shown::of(&output.unwrap())
    };
    ran.shown.code == 0
        && again(&[]).expect(2, &["a comparison is already saved as `day`"]).out.is_empty()
        && again(&["--replace"]).expect(0, &["--against day"]).code == 0
}

fn has_variable(ran: &Ran, _: &Ran) -> bool {
    ran.shown.err.contains("done, with an A")
}

fn has_no_benchmark(ran: &Ran, _: &Ran) -> bool {
    ran.shown.code == 4 && ran.shown.err.contains("no benchmark in")
}

fn is_quiet(ran: &Ran, without: &Ran) -> bool {
    let has_progress = |ran: &Ran| ran.shown.err.contains("block 1 of 1");
    !has_progress(ran) && has_progress(without)
}

fn is_json(ran: &Ran, _: &Ran) -> bool {
    ran.shown.out.starts_with('{')
}

fn is_longer(ran: &Ran, without: &Ran) -> bool {
    ran.shown.out.lines().count() > without.shown.out.lines().count()
}

fn is_other(ran: &Ran, without: &Ran) -> bool {
    ran.shown.code == 0 && ran.shown.out != without.shown.out
}

fn has_seconds(ran: &Ran, _: &Ran) -> bool {
    ran.shown.out.contains(" s\n") && !ran.shown.out.contains(" ms\n")
}

/// A repository of a script that became faster, and of one that stayed slow.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new("");
    let git = "git -c user.name=n -c user.email=e@example.org -c commit.gpgsign=false -c tag.gpgsign=false";
    let say = "echo \"done, with $A\"\\n[ -z \"$NS\" ] || readlink /proc/self/ns/user\\n";
    let script = format!(
        "mkdir repo; cd repo; git init -q -b main\n\
         printf 'sleep 0.03\\n{say}' > p.sh; cp p.sh slow.sh; mkdir sub; cp *.sh sub; git add .\n\
         {git} commit -qm one; git tag v1\n\
         printf '{say}' > p.sh; git add .; {git} commit -qm two; git tag v2\n\
         {git} commit -q --allow-empty -m three; git tag same\n\
         printf 'exit 1\\n' > p.sh; git add .; {git} commit -qm four; git tag broken; git checkout -q v2"
    );
    let done = Command::new("sh").args(["-ec", &script]).current_dir(sandbox.path()).status();
    assert!(done.unwrap().success(), "{script}");
    sandbox
}

fn compare(source: &[&str], words: &[&str]) -> Ran {
    let sandbox = repository();
    let file = sandbox.path().join("file").display().to_string();
    let journal = sandbox.path().join("journal.jsonl");
    let words: Vec<&str> = words.iter().map(|word| if *word == "FILE" { file.as_str() } else { *word }).collect();
    let mut all = [&["compare"], source, &words[..], &["--journal", journal.to_str().unwrap()]].concat();
    let has = |names: &[&str]| names.iter().any(|name| words.contains(name));
    if !has(&["--blocks", "--until", "--min-runs", "--max-runs"]) {
        all.extend(["--blocks", "1"]);
    }
    if !has(&["--seed"]) {
        all.extend(["--seed", "1"]);
    }
    let output = sandbox.command_as_typed(&all).current_dir(sandbox.path().join("repo")).output().unwrap();
    Ran { shown: Shown::of(&output), journal: fs::read_to_string(journal).unwrap_or_default(), sandbox }
}

const COMMANDS: &[&str] = &["sh ./slow.sh {n}", "sh ./p.sh {n}"];
const REVISIONS: &[&str] = &["--git", "v1", "--git", "v2", "sh ./p.sh {n}"];

#[test]
fn the_table_has_every_option() {
    let sandbox = Sandbox::new("");
    let help = sandbox.execute(&["compare", "--help"]).out;
    let options = help.lines().filter_map(|line| {
        let names = line.trim_start().split(['<', '[', '=']).next().unwrap_or_default();
        let is_option = line.trim_start().starts_with('-') && line.len() > line.trim_start().len();
        is_option.then(|| names.trim().rsplit(", ").next().unwrap_or_default().split(' ').next().unwrap_or_default())
    });
    let known: BTreeSet<&str> = rows().iter().map(|(name, ..)| *name).chain(["--help", "--version"]).collect();
    assert_eq!(options.collect::<BTreeSet<_>>(), known);
}

fn check(source: &[&str], expect: impl Fn(&Row) -> &Expect + Sync) {
    let (without, rows) = (compare(source, &[]), rows());
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let (name, words, ..) = row;
            let expect = expect(row);
            if matches!(expect, Other) {
                return None;
            }
            let ran = compare(source, words);
            let is_right = match expect {
                Seen(honoured) => honoured(&ran, &without),
                Refused(why) => ran.shown.code == 2 && ran.shown.err.contains(why) && ran.journal.is_empty(),
                Other => true,
            };
            (!is_right).then(|| format!("{name}: {words:?}: {:#?}", ran.shown))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_option_is_honoured_or_refused_where_commands_are_compared() {
    check(COMMANDS, |row| &row.2);
}

#[test]
fn every_option_is_honoured_or_refused_where_revisions_are_compared() {
    check(REVISIONS, |row| &row.3);
}

/// A rehearsal builds and starts nothing, so options of building and of starting are refused.
#[test]
fn what_a_simulation_cannot_honour_is_refused() {
    let sandbox = crate::common::small();
    for words in [&["--jobs", "2"][..], &["--anyway"], &["--no-trace"], &["--user-namespace"]] {
        let shown = sandbox.execute(&[&["run", "STUDY", "--simulate", "seed:1"], words].concat());
        shown.expect(2, &[words[0], "cannot be used with", "--simulate"]);
    }
    assert_eq!(sandbox.journals().len(), 0);
}
