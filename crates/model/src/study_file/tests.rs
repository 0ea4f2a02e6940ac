//! What the study file's reader accepts, and what it says of what it does not.

use super::{PlacedFactor, RecipeReader, Referred, Section, parse_with};
use crate::kept::Kept;
use crate::problem::{Problem, Problems};
use crate::record::FactorLine;
use crate::study::{Factor, Level, Levels, Recipe, Study, VariantRule};
use crate::until::Until;
use std::sync::Arc;

mod conditions;

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

/// Stands for what builds: it knows the names of steps, and a variant's variables.
#[derive(Debug)]
struct Names(Vec<String>);

impl RecipeReader for Names {
    fn keys(&self) -> &'static [&'static str] {
        &["append", "kernel", "source"]
    }

    fn read(&self, file: &Section<'_>, _: &mut [PlacedFactor<'_>], _: Referred<'_>) -> Arc<dyn Recipe> {
        let steps = file.section_list("build");
        Arc::new(Self(steps.iter().filter_map(|step| Some(step.string("name")?.0)).collect()))
    }

    fn locked(&self, _: &dyn Recipe, _: &str) -> Result<Arc<dyn Recipe>, Vec<Problem>> {
        Err(vec![])
    }
}

impl Recipe for Names {
    fn steps(&self) -> Vec<String> {
        self.0.clone()
    }

    fn factors(&self, _: &[Factor]) -> Vec<FactorLine> {
        vec![]
    }

    fn spec(&self, levels: &[&Level]) -> Kept {
        Kept::new(levels.iter().flat_map(|level| level.variables.clone()).collect::<Levels>())
    }
}

/// Reads a study whose building is of no interest.
pub(crate) fn parse(text: &str) -> Result<Study, Vec<Problem>> {
    parse_with(text, &[], Some(&Names(vec![])))
}

fn problems(text: &str) -> Vec<Problem> {
    parse(text).err().unwrap_or_default()
}

fn messages(text: &str) -> String {
    Problems::new("study.toml", text, problems(text)).render(false)
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
        (&format!("{DECIDE}metrics = []\n"), "needs at least one metric"),
        (&format!("{DECIDE}metrics = [\"wall\", \"wall\"]\n"), "listed twice"),
        (&format!("{DECIDE}margin = \"1\"\n"), "is not a valid margin"),
        (&format!("{DECIDE}confidence = \"high\"\n"), "must be a number"),
        (&format!("[plan]\nvariants = \"alll\"\n{DECIDE}"), "did you mean `all`?"),
        (&format!("[plan]\nvariants = []\n{DECIDE}"), "the list of variants is empty"),
        (&format!("[plan]\nseed = -1\n{DECIDE}"), "a seed cannot be negative"),
        (&format!("[plan]\nuntil = \"1\"\n{DECIDE}"), "`until = \"±1%\"`"),
        (&format!("[plan]\nuntil = \"soon\"\n{DECIDE}"), "is not a valid stopping rule"),
        (&format!("[plan]\nuntil = \"±0%\"\n{DECIDE}"), "is not a valid stopping rule"),
        (&format!("[plan]\nuntil = 20\n{DECIDE}"), "must be a string in quotes"),
        (&format!("[plan]\nuntil = \"±1%\"\nblocks = 5\n{DECIDE}"), "the stopping rule `±1%` needs at least 10 blocks"),
        (
            &format!("[plan]\nblocks = 5\n[plans.p]\nuntil = \"decided\"\n{DECIDE}"),
            "the stopping rule `decided` needs at least 8",
        ),
        (&format!("[plans.default]\n{DECIDE}"), "belongs in the section `[plan]`"),
        (&format!("[workloads.baseline]\nrun = \"x\"\n{DECIDE}"), "is reserved or has invalid characters"),
        (&format!("[workloads.up]\nrun = \"x\"\nexpect = \"../x\"\n{DECIDE}"), "is outside the study's folder"),
        (
            &format!("[workloads.long]\nrun = \"x $LENGTH\"\nlengths = [\"9\", \"3\"]\n{DECIDE}"),
            "are not valid workload lengths",
        ),
        (
            &format!("[workloads.long]\nrun = \"x $LENGTH\"\nlengths = [\"9\"]\n{DECIDE}"),
            "are not valid workload lengths",
        ),
        (&format!("[workloads.long]\nrun = \"x\"\nlengths = [\"3\", \"9\"]\n{DECIDE}"), "does not depend on $LENGTH"),
        (&format!("[build_factors.two]\nx = {{ CC = \"tcc\" }}\n{DECIDE}"), "factor `cc` also sets the variable `CC`"),
        ("[decide\n", "this is not valid TOML"),
        ("[decide]\nbaseline = 5\nbaseline = 6\n", "this is not valid TOML"),
    ] {
        let shown = messages(&format!("{GOOD}{tail}"));
        assert!(shown.contains(expect), "{expect:?} is missing for {tail:?}\n{shown}");
    }
}

#[test]
fn a_newer_format_is_refused() {
    let shown = messages(&format!("{}{DECIDE}", GOOD.replace("format = 1", "format = 2")));
    assert!(shown.contains("unknown format 2"), "{shown}");
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

#[test]
fn what_nobody_can_read_is_refused_at_its_place() {
    let text = format!("{GOOD}[plan]\nrebuild = 3\n{DECIDE}");
    let text =
        text.replace("gcc = { CC", "gcc = { append = \"-O1\", CC").replace("[[build]]", "[sources.x]\n[[build]]");
    let problems = parse_with(&text, &[], None).unwrap_err();
    let places: Vec<&str> = problems.iter().map(|problem| &text[problem.span.clone()]).collect();
    assert_eq!(places, ["sources", "build", "build_factors", "plan"]);
    assert!(problems.iter().all(|one| one.message == "this Bakeoff was compiled without the feature `building`"));
    assert!(
        parse_with(
            "format = 1\nname = \"t\"\n[workloads.w]\nrun = \"x\"\n[run_factors.a]\nb = \
        {}\n[decide]\nbaseline = { a = \"b\" }\n",
            &[],
            None
        )
        .is_ok()
    );
}
