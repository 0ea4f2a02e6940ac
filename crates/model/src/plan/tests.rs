//! The plan as a story: who takes part, in which order, and what changes neither.

use super::{Error, Plan};
use crate::record::TWIN;
use crate::until::Until;
use std::collections::{BTreeMap, BTreeSet};

const STUDY: &str = r#"
format = 1
name = "t"
[build_factors.cc]
gcc = { CC = "gcc" }
clang = { CC = "clang" }
[build_factors.opt]
O2 = { OPT = "-O2" }
O1 = { OPT = "-O1" }
O3 = { OPT = "-O3" }
[[exclude]]
when = { cc = "clang", opt = "O1" }
reason = "does not build"
[[build]]
name = "hello"
script = 'make CC=$CC OPT=$OPT'
[workloads.small]
run = 'small'
[workloads.large]
run = 'large'
[plan]
blocks = 4
seed = 178
[plans.each]
variants = "one-at-a-time"
[plans.one]
variants = [{ opt = "O3", cc = "clang" }]
[plans.barred]
variants = [{ opt = "O1", cc = "clang" }]
[decide]
baseline = { cc = "gcc", opt = "O2" }
"#;

fn plan(name: &str) -> Result<Plan, Error> {
    Plan::of(&crate::study_file::parse(STUDY).unwrap(), name)
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.variants.iter().map(|v| v.name.as_str()).collect()
}

#[test]
fn the_default_is_every_combination_and_the_baseline_comes_first() {
    let plan = plan("default").unwrap();
    assert_eq!(names(&plan), ["baseline", "opt=O1", "opt=O3", "cc=clang", "cc=clang opt=O3"]);
    assert_eq!(plan.excluded[0].name, "cc=clang opt=O1");
    assert_eq!(plan.excluded[0].reason, "does not build");
    assert_eq!(plan.variants[4].build_variables["CC"], "clang");
    assert_eq!(plan.trials(), 4 * 2 * 6);
}

#[test]
fn rules_choose_who_takes_part() {
    assert_eq!(names(&plan("each").unwrap()), ["baseline", "cc=clang", "opt=O1", "opt=O3"]);
    assert_eq!(names(&plan("one").unwrap()), ["baseline", "cc=clang opt=O3"]);
    assert_eq!(plan("barred"), Err(Error::NothingToCompare));
    assert!(plan("eech").unwrap_err().to_string().contains("did you mean `each`?"));
}

#[test]
fn an_excluded_baseline_is_an_error_that_says_why() {
    let text = STUDY.replace("cc = \"clang\", opt = \"O1\" }\nreason", "cc = \"gcc\", opt = \"O2\" }\nreason");
    let error = Plan::of(&crate::study_file::parse(&text).unwrap(), "default").unwrap_err();
    assert!(error.to_string().contains("does not build"), "{error}");
}

#[test]
fn a_selection_keeps_the_baseline() {
    let select = |pattern: &str| {
        let mut plan = plan("default").unwrap();
        plan.only(&[pattern.to_owned()]).map(|()| names(&plan).join(", "))
    };
    assert_eq!(select("opt=O3").unwrap(), "baseline, opt=O3", "a name means the variant that has it");
    assert_eq!(select("opt=O3 opt=O3").unwrap(), "baseline, opt=O3, cc=clang opt=O3", "terms mean all that have them");
    assert_eq!(select("opt=O3 cc=gcc").unwrap(), "baseline, opt=O3");
    assert_eq!(select("cc=clang opt=O3").unwrap(), "baseline, cc=clang opt=O3");
    assert!(select("opt=O4").unwrap_err().to_string().contains("did you mean `opt=O"));
    assert_eq!(select("baseline"), Err(Error::NothingToCompare));
}

#[test]
fn every_block_has_every_variant_and_the_twin_once() {
    let plan = plan("default").unwrap();
    let all: BTreeSet<&str> = names(&plan).into_iter().chain([TWIN]).collect();
    let mut orders = BTreeSet::new();
    for pass in 1..=4 {
        let blocks = plan.pass(pass);
        let workloads: BTreeSet<&str> = blocks.iter().map(|b| b.workload.as_str()).collect();
        assert_eq!(workloads, BTreeSet::from(["large", "small"]));
        for block in blocks {
            assert_eq!(block.order.len(), all.len());
            assert_eq!(block.order.iter().map(String::as_str).collect::<BTreeSet<_>>(), all);
            orders.insert(block.order);
        }
    }
    assert!(orders.len() > 4, "blocks have orders of their own");
}

#[test]
fn the_order_of_a_block_depends_on_nothing_but_seed_pass_and_names() {
    let plan_a = plan("default").unwrap();
    let mut plan_b = plan_a.clone();
    plan_b.blocks = 40;
    plan_b.workloads.reverse();
    let of = |plan: &Plan, workload| plan.pass(3).into_iter().find(|b| b.workload == workload).unwrap();
    assert_eq!(of(&plan_a, "large"), of(&plan_b, "large"));
    plan_b.seed = 179;
    assert_ne!(plan_a.pass(3), plan_b.pass(3));
}

#[test]
fn a_change_of_builds_or_inputs_changes_the_identity_and_more_blocks_do_not() {
    let mut plan = plan("default").unwrap();
    let builds = BTreeMap::from([("baseline".to_owned(), "d1".to_owned())]);
    let identity = plan.identity(&builds, "x");
    plan.blocks += 1;
    assert_eq!(plan.identity(&builds, "x"), identity);
    assert_ne!(plan.identity(&BTreeMap::new(), "x"), identity);
    assert_ne!(plan.identity(&builds, "y"), identity);
    plan.seed += 1;
    assert_ne!(plan.identity(&builds, "x"), identity);
}

/// Journals of earlier versions go on under these.
#[test]
fn the_identity_of_a_study_without_newer_parts_is_what_it_always_was() {
    let builds = BTreeMap::from([("baseline".to_owned(), "d1".to_owned())]);
    let check = |name: &str, until: Option<Until>, expect: &str| {
        let mut plan = plan(name).unwrap();
        plan.extend(until, None).unwrap();
        assert_eq!(plan.identity(&builds, "x"), expect, "{name}");
    };
    check("default", None, "b3de9b26637f9d800607a0d662f115ff59008693455967d2994089920303e0c7");
    check("each", None, "e3680df6eb0acad1ba1e0c2fd8957250c9a5f79a57c57b4fa84159bd16743602");
    check("default", Some(Until::Decided), "937de7bbe2ba563dc849c125489d5fd934dfea61a91fd71cf2eb826a0e76eca9");
}
