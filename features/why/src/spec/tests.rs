//! What the reader accepts in `[evidence]`, and what it says of each mistake in it.

use super::{EvidenceSection, EvidenceSpec, NAME};
use bakeoff_model::plan::Plan;
use bakeoff_model::problem::{Problem, Problems};
use bakeoff_model::study::Study;
use bakeoff_model::study_file::parse_with;

/// A study in which only the section is of interest.
const GOOD: &str = "\
format = 1
name = \"t\"
[build_factors.cc]
gcc = { CC = \"gcc\" }
clang = { CC = \"clang\" }
[[build]]
name = \"hello\"
script = 'mkdir -p \"$PREFIX/bin\" && $CC -o \"$PREFIX/bin/hello\" hello.c'
[workloads.hello]
run = '\"$PREFIX/bin/hello\"'
";
const DECIDE: &str = "[decide]\nbaseline = { cc = \"gcc\" }\n";

fn parse(text: &str) -> Result<Study, Vec<Problem>> {
    parse_with(text, &[&EvidenceSection], Some(&bakeoff_building::Building))
}

fn messages(text: &str) -> String {
    Problems::new("study.toml", text, parse(text).err().unwrap_or_default()).render(false)
}

fn spec(section: &str) -> EvidenceSpec {
    let text = format!("{GOOD}{section}{DECIDE}");
    let study = parse(&text).unwrap_or_else(|_| panic!("{}", messages(&text)));
    EvidenceSpec::of(study.sections.get(NAME))
}

#[test]
fn what_is_to_be_gathered_is_read_whole() {
    let lists = |facts: &[&str], trace: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        EvidenceSpec { facts: list(facts), trace: list(trace), ..EvidenceSpec::default() }
    };
    assert_eq!(spec(""), lists(&[], &[]));
    assert_eq!(spec("[evidence]\n"), lists(&[], &[]));
    let whole = "[evidence]\nfacts = [\"bin/hello\", \"**/*.so\"]\ntrace = [\"hello\"]\n";
    assert_eq!(spec(whole), lists(&["bin/hello", "**/*.so"], &["hello"]));
}

#[test]
fn mistakes_are_shown_in_their_lines() {
    for (section, part) in [
        ("trace = [\"helo\"]", "did you mean `hello`?"),
        ("trace = [\"hello\", \"hello\"]", "names `hello` twice"),
        ("trace = \"hello\"", "must be a list of strings"),
        ("facts = [\"../x\"]", "\"../x\" is not a path below $PREFIX"),
        ("facts = [\"lib/../../x\"]", "is not a path below $PREFIX"),
        ("facts = [\"/usr/bin/perl\"]", "is not a path below $PREFIX"),
        ("facts = [\"\"]", "is not a path below $PREFIX"),
        ("facts = [3]", "must be a list of strings"),
        ("trce = [\"hello\"]", "did you mean `trace`?"),
    ] {
        let text = format!("{GOOD}[evidence]\n{section}\n{DECIDE}");
        let shown = messages(&text);
        let line = GOOD.lines().count() + 2;
        assert!(shown.contains(&format!("study.toml:{line}:")), "{section}: no problem in line {line}\n{shown}");
        assert!(shown.contains(part), "{section}: {part:?} is missing\n{shown}");
    }
}

#[test]
fn without_builds_there_are_no_facts_to_gather() {
    let head = "format = 1\nname = \"t\"\n[run_factors.n]\none = { N = \"1\" }\ntwo = { N = \"2\" }\n\
                [workloads.hello]\nrun = 'echo $N'\n[decide]\nbaseline = { n = \"one\" }\n[evidence]\n";
    let shown = messages(&format!("{head}facts = [\"bin/hello\"]\n"));
    assert!(shown.contains("this study builds nothing") && shown.contains("[[build]]"), "{shown}");
    assert!(parse(&format!("{head}trace = [\"hello\"]\n")).is_ok(), "what is executed can be traced");
}

#[test]
fn evidence_is_no_part_of_what_makes_trials_comparable() {
    let identity = |section: &str| {
        let study = parse(&format!("{GOOD}{section}{DECIDE}")).unwrap();
        Plan::of(&study, "default").unwrap().study_line(&[].into(), "", None).identity
    };
    assert_eq!(identity(""), identity("[evidence]\nfacts = [\"bin/hello\"]\ntrace = [\"hello\"]\n"));
}
