//! What the study file's reader accepts, and what it says of what it does not.

use super::parse;
use crate::problem::{Problem, Problems};
use crate::study::{Levels, VariantRule, Vary};
use crate::until::Until;

mod builds;
mod conditions;
mod revisions;

const DESIGN: &str = include_str!("../../tests/data/design.toml");
const TEN_MISTAKES: &str = include_str!("../../tests/data/ten-mistakes.toml");

/// A study in which only the tail is of interest.
const GOOD: &str = "\
format = 1
name = \"t\"
[build_factors.cc]
gcc = { CC = \"gcc\" }
clang = { CC = \"clang\" }
[build_factors.opt]
O2 = { OPT = \"-O2\" }
O3 = { OPT = \"-O3\" }
[[build]]
name = \"hello\"
script = 'mkdir -p \"$PREFIX/bin\" && $CC $OPT -o \"$PREFIX/bin/hello\" hello.c'
[workloads.hello]
run = '\"$PREFIX/bin/hello\"'
";
const DECIDE: &str = "[decide]\nbaseline = { cc = \"gcc\", opt = \"O2\" }\n";

fn problems(text: &str) -> Vec<Problem> {
    parse(text).err().unwrap_or_default()
}

fn messages(text: &str) -> String {
    Problems::new("study.toml", text, problems(text)).render(false)
}

#[test]
fn all_that_the_design_shows_is_read() {
    let study = parse(DESIGN).unwrap_or_else(|_| panic!("{}", messages(DESIGN)));
    let fix = study.build_factors.iter().find(|factor| factor.name == "fix").unwrap();
    assert_eq!(fix.levels[1].patches["perl"], ["preload.patch"]);
    assert_eq!(study.plans[0].vary, [Vary::EnvSize, Vary::LinkOrder]);
}

#[test]
fn ten_mistakes_are_shown_at_once_each_with_its_line_and_remedy() {
    let shown = messages(TEN_MISTAKES);
    for (line, part) in [
        (2, "\"ten mistakes\""),
        (3, "did you mean `question`?"),
        (7, "level `perl` must be a table"),
        (10, "the variable `PREFIX` is taken"),
        (11, "no layer uses the variable `THREADS`"),
        (13, "[[exclude]] has no `reason`"),
        (14, "did you mean `perl`?"),
        (18, "64 lower-case hexadecimal digits"),
        (22, "did you mean `perl`?"),
        (26, "must be text in quotes"),
        (29, "0 blocks are not possible"),
        (32, "the baseline names no level of factor `threads`"),
        (33, "did you mean `wall`?"),
        (34, "95 is not a confidence"),
    ] {
        assert!(shown.contains(&format!("study.toml:{line}:")), "no problem in line {line}\n{shown}");
        assert!(shown.contains(part), "{part:?} is missing\n{shown}");
    }
}

#[test]
fn a_good_study_is_read_whole() {
    let text = format!(
        "{GOOD}[plan]\nblocks = 7\nseed = 3\nvariants = \"one-at-a-time\"\n[plans.quick]\nblocks = 6\nvariants = [{{ opt = \"O3\" }}]\n{DECIDE}margin = \"0.5%\"\n"
    );
    let study = parse(&text).unwrap();
    let factors: Vec<&str> = study.build_factors.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(factors, ["cc", "opt"], "factors keep the order of the file");
    assert_eq!(study.plans.len(), 2);
    assert_eq!((study.plans[0].blocks, study.plans[0].seed), (7, 3));
    assert_eq!(study.plans[0].variants, VariantRule::OneAtATime);
    assert_eq!((study.plans[1].blocks, study.plans[1].seed), (6, 3), "a named plan takes what it lacks from [plan]");
    let o3 = Levels::from([("opt".to_owned(), "O3".to_owned())]);
    assert_eq!(study.plans[1].variants, VariantRule::Listed(vec![o3]));
    assert!((study.decide.margin - 0.005).abs() < 1e-12);
    assert_eq!(study.conditions[0].name, "idle");
    assert_eq!(study.layers[0].tools, ["cc", "ld", "make"]);
}

#[test]
fn a_rule_for_stopping_brings_its_own_most_blocks_unless_they_are_named() {
    let check = |plan: &str, expect: [(Until, u32); 2]| {
        let study = parse(&format!("{GOOD}{plan}{DECIDE}")).unwrap();
        let found: Vec<(Until, u32)> = study.plans.iter().map(|plan| (plan.until, plan.blocks)).collect();
        assert_eq!(found, expect, "{plan}");
    };
    let precise = Until::Precision(0.01);
    check("[plan]\n[plans.p]\n", [(Until::Blocks, 12); 2]);
    check("[plan]\nuntil = \"±1%\"\n[plans.p]\nblocks = 30\n", [(precise, 200), (precise, 30)]);
    check("[plan]\nuntil = \"±1%\"\n[plans.p]\nuntil = \"blocks\"\n", [(precise, 200), (Until::Blocks, 12)]);
    check("[plan]\n[plans.p]\nuntil = \"decided\"\n", [(Until::Blocks, 12), (Until::Decided, 40)]);
    check("[plan]\nblocks = 20\n[plans.p]\nuntil = \"decided\"\n", [(Until::Blocks, 20), (Until::Decided, 20)]);
    check("[plan]\n[plans.p]\nuntil = \"any time\"\nblocks = 60\n", [(Until::Blocks, 12), (Until::Anytime, 60)]);
}

#[test]
fn what_is_wrong_is_named_with_its_remedy() {
    for (tail, expect) in [
        ("", "the study names no baseline"),
        ("[decide]\n", "[decide] has no `baseline`"),
        ("[decide]\nbaseline = { cc = \"gcc\", opt = \"O2\", os = \"bsd\" }\n", "there is no factor `os`"),
        (&format!("{DECIDE}metrics = []\n"), "lists no metric"),
        (&format!("{DECIDE}metrics = [\"wall\", \"wall\"]\n"), "listed twice"),
        (&format!("{DECIDE}margin = \"1\"\n"), "is not a margin"),
        (&format!("{DECIDE}confidence = \"high\"\n"), "must be a number"),
        (&format!("[plan]\nvariants = \"alll\"\n{DECIDE}"), "did you mean `all`?"),
        (&format!("[plan]\nvariants = []\n{DECIDE}"), "no variant is listed"),
        (&format!("[plan]\nseed = -1\n{DECIDE}"), "a seed is not negative"),
        (&format!("[plan]\nuntil = \"1%\"\n{DECIDE}"), "`until = \"±1%\"`"),
        (&format!("[plan]\nuntil = \"soon\"\n{DECIDE}"), "not a rule for stopping"),
        (&format!("[plan]\nuntil = \"±0%\"\n{DECIDE}"), "not a rule for stopping"),
        (&format!("[plan]\nuntil = 20\n{DECIDE}"), "must be text in quotes"),
        (&format!("[plan]\nuntil = \"±1%\"\nblocks = 5\n{DECIDE}"), "until ±1% needs at least 10 blocks"),
        (&format!("[plan]\nblocks = 5\n[plans.p]\nuntil = \"decided\"\n{DECIDE}"), "until decided needs at least 8"),
        (&format!("[plans.default]\n{DECIDE}"), "is `[plan]` itself"),
        (&format!("[workloads.baseline]\nrun = \"x\"\n{DECIDE}"), "must be plain"),
        (&format!("[workloads.up]\nrun = \"x\"\nexpect = \"../x\"\n{DECIDE}"), "leaves the study's folder"),
        (&format!("[[build]]\nname = \"hello\"\nscript = \"x\"\n{DECIDE}"), "two layers `hello`"),
        (&format!("[build_factors.two]\nx = {{ CC = \"tcc\" }}\n{DECIDE}"), "factor `cc` sets the variable `CC` too"),
        ("[decide\n", "this is not TOML"),
        ("[decide]\nbaseline = 5\nbaseline = 6\n", "this is not TOML"),
    ] {
        let shown = messages(&format!("{GOOD}{tail}"));
        assert!(shown.contains(expect), "{expect:?} is missing for {tail:?}\n{shown}");
    }
}

#[test]
fn a_newer_format_is_refused() {
    let shown = messages(&format!("{}{DECIDE}", GOOD.replace("format = 1", "format = 2")));
    assert!(shown.contains("format 2 is not known"), "{shown}");
}

#[test]
fn an_empty_table_of_workloads_is_no_workload() {
    let text = format!("{}{DECIDE}", GOOD.split("[workloads.hello]").next().unwrap());
    assert!(messages(&format!("{text}[workloads]\n")).contains("no workload"));
}

#[test]
fn an_empty_file_names_all_that_is_missing() {
    let shown = messages("");
    for part in ["has no `format`", "has no `name`", "no workload", "no baseline"] {
        assert!(shown.contains(part), "{part:?} is missing\n{shown}");
    }
}
