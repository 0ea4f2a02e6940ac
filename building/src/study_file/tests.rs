//! What the reader accepts about building, and what it says of what it does not.

use crate::Building;
use crate::nouns::Chain;
use crate::spec::Spec;
use bakeoff_model::plan::Plan;
use bakeoff_model::problem::{Problem, Problems};
use bakeoff_model::study::{Study, Vary};
use bakeoff_model::study_file::parse_with;

mod bolted;
mod builds;
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
[[build]]
name = \"hello\"
script = 'mkdir -p \"$PREFIX/bin\" && $CC -o \"$PREFIX/bin/hello\" hello.c'
[workloads.hello]
run = '\"$PREFIX/bin/hello\"'
[decide]
baseline = { cc = \"gcc\" }
";

fn parse(text: &str) -> Result<Study, Vec<Problem>> {
    parse_with(text, &[], Some(&Building))
}

fn messages(text: &str) -> String {
    Problems::new("study.toml", text, parse(text).err().unwrap_or_default()).render(false)
}

#[test]
fn all_that_the_design_shows_is_read() {
    let study = parse(DESIGN).unwrap_or_else(|_| panic!("{}", messages(DESIGN)));
    let fix = study.build_factors.iter().find(|factor| factor.name == "fix").unwrap();
    assert_eq!(Spec::of_level(&fix.levels[1]).patches["perl"], ["preload.patch"]);
    assert_eq!(study.plans[0].vary, [Vary::EnvSize, Vary::LinkOrder]);
}

#[test]
fn ten_mistakes_are_shown_at_once_each_with_its_line_and_remedy() {
    let shown = messages(TEN_MISTAKES);
    for (line, part) in [
        (2, "\"ten mistakes\""),
        (3, "did you mean `question`?"),
        (7, "level `perl` must be a table"),
        (10, "the variable `PREFIX` is reserved"),
        (11, "no layer uses the variable `THREADS`"),
        (13, "[[exclude]] has no `reason`"),
        (14, "did you mean `perl`?"),
        (18, "64 lower-case hexadecimal digits"),
        (22, "did you mean `perl`?"),
        (26, "must be a string in quotes"),
        (29, "invalid number of blocks: 0"),
        (32, "the baseline has no level for factor `threads`"),
        (33, "did you mean `wall`?"),
        (34, "95 is not a valid confidence"),
    ] {
        assert!(shown.contains(&format!("study.toml:{line}:")), "no problem in line {line}\n{shown}");
        assert!(shown.contains(part), "{part:?} is missing\n{shown}");
    }
}

#[test]
fn a_layer_has_its_name_alone_and_usual_tools() {
    assert_eq!(Chain::of(&parse(GOOD).unwrap()).layers[0].tools, ["cc", "ld", "make"]);
    let shown = messages(&format!("{GOOD}[[build]]\nname = \"hello\"\nscript = \"x\"\n"));
    assert!(shown.contains("two layers are named `hello`"), "{shown}");
}

#[test]
fn a_plan_varies_and_measures_only_what_is_built() {
    let check = |plan: &str, message: &str| {
        let bare = GOOD.split("[build_factors.cc]").next().unwrap();
        let rest = "[run_factors.cc]\ngcc = {}\n[workloads.w]\nrun = \"true\"\n[decide]\nbaseline = { cc = \"gcc\" }\n";
        let shown = messages(&format!("{bare}{rest}[plan]\n{plan}\n"));
        assert!(shown.contains(message) && shown.contains("add a `[[build]]` layer"), "{shown}");
        assert!(shown.contains("1 problem in"), "{shown}");
    };
    check("vary = [\"link-order\"]", "cannot vary `link-order`: the study builds nothing");
    check("rebuild = 5", "cannot measure `rebuild`: the study builds nothing");
}

#[test]
fn a_variant_fails_as_any_of_its_levels_does() {
    let opt = "[build_factors.opt]\nO2 = { OPT = \"-O2\" }\nO3 = { OPT = \"-O3\", fails = \"slow\" }\n[[build]]";
    let text = GOOD
        .replace("\"clang\" }\n[[build]]", &format!("\"clang\", fails = \"no float\" }}\n{opt}"))
        .replace("$CC -o", "$CC $OPT -o")
        .replace("{ cc = \"gcc\" }", "{ cc = \"gcc\", opt = \"O2\" }");
    let plan = Plan::of(&parse(&text).unwrap_or_else(|_| panic!("{}", messages(&text))), "default").unwrap();
    let of = |name: &str| Spec::of(plan.variants.iter().find(|variant| variant.name == name).unwrap()).fails.join(" ");
    assert_eq!(of("cc=clang opt=O3"), "no float slow");
    assert_eq!(of("cc=clang"), "no float");
    assert_eq!(of("baseline"), "");
}
