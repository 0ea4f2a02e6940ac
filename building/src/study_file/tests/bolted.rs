//! What is said of levels that BOLT makes.

use super::{GOOD, messages, parse};
use crate::bolt::LINKED_WITH;
use crate::nouns::Chain;
use crate::spec::Spec;
use bakeoff_model::plan::Plan;
use bakeoff_model::study_file::RecipeReader as _;

/// The study of others with this factor in front, the baseline being its level `own`.
fn text(factor: &str, tail: &str) -> String {
    let text = GOOD.replace("[build_factors.cc]", &format!("{factor}\n[build_factors.cc]"));
    text.replace("{ cc = \"gcc\" }", "{ cc = \"gcc\", opt = \"own\" }") + tail
}

/// A factor with such a level.
fn factor(value: &str) -> String {
    format!("[build_factors.opt]\nown = {{}}\nbolt = {{ bolt = {value} }}")
}

const TRAINING: &str = "'\"$PREFIX/bin/hello\" x'";

#[test]
fn a_level_with_bolt_adds_a_layer_for_it_and_one_link_for_its_factor() {
    let whole = text(&factor(TRAINING), "");
    let study = parse(&whole).unwrap_or_else(|_| panic!("{}", messages(&whole)));
    let layers = &Chain::of(&study).layers;
    assert_eq!(layers.iter().map(|layer| layer.name.as_str()).collect::<Vec<_>>(), ["hello", "bolt"]);
    assert!(layers[1].rewrites && !layers[0].rewrites && layers[1].files == layers[0].files);
    let plan = Plan::of(&study, "default").unwrap();
    for variant in &plan.variants {
        let tuning = &Spec::of(variant).tuning;
        assert_eq!(tuning.link, LINKED_WITH, "{}", variant.name);
        assert_eq!(tuning.bolt.is_some(), variant.name.contains("bolt"), "{}", variant.name);
        let rewritten = tuning.bolt.as_ref().map(|bolt| bolt.files.clone());
        assert!(tuning.trained_on.is_empty(), "the training has another word");
        assert!(rewritten.is_none_or(|files| files == ["bin/hello"]), "what the workload starts");
    }
    assert_eq!(plan.build_factors[0].levels["bolt"]["bolt"], "\"$PREFIX/bin/hello\" x");
    // A variable of a level may stand in the training; of another factor, `-s` does not come behind the words for BOLT.
    let more = text(&factor("{ training = '$MODE', files = [\"lib/*.so\"] }"), "")
        .replace("gcc = { CC = \"gcc\" }", "gcc = { CC = \"gcc\", MODE = \"x\", append_link = \"-s\" }");
    let study = parse(&more).unwrap_or_else(|_| panic!("{}", messages(&more)));
    let plan = Plan::of(&study, "default").unwrap();
    let both = Spec::of(plan.variants.iter().find(|variant| variant.name == "opt=bolt").unwrap());
    assert_eq!(both.tuning.link, ["-s", LINKED_WITH[0], LINKED_WITH[1]]);
    assert_eq!(both.tuning.bolt.as_ref().unwrap().files, ["lib/*.so"]);
    let itself = parse(&text(&factor("'\"$PREFIX/bin/hello\"'"), "")).unwrap();
    let of_level = |at: usize| Spec::of_level(&itself.build_factors[0].levels[at]).tuning.trained_on.clone();
    assert_eq!((of_level(0), of_level(1)), ([].into(), ["hello".to_owned()].into()));
    // Nothing of that where no level asks for it.
    let study = parse(GOOD).unwrap();
    assert!(Chain::of(&study).layers.len() == 1 && crate::Building.keys().contains(&"bolt"));
}

#[test]
fn what_bolt_cannot_be_is_refused_at_its_place() {
    let check = |whole: &str, message: &str, remedy: &str| {
        let shown = messages(whole);
        assert!(shown.contains(message) && shown.contains(remedy), "{whole}\n{shown}");
        assert!(shown.contains("1 problem in"), "{whole}\n{shown}");
    };
    let good = factor(TRAINING);
    check(&text(&factor("true"), ""), "`bolt` must be a command, in quotes", "for example `bolt = ");
    check(
        &text(&factor("\" \""), ""),
        "`bolt` must be a command, in quotes",
        "the folder with the source and the `files`",
    );
    check(&text(&factor("{ files = [\"p\"] }"), ""), "`bolt` has no `training`", "a command that runs");
    check(&text(&factor("{ training = \"x\", file = [\"p\"] }"), ""), "`file`", "did you mean `files`?");
    check(&text(&factor("{ training = \"x\", files = [\"../p\"] }"), ""), "../p", "");
    let elsewhere = text(&good, "").replace("run = '\"$PREFIX/bin/hello\"'", "run = 'hello'");
    check(&elsewhere, "no workload starts a program in $PREFIX", "files = [\"bin/prog\"]");
    let two = text(&good, "").replace("gcc = { CC = \"gcc\" }", "gcc = { CC = \"gcc\", bolt = \"x\" }");
    check(&two, "factor `opt` already has `bolt`", "the levels of one factor");
    check(
        &text(&good, "").replace("name = \"hello\"", "name = \"bolt\""),
        "the name `bolt` is reserved for the layer",
        "rename",
    );
    check(&text(&good, "[plan]\nrebuild = 2\n"), "`rebuild` can measure only scripts", "the table of builds");
    let cache = text(&good, "").replace("name = \"hello\"\n", "name = \"hello\"\ncache = \"ccache\"\n");
    check(&cache, "has a compiler cache", "remove `cache`");
    let run = text("[run_factors.opt]\nown = {}\nbolt = { bolt = \"x\" }", "");
    check(&run, "`bolt` is not allowed in a run factor", "");
}
